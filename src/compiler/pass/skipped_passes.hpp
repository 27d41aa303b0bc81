// Passes of LLVM that are not worth their time here.
//
// A version that counts calls the engine at every access: there are no vectors in it to look for.
// And looking for values that a round leaves in memory for the next takes the square of a loop's
// accesses, of which a kernel with many written-out rounds has thousands.
#pragma once

#include <llvm/IR/PassInstrumentation.h>

namespace sb::pass {

void skip_passes(llvm::PassInstrumentationCallbacks& callbacks);

}  // namespace sb::pass
