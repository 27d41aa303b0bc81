// Which of the threads' values share an array.
//
// A sum that goes round a loop is several values: the phi at the top, what the body adds, the phi
// behind the loop. While none of them is wanted when another is written they live in one array, and
// the way from one to the next costs nothing.
#pragma once

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/MapVector.h>

#include "compiler/pass/live_values.hpp"

namespace sb::pass {

// Variables of the block function: a value as other regions find it, and as a phi at the top of a
// region takes it.
enum class slot_kind { value, incoming };
struct slot_key {
  llvm::Instruction* value;
  slot_kind kind;
  friend bool operator==(const slot_key&, const slot_key&) = default;
};

class slot_sharing {
 public:
  slot_sharing(const region_plan& plan, const uniformity& uniform, const live_values& live);

  // The array of a value that differs between threads.
  slot_key of(slot_key key) const;

 private:
  // If neither is wanted where the other is written.
  void share(llvm::Instruction* one, llvm::Instruction* other);
  bool is_leading(const llvm::Instruction& value) const;
  llvm::BitVector regions_with(llvm::Instruction* value) const;
  bool is_written(llvm::Instruction* value, unsigned region) const;
  llvm::Value* brought(llvm::Instruction* value, unsigned from, unsigned to) const;
  bool disturbs_itself(llvm::PHINode& phi) const;
  bool disturbs(llvm::Instruction* one, llvm::Instruction* other) const;

  const region_plan& plan_;
  const live_values& live_;
  llvm::MapVector<llvm::Instruction*, llvm::BitVector> alive_;  // by region: wanted at its top
  llvm::DenseSet<const llvm::Instruction*> apart_;              // phis with a slot for each kind
  llvm::EquivalenceClasses<llvm::Instruction*> classes_;
};

}  // namespace sb::pass
