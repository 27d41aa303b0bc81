// Names of the things of the CUDA world.
#pragma once

#include <cstdint>

#include "base/strong_id.hpp"

namespace sb {

using device_id = strong_id<struct device_tag, std::uint32_t>;
using stream_id = strong_id<struct stream_tag, std::uint32_t>;
// Unique over the life of the process, growing in the order of submission.
using command_id = strong_id<struct command_tag, std::uint64_t>;
using waiter_id = strong_id<struct waiter_tag, std::uint64_t>;

}  // namespace sb
