#include "analysis/rules/loop_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/words.hpp"

namespace sb::analysis {

std::vector<number> calls_of(const program& p, const repeated_call& r) {
  std::vector<number> calls;
  for (const std::size_t i : r.steps) calls.push_back(p.threads[r.thread][i].call);
  for (const std::size_t i : r.beside) calls.push_back(p.threads[r.thread][i].call);
  std::sort(calls.begin(), calls.end());
  return calls;
}

std::span<const std::size_t> beside(const repeated_call& r, std::size_t turn) {
  const auto from = std::upper_bound(r.beside.begin(), r.beside.end(), r.steps[turn]);
  const auto to = turn + 1 < r.steps.size()
                      ? std::lower_bound(from, r.beside.end(), r.steps[turn + 1])
                      : r.beside.end();
  return {from, to};
}

namespace {

nanoseconds length_of(const trace::trace& t, const std::vector<number>& calls) {
  nanoseconds sum = 0;
  for (const number c : calls) sum += t.calls[c].end - t.calls[c].begin;
  return sum;
}

}  // namespace

void add_loop(const evidence& e, finding& f, const std::vector<number>& calls, nanoseconds cost) {
  f.cost = cost;
  add_calls(e.t, f, calls);
  std::set<number> threads;
  for (const number c : calls) threads.insert(e.t.calls[c].thread);
  f.evidence.push_back(
      fmt::format("{} calls{}, {} in all", calls.size(),
                  threads.size() == 1 ? "" : fmt::format(" of {} threads", threads.size()),
                  text_of_time(length_of(e.t, calls))));
}

}  // namespace sb::analysis
