// A kernel is loaded at its first use, behind everything that is pending on its device then.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

void find_first_uses(const evidence& e, findings& out) {
  const std::vector<held_operation> held = held_by(e.t, trace::wait_cause::loading);
  if (held.empty()) return;
  program changed = e.p;
  const assumes_parts parts = keep_data_order(e.t, changed, e.parts());
  load_before(changed);
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "first-use";
  f.title = fmt::format("{} launch{} waited while kernels were loaded at their first use",
                        held.size(), held.size() == 1 ? "" : "es");
  f.why =
      "A kernel is loaded when it is used for the first time, and that waits for everything that "
      "is pending on the device: what comes with it cannot overlap with what is there already.";
  f.change =
      "Use each kernel once before the part that should overlap: launch it, ask for it with "
      "cudaFuncGetAttributes, or set CUDA_MODULE_LOADING=EAGER before the program starts.";
  f.cost = cost;
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  add_assumption(f, parts);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
