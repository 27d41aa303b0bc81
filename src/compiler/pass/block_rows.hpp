// A loop over neighbouring blocks around the function that runs one: what belongs to the function
// is set up once for the row.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// The function must ask the engine nothing: its block is not the one that the context names.
void loop_over_blocks(llvm::Function& function);

}  // namespace sb::pass
