// What threads that go on in the middle of a body need to know there.
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

// What can be known before everything else is computed there, so that it need not be kept.
void compute_early(llvm::Function& body);

// What is made before a stop and used behind it goes through memory. `same`: what is the same for a
// warp, if it goes on together.
void keep_values(llvm::Function& body, const uniformity* same);

}  // namespace sb::pass
