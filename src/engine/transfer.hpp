// Copies and fills.
#pragma once

#include <atomic>

#include "engine/block.hpp"
#include "engine/operation.hpp"

namespace sb::engine {

// Do the work, piece by piece; `stop` is looked at between pieces. Answer the fault that ended
// them, or a success.
failure_record carry_out(const copy_operation& copy, const std::atomic<bool>& stop);
failure_record carry_out(const fill_operation& fill, const std::atomic<bool>& stop);

}  // namespace sb::engine
