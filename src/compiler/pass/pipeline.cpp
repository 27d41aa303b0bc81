#include "compiler/pass/pipeline.hpp"

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <optional>
#include <utility>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/alignment.hpp"
#include "compiler/pass/arithmetic.hpp"
#include "compiler/pass/bank_padding.hpp"
#include "compiler/pass/block_function.hpp"
#include "compiler/pass/block_rows.hpp"
#include "compiler/pass/canonicalize.hpp"
#include "compiler/pass/cleanup.hpp"
#include "compiler/pass/clock_loops.hpp"
#include "compiler/pass/context_lowering.hpp"
#include "compiler/pass/counted_version.hpp"
#include "compiler/pass/descriptor.hpp"
#include "compiler/pass/device_library.hpp"
#include "compiler/pass/early_divisions.hpp"
#include "compiler/pass/effects.hpp"
#include "compiler/pass/entry_builder.hpp"
#include "compiler/pass/full_blocks.hpp"
#include "compiler/pass/fused_products.hpp"
#include "compiler/pass/gathered_atomics.hpp"
#include "compiler/pass/guard_splitting.hpp"
#include "compiler/pass/inline_asm.hpp"
#include "compiler/pass/inlining.hpp"
#include "compiler/pass/interleaving.hpp"
#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/joined_start.hpp"
#include "compiler/pass/kernel_discovery.hpp"
#include "compiler/pass/linear_warps.hpp"
#include "compiler/pass/managed_variables.hpp"
#include "compiler/pass/maths.hpp"
#include "compiler/pass/meetings.hpp"
#include "compiler/pass/memory_limits.hpp"
#include "compiler/pass/noted_times.hpp"
#include "compiler/pass/other_memory.hpp"
#include "compiler/pass/parameter_layout.hpp"
#include "compiler/pass/resource_estimate.hpp"
#include "compiler/pass/shared_atomics.hpp"
#include "compiler/pass/shared_memory.hpp"
#include "compiler/pass/shifts.hpp"
#include "compiler/pass/short_loops.hpp"
#include "compiler/pass/spin_loops.hpp"
#include "compiler/pass/sum_loops.hpp"
#include "compiler/pass/two_parts.hpp"
#include "compiler/pass/usual_blocks.hpp"
#include "compiler/pass/usual_vectors.hpp"
#include "compiler/pass/volatile_lanes.hpp"
#include "compiler/pass/warp_function.hpp"
#include "compiler/pass/wrapped_places.hpp"
#include "compiler/pass/written_out.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

std::vector<Function*> bodies_of(ArrayRef<kernel> kernels) {
  std::vector<Function*> bodies;
  for (const kernel& one : kernels) {
    bodies.push_back(one.body);
  }
  return bodies;
}

// Its threads may have to stop in the middle of their way.
bool stops_on_the_way(const kernel& one) {
  return one.spins || one.times != abi::thread_times::none;
}

// A block of it may have to wait, for other blocks or for the time.
bool stops(const kernel& one) { return one.syncs_grid || stops_on_the_way(one); }

// Tries to build a block function of a copy of the body; the body is as it was if that fails.
bool build_of_copy(kernel& one, function_ref<bool()> build) {
  ValueToValueMapTy map;
  Function* before = one.body;
  one.body = CloneFunction(before, map);
  one.body->takeName(before);
  if (build()) {
    before->eraseFromParent();
    return true;
  }
  before->takeName(one.body);
  one.body->eraseFromParent();
  one.body = before;
  return false;
}

// With a copy of the code for full blocks, if there is something to gain, then as it is, then for
// those threads that others leave behind, then from barrier to barrier, each thread by its own way.
// Who spins or sleeps goes this way only.
bool build_in_any_way(kernel& one) {
  if (one.syncs_grid) {
    make_grid_barriers(*one.body);
  }
  const bool built =
      (!stops_on_the_way(one) &&
       ((!is_seldom_run(*one.body) &&
         build_of_copy(
             one, [&] { return separate_full_blocks(*one.body) && build_block_function(one); })) ||
        build_block_function(one) ||
        build_of_copy(one, [&] { return build_for_leaving_threads(one); }))) ||
      build_of_copy(
          one, [&] { return build_for_resumed_threads(one, resumed_from::common_start, false); }) ||
      build_of_copy(
          one, [&] { return build_for_resumed_threads(one, resumed_from::beginning, false); }) ||
      (has_warp_meetings(*one.body) && build_of_copy(one, [&] {
         return build_for_resumed_threads(one, resumed_from::beginning, true);
       }));
  if (one.syncs_grid && !built) {
    unmake_grid_barriers(*one.body);
  } else if (built && stops(one)) {
    one.mode = abi::kernel_mode::block_fiber;
  }
  return built;
}

// The last way before fibers.
void build_lanes_or_fibers(kernel& one) {
  one.mode = abi::kernel_mode::fibers;
  one.row_threads = one.row_width = 0;
  if (!has_warp_meetings(*one.body)) {
    return;
  }
  if (one.syncs_grid) {
    make_grid_barriers(*one.body);
  }
  const auto build_lanes = [&](resumed_from begin) {
    return build_of_copy(one, [&] { return build_for_resumed_lanes(one, begin); });
  };
  if (build_lanes(resumed_from::common_start) || build_lanes(resumed_from::beginning)) {
    one.mode = abi::kernel_mode::lanes;
  } else if (one.syncs_grid) {
    unmake_grid_barriers(*one.body);
  }
}

// A function for a row of blocks: their start as one block, then the rest of each.
bool build_in_parts(kernel& one) {
  kernel_parts parts = split_start(*one.body);
  if (!parts.start) {
    return false;
  }
  kernel start = one, rest = one;
  // Memory gets quicker with longer rows, what the threads keep slower.
  start.most_row_bytes = 64u << 10;
  start.symbol += ".start";
  rest.symbol += ".rest";
  start.body = parts.start;
  rest.body = parts.rest;
  bool joined = join_blocks(start);
  if (joined) {
    bind_start(*start.body);
  }
  if (!joined || !build_in_any_way(start) || !build_in_any_way(rest)) {
    start.body->eraseFromParent();
    rest.body->eraseFromParent();
    return false;
  }
  loop_over_blocks(*rest.body);
  Function* both = put_together(one, parts, *start.body, *rest.body);
  one.body->eraseFromParent();
  one.body = both;
  one.row_threads = start.row_threads;
  one.row_width = start.row_width;
  one.needs = rest.needs;
  return true;
}

// A block function for blocks whose rows break warps, if there can be one.
std::optional<kernel> build_linear(const kernel& plain, std::string symbol, linear_blocks serves) {
  kernel linear = plain;
  ValueToValueMapTy map;
  linear.mode = abi::kernel_mode::loop;
  linear.symbol = std::move(symbol);
  linear.body = CloneFunction(plain.body, map);
  linear.body->setName(linear.symbol + ".body");
  make_warps_linear(linear, serves);
  if (!build_in_any_way(linear)) {
    linear.body->eraseFromParent();
    return std::nullopt;
  }
  if (!linear.stores_thread_index && !stops(linear)) {
    loop_over_blocks(*linear.body);
    linear.row_threads = longest_row;
  }
  return linear;
}

// Versions for blocks that the kernel's own block function is not for: the last one is for all.
void add_other_versions(kernel& one, const kernel& plain, std::vector<kernel>& others) {
  std::vector<kernel> chain;  // in the order in which they are asked
  auto add = [&](const char* name, linear_blocks serves) {
    if (auto made = build_linear(plain, one.symbol + name, serves)) {
      chain.push_back(*made);
    }
  };
  if (takes_rows(plain)) {
    add(".rows", linear_blocks::of_one_layer);
  }
  add(".linear", linear_blocks::all);
  if (chain.empty() || chain.back().needs != 0) {
    chain.push_back(plain);
    build_lanes_or_fibers(chain.back());
  } else {
    plain.body->eraseFromParent();
  }
  for (std::size_t i = chain.size(); i-- > 1;) {
    chain[i - 1].fallback = chain[i].symbol;
    others.push_back(chain[i]);
  }
  others.push_back(chain.front());
  one.fallback = chain.front().symbol;
}

// Makes the block function of a kernel that can have one. Where it serves some blocks only, the
// kernel as it was stays beside it.
void build_block_functions(kernel& one, std::vector<kernel>& fallbacks,
                           FunctionAnalysisManager& analyses) {
  if (one.mode != abi::kernel_mode::loop) {
    return;
  }
  drop_bank_padding(*one.body);
  write_out_short_loops(*one.body, analyses);
  kernel plain = one;
  if (has_warp_meetings(*one.body)) {
    ValueToValueMapTy map;
    plain.body = CloneFunction(one.body, map);
    plain.symbol = one.symbol + ".any";
    plain.body->setName(plain.symbol + ".body");
  }
  one.usual = find_usual_block(one);
  // Who calls the engine is in a block that the engine knows, and so is who stops.
  bool in_rows = !one.stores_thread_index && !one.threads_are_alike && !stops(one);
  one.row_threads = in_rows ? longest_row : 0;
  bool joined = in_rows && join_blocks(one);
  if (in_rows && !joined && build_in_parts(one)) {
    // It goes over the row itself.
  } else if (!build_in_any_way(one)) {
    build_lanes_or_fibers(one);
  } else if (in_rows && !joined) {
    loop_over_blocks(*one.body);
  }
  if (one.needs != 0) {
    add_other_versions(one, plain, fallbacks);
    return;
  }
  if (plain.body != one.body && plain.symbol != one.symbol) {
    plain.body->eraseFromParent();
  }
}

}  // namespace

void add_loop_passes(FunctionPassManager& passes) {
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  passes.addPass(write_out_rounds());
  passes.addPass(split_guards());
  passes.addPass(divide_early());
  passes.addPass(mark_sum_loops());
  passes.addPass(widen_usual_loops());
  passes.addPass(interleave_loops());
  passes.addPass(hide_wrapped_places());
}

PreservedAnalyses lower_kernels::run(Module& module, ModuleAnalysisManager& analyses) {
  auto& functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();

  // What clang said about the program.
  std::vector<kernel> kernels = discover_kernels(module);
  for (kernel& one : kernels) {
    if (!build_body(one)) {
      return PreservedAnalyses::none();
    }
  }
  lower_address_spaces(module);
  drop_unreachable(module, bodies_of(kernels));

  // What device code means where LLVM would read it as host code.
  prepare_functions(module);
  lower_managed_variables(module);
  clamp_shifts(module);
  lower_inline_asm(module);
  lower_device_library(module);
  lower_arithmetic(module);
  split_results(module);
  forget_promised_alignment(module, kernels);

  // One flat, canonical function per kernel.
  inline_device_functions(module);
  drop_unreachable(module, bodies_of(kernels));
  report_undefined_functions(module);
  canonicalize(module, functions);
  fuse_products(module, functions);

  // How threads wait, and so how a block runs.
  solve_clock_loops(module, functions);
  for (const kernel& one : kernels) {
    note_times(*one.body, functions);
  }
  yield_in_spin_loops(module, functions);
  for (kernel& one : kernels) {
    meet_at_volatile_stores(*one.body);
    infer_pointer_flags(one);
    other_memory found = other_memory_of(one);
    one.reaches_other_memory = found.any;
    one.constants = std::move(found.constants);
  }
  mark_misaligned_addresses(module);
  {
    call_reach reach(module);
    std::vector<kernel> fallbacks;
    counted_versions counted;
    const unsigned guesses = guesses_for(kernels);
    for (kernel& one : kernels) {
      one.guesses = guesses;
      decide_mode(one, reach);
      estimate_resources(one, reach);
      fallbacks.push_back(counted.make(one));
      build_block_functions(one, fallbacks, functions);
    }
    // The descriptors of other versions come before those that name them.
    kernels.insert(kernels.begin(), fallbacks.begin(), fallbacks.end());
    expand_shared_constants(module);
    for (kernel& one : kernels) {
      if (one.mode != abi::kernel_mode::fibers) {
        relax_shared_atomics(*one.body);
      }
    }
    shared_layout layout(module, kernels, reach);
    check_limits(module, ArrayRef(kernels).drop_front(fallbacks.size()));
    lower_context(module, kernels, layout, reach);
  }
  for (kernel& one : kernels) {
    if (one.mode == abi::kernel_mode::loop && !one.stores_thread_index && !stops(one)) {
      gather_atomics(*one.body);
    }
    add_usual_version(one);
    build_entry(one);
    emit_descriptor(module, one);
  }
  drop_unreachable(module, {});
  check_address_spaces(module);
  drop_layout_information(module);
  functions.clear();
  divide_work(module, functions);
  functions.clear();
  return PreservedAnalyses::none();
}

}  // namespace sb::pass
