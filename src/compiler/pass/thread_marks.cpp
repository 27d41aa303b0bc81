#include "compiler/pass/thread_marks.hpp"

#include <llvm/Transforms/Utils/LoopUtils.h>

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral thread_loop_mark = "sb.thread_loop";
constexpr StringLiteral row_loop_mark = "sb.row_loop";
constexpr StringLiteral lane_loop_mark = "sb.lane_loop";
constexpr StringLiteral whole_warp_mark = "sb.whole_warp";
constexpr StringLiteral unroll_disable = "llvm.loop.unroll.disable";

}  // namespace

bool ends_block_loop(const Instruction& branch) {
  MDNode* id = branch.getMetadata(LLVMContext::MD_loop);
  return id && findOptionMDForLoopID(id, thread_loop_mark) &&
         !findOptionMDForLoopID(id, row_loop_mark);
}

bool is_thread_loop(const Loop& loop) {
  return findOptionMDForLoop(&loop, thread_loop_mark) != nullptr;
}

bool is_row_loop(const Loop& loop) { return findOptionMDForLoop(&loop, row_loop_mark) != nullptr; }

bool is_lane_loop(const Loop& loop) {
  return findOptionMDForLoop(&loop, lane_loop_mark) != nullptr;
}

void mark_thread_loop(Instruction& branch, thread_loop kind) {
  LLVMContext& context = branch.getContext();
  SmallVector<Metadata*, 4> marks = {nullptr};
  auto mark = [&](StringRef name) {
    marks.push_back(MDNode::get(context, MDString::get(context, name)));
  };
  mark(thread_loop_mark);
  if (kind == thread_loop::of_row) {
    mark(row_loop_mark);
  } else if (kind == thread_loop::of_warp) {
    mark(lane_loop_mark);
    mark(unroll_disable);
  }
  auto* id = MDNode::getDistinct(context, marks);
  id->replaceOperandWith(0, id);
  branch.setMetadata(LLVMContext::MD_loop, id);
}

void mark_whole_warp(Instruction& branch) {
  branch.setMetadata(whole_warp_mark, MDNode::get(branch.getContext(), {}));
}

bool asks_for_whole_warp(const Instruction& branch) { return branch.hasMetadata(whole_warp_mark); }

void let_lane_loops_go(LoopInfo& loops) {
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (is_lane_loop(*loop)) {
      loop->setLoopID(makePostTransformationMetadata(loop->getHeader()->getContext(),
                                                     loop->getLoopID(), {unroll_disable}, {}));
    }
  }
}

}  // namespace sb::pass
