#include "compiler/pass/block_costs.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/bit.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <optional>

#include "base/device_abi.hpp"
#include "compiler/pass/alignment.hpp"
#include "compiler/pass/instruction_costs.hpp"
#include "compiler/pass/operation_counts.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned most_joined_bytes = 16;
constexpr unsigned most_unrolled = 16, least_unrolled = 4, largest_unrolled_body = 60;
constexpr unsigned most_carried = 8;
constexpr unsigned most_mixed = 2;
// Only to tell which way is the longest.
constexpr std::uint64_t load_in_steps = 100;

struct wait {
  std::uint64_t steps = 0, loads = 0;
  [[nodiscard]] std::uint64_t length() const { return steps + load_in_steps * loads; }
  bool operator<(const wait& other) const { return length() < other.length(); }
};

wait after(wait before, const instruction_cost& cost) {
  return {before.steps + cost.steps, before.loads + (cost.loads ? 1 : 0)};
}

// The longest way from the beginning of the block, or from one of its phis, to each instruction.
class ways {
 public:
  ways(const BasicBlock& block, const PHINode* from) {
    wait branched;  // up to the last one that does
    for (const Instruction& inst : block) {
      if (isa<PHINode>(inst)) {
        if (&inst == from) {
          found_[&inst] = {};
        }
        continue;
      }
      bool reached = from == nullptr;
      wait longest;
      for (const Use& operand : inst.operands()) {
        if (auto known = found_.find(operand.get()); known != found_.end()) {
          longest = std::max(longest, known->second);
          reached = true;
        }
      }
      if (reached) {
        const instruction_cost cost = cost_of(inst);
        if (cost.branches) {
          longest = std::max(longest, branched);
        }
        found_[&inst] = after(longest, cost);
        if (cost.branches) {
          branched = found_[&inst];
        }
        longest_ = std::max(longest_, found_[&inst]);
      }
    }
  }
  [[nodiscard]] wait longest() const { return longest_; }
  [[nodiscard]] wait to(const Value* value) const { return found_.lookup(value); }

 private:
  DenseMap<const Value*, wait> found_;
  wait longest_;
};

bool is_loop(const BasicBlock& block) { return is_contained(successors(&block), &block); }

// What a value that a round hands to the next one has to wait for.
wait carried_wait(const BasicBlock& block) {
  wait longest;
  unsigned seen = 0;
  for (const PHINode& phi : block.phis()) {
    if (++seen > most_carried) {
      break;
    }
    longest = std::max(longest, ways(block, &phi).to(phi.getIncomingValueForBlock(&block)));
  }
  return longest;
}

// The phi that the loop counts with in constant steps, if it does.
const PHINode* constant_counter(const BasicBlock& block) {
  auto* branch = dyn_cast<BranchInst>(block.getTerminator());
  auto* compare =
      branch && branch->isConditional() ? dyn_cast<CmpInst>(branch->getCondition()) : nullptr;
  if (!compare) {
    return nullptr;
  }
  for (const PHINode& phi : block.phis()) {
    auto* next = dyn_cast<Instruction>(phi.getIncomingValueForBlock(&block));
    bool counts = next && next->getParent() == &block && next->getNumOperands() == 2 &&
                  (next->getOpcode() == Instruction::Add || isa<GetElementPtrInst>(next)) &&
                  next->getOperand(0) == &phi && isa<ConstantInt>(next->getOperand(1));
    if (counts &&
        (is_contained(compare->operands(), next) || is_contained(compare->operands(), &phi))) {
      return &phi;
    }
  }
  return nullptr;
}

// Whether loads of the next round may have to see what this one writes.
bool stores(const BasicBlock& block) {
  return any_of(block, [](const Instruction& inst) {
    const Value* pointer = isa<StoreInst>(inst) ? getLoadStorePointerOperand(&inst) : nullptr;
    return pointer && space_of(pointer) == space::global;
  });
}

// What an unrolled loop does once for several rounds: counting, and the addresses that follow.
bool is_for_going_round(const Instruction& inst, const BasicBlock& block, const PHINode& counter) {
  if (inst.isTerminator() || &inst == counter.getIncomingValueForBlock(&block) ||
      &inst == cast<BranchInst>(block.getTerminator())->getCondition()) {
    return true;
  }
  if (isa<GetElementPtrInst>(inst)) {
    return true;
  }
  // Of an address: counter * width + place.
  return inst.getType()->isIntegerTy() && !inst.use_empty() &&
         all_of(inst.users(), [](const User* user) { return isa<GetElementPtrInst>(user); });
}

// A fused multiply-add of single precision: what it reads, without signs. Else empty.
struct fused {
  SmallVector<const Value*, 2> factors;
  const Value* summand = nullptr;
  explicit operator bool() const { return summand != nullptr; }
};

const Value* without_sign(const Value* value) {
  auto* inst = dyn_cast<Instruction>(value);
  return inst && inst->getOpcode() == Instruction::FNeg ? without_sign(inst->getOperand(0)) : value;
}

fused as_fused(const Instruction& inst) {
  fused found;
  if (!inst.getType()->isFloatTy()) {
    return found;
  }
  auto take = [&](const User& product, const Value* summand) {
    found.factors = {without_sign(product.getOperand(0)), without_sign(product.getOperand(1))};
    found.summand = without_sign(summand);
  };
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    const Function* callee = call->getCalledFunction();
    const StringRef name = callee ? callee->getName() : "";
    if (name == "fmaf" || name.starts_with("llvm.fma.") || name.starts_with("llvm.fmuladd.")) {
      take(*call, call->getArgOperand(2));
    }
  } else if (inst.getOpcode() == Instruction::FAdd || inst.getOpcode() == Instruction::FSub) {
    for (unsigned i : {0u, 1u}) {
      auto* product = dyn_cast<Instruction>(inst.getOperand(i));
      if (!found && product && product->getOpcode() == Instruction::FMul &&
          joins_its_user(*product)) {
        take(*product, inst.getOperand(1 - i));
      }
    }
  }
  return found;
}

// What an instruction has without reading a register: numbers, and one parameter of the kernel.
bool is_parameter(const Value* value) {
  auto* load = dyn_cast<LoadInst>(value);
  const space where = load ? space_of(load->getPointerOperand()) : space::global;
  return load && (where == space::own || where == space::constant);
}

unsigned registers_of(const fused& one) {
  SmallPtrSet<const Value*, 3> different;
  bool parameter = false;
  for (const Value* value : {one.factors[0], one.factors[1], one.summand}) {
    if (isa<Constant>(value)) {
      continue;
    }
    if (is_parameter(value) && !parameter) {
      parameter = true;
      continue;
    }
    different.insert(value);
  }
  return different.size();
}

// Whether the second finds an operand where the first one has read it: in the same place, and the
// second has to follow at once.
bool shares_operand(const fused& first, const Instruction& from, const fused& second) {
  for (const Value* value : {second.factors[0], second.factors[1], second.summand}) {
    auto* phi = dyn_cast<PHINode>(value);
    const BasicBlock* block = from.getParent();
    bool handed_on = phi && phi->getParent() == block && phi->getBasicBlockIndex(block) >= 0 &&
                     phi->getIncomingValueForBlock(block) == &from;
    if (value == &from || handed_on) {
      return false;
    }
  }
  return first.summand == second.summand || is_contained(first.factors, second.factors[0]) ||
         is_contained(first.factors, second.factors[1]);
}

// A scheduler's registers are in two banks that give one operand at a time: what wants three of
// them takes the time of two instructions, unless it shares one with the multiply-add before it.
std::uint64_t register_turns(const BasicBlock& block) {
  std::uint64_t turns = 0;
  const Instruction* before = nullptr;
  if (is_loop(block)) {
    for (const Instruction& inst : block) {
      before = as_fused(inst) ? &inst : before;
    }
  }
  for (const Instruction& inst : block) {
    if (const fused one = as_fused(inst)) {
      if (registers_of(one) > 2 && !(before && shares_operand(as_fused(*before), *before, one))) {
        ++turns;
      }
      before = &inst;
    }
  }
  return turns;
}

struct accessed {
  Instruction* inst;
  std::int64_t offset;
  std::uint64_t bytes;
  Align align;
};

// An address without its constant part.
struct address_base {
  const Value* object = nullptr;
  SmallVector<std::pair<const Value*, std::int64_t>, 2> variable;  // values and what they count in
  unsigned opcode = 0;                                             // of the access
  bool operator==(const address_base& other) const {
    return object == other.object && variable == other.variable && opcode == other.opcode;
  }
};

address_base base_of(const Value* pointer, std::int64_t& offset, const DataLayout& layout) {
  address_base found;
  const unsigned width = layout.getIndexTypeSizeInBits(pointer->getType());
  while (auto* step = dyn_cast<GEPOperator>(pointer)) {
    auto* inst = dyn_cast<Instruction>(step);
    if (!inst || !is_alignment_mark(*inst)) {
      MapVector<Value*, APInt> variable;
      APInt constant(width, 0);
      if (!step->collectOffset(layout, width, variable, constant)) {
        break;
      }
      offset += constant.getSExtValue();
      for (auto& [value, scale] : variable) {
        found.variable.push_back({value, scale.getSExtValue()});
      }
    }
    pointer = step->getPointerOperand();
  }
  found.object = pointer;
  return found;
}

// Addresses that differ in a constant are one: the rest is in the accesses.
bool is_known_address(const Instruction& inst, SmallVectorImpl<address_base>& known) {
  if (!isa<GetElementPtrInst>(inst)) {
    return false;
  }
  std::int64_t offset = 0;
  address_base base = base_of(&inst, offset, inst.getDataLayout());
  if (is_contained(known, base)) {
    return true;
  }
  known.push_back(std::move(base));
  return false;
}

// Shared variables lie at multiples of what the widest access wants.
Align shared_alignment(const address_base& base, std::int64_t offset) {
  std::uint64_t bits = most_joined_bytes | static_cast<std::uint64_t>(offset);
  for (const auto& [value, scale] : base.variable) {
    bits |= static_cast<std::uint64_t>(scale);
  }
  return Align(bits & -bits);
}

std::optional<accessed> as_access(Instruction& inst, address_base& base) {
  Value* pointer = getLoadStorePointerOperand(&inst);
  if (!pointer || inst.isVolatile() || inst.isAtomic()) {
    return std::nullopt;
  }
  const DataLayout& layout = inst.getDataLayout();
  accessed found{&inst, 0, layout.getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue(),
                 getLoadStoreAlignment(&inst)};
  base = base_of(pointer, found.offset, layout);
  if (space_of(pointer) == space::shared) {
    found.align = std::max(found.align, shared_alignment(base, found.offset));
  }
  base.opcode = inst.getOpcode();
  return found;
}

}  // namespace

joined_accesses::joined_accesses(BasicBlock& block) {
  SmallVector<std::pair<address_base, SmallVector<accessed, 4>>, 4> by_base;
  for (Instruction& inst : block) {
    address_base base;
    if (auto one = as_access(inst, base)) {
      auto* known = find_if(by_base, [&](const auto& other) { return other.first == base; });
      if (known == by_base.end()) {
        by_base.push_back({std::move(base), {}});
        known = &by_base.back();
      }
      known->second.push_back(*one);
    }
  }
  for (auto& [key, all] : by_base) {
    // Few, and mostly in order: by insertion, which keeps equal ones as they are.
    for (accessed* one = all.begin(); one != all.end(); ++one) {
      std::rotate(std::upper_bound(
                      all.begin(), one, *one,
                      [](const accessed& a, const accessed& b) { return a.offset < b.offset; }),
                  one, one + 1);
    }
    for (std::size_t first = 0; first < all.size();) {
      std::size_t end = first + 1, joined = end;
      std::uint64_t sum = all[first].bytes;
      while (end < all.size() &&
             all[end].offset == all[first].offset + static_cast<std::int64_t>(sum) &&
             sum + all[end].bytes <= most_joined_bytes) {
        sum += all[end++].bytes;
        if (isPowerOf2_64(sum) && all[first].align.value() >= sum) {
          joined = end;
        }
      }
      if (joined != first + 1) {
        std::uint64_t together = 0;
        for (std::size_t i = first; i < joined; ++i) {
          together += all[i].bytes;
          if (i != first) {
            done.insert(all[i].inst);
          }
        }
        bytes[all[first].inst] = together;
      }
      first = joined;
    }
  }
}

block_cost cost_of(BasicBlock& block, const joined_accesses& joined) {
  block_cost sum;
  const PHINode* counter = is_loop(block) ? constant_counter(block) : nullptr;
  unsigned body = 0;
  for (const Instruction& inst : block) {
    if (counter && !joined.done.contains(&inst) && !is_for_going_round(inst, block, *counter)) {
      body += cost_of(inst).issued;
    }
  }
  unsigned unrolled = 1;
  if (counter && body <= largest_unrolled_body) {
    unrolled =
        std::clamp(static_cast<unsigned>(llvm::bit_floor(most_unrolled / std::max(body, 1u))),
                   least_unrolled, most_unrolled);
  }
  SmallVector<address_base, 8> addresses;
  for (const Instruction& inst : block) {
    if (joined.done.contains(&inst) || is_known_address(inst, addresses)) {
      continue;
    }
    const instruction_cost cost = cost_of(inst);
    bool shared = counter && is_for_going_round(inst, block, *counter);
    const std::uint64_t part = abi::spent_unit / (shared ? unrolled : 1);
    sum.issued += cost.issued * part;
    sum.fp32 += cost.fp32;
    sum.fp64 += cost.fp64;
    sum.logic += shared && unrolled > 1 ? 0 : cost.logic;
    sum.special += cost.special;
  }
  sum.issued += register_turns(block) * abi::spent_unit;
  const wait alone = ways(block, nullptr).longest();
  // Loads come first where no store is between them; the rest is mixed but in part.
  const unsigned mixed = std::min(unrolled, most_mixed), early = stores(block) ? 1 : unrolled;
  sum.steps = alone.steps * abi::spent_unit / mixed;
  sum.loads = alone.loads * abi::spent_unit / early;
  if (unrolled > 1) {
    const wait carried = carried_wait(block);
    sum.steps = std::max(sum.steps, carried.steps * abi::spent_unit);
    sum.loads = std::max(sum.loads, carried.loads * abi::spent_unit);
  }
  return sum;
}

}  // namespace sb::pass
