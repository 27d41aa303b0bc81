#include "compiler/pass/writing_ahead.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <set>

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::int64_t line_bytes = 64;
constexpr std::size_t least_lines = 4, most_lines = 64;  // of one place
constexpr unsigned deepest = 12;
// Instructions for each line that is stored. Where there is less to do the memory is what takes the
// time, and it has half as much again to do for lines that are read before they are written.
constexpr std::size_t least_work = 32;

// Values of a round, made at its beginning: those of this round, or of the next.
class round_values {
 public:
  explicit round_values(BasicBlock& loop)
      : loop_(loop), builder_(&loop, loop.getFirstInsertionPt()) {}

  // Null if it takes more than arithmetic.
  Value* make(Value* value, bool next, unsigned depth = 0) {
    auto* inst = dyn_cast<Instruction>(value);
    if (!inst || inst->getParent() != &loop_) {
      return value;
    }
    if (auto* phi = dyn_cast<PHINode>(inst)) {
      return next ? make(phi->getIncomingValueForBlock(&loop_), false, depth + 1) : phi;
    }
    Value*& made = made_[{inst, next}];
    if (made) {
      return made;
    }
    if (depth == deepest || inst->mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(inst)) {
      return nullptr;
    }
    SmallVector<Value*, 4> operands;
    for (Value* operand : inst->operands()) {
      operands.push_back(make(operand, next, depth + 1));
      if (!operands.back()) {
        return nullptr;
      }
    }
    Instruction* fresh = inst->clone();
    for (unsigned i = 0; i < operands.size(); ++i) {
      fresh->setOperand(i, operands[i]);
    }
    // There may be no next round, and then nothing is promised of it.
    fresh->dropPoisonGeneratingFlags();
    fresh->dropDbgRecords();
    return made_[{inst, next}] = builder_.Insert(fresh);
  }

  IRBuilder<>& builder() { return builder_; }

 private:
  BasicBlock& loop_;
  IRBuilder<> builder_;
  std::map<std::pair<Instruction*, bool>, Value*> made_;
};

}  // namespace

void write_ahead(BasicBlock& loop) {
  const DataLayout& layout = loop.getModule()->getDataLayout();
  MapVector<Value*, std::set<std::int64_t>> places;
  std::size_t work = 0, stored = 0;
  for (Instruction& inst : loop) {
    work += !isa<PHINode, GetElementPtrInst, CastInst>(inst) && !inst.isDebugOrPseudoInst();
    auto* store = dyn_cast<StoreInst>(&inst);
    if (store && store->isSimple() &&
        !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()))) {
      APInt offset(64, 0);
      Value* base = store->getPointerOperand()->stripAndAccumulateConstantOffsets(
          layout, offset, /*AllowNonInbounds=*/true);
      places[base].insert(divideFloorSigned(offset.getSExtValue(), line_bytes));
    }
  }
  for (auto& [base, lines] : places) {
    stored += lines.size();
  }
  if (work < least_work * stored) {
    return;
  }
  round_values values(loop);
  for (auto& [base, lines] : places) {
    // What does not move is where it was.
    if (lines.size() < least_lines || lines.size() > most_lines || !isa<Instruction>(base) ||
        cast<Instruction>(base)->getParent() != &loop) {
      continue;
    }
    Value* next = values.make(base, true);
    if (!next) {
      continue;
    }
    IRBuilder<>& builder = values.builder();
    for (std::int64_t line : lines) {
      Value* at = builder.CreateConstGEP1_64(builder.getInt8Ty(), next,
                                             static_cast<std::uint64_t>(line * line_bytes));
      Value* how[] = {at, builder.getInt32(1), builder.getInt32(3), builder.getInt32(1)};
      builder.CreateIntrinsic(Intrinsic::prefetch, {builder.getPtrTy()}, how);
    }
  }
}

}  // namespace sb::pass
