// A region as a function of one thread.
//
//   void G(arguments of the body..., scalars..., slots..., tallies..., lane, lanes)
//
// It takes what other regions made from their slots and leaves there what others need. Which thread
// it is for, it asks by the builtins (__sb_tid_x ...), and by another one for the thread's place in
// the arrays. The last two arguments have a meaning in loops over the lanes of a warp.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/pass/slot_sharing.hpp"

namespace sb::pass {

// A thread's place in the arrays of its block, and of its warp.
inline constexpr llvm::StringLiteral context_index_name = "__sb_context_index";
inline constexpr llvm::StringLiteral context_lane_name = "__sb_context_lane";
// How many lanes the warp has.
inline constexpr llvm::StringLiteral warp_lanes_name = "__sb_warp_lanes";

struct region_function {
  llvm::Function* function = nullptr;
  std::vector<llvm::Instruction*> scalars;  // arguments behind the body's own
  std::vector<slot_key> slots;              // then pointers to these
  std::vector<llvm::CallInst*> tallies;     // then pointers to what these add to
  bool has_effects = false;
};

// The type in which an array keeps a value: vectors have no single bits.
llvm::Type* stored_type(llvm::Type* type);

// Makes the value in the middle of other code: what is computed again, from leaves.
class again_builder {
 public:
  again_builder(const live_values& live, llvm::function_ref<llvm::Value*(llvm::Value*)> leaf)
      : live_(live), leaf_(leaf) {}
  llvm::Value* make(llvm::IRBuilderBase& builder, llvm::Value* value);

 private:
  const live_values& live_;
  llvm::function_ref<llvm::Value*(llvm::Value*)> leaf_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> made_;
};

region_function outline_region(llvm::Function& body, team team, const region_plan& plan,
                               const uniformity& uniform, const live_values& live,
                               const slot_sharing& sharing, unsigned index);

}  // namespace sb::pass
