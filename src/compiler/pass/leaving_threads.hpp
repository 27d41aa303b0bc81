// Threads that leave a kernel before its barriers:
//
//   if (i >= n) return;
//   tile[t] = a[i];
//   __syncthreads();
//
// Those that are left meet without them. Where threads part and some of them come to barriers, all
// are led there (part_leader.hpp), as long as there is no barrier behind the part: at such a one
// the threads outside would arrive while the others are still inside. Nor anything that can be
// seen: the threads outside do it before the others' barrier opens, which is when they have left.
#pragma once

#include "compiler/pass/part_leader.hpp"

namespace sb::pass {

// False if there are other reasons for threads to part, or control flow is too tangled.
bool lead_leaving_threads(llvm::Function& body, std::vector<meeting>& barriers,
                          std::vector<llvm::BasicBlock*>& cuts);

}  // namespace sb::pass
