#include "analysis/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>

namespace sb::analysis {

namespace {

constexpr std::size_t shortest = 4;          // operations that are worth a graph
constexpr std::size_t usual = 20;            // of them, where the program says nothing
constexpr std::size_t longest_period = 512;  // that is looked for

// Work that a graph can have: with nothing that the call waits for.
bool fits(const trace::trace& t, const step& s) {
  if (s.issues.size() != 1 || s.first.scope != wait_scope::nothing ||
      s.last.scope != wait_scope::nothing) {
    return false;
  }
  const trace::operation& o = t.operations[s.issues[0].operation];
  if (o.in_graph) return false;
  return o.kind == trace::operation_kind::kernel || o.kind == trace::operation_kind::fill ||
         (o.kind == trace::operation_kind::copy && o.host_memory != trace::memory_kind::pageable);
}

// The same launch again: what a graph repeats are its arguments too, as far as the trace has them.
std::string words_of(const trace::operation& o, number place) {
  std::string words =
      fmt::format("{} {} {} {} {}", static_cast<int>(o.kind), o.stream, o.name, place, o.bytes);
  words += fmt::format(" {} {}", fmt::join(o.grid, "x"), fmt::join(o.block, "x"));
  for (const trace::byte_range& r : o.ranges) {
    words += fmt::format(" {}+{}", r.allocation, r.offset);
  }
  return words;
}

// Launches that follow each other, and a number for each: equal ones have the same.
struct run {
  std::vector<std::size_t> steps;
  std::vector<std::size_t> what;
};

class finder {
 public:
  finder(const trace::trace& t, const program& p, number thread, sequence_streams streams)
      : trace_(t), program_(p), steps_(p.threads[thread]), streams_(streams) {}

  std::map<std::vector<std::size_t>, std::vector<std::vector<std::size_t>>> go() {
    const std::vector<run> runs = all_runs();
    std::map<std::vector<std::size_t>, std::size_t> whole;
    for (const run& r : runs) ++whole[r.what];
    for (const run& r : runs) {
      if (r.steps.size() < shortest) continue;
      if (whole[r.what] > 1) {
        add(r, 0, r.steps.size());
      } else {
        add_periods(r);
      }
    }
    return std::move(found_);
  }

 private:
  std::vector<run> all_runs() {
    std::vector<run> runs;
    number stream = none;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!fits(trace_, steps_[i])) {
        stream = none;
        continue;
      }
      const trace::operation& o = trace_.operations[steps_[i].issues[0].operation];
      if (stream == none || !go_together(stream, o.stream)) runs.emplace_back();
      stream = o.stream;
      const std::string words = words_of(o, trace_.calls[steps_[i].call].place);
      runs.back().steps.push_back(i);
      runs.back().what.push_back(kinds_.emplace(words, kinds_.size()).first->second);
    }
    return runs;
  }

  [[nodiscard]] bool go_together(number a, number b) const {
    if (a == b) return true;
    const program_stream &one = program_.streams[a], &other = program_.streams[b];
    return streams_ == sequence_streams::several && one.kind != stream_kind::legacy &&
           other.kind != stream_kind::legacy && one.device == other.device;
  }

  void add(const run& r, std::size_t from, std::size_t length) {
    const auto part = [&](const std::vector<std::size_t>& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
      return std::vector<std::size_t>(begin, begin + static_cast<std::ptrdiff_t>(length));
    };
    found_[part(r.what)].push_back(part(r.steps));
  }

  // The part of a run that repeats itself, cut into its turns. Turns that are too short for a graph
  // are taken together.
  void add_periods(const run& r) {
    std::size_t best = 0, from = 0, period = 0;
    for (std::size_t p = 1; p <= std::min(longest_period, r.what.size() / 2); ++p) {
      std::size_t same = 0;
      for (std::size_t i = 0; i + p < r.what.size(); ++i) {
        same = r.what[i] == r.what[i + p] ? same + 1 : 0;
        if (same >= p && same + p > best) {
          best = same + p;
          period = p;
          from = i + p + 1 - best;
        }
      }
    }
    if (period == 0) return;
    const std::size_t length =
        period >= shortest ? period : period * ((usual + period - 1) / period);
    for (std::size_t i = 0; i + length <= best; i += length) add(r, from + i, length);
  }

  const trace::trace& trace_;
  const program& program_;
  const std::vector<step>& steps_;
  sequence_streams streams_;
  std::map<std::string, std::size_t> kinds_;
  std::map<std::vector<std::size_t>, std::vector<std::vector<std::size_t>>> found_;
};

}  // namespace

std::vector<repeated_sequence> repeated_sequences(const trace::trace& t, const program& p,
                                                  sequence_streams streams) {
  std::vector<repeated_sequence> result;
  for (number thread = 0; thread < p.threads.size(); ++thread) {
    for (auto& [what, times] : finder(t, p, thread, streams).go()) {
      if (times.size() > 1) result.push_back({thread, std::move(times)});
    }
  }
  return result;
}

}  // namespace sb::analysis
