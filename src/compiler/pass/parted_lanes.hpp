// Lanes of a warp that part, and meet some of the others before all are together again: shuffles
// behind `if (lane < 8)`, votes in a loop that lanes leave one after the other.
#pragma once

#include "compiler/pass/part_leader.hpp"

namespace sb::pass {

// The lanes that are at a place, as bits; a marker until lanes are led.
inline constexpr llvm::StringLiteral active_lanes_name = "sb.active.lanes";

// Leads lanes to the meetings that only some of them come to (part_leader.hpp).
bool lead_parted_lanes(llvm::Function& function, std::vector<meeting>& meetings,
                       std::vector<llvm::BasicBlock*>& cuts);

}  // namespace sb::pass
