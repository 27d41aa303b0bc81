// Switches as branches: threads that part are led through one branch after the other.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// A branch for each place that a switch goes to. Cases with the same place share one, so that there
// is one way to it.
void lower_switches(llvm::Function& function);

}  // namespace sb::pass
