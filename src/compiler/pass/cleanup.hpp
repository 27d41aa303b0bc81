// What the image contains: kernels' descriptors, device variables, and what they reach.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Module.h>

namespace sb::pass {

// Adds the globals that the constant names, through others that it is made of; those that are
// `seen` are passed over.
void reach_constants(llvm::Constant* constant, llvm::SetVector<llvm::GlobalValue*>& live,
                     llvm::DenseSet<llvm::Constant*>& seen);

// Makes every function local to the module and drops what nothing reaches, so that host functions
// that the front end emitted along the way are neither compiled nor judged.
void drop_unreachable(llvm::Module& module, llvm::ArrayRef<llvm::Function*> roots);

// Debug information that was made for the layout of parameters alone, as nvcc says in the flags of
// the compile unit, goes: the optimiser would carry it along, and the link would strip it.
void drop_layout_information(llvm::Module& module);

}  // namespace sb::pass
