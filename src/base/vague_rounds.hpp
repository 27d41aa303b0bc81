// A kind of access (device_abi.hpp) that is none: a round of a loop that waits for others and does
// something else on the way.
#pragma once

#include "base/device_abi.hpp"

namespace sb::abi {

inline constexpr auto vague_round = static_cast<access_kind>(5);

}  // namespace sb::abi
