// Which places of memory a loop looks at from one turn to the next.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>

namespace sb::pass {

class loop_places {
 public:
  // It has one latch.
  explicit loop_places(const llvm::Loop& loop) : loop_(loop) {}

  // The same address in every turn, which may be computed in the loop.
  [[nodiscard]] bool stays(const llvm::Value* address) const;
  // An address that no turn before had.
  [[nodiscard]] bool goes_ahead(const llvm::Value* address) const;
  // Another address in every turn, which may be one of before: a probe of a hash table, mailboxes
  // in turn.
  [[nodiscard]] bool goes_around(const llvm::Value* address) const;
  // A number that is another one in every turn.
  [[nodiscard]] bool is_counter(const llvm::Value& value) const;

 private:
  [[nodiscard]] bool reaches_phi(const llvm::Value* value,
                                 llvm::function_ref<bool(const llvm::Instruction&)> is_followed,
                                 llvm::function_ref<bool(const llvm::PHINode&)> is_it) const;
  [[nodiscard]] bool steps(const llvm::PHINode& phi) const;
  [[nodiscard]] bool changes_always(const llvm::PHINode& phi) const;
  [[nodiscard]] bool is_computed_from(const llvm::Value* value, const llvm::PHINode& phi) const;

  const llvm::Loop& loop_;
};

}  // namespace sb::pass
