// Shifts by as many bits as a value has, and by more: undefined for LLVM, defined on the device.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

namespace sb::pass {

// The device looks at 32 bits of the amount, as a number without a sign. Nothing is left of what is
// shifted too far but the sign of what has one: h200/shifts.tsv.
void clamp_shifts(llvm::Module& module);

// Two such shifts, one to the left and one to the right, that are a rotation: the device's compiler
// makes one of them too, which goes around for any amount. It does so for values of 32 bits that
// are joined by | or +, not by ^. Where values are in registers.
class find_rotations : public llvm::PassInfoMixin<find_rotations> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

// A part of a shift here that the device's instruction does itself.
bool clamps_shift(const llvm::Instruction& inst);

}  // namespace sb::pass
