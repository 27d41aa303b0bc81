// What some threads do, while the others wait behind it.
#pragma once

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

struct guarded_piece {
  llvm::BasicBlock* asks;                             // all threads come here
  llvm::BasicBlock* behind;                           // and here
  llvm::SmallSetVector<llvm::BasicBlock*, 8> blocks;  // in between, the first first

  // Which way of the branch leads into it.
  [[nodiscard]] unsigned way() const;
};

// The piece whose guard is at the end of the block, if it stores something and memory alone orders
// what it does.
std::optional<guarded_piece> piece_at(llvm::BasicBlock& block, const uniformity& uniform);

// An access like any other, that memory alone orders, or none.
bool is_plain(const llvm::Instruction& inst);
bool stores_something(const llvm::BasicBlock& block);
// Neighbours store side by side there: vectors, if nothing keeps them from it.
bool stores_row(const llvm::Instruction& inst, const uniformity& uniform);
bool stores_rows(const llvm::BasicBlock& block, const uniformity& uniform);

// Where what the condition at the end of the block is computed from begins.
llvm::Instruction* before_condition(llvm::BasicBlock& block);

}  // namespace sb::pass
