// Accesses that a device refuses because their address is not a multiple of their size.
//
// The processors here do not mind such accesses, and a test at each of them would cost vectors and
// barriers. Instead the address of an access that cannot be shown to be aligned gets its own low
// bits again, high up (abi::misaligned_shift): an aligned address stays as it is, any other becomes
// one that nothing is mapped at, and the engine tells its fault by it. This is arithmetic without
// branches, mostly of the pointer that a kernel got as an argument and so done once for a block; an
// access that is never reached does no harm.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Module.h>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

// Forgets what clang promises of pointers: references are aligned in C++, and who breaks that must
// be found out. Comes before everything that makes use of such promises.
//
// A device reads a member with its own size, whatever the struct's alignment is; so does what is
// left here. Copies of whole structs keep theirs.
void forget_promised_alignment(llvm::Module& module, llvm::ArrayRef<kernel> kernels);

// Treats every access of the module.
void mark_misaligned_addresses(llvm::Module& module);

// Whether the instruction is part of such arithmetic: a device does it for nothing.
bool is_alignment_mark(const llvm::Instruction& inst);

}  // namespace sb::pass
