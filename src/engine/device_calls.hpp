// The table that device code calls through.
#pragma once

#include <cstdint>

#include "base/device_abi.hpp"

namespace sb::engine {

const abi::device_table& device_calls();

// global_timer() = engine clock + this.
std::uint64_t global_timer_offset_ns();

}  // namespace sb::engine
