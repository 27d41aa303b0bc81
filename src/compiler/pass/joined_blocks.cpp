#include "compiler/pass/joined_blocks.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include <cstdlib>
#include <optional>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/neighbours.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr StringLiteral joined_mark = "sb-joined";

StringRef callee_name(const Value* value) {
  auto* call = dyn_cast<CallBase>(value);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : StringRef();
}

const Value* without_extension(const Value* value) {
  return isa<ZExtInst, SExtInst>(value) ? cast<Instruction>(value)->getOperand(0) : value;
}

// A sum with the first thread of the block and the thread's place in it, as often as it says.
struct place_sum {
  APInt block;   // times blockIdx.x * blockDim.x
  APInt thread;  // times threadIdx.x
  // The same in every thread of the row at that place: nothing is known but their sum.
  [[nodiscard]] bool is_balanced() const { return block == thread; }
};

class place_finder {
 public:
  explicit place_finder(Function& body) : body_(body) {}

  // The width that blocks must have, 0 for any; nothing if the body knows more of its block.
  std::optional<std::uint64_t> solve() {
    for (BasicBlock* block : ReversePostOrderTraversal<Function*>(&body_)) {
      for (Instruction& inst : *block) {
        if (!is_free(inst)) {
          return std::nullopt;
        }
        visit(inst);
      }
    }
    // What is not a sum of both must go into one, and into nothing else.
    auto goes_on = [&](const Value* value) {
      return all_of(value->users(), [&](const User* user) { return sums_.contains(user); });
    };
    for (auto& [value, sum] : sums_) {
      if (!sum.is_balanced() && !goes_on(value)) {
        return std::nullopt;
      }
    }
    for (const Value* index : block_indices_) {
      for (const User* user : index->users()) {
        if (!sums_.contains(user) && !block_indices_.contains(user)) {
          return std::nullopt;
        }
      }
    }
    return sums_.empty() ? std::nullopt : std::optional(width_);
  }

  // Sums were made for threads of one block: what they promise holds no more.
  void loosen() {
    for (auto& [value, sum] : sums_) {
      auto* inst = dyn_cast<Instruction>(const_cast<Value*>(value));
      if (!inst || isa<CallBase>(inst)) {
        continue;
      }
      if (inst->getOpcode() == Instruction::Or) {
        auto* add = BinaryOperator::CreateAdd(inst->getOperand(0), inst->getOperand(1), "", inst);
        add->takeName(inst);
        add->setDebugLoc(inst->getDebugLoc());
        inst->replaceAllUsesWith(add);
        replaced_.push_back(inst);
      } else {
        inst->dropPoisonGeneratingFlags();
      }
    }
    sums_.clear();
    for (Instruction* inst : replaced_) {
      inst->eraseFromParent();
    }
  }

 private:
  // Nothing in it belongs to a block, and nobody is asked who could tell.
  bool is_free(const Instruction& inst) const {
    for (const Value* operand : inst.operands()) {
      if (names_shared(operand)) {
        return false;
      }
    }
    auto* call = dyn_cast<CallBase>(&inst);
    if (!call) {
      return !isa<FenceInst>(inst);
    }
    const Function* callee = call->getCalledFunction();
    if (!callee || called_slot(*call)) {
      return false;
    }
    StringRef name = callee->getName();
    if (!name.starts_with("__sb_")) {
      return callee->isDeclaration() && !call->isConvergent();
    }
    return name.starts_with("__sb_tid_") || name.starts_with("__sb_ntid_") ||
           name.starts_with("__sb_ctaid_") || name.starts_with("__sb_nctaid_") ||
           name.starts_with("__sb_start_");  // joined_start.hpp
  }

  static bool names_shared(const Value* value) {
    if (auto* variable = dyn_cast<GlobalVariable>(value)) {
      return is_shared(*variable);
    }
    auto* expression = dyn_cast<ConstantExpr>(value);
    return expression &&
           any_of(expression->operands(), [](const Use& operand) { return names_shared(operand); });
  }

  // The block's width, or a number that it must have.
  bool is_width(const Value* value) {
    value = without_extension(value);
    if (callee_name(value) == "__sb_ntid_x") {
      return true;
    }
    const APInt* number = nullptr;
    return match(value, m_APInt(number)) && must_be_wide(*number);
  }
  bool must_be_wide(const APInt& number) {
    bool good = number.uge(1) && number.ule(1024) && (width_ == 0 || number == width_);
    width_ = good ? number.getZExtValue() : width_;
    return good;
  }

  bool is_block_index(const Value* value) {
    return callee_name(value) == "__sb_ctaid_x" || block_indices_.contains(value);
  }

  std::optional<place_sum> first_thread(Instruction& inst) {
    unsigned bits = inst.getType()->isIntegerTy() ? inst.getType()->getIntegerBitWidth() : 0;
    const Value* one = nullptr;
    const Value* other = nullptr;
    const APInt* number = nullptr;
    if (bits == 0) {
      return std::nullopt;
    }
    place_sum sum = {APInt(bits, 1), APInt(bits, 0)};
    if (match(&inst, m_Mul(m_Value(one), m_Value(other)))) {
      if (!is_block_index(one)) {
        std::swap(one, other);
      }
      return is_block_index(one) && is_width(other) ? std::optional(sum) : std::nullopt;
    }
    if (match(&inst, m_Shl(m_Value(one), m_APInt(number))) && is_block_index(one) &&
        number->ule(10)) {
      return must_be_wide(APInt(bits, 1) << *number) ? std::optional(sum) : std::nullopt;
    }
    return std::nullopt;
  }

  // Zero where the value has neither of the two.
  place_sum sum_of(const Value* value) {
    auto found = sums_.find(value);
    if (found != sums_.end() && !found->second.is_balanced()) {
      return found->second;
    }
    unsigned bits = value->getType()->getIntegerBitWidth();
    return {APInt(bits, 0), APInt(bits, 0)};
  }
  bool is_open(const Value* value) {
    auto found = sums_.find(value);
    return found != sums_.end() && !found->second.is_balanced();
  }

  void visit(Instruction& inst) {
    if (callee_name(&inst) == "__sb_ctaid_x") {
      block_indices_.insert(&inst);
      return;
    }
    if (callee_name(&inst) == "__sb_tid_x") {
      sums_.try_emplace(&inst, place_sum{APInt(32, 0), APInt(32, 1)});
      return;
    }
    if (isa<ZExtInst, SExtInst>(inst)) {
      visit_extension(inst);
      return;
    }
    if (auto sum = first_thread(inst)) {
      sums_.try_emplace(&inst, *sum);
      return;
    }
    if (!any_of(inst.operands(), [&](const Use& operand) { return is_open(operand); })) {
      return;
    }
    const Value* one = nullptr;
    const Value* other = nullptr;
    const APInt* number = nullptr;
    if (match(&inst, m_Add(m_Value(one), m_Value(other))) ||
        match(&inst, m_DisjointOr(m_Value(one), m_Value(other)))) {
      place_sum first = sum_of(one), second = sum_of(other);
      sums_.try_emplace(&inst, place_sum{first.block + second.block, first.thread + second.thread});
    } else if (match(&inst, m_Mul(m_Value(one), m_APInt(number)))) {
      place_sum first = sum_of(one);
      sums_.try_emplace(&inst, place_sum{first.block * *number, first.thread * *number});
    } else if (match(&inst, m_Shl(m_Value(one), m_APInt(number))) &&
               number->ult(number->getBitWidth())) {
      place_sum first = sum_of(one);
      sums_.try_emplace(&inst, place_sum{first.block << *number, first.thread << *number});
    } else if (match(&inst, m_Trunc(m_Value(one)))) {
      place_sum first = sum_of(one);
      unsigned bits = inst.getType()->getIntegerBitWidth();
      sums_.try_emplace(&inst, place_sum{first.block.trunc(bits), first.thread.trunc(bits)});
    }
  }

  // The two indices themselves are small and not negative; a sum may wrap before it is extended.
  void visit_extension(Instruction& inst) {
    const Value* from = inst.getOperand(0);
    if (is_block_index(from)) {
      // blockIdx.x has 31 bits at most
      block_indices_.insert(&inst);
    } else if (callee_name(from) == "__sb_tid_x") {
      unsigned bits = inst.getType()->getIntegerBitWidth();
      sums_.try_emplace(&inst, place_sum{APInt(bits, 0), APInt(bits, 1)});
    }
  }

  Function& body_;
  DenseMap<const Value*, place_sum> sums_;
  DenseSet<const Value*> block_indices_;
  std::vector<Instruction*> replaced_;
  std::uint64_t width_ = 0;
};

constexpr std::uint32_t longest_row_of_columns = 1024;
constexpr std::int64_t cache_line = 64;

bool knows_rows(Function& body) {
  return any_of(instructions(body),
                [](const Instruction& inst) { return callee_name(&inst) == "__sb_tid_y"; });
}

// Whether threads of one row go to lines of their own, which those of the next row may use again:
// `out[x * height + y] = in[y * width + x]`.
bool goes_down_columns(Function& body) {
  const uniformity uniform(body, team::block);
  return any_of(instructions(body), [&](const Instruction& inst) {
    const Value* pointer = getLoadStorePointerOperand(&inst);
    if (!pointer || isa<AllocaInst>(getUnderlyingObject(pointer, 0))) {
      return false;
    }
    auto distance = distance_of_neighbours(pointer, uniform, inst.getDataLayout());
    return !distance || std::abs(*distance) >= cache_line;
  });
}

}  // namespace

bool join_blocks(kernel& kernel) {
  place_finder finder(*kernel.body);
  auto width = finder.solve();
  if (!width) {
    return false;
  }
  if (knows_rows(*kernel.body)) {
    kernel.row_threads =
        goes_down_columns(*kernel.body) ? longest_row_of_columns : longest_row_of_rows;
  }
  finder.loosen();
  kernel.row_width = static_cast<std::uint32_t>(*width);
  kernel.body->addFnAttr(joined_mark);
  return true;
}

bool is_joined(const Function& function) { return function.hasFnAttribute(joined_mark); }

Value* team_width(IRBuilder<>& builder) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto word = [&](StringRef name) {
    return builder.CreateCall(builtin_function(module, name, builder.getInt32Ty()));
  };
  Value* width = word("__sb_ntid_x");
  return is_joined(*builder.GetInsertBlock()->getParent())
             ? builder.CreateNUWMul(width, word("__sb_row_blocks"))
             : width;
}

}  // namespace sb::pass
