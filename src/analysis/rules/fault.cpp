// Operations that failed: from there on the device did nothing.
#include <fmt/format.h>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"
#include "trace/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::int32_t failed_assertion = 710;  // cudaErrorAssert
// More than one only where devices are reset behind it, or there are several.
constexpr std::size_t most_faults = 16;

std::string_view change_of(std::int32_t status) {
  if (status == failed_assertion)
    return "An assert() in the kernel did not hold: what the runtime printed has its condition, "
           "file and line, the block and the thread. Correct what led to it, or the condition.";
  return "Correct the access that failed: what the runtime printed names the kernel, the block and "
         "the thread. STREAMBED_MEMCHECK=1 finds accesses behind the end of an allocation as well.";
}

}  // namespace

void find_faults(const trace::trace& t, findings& out) {
  std::size_t told = 0;
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.status == 0) continue;
    if (told++ == most_faults) break;
    finding f;
    f.rule = "fault";
    f.weight = severity::fault;
    f.title = fmt::format("{} failed with {}", name_with_stream(t, i), trace::error_name(o.status));
    std::size_t after = 0;
    for (const trace::operation& other : t.operations)
      after += other.device == o.device && other.called != never && other.called > o.called ? 1 : 0;
    f.why = fmt::format(
        "It failed {} after the run began. Its device does nothing from then on: every later call "
        "answers the same error{}.",
        text_of_time(o.ended == never ? o.queued : o.ended),
        after == 0 ? ""
                   : fmt::format(", and {} that came later {} nothing",
                                 after == 1 ? "1 operation" : fmt::format("{} operations", after),
                                 after == 1 ? "does" : "do"));
    f.change = change_of(o.status);
    add_operations(t, f, {i});
    out.push_back(std::move(f));
  }
}

}  // namespace sb::analysis
