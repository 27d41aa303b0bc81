#include "analysis/pinning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/changes.hpp"
#include "analysis/rates.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

// The host's memory that a copy uses; null: the trace does not say which.
const trace::byte_range* on_host(const trace::trace& t, number copy) {
  for (const trace::byte_range& r : t.operations[copy].ranges) {
    if (r.allocation < t.allocations.size() &&
        t.allocations[r.allocation].kind != trace::memory_kind::device) {
      return &r;
    }
  }
  return nullptr;
}

// Memory that one call pins.
struct piece {
  std::uint64_t bytes = 0;
  number first = none;  // of the copies that use it
};

// Of memory that the trace does not know, what a line copies is one.
std::vector<piece> pieces_of(const trace::trace& t, const std::vector<number>& copies) {
  std::map<number, piece> unknown;  // by line
  std::vector<std::pair<const trace::byte_range*, number>> used;
  for (const number i : copies) {
    if (const trace::byte_range* r = on_host(t, i); r != nullptr) {
      used.emplace_back(r, i);
      continue;
    }
    piece& one = unknown[place_of(t, i)];
    one.bytes += t.operations[i].bytes;
    one.first = std::min(one.first, i);
  }
  std::vector<piece> pieces;
  for (const auto& [line, one] : unknown) pieces.push_back(one);
  std::sort(used.begin(), used.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first->allocation, a.first->offset) <
           std::pair(b.first->allocation, b.first->offset);
  });
  for (std::size_t i = 0; i < used.size();) {
    const trace::byte_range& begin = *used[i].first;
    std::uint64_t end = begin.offset;
    piece one;
    for (; i < used.size(); ++i) {
      const auto& [r, copy] = used[i];
      if (r->allocation != begin.allocation || r->offset > end) break;
      end = std::max(end, r->offset + r->bytes);
      one.first = std::min(one.first, copy);
    }
    one.bytes = end - begin.offset;
    pieces.push_back(one);
  }
  return pieces;
}

nanoseconds time_of(const trace::trace& t, const char* call, std::uint64_t bytes,
                    double bytes_per_ns) {
  return rounded_ns(call_cost_ns(timing_or_h200(t), call) +
                    static_cast<double>(bytes) / bytes_per_ns);
}

nanoseconds time_in_place(const trace::trace& t, const piece& one) {
  return time_of(t, "cudaHostRegister", one.bytes, timing_or_h200(t).register_bytes_per_ns);
}

// The thread waits for an operation in front of its own code before a step.
void wait_first(const trace::trace& t, step& s, number operation) {
  const timing_profile& timing = timing_or_h200(t);
  const nanoseconds later = s.gap + rounded_ns(call_cost_ns(timing, "cudaEventRecord") +
                                               call_cost_ns(timing, "cudaEventSynchronize"));
  s.first = {wait_scope::operation, operation};
  s.gap = 0;
  s.between += later;
  for (issue& k : s.issues) k.offset += later;
}

// What was sent from there comes back to it, in the order of its stream: the host has nothing to do
// with that memory in between.
bool comes_back(const trace::trace& t, const program& p, number sent, number back) {
  return t.operations[sent].direction == copy_direction::host_to_device &&
         t.operations[back].direction == copy_direction::device_to_host &&
         p.tasks[sent].stream == p.tasks[back].stream;
}

}  // namespace

pinning pinning_of(const trace::trace& t, const std::vector<number>& copies) {
  pinning p;
  std::set<number> threads;
  for (const piece& one : pieces_of(t, copies)) {
    threads.insert(t.calls[t.operations[one.first].call].thread);
    ++p.pieces;
    p.bytes += one.bytes;
    p.allocate += time_of(t, "cudaMallocHost", one.bytes, timing_or_h200(t).pin_bytes_per_ns);
    p.in_place += time_in_place(t, one);
  }
  p.threads = threads.size();
  return p;
}

// What several threads use, the one pins whose copy was issued first.
void add_pinning(const trace::trace& t, program& p, const std::vector<number>& copies) {
  const std::vector<step_place> where = issuers(p);
  for (const piece& one : pieces_of(t, copies)) {
    const number thread = where[one.first].thread;
    if (thread != none) p.threads[thread].front().gap += time_in_place(t, one);
  }
}

void wait_before_reuse(const trace::trace& t, program& p, const std::vector<number>& copies) {
  const std::set<number> these(copies.begin(), copies.end());
  for (std::vector<step>& steps : p.threads) {
    // By place: the copy that used it last, if nothing waited since.
    std::map<std::pair<number, std::uint64_t>, number> last;
    for (step& s : steps) {
      const bool waits =
          s.first.scope != wait_scope::nothing || s.last.scope != wait_scope::nothing;
      for (const issue& k : s.issues) {
        const trace::byte_range* r =
            these.contains(k.operation) ? on_host(t, k.operation) : nullptr;
        if (r == nullptr) continue;
        const auto [before, first] = last.try_emplace({r->allocation, r->offset}, k.operation);
        if (first) continue;
        const number other = std::exchange(before->second, k.operation);
        if (!comes_back(t, p, other, k.operation)) wait_first(t, s, other);
      }
      if (waits) last.clear();
    }
  }
}

namespace {

// "32 MiB in 8 pieces of memory, a call for each"
std::string memory_of(const pinning& pins) {
  const std::string bytes = text_of_bytes(pins.bytes);
  return pins.pieces == 1
             ? bytes
             : fmt::format("{} in {} pieces of memory, a call for each", bytes, pins.pieces);
}

}  // namespace

std::string words_of(const pinning& pins, nanoseconds cost) {
  return fmt::format(
      "Pin that memory once, before the first copy{}: cudaHostRegister takes about {} for {}, "
      "which "
      "the cost counts; cudaMallocHost instead of malloc takes {}{}. The call then returns before "
      "the copy is done: wait for it before the host writes or reads the memory.",
      pins.threads > 1 ? ", each thread what it copies while the others pin theirs" : "",
      text_of_time(pins.in_place), memory_of(pins), text_of_time(pins.allocate),
      pins.allocate < cost + pins.in_place ? "" : ", more than this run gains");
}

std::string words_of_use(const pinning& pins, nanoseconds gain, std::size_t copies) {
  const std::size_t from =
      static_cast<std::size_t>(pins.in_place / std::max<std::size_t>(1, pins.threads) * copies /
                               std::max<nanoseconds>(1, gain)) +
      1;
  return fmt::format(
      "In this run pinning {}: cudaHostRegister about {} for {} "
      "(cudaMallocHost {}), against {} by {} cop{}. In one that copies this memory more often it "
      "pays, "
      "from about {} such copies on. The call then returns before the copy is done: wait "
      "for it before the host writes or reads the memory.",
      gain > pins.in_place ? "gains little more than it takes" : "takes longer than it gains",
      text_of_time(pins.in_place), memory_of(pins), text_of_time(pins.allocate), text_of_time(gain),
      copies, copies == 1 ? "y" : "ies", from);
}

}  // namespace sb::analysis
