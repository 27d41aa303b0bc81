#include "compiler/pass/stride_matching.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>

#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/thread_extent.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned largest_loop = 400;  // instructions

// `i < n` or `i <= n`, with the index on the left; nothing for other conditions.
std::optional<limit_test> test_of(Value* condition, const uniformity& uniform) {
  auto* compare = dyn_cast<ICmpInst>(condition);
  if (!compare || !compare->getOperand(0)->getType()->isIntegerTy()) {
    return std::nullopt;
  }
  limit_test found = {compare->getPredicate(), compare->getOperand(0), compare->getOperand(1)};
  if (uniform.is_uniform(found.index)) {
    std::swap(found.index, found.limit);
    found.predicate = CmpInst::getSwappedPredicate(found.predicate);
  }
  bool bounds = found.predicate == CmpInst::ICMP_SLT || found.predicate == CmpInst::ICMP_ULT ||
                found.predicate == CmpInst::ICMP_SLE || found.predicate == CmpInst::ICMP_ULE;
  return bounds && uniform.is_uniform(found.limit) ? std::optional(found) : std::nullopt;
}

// Nothing in the block but computations.
bool is_pure(const BasicBlock& block) {
  return all_of(block, [](const Instruction& inst) {
    return isa<PHINode>(inst) || inst.isTerminator() || inst.isDebugOrPseudoInst() ||
           isSafeToSpeculativelyExecute(&inst);
  });
}

// Threads may be reordered between rounds: nothing in the loop asks the engine, or meets.
bool is_free(const Loop& loop) {
  unsigned size = 0;
  for (BasicBlock* block : loop.blocks()) {
    for (Instruction& inst : *block) {
      auto* call = dyn_cast<CallBase>(&inst);
      if ((call && (called_slot(*call) || call->isConvergent() || !call->getCalledFunction() ||
                    !call->getCalledFunction()->isDeclaration())) ||
          isa<AllocaInst, FenceInst>(inst) || ++size > largest_loop) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

std::optional<stride_loop> match_stride_loop(Loop& loop, const uniformity& uniform) {
  if (!is_free(loop)) {
    return std::nullopt;
  }
  BasicBlock* preheader = loop.getLoopPreheader();
  BasicBlock* latch = loop.getLoopLatch();
  BasicBlock* exit = loop.getExitBlock();
  if (!loop.isInnermost() || !preheader || !latch || !exit || loop.getExitingBlock() != latch ||
      !exit->getSinglePredecessor() || !exit->getSingleSuccessor() || !is_pure(*exit)) {
    return std::nullopt;
  }
  stride_loop found = {};
  found.loop = &loop;
  found.guard = preheader->getSinglePredecessor();
  found.after = exit->getSingleSuccessor();
  auto* entrance = found.guard ? dyn_cast<BranchInst>(found.guard->getTerminator()) : nullptr;
  auto* back = dyn_cast<BranchInst>(latch->getTerminator());
  if (!entrance || !entrance->isConditional() || entrance->getSuccessor(0) != preheader ||
      entrance->getSuccessor(1) != found.after || !back || !back->isConditional() ||
      back->getSuccessor(0) != loop.getHeader() || !uniform.is_reached_together(found.guard) ||
      &*preheader->begin() != preheader->getTerminator()) {
    return std::nullopt;
  }
  auto enters = test_of(entrance->getCondition(), uniform);
  auto stays = test_of(back->getCondition(), uniform);
  if (!enters || !stays || enters->predicate != stays->predicate || enters->limit != stays->limit ||
      uniform.is_uniform(enters->index)) {
    return std::nullopt;
  }
  for (PHINode& phi : loop.getHeader()->phis()) {
    if (phi.getIncomingValueForBlock(latch) == stays->index &&
        phi.getIncomingValueForBlock(preheader) == enters->index) {
      found.index = &phi;
    }
  }
  auto* next = dyn_cast<BinaryOperator>(stays->index);
  if (!found.index || !next || next->getOpcode() != Instruction::Add) {
    return std::nullopt;
  }
  found.step = next->getOperand(next->getOperand(0) == found.index ? 1 : 0);
  found.start = enters->index;
  found.condition = *enters;
  bool steps = is_contained(next->operands(), found.index) && uniform.is_uniform(found.step) &&
               loop.isLoopInvariant(found.condition.limit);
  if (!steps || !grows_with_thread(found.start, uniform)) {
    return std::nullopt;
  }
  return found;
}

Value* counting_thread(const stride_loop& found, const uniformity& uniform) {
  // In a warp it is the lane's number.
  StringRef name = uniform.of() == team::warp ? "__sb_laneid" : "__sb_tid_x";
  auto is_thread = [&](const Value* value) {
    auto* call =
        dyn_cast<CallBase>(isa<ZExtInst>(value) ? cast<ZExtInst>(value)->getOperand(0) : value);
    return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
  };
  if (is_thread(found.start)) {
    return found.start;
  }
  auto* sum = dyn_cast<BinaryOperator>(found.start);
  if (!sum || sum->getOpcode() != Instruction::Add) {
    return nullptr;
  }
  Value* thread = sum->getOperand(is_thread(sum->getOperand(0)) ? 0 : 1);
  Value* rest = sum->getOperand(thread == sum->getOperand(0) ? 1 : 0);
  return is_thread(thread) && uniform.is_uniform(rest) ? thread : nullptr;
}

void load_limit_once(Loop& loop) {
  BasicBlock* preheader = loop.getLoopPreheader();
  BasicBlock* guard = preheader ? preheader->getSinglePredecessor() : nullptr;
  BasicBlock* latch = loop.getLoopLatch();
  auto* back = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
  auto* compare =
      back && back->isConditional() ? dyn_cast<ICmpInst>(back->getCondition()) : nullptr;
  auto writes = [](const Instruction& inst) { return inst.mayWriteToMemory(); };
  if (!guard || !compare || any_of(*preheader, writes) ||
      any_of(loop.blocks(), [&](BasicBlock* block) { return any_of(*block, writes); })) {
    return;
  }
  for (Value* operand : compare->operands()) {
    auto* load = dyn_cast<LoadInst>(operand);
    if (!load || !load->isSimple() || !loop.contains(load)) {
      continue;
    }
    for (Instruction& inst : reverse(*guard)) {
      auto* first = dyn_cast<LoadInst>(&inst);
      if (writes(inst)) {
        return;
      }
      if (first && first->isSimple() && first->getType() == load->getType() &&
          first->getPointerOperand() == load->getPointerOperand()) {
        load->replaceAllUsesWith(first);
        load->eraseFromParent();
        break;
      }
    }
  }
}

}  // namespace sb::pass
