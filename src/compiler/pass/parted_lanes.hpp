// Lanes of a warp that part, and meet some of the others before all are together again: shuffles
// behind `if (lane < 8)`, votes in a loop that lanes leave one after the other.
//
// All lanes are led through such a part. Each has a mask in its private memory that says whether it
// really is there; a region of the part begins with a test of it and does nothing for the others.
// What all lanes that are there agree on counts as the same for the warp within the part.
#pragma once

#include <vector>

#include "compiler/pass/meetings.hpp"

namespace sb::pass {

// The lanes that are at a place, as bits; a marker until lanes are led.
inline constexpr llvm::StringLiteral active_lanes_name = "sb.active.lanes";

// Leads lanes to the meetings that only some of them come to. Adds to the meetings, and to the
// blocks at whose beginning regions have to begin. False if control flow is too tangled for it.
bool lead_parted_lanes(llvm::Function& function, std::vector<meeting>& meetings,
                       std::vector<llvm::BasicBlock*>& cuts);

// The masks that the lanes of a region have to pass, in order; those of its first block.
bool is_mask_test(const llvm::Instruction& inst);
std::vector<llvm::AllocaInst*> masks_of(const llvm::BasicBlock& block);

}  // namespace sb::pass
