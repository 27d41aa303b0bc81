// Places that go round: `s[(3 * t) % 128]` in a loop over t.
//
// LLVM 19 reads places that lie two to eight elements apart as one long vector of which it takes
// every second to eighth element, also where the index begins again at zero within that vector: the
// element that it takes is then one behind the array's end. `for (t...) b[t] = a[t * 3 % 128]` is
// wrong in plain C++, too, so this is also in the plugin of the host's half. LLVM does not get to
// see how far such places lie apart.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

class hide_wrapped_places : public llvm::PassInfoMixin<hide_wrapped_places> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sb::pass
