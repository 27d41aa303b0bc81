#include "compiler/pass/thread_loops.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/assertions.hpp"
#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/linear_warps.hpp"
#include "compiler/pass/reading_ahead.hpp"
#include "compiler/pass/region_function.hpp"
#include "compiler/pass/row_groups.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/thread_bounds.hpp"
#include "compiler/pass/thread_marks.hpp"
#include "compiler/pass/turned_rows.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr const char* axes[] = {"x", "y", "z"};

Value* block_size(IRBuilder<>& builder, unsigned axis) {
  if (axis == 0) {
    return team_width(builder);
  }
  Module& module = *builder.GetInsertBlock()->getModule();
  auto builtin =
      builtin_function(module, (Twine("__sb_ntid_") + axes[axis]).str(), builder.getInt32Ty());
  return builder.CreateCall(builtin);
}

Value* linear_index(IRBuilder<>& builder, Value* x, Value* y, Value* z) {
  Value* rows = builder.CreateNUWAdd(y, builder.CreateNUWMul(z, block_size(builder, 1)));
  return builder.CreateNUWAdd(x, builder.CreateNUWMul(rows, block_size(builder, 0)));
}

// In 64 bits, so that the way along x is plainly one by one.
Value* context_index(IRBuilder<>& builder, Value* x, Value* y, Value* z) {
  auto wide = [&](Value* value) { return builder.CreateZExt(value, builder.getInt64Ty()); };
  Value* rows =
      builder.CreateNUWAdd(wide(y), builder.CreateNUWMul(wide(z), wide(block_size(builder, 1))));
  return builder.CreateNUWAdd(builder.CreateNUWMul(rows, wide(block_size(builder, 0))), wide(x));
}

void store_thread_index(IRBuilder<>& builder, Value* self, Value* const index[3],
                        Value* linear = nullptr) {
  auto store = [&](Value* value, std::size_t offset) {
    Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), self, offset);
    // The engine's own memory: what the next kernel stores there is no race with this one.
    builder.CreateStore(value, place)->setNoSanitizeMetadata();
  };
  for (unsigned axis = 0; axis < 3; ++axis) {
    store(index[axis], offsetof(abi::thread_context, tid) + 4 * axis);
  }
  store(linear ? linear : linear_index(builder, index[0], index[1], index[2]),
        offsetof(abi::thread_context, linear_tid));
}

}  // namespace

namespace {

// Replaces the builtins that tell threads apart.
void bind(Function& function, Value* lane, Value* lanes) {
  SmallVector<CallInst*, 16> calls, replaced;
  for (Instruction& inst : instructions(function)) {
    auto* call = dyn_cast<CallInst>(&inst);
    if (call && call->getCalledFunction() && !called_slot(*call) &&
        call->getCalledFunction()->getName().starts_with("__sb_")) {
      calls.push_back(call);
    }
  }
  IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  builder.SetCurrentDebugLocation(DebugLoc());
  Value* tid[] = {function.getArg(2), function.getArg(3), function.getArg(4)};
  Value* linear = nullptr;
  Value* context = nullptr;
  if (lane && has_linear_warps(function)) {
    linear = function.getArg(2);
    context = builder.CreateZExt(linear, builder.getInt64Ty());
    copy(place_of(builder, linear).axis, tid);
  }
  auto linear_tid = [&] {
    return linear ? linear : linear = linear_index(builder, tid[0], tid[1], tid[2]);
  };
  auto first = [&](Value* own) { return lane ? builder.CreateSub(own, lane) : own; };
  for (CallInst* call : calls) {
    StringRef name = call->getCalledFunction()->getName();
    Value* value = nullptr;
    if (name == "__sb_tid_x" || name == "__sb_tid_y" || name == "__sb_tid_z") {
      value = tid[name.back() - 'x'];
    } else if (name == "__sb_linear_tid") {
      value = linear_tid();
    } else if (name == "__sb_laneid") {
      value = lane ? lane : builder.CreateAnd(linear_tid(), 31);
    } else if (name == "__sb_warpid") {
      value = builder.CreateLShr(first(linear_tid()), 5);
    } else if (name == first_tid_name) {
      value = first(tid[0]);
    } else if (name == first_linear_tid_name) {
      value = first(linear_tid());
    } else if (name == context_index_name) {
      value = context ? context : context = context_index(builder, tid[0], tid[1], tid[2]);
    } else if (name == context_lane_name) {
      value = lane;
    } else if (name == warp_lanes_name) {
      value = lanes;
    }
    if (value) {
      call->replaceAllUsesWith(IRBuilder<>(call).CreateZExtOrTrunc(value, call->getType()));
      replaced.push_back(call);
    }
  }
  // Not before: the builder stands at one of them, perhaps.
  for (CallInst* call : replaced) {
    call->eraseFromParent();
  }
}

// A loop from zero to `end`, which is at least one, in steps; the builder stands in its body.
// `next` closes it.
struct counting_loop {
  counting_loop(IRBuilder<>& builder, Value* end, unsigned step, const Twine& name)
      : end_(end), step_(step) {
    BasicBlock* before = builder.GetInsertBlock();
    header_ = BasicBlock::Create(before->getContext(), "for." + name, before->getParent());
    builder.CreateBr(header_);
    builder.SetInsertPoint(header_);
    index = builder.CreatePHI(builder.getInt32Ty(), 2, name);
    index->addIncoming(builder.getInt32(0), before);
  }

  BranchInst* next(IRBuilder<>& builder) {
    Function* function = header_->getParent();
    auto* latch = BasicBlock::Create(header_->getContext(), "next." + index->getName(), function);
    auto* exit = BasicBlock::Create(header_->getContext(), "end." + index->getName(), function);
    builder.CreateBr(latch);
    builder.SetInsertPoint(latch);
    Value* next = builder.CreateAdd(index, builder.getInt32(step_), "", true, true);
    Value* more = step_ == 1 ? builder.CreateICmpNE(next, end_) : builder.CreateICmpULT(next, end_);
    auto* branch = builder.CreateCondBr(more, header_, exit);
    index->addIncoming(next, latch);
    builder.SetInsertPoint(exit);
    return branch;
  }

  PHINode* index;

 private:
  Value* end_;
  unsigned step_;
  BasicBlock* header_;
};

}  // namespace

void bind_thread(Function& function) { bind(function, nullptr, nullptr); }

void bind_lane(Function& function) {
  unsigned count = static_cast<unsigned>(function.arg_size());
  bind(function, function.getArg(count - 2), function.getArg(count - 1));
}

void bind_warp(Function& function) {
  unsigned count = static_cast<unsigned>(function.arg_size());
  bind(function, ConstantInt::get(Type::getInt32Ty(function.getContext()), 0),
       function.getArg(count - 1));
}

namespace {

// A block knows its rows where it has the shape of its tile (usual_blocks.hpp). To write out what
// each of them does gains nothing, but LLVM would, and takes its time.
void leave_as_loop(BranchInst& end) {
  LLVMContext& context = end.getContext();
  auto* told = MDNode::get(context, MDString::get(context, "llvm.loop.unroll.disable"));
  auto* id = MDNode::getDistinct(context, {nullptr, told});
  id->replaceOperandWith(0, id);
  end.setMetadata(LLVMContext::MD_loop, id);
}

// Rows or columns in groups as long as there are enough of them, then one by one.
void in_groups(IRBuilder<>& builder, Value* count, unsigned size, const Twine& name,
               function_ref<void(Value*)> group, function_ref<void(Value*)> single) {
  Function& function = *builder.GetInsertBlock()->getParent();
  auto block = [&](const char* name) {
    return BasicBlock::Create(function.getContext(), name, &function);
  };
  BasicBlock *groups = block("groups"), *rest = block("rest"), *singles = block("singles"),
             *behind = block("groups.done");
  Value* left = builder.CreateURem(count, builder.getInt32(size));
  Value* grouped = builder.CreateSub(count, left);
  builder.CreateCondBr(builder.CreateIsNotNull(grouped), groups, rest);
  builder.SetInsertPoint(groups);
  counting_loop first(builder, grouped, size, name);
  group(first.index);
  leave_as_loop(*first.next(builder));
  builder.CreateBr(rest);
  builder.SetInsertPoint(rest);
  builder.CreateCondBr(builder.CreateIsNotNull(left), singles, behind);
  builder.SetInsertPoint(singles);
  counting_loop next(builder, left, 1, name);
  single(builder.CreateAdd(grouped, next.index, "", true, true));
  leave_as_loop(*next.next(builder));
  builder.CreateBr(behind);
  builder.SetInsertPoint(behind);
}

void call_if(IRBuilder<>& builder, Value* condition, function_ref<void()> call) {
  Function& function = *builder.GetInsertBlock()->getParent();
  auto* there = BasicBlock::Create(function.getContext(), "there", &function);
  auto* behind = BasicBlock::Create(function.getContext(), "behind", &function);
  builder.CreateCondBr(condition, there, behind);
  builder.SetInsertPoint(there);
  call();
  builder.CreateBr(behind);
  builder.SetInsertPoint(behind);
}

// A loop along one axis, over those that have something to do.
void bounded_loop(IRBuilder<>& builder, const axis_bounds& bounds, Value* size, const Twine& name,
                  bool is_row, function_ref<void(Value*)> body) {
  auto loop = [&](Value* begin, Value* count) {
    counting_loop one(builder, count, 1, name);
    body(begin ? builder.CreateAdd(begin, one.index, "", true, true) : one.index);
    if (BranchInst* end = one.next(builder); is_row) {
      leave_as_loop(*end);
    }
  };
  if (bounds.only) {
    call_if(builder, builder.CreateICmpULT(bounds.only, size), [&] { body(bounds.only); });
    return;
  }
  if (!bounds) {
    loop(nullptr, size);
    return;
  }
  Value* end = bounds.end ? builder.CreateBinaryIntrinsic(Intrinsic::umin, bounds.end, size) : size;
  Value* begin = bounds.begin ? bounds.begin : builder.getInt32(0);
  call_if(builder, builder.CreateICmpULT(begin, end),
          [&] { loop(begin, builder.CreateSub(end, begin)); });
}

// Before the threads take their turns.
void read_ahead(IRBuilder<>& builder, Function& function, ArrayRef<Value*> args,
                Value* const size[3]) {
  reads_ahead ahead = split_ahead(function);
  if (!ahead.function) {
    return;
  }
  counting_loop z(builder, size[2], 1, "ahead.z");
  counting_loop y(builder, size[1], 1, "ahead.y");
  counting_loop x(builder, size[0], ahead.threads, "ahead.x");
  Value* index[] = {x.index, y.index, z.index};
  SmallVector<Value*, 16> all(args);
  std::copy_n(index, 3, all.begin() + 2);
  auto* call = builder.CreateCall(ahead.function, all);
  x.next(builder);
  y.next(builder);
  z.next(builder);
  InlineFunctionInfo info;
  InlineFunction(*call, info);
  ahead.function->eraseFromParent();
}

}  // namespace

std::vector<CallInst*> call_for_threads(IRBuilder<>& builder, const kernel& kernel,
                                        Function& function, ArrayRef<Value*> args) {
  bool asserts = go_on_after_assertions(function);
  bool of_row = is_joined(*builder.GetInsertBlock()->getParent());
  Value* size[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    size[axis] = block_size(builder, axis);
  }
  read_ahead(builder, function, args, size);
  std::vector<CallInst*> calls;
  SmallVector<Value*, 16> all(args);
  // A row of joined blocks has threads with the same index again and again.
  thread_bounds bounds = of_row ? thread_bounds() : find_thread_bounds(builder, function, args);
  auto call = [&](Function& callee, Value* row, Value* column) {
    all[2] = column;
    all[3] = row;
    if (kernel.stores_thread_index) {
      store_thread_index(builder, builder.GetInsertBlock()->getParent()->getArg(1), &all[2]);
    }
    calls.push_back(builder.CreateCall(&callee, all));
  };
  bool is_plain = !asserts && !kernel.stores_thread_index && !is_seldom_run(function);
  Function* neighbours = is_plain && !bounds.axis[0] ? for_group_of_neighbours(function) : nullptr;
  auto along_x = [&](Function& callee, Value* row) {
    if (Value* only = bounds.axis[0].only) {
      call_if(builder, builder.CreateICmpULT(only, size[0]), [&] { call(callee, row, only); });
      return;
    }
    if (neighbours) {
      in_groups(
          builder, size[0], neighbours_in_group, "tid.x",
          [&](Value* column) { call(*neighbours, row, column); },
          [&](Value* column) { call(callee, row, column); });
      return;
    }
    counting_loop x(builder, size[0], 1, "tid.x");
    call(callee, row, x.index);
    mark_thread_loop(*x.next(builder), of_row ? thread_loop::of_row : thread_loop::of_block);
  };
  bool by_groups = kernel.usual.rows > 1 && !asserts && !kernel.stores_thread_index && !of_row &&
                   !bounds.axis[0] && !bounds.axis[1] && !neighbours;
  turned_group turned =
      is_plain && !bounds.axis[0] && !bounds.axis[1] ? for_turned_rows(function) : turned_group();
  auto along_y = [&](Value* layer) {
    all[4] = layer;
    if (turned.together) {
      in_groups(
          builder, size[1], turned_rows, "tid.y",
          [&](Value* row) {
            along_x(*turned.together, row);
            counting_loop x(builder, size[0], 1, "tid.x");
            call(*turned.alone, row, x.index);
            leave_as_loop(*x.next(builder));
          },
          [&](Value* row) { along_x(function, row); });
    } else if (Function* group = by_groups ? for_group_of_rows(function) : nullptr) {
      in_groups(
          builder, size[1], rows_in_group, "tid.y", [&](Value* row) { along_x(*group, row); },
          [&](Value* row) { along_x(function, row); });
    } else {
      bounded_loop(builder, bounds.axis[1], size[1], "tid.y", true,
                   [&](Value* row) { along_x(function, row); });
    }
  };
  bounded_loop(builder, bounds.axis[2], size[2], "tid.z", false, along_y);
  if (asserts) {
    end_after_assertions(builder);
  }
  return calls;
}

void inline_all(ArrayRef<CallInst*> calls) {
  for (CallInst* call : calls) {
    Function* callee = call->getCalledFunction();
    InlineFunctionInfo info;
    InlineFunction(*call, info);
    // Nobody else knows it, and what it names would count as the kernel's.
    if (is_for_group(*callee) && callee->use_empty()) {
      callee->eraseFromParent();
    }
  }
}

namespace {

// `call` is given the arguments for a warp, but for the number of its lanes, and how many threads
// are left in its row.
void for_warps(IRBuilder<>& builder, bool linear, ArrayRef<Value*> args,
               function_ref<void(SmallVectorImpl<Value*>&, Value*)> call) {
  Value* size[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    size[axis] = block_size(builder, axis);
  }
  if (linear) {
    size[0] = builder.CreateNUWMul(builder.CreateNUWMul(size[0], size[1]), size[2]);
    size[1] = size[2] = builder.getInt32(1);
  }
  counting_loop z(builder, size[2], 1, "tid.z");
  counting_loop y(builder, size[1], 1, "tid.y");
  counting_loop x(builder, size[0], 32, "tid.x");
  SmallVector<Value*, 16> all(args);
  all[2] = x.index;
  all[3] = y.index;
  all[4] = z.index;
  call(all, builder.CreateSub(size[0], x.index));
  x.next(builder);
  y.next(builder);
  z.next(builder);
}

}  // namespace

std::vector<CallInst*> call_for_warps(IRBuilder<>& builder, Function& whole, Function& last,
                                      ArrayRef<Value*> args) {
  std::vector<CallInst*> calls;
  for_warps(builder, has_linear_warps(whole), args, [&](SmallVectorImpl<Value*>& all, Value* left) {
    Function& caller = *builder.GetInsertBlock()->getParent();
    auto* full = BasicBlock::Create(caller.getContext(), "whole.warp", &caller);
    auto* part = BasicBlock::Create(caller.getContext(), "last.warp", &caller);
    auto* join = BasicBlock::Create(caller.getContext(), "after.warp", &caller);
    mark_whole_warp(
        *builder.CreateCondBr(builder.CreateICmpUGE(left, builder.getInt32(32)), full, part));
    for (BasicBlock* block : {full, part}) {
      builder.SetInsertPoint(block);
      all.back() = block == full ? builder.getInt32(32) : left;
      calls.push_back(builder.CreateCall(block == full ? &whole : &last, all));
      builder.CreateBr(join);
    }
    builder.SetInsertPoint(join);
  });
  return calls;
}

CallInst* call_for_warps(IRBuilder<>& builder, Function& warp, ArrayRef<Value*> args,
                         warp_size size) {
  CallInst* made = nullptr;
  for_warps(builder, has_linear_warps(warp), args, [&](SmallVectorImpl<Value*>& all, Value* left) {
    Value* most = builder.getInt32(32);
    all.back() = size == warp_size::whole
                     ? most
                     : builder.CreateBinaryIntrinsic(Intrinsic::umin, left, most);
    made = builder.CreateCall(&warp, all);
  });
  return made;
}

CallInst* call_for_lanes(IRBuilder<>& builder, const kernel& kernel, Function& function,
                         ArrayRef<Value*> args) {
  bool asserts = go_on_after_assertions(function);
  Function& caller = *builder.GetInsertBlock()->getParent();
  Value* lanes = caller.getArg(caller.arg_size() - 1);
  counting_loop lane(builder, lanes, 1, "lane");
  SmallVector<Value*, 16> all(args);
  all[2] = builder.CreateAdd(caller.getArg(2), lane.index, "", true, true);
  if (kernel.stores_thread_index && has_linear_warps(function)) {
    store_thread_index(builder, caller.getArg(1), place_of(builder, all[2]).axis, all[2]);
  } else if (kernel.stores_thread_index) {
    store_thread_index(builder, caller.getArg(1), &all[2]);
  }
  all[all.size() - 2] = lane.index;
  all[all.size() - 1] = lanes;
  auto* call = builder.CreateCall(&function, all);
  mark_thread_loop(*lane.next(builder), thread_loop::of_warp);
  if (asserts) {
    end_after_assertions(builder);
  }
  return call;
}

}  // namespace sb::pass
