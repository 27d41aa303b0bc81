#include "analysis/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/device_order.hpp"
#include "analysis/polls.hpp"
#include "analysis/replay.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/sort_stably.hpp"

namespace sb::analysis {

namespace {

run_summary summary_of(const trace::trace& t) {
  run_summary s;
  s.length = t.end;
  s.threads = static_cast<trace::number>(t.threads.size());
  std::set<trace::number> streams;
  for (const trace::operation& o : t.operations) {
    ++s.operations;
    if (o.stream != trace::none) streams.insert(o.stream);
    s.kernels += o.kind == trace::operation_kind::kernel ? 1 : 0;
    if (o.kind == trace::operation_kind::copy) {
      ++s.copies;
      if (o.direction == copy_direction::host_to_device) s.bytes_to_device += o.bytes;
      if (o.direction == copy_direction::device_to_host) s.bytes_to_host += o.bytes;
    }
  }
  s.streams = static_cast<trace::number>(streams.size());
  for (const trace::call& c : t.calls) {
    s.calls += c.times;
    s.host_blocked += c.blocked;
  }
  return s;
}

// A hang first, or why the program's time was over; then by cost, then what has none.
void rank(std::vector<finding>& findings) {
  sort_stably(findings, [](const finding& a, const finding& b) {
    if (const bool first = a.rule == "pending"; first != (b.rule == "pending")) return first;
    return a.weight != b.weight ? a.weight < b.weight : a.cost > b.cost;
  });
}

// That pinning the memory of copies would not pay is nothing new where a finding with a cost
// already says what to do about the same lines.
void leave_out_told(std::vector<finding>& findings) {
  const auto of = std::find_if(findings.begin(), findings.end(), [](const finding& f) {
    return f.rule == "pageable-async-copy" && f.weight == severity::warning;
  });
  if (of == findings.end()) return;
  const auto tells_of_all = [&](const finding& f) {
    return f.rule == "synchronous-copy-in-loop" && f.weight == severity::cost &&
           !of->places.empty() &&
           std::all_of(of->places.begin(), of->places.end(), [&](trace::number p) {
             return std::find(f.places.begin(), f.places.end(), p) != f.places.end();
           });
  };
  if (std::any_of(findings.begin(), findings.end(), tells_of_all)) findings.erase(of);
}

// Where a kernel is loaded at its first use, that holds it as well: no change alone makes the run
// shorter. What would, if all of them were loaded before.
void look_when_loaded(const trace::trace& t, const program& p, explanation& e) {
  const auto is_loaded_at_its_use = [](const task& k) {
    return k.loads != none || !k.loading.empty();
  };
  if (std::none_of(p.tasks.begin(), p.tasks.end(), is_loaded_at_its_use)) return;
  program loaded = p;
  load_before(loaded);
  const timing base = replay(loaded);
  const evidence what(t, loaded, base, e.overlap);
  std::vector<finding> found;
  for (const rule& r : all_rules()) r.look(what, found);
  for (finding& f : found) {
    if (f.weight != severity::cost) continue;
    f.change += " Use each kernel once before, too: without that, this gains nothing here.";
    f.evidence.emplace_back(
        "in this run the loading of kernels at their first use holds the same work: the cost is "
        "what is gained where they are loaded before");
    e.findings.push_back(std::move(f));
  }
}

}  // namespace

explanation explain(const trace::trace& recorded, const rule_progress& told) {
  const std::optional<trace::trace> polled = with_polls_as_waits(recorded);
  const trace::trace& t = polled ? *polled : recorded;
  explanation e;
  e.summary = summary_of(t);
  e.path = critical_path_of(t);
  e.overlap = overlap_of(t);
  find_hang(t, e.findings);
  find_faults(t, e.findings);
  const program p = program_of(t);
  const timing base = replay(p);
  e.modelled = base.end;
  const evidence what(t, p, base, e.overlap);
  std::uint64_t looked = 0;
  for (const rule& r : all_rules()) {
    if (told) told(looked++, all_rules().size());
    r.look(what, e.findings);
  }
  if (told) told(looked, looked);
  if (is_too_long_to_follow(t))
    e.not_looked_at.push_back(fmt::format(
        "Whether the data needs each wait for an event: the run has {} operations, and up to {} "
        "are looked at (needless-event-wait, early-event-wait).",
        t.operations.size(), most_followed));
  if (std::none_of(e.findings.begin(), e.findings.end(),
                   [](const finding& f) { return f.weight <= severity::cost; }))
    look_when_loaded(t, p, e);
  leave_out_told(e.findings);
  rank(e.findings);
  return e;
}

}  // namespace sb::analysis
