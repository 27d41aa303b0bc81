#include "timeline_notes.hpp"

#include <algorithm>
#include <unordered_map>

namespace sb::tools {
namespace {

using analysis::path_work;
using trace::number;

bar_kind bar_of(path_work work) {
  switch (work) {
    case path_work::kernel:
      return bar_kind::kernel;
    case path_work::copy_host_to_device:
      return bar_kind::to_device;
    case path_work::copy_device_to_host:
      return bar_kind::to_host;
    case path_work::copy_peer:
    case path_work::copy_other:
      return bar_kind::on_device;
    case path_work::fill:
      return bar_kind::fill;
    case path_work::host_function:
      return bar_kind::host_function;
    case path_work::host_call:
    case path_work::host_code:
      return bar_kind::call;
    case path_work::other_operation:
    case path_work::start:
      break;
  }
  return bar_kind::other;
}

class word_list {
 public:
  explicit word_list(std::vector<std::string>& words) : words_(words) {}
  number of(path_work work, analysis::path_link link) {
    const int key = static_cast<int>(work) * 256 + static_cast<int>(link);
    const auto [at, added] = numbers_.try_emplace(key, static_cast<number>(words_.size()));
    if (added) words_.push_back(analysis::text_of(work, link));
    return at->second;
  }

 private:
  std::vector<std::string>& words_;
  std::unordered_map<int, number> numbers_;
};

// From the first of its operations and calls to the last.
extent place_of(const trace::trace& trace, const analysis::finding& finding) {
  extent out{trace::never, 0};
  const auto add = [&](extent at) {
    out.from = std::min(out.from, at.from);
    out.to = std::max(out.to, at.to);
  };
  for (const number i : finding.operations) add(bar_extent(trace, trace.operations[i]));
  for (const number i : finding.calls) add(bar_extent(trace, row_kind::thread, i));
  return out.from > out.to ? extent{0, trace.end} : out;
}

}  // namespace

timeline_notes timeline_notes_of(const trace::trace& trace,
                                 const analysis::explanation& explanation) {
  timeline_notes notes;
  word_list words(notes.words);
  for (const analysis::path_stretch& stretch : explanation.path.stretches) {
    notes.path.push_back({.operation = stretch.operation,
                          .call = stretch.call,
                          .from = stretch.begin,
                          .to = stretch.end,
                          .bar = bar_of(stretch.work),
                          .words = words.of(stretch.work, stretch.link)});
  }
  for (const analysis::path_share& share : explanation.path.shares) {
    notes.parts.push_back(
        {.time = share.time, .words = words.of(share.work, share.link), .places = share.places});
  }
  for (const analysis::finding& finding : explanation.findings) {
    const extent at = place_of(trace, finding);
    notes.findings.push_back({.title = finding.title,
                              .detail = finding.why,
                              .evidence = finding.evidence,
                              .advice = finding.change,
                              .cost = finding.cost,
                              .from = at.from,
                              .to = at.to,
                              .operations = finding.operations,
                              .calls = finding.calls,
                              .places = finding.places});
  }
  return notes;
}

}  // namespace sb::tools
