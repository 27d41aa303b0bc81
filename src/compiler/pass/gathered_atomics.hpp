// Sums that a row of blocks adds to memory come together before they are added.
//
// atomicAdd whose result nobody takes: no order of such additions is promised, and those to one
// place may be one. A function for a row of blocks keeps a table of the places it added to last.
// The first addition to a place is made at once, where a bad address is a fault of its own thread;
// later ones go to the table, and from there to memory when another place takes the entry or the
// function ends. Only integers: sums of these are the same in any order.
//
// Whoever could look earlier must not: a kernel with fences, with volatile or other atomic
// accesses, with atomics whose results it takes, or with calls, is left as it is. An access of the
// block's own threads that comes near the places of the table empties it first, and it stays empty
// then.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// For a function that the engine calls for all threads of some blocks, complete but for its entry.
void gather_atomics(llvm::Function& body);

}  // namespace sb::pass
