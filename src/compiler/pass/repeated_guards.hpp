// `if (in) { a; if (p) b; if (q) c; }` as `if (in) a; if (in) if (p) b; if (in) if (q) c;`.
//
// LLVM writes the second as the first. But only between the pieces of the second all threads can
// meet (seams.hpp), which makes each of them a loop over threads with one guard.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// Where what is computed behind the guard and needed in a later piece can be computed before it.
void repeat_guards(llvm::Function& body);

}  // namespace sb::pass
