#include "compiler/pass/block_function.hpp"

#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/aligned_warps.hpp"
#include "compiler/pass/edge_threads.hpp"
#include "compiler/pass/entry_builder.hpp"
#include "compiler/pass/even_loops.hpp"
#include "compiler/pass/full_blocks.hpp"
#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/leaving_threads.hpp"
#include "compiler/pass/linear_warps.hpp"
#include "compiler/pass/lockstep.hpp"
#include "compiler/pass/reading_ahead.hpp"
#include "compiler/pass/repeated_guards.hpp"
#include "compiler/pass/resumed_threads.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/seams.hpp"
#include "compiler/pass/stride_loops.hpp"
#include "compiler/pass/thread_loops.hpp"
#include "compiler/pass/warp_function.hpp"
#include "compiler/pass/ways_in_turn.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Of the worker's stack, which has 8 MiB.
constexpr std::uint64_t most_context_bytes = 4u << 20;
// That a thread of CUDA may have.
constexpr std::uint64_t most_private_bytes = 512u << 10;

// One loop around the body as it is; threads that only wait need none: the first stands for all.
void build_one_loop(kernel& kernel, Function& function) {
  IRBuilder<> builder(BasicBlock::Create(function.getContext(), "entry", &function));
  builder.SetCurrentDebugLocation(attach_debug_info(function, kernel));
  bind_thread(*kernel.body);
  Value* first = builder.getInt32(0);
  Value* args[] = {function.getArg(0), function.getArg(1), first, first, first};
  std::vector<CallInst*> calls;
  if (kernel.threads_are_alike) {
    calls.push_back(builder.CreateCall(kernel.body, args));
  } else {
    calls = call_for_threads(builder, kernel, *kernel.body, args);
  }
  builder.CreateRetVoid();
  inline_all(calls);
}

// A region of a warp with 32 lanes, and of what is left; and of a warp in a block of whole warps,
// if that is something else.
struct warp_functions {
  Function* whole = nullptr;
  Function* last = nullptr;
  Function* aligned = nullptr;
};

class block_builder : public lockstep_builder {
 public:
  block_builder(const kernel& kernel, Function& function)
      : lockstep_builder(*kernel.body, function, team::block, attach_debug_info(function, kernel)),
        kernel_(kernel),
        by_warps_(has_warp_meetings(*kernel.body)) {}
  ~block_builder() override {
    for (auto [region, warp] : warps_) {
      if (warp.last != warp.whole) {
        warp.last->eraseFromParent();
      }
      warp.whole->eraseFromParent();
      if (warp.aligned) {
        warp.aligned->eraseFromParent();
      }
    }
  }

 private:
  // A region whose warps meet runs warp by warp, and so does one in such a kernel that uses what is
  // the same for each of them: that is known in a loop over a warp's lanes.
  bool prepare(Function& region) override {
    if (!has_warp_meetings(region) && !(by_warps_ && knows_warps(region))) {
      return true;
    }
    drop_marks(region);
    Function* aligned =
        !is_small(region) && knows_more_if_aligned(region) ? build_aligned(region) : nullptr;
    Function* warp = build_warp_function(kernel_, region);
    if (warp && is_small(*warp)) {
      Function* plain = without_vectors(*warp);
      warp->eraseFromParent();
      warp = plain;
      warps_[&region] = {warp, warp};
    } else if (warp) {
      warps_[&region] = {warp, has_linear_warps(*warp) ? without_vectors(*warp) : warp, aligned};
    } else if (aligned) {
      aligned->eraseFromParent();
    }
    return warp != nullptr;
  }

  void run(Function& region, ArrayRef<Value*> args) override {
    if (warp_functions warp = warps_.lookup(&region); warp.whole) {
      if (warp.aligned) {
        run_aligned(*warp.aligned, *warp.whole, args);
      } else if (is_small(*warp.whole)) {
        calls_.push_back(call_for_warps(builder_, *warp.whole, args, warp_size::any));
      } else {
        append_range(calls_, call_for_warps(builder_, *warp.whole, *warp.last, args));
      }
    } else {
      bind_thread(region);
      append_range(calls_, call_for_threads(builder_, kernel_, region, args));
    }
  }

  // One function for all warps, without vectors.
  static bool is_small(const Function& warp) {
    return is_seldom_run(warp) || has_resumed_warps(warp);
  }

  Function* build_aligned(Function& region) {
    ValueToValueMapTy map;
    Function* copy = CloneFunction(&region, map);
    mark_aligned_warps(*copy);
    Function* warp = build_warp_function(kernel_, *copy);
    copy->eraseFromParent();
    return warp;
  }

  // There are two of them already: all warps of other blocks are run as if they were the last.
  void run_aligned(Function& aligned, Function& any, ArrayRef<Value*> args) {
    auto block = [&](const char* name) {
      return BasicBlock::Create(function_.getContext(), name, &function_);
    };
    BasicBlock *whole = block("aligned.warps"), *other = block("other.warps"),
               *behind = block("warps.done");
    builder_.CreateCondBr(is_aligned(builder_), whole, other);
    builder_.SetInsertPoint(whole);
    calls_.push_back(call_for_warps(builder_, aligned, args, warp_size::whole));
    builder_.CreateBr(behind);
    builder_.SetInsertPoint(other);
    calls_.push_back(call_for_warps(builder_, any, args, warp_size::any));
    builder_.CreateBr(behind);
    builder_.SetInsertPoint(behind);
  }

  void count_members() override {
    Value* count = builder_.CreateZExt(team_width(builder_), builder_.getInt64Ty());
    for (const char* name : {"__sb_ntid_y", "__sb_ntid_z"}) {
      auto size = builtin_function(*function_.getParent(), name, builder_.getInt32Ty());
      Value* wide = builder_.CreateZExt(builder_.CreateCall(size), builder_.getInt64Ty());
      count = builder_.CreateNUWMul(count, wide);
    }
    count_ = count;
  }

  Value* array(Type* type, const Twine& name) override {
    IRBuilder<> at(entry_->getTerminator());
    auto* memory = at.CreateAlloca(type, count_, name);
    memory->setAlignment(Align(64));  // arrays begin on cache lines
    return memory;
  }

  Value* frames(Type* type, const Twine& name) override {
    if (context_bytes() <= most_context_bytes / kernel_.max_threads) {
      return array(type, name);
    }
    IRBuilder<> at(entry_->getTerminator());
    const DataLayout& layout = function_.getParent()->getDataLayout();
    Value* bytes = at.CreateNUWMul(count_, at.getInt64(layout.getTypeAllocSize(type)));
    auto memory = runtime_function(*function_.getParent(), slot::private_memory, at.getPtrTy(),
                                   {at.getInt32Ty(), at.getInt64Ty()});
    return at.CreateCall(memory, {at.getInt32(large_frames_++), bytes}, name);
  }

  const kernel& kernel_;
  bool by_warps_;  // rows of the block consist of whole warps
  DenseMap<Function*, warp_functions> warps_;
  Value* count_ = nullptr;
  std::uint32_t large_frames_ = 0;  // that are not on the stack
};

// What a row of joined blocks keeps for its threads should stay in a cache next to the core.
void shorten_rows(kernel& kernel, std::uint64_t bytes_per_thread) {
  if (is_joined(*kernel.body) && bytes_per_thread != 0) {
    kernel.row_threads = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(kernel.row_threads, kernel.most_row_bytes / bytes_per_thread));
  }
}

// Of the blocks that a body with warp operations runs.
std::uint32_t needs_of(const Function& body) {
  const std::uint32_t aligned =
      has_aligned_warps(body) ? abi::needs_whole_warps | abi::needs_few_blocks : 0u;
  if (!has_linear_warps(body)) {
    return aligned | abi::needs_whole_rows;
  }
  return aligned | (is_for_one_layer(body) ? abi::needs_one_layer : 0u);
}

void replace_body(kernel& kernel, Function& function) {
  kernel.body->eraseFromParent();
  kernel.body = &function;
}

}  // namespace

namespace {

// What a kernel's barriers are to the loops over its threads.
struct preparation {
  std::vector<meeting> barriers;
  std::vector<BasicBlock*> needed;  // cuts
  std::vector<BasicBlock*> rounds;  // cuts that are there for speed
};

preparation prepare(Function& body) {
  preparation how;
  how.rounds = separate_common_rounds(body, team::block);
  append_range(how.rounds, find_even_loops(body));
  put_ways_in_turn(body);
  repeat_guards(body);
  append_range(how.rounds, find_edge_threads(body));
  append_range(how.rounds, find_seams(body, how.rounds));
  how.barriers = find_barriers(body);
  return how;
}

bool build(kernel& kernel, preparation& how) {
  Function& body = *kernel.body;
  auto& [barriers, needed, rounds] = how;
  bool warps_meet = has_warp_meetings(body);
  insert_tallies(barriers);
  // Meetings that are there for speed must not be what makes the others impossible.
  std::vector<std::vector<BasicBlock*>> attempts = {rounds, {}};
  for (std::vector<BasicBlock*>& cuts : attempts) {
    if (cuts.empty()) {
      drop_marks(body);
    }
    append_range(cuts, needed);
    if (cuts.empty() && barriers.empty() && !warps_meet) {
      Function& function = *create_entry(kernel);
      build_one_loop(kernel, function);
      replace_body(kernel, function);
      return true;
    }
    Function& function = *create_entry(kernel);
    block_builder builder(kernel, function);
    std::uint64_t most_bytes = most_context_bytes / kernel.max_threads;
    if (builder.plan(barriers, cuts, most_bytes, most_private_bytes) && builder.build()) {
      shorten_rows(kernel, builder.context_bytes());
      kernel.needs = warps_meet ? needs_of(body) : 0;
      replace_body(kernel, function);
      return true;
    }
    function.eraseFromParent();
  }
  remove_tallies(barriers);
  return false;
}

bool build_resumed(kernel& kernel, resumed_body made) {
  preparation how{
      .barriers = std::move(made.barriers), .needed = {}, .rounds = std::move(made.rounds)};
  return !how.barriers.empty() && build(kernel, how);
}

}  // namespace

bool build_block_function(kernel& kernel) {
  preparation how = prepare(*kernel.body);
  return build(kernel, how);
}

bool build_for_leaving_threads(kernel& kernel) {
  separate_full_before_barriers(*kernel.body);
  preparation how = prepare(*kernel.body);
  return lead_leaving_threads(*kernel.body, how.barriers, how.needed) && build(kernel, how);
}

bool build_for_resumed_threads(kernel& kernel, resumed_from begin, bool aligned) {
  if (aligned) {
    mark_aligned_warps(*kernel.body);
  }
  return build_resumed(kernel, resume_threads(kernel, begin));
}

bool build_for_resumed_lanes(kernel& kernel, resumed_from begin) {
  return build_resumed(kernel, resume_lanes(kernel, begin));
}

}  // namespace sb::pass
