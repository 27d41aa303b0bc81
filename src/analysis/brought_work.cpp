// What calls of a recorded run paid for bringing work (driver_costs.hpp), taken out of their own
// time: the replay finds it anew.
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/driver_costs.hpp"
#include "model/timing_profile.hpp"

namespace sb::analysis {

namespace {

// A call that brings an operation, when it came to its stream.
struct brought_operation {
  nanoseconds queued = 0;
  number thread = none;
  std::size_t step = 0, issue = 0;

  [[nodiscard]] auto key() const { return std::tuple(queued, thread, step, issue); }
};

std::vector<brought_operation> brought_operations(const trace::trace& recorded, const program& p) {
  std::vector<brought_operation> all;
  for (number thread = 0; thread < p.threads.size(); ++thread) {
    for (std::size_t i = 0; i < p.threads[thread].size(); ++i) {
      const std::vector<issue>& issues = p.threads[thread][i].issues;
      for (std::size_t k = 0; k < issues.size(); ++k) {
        const command& c = p.tasks[issues[k].operation].what;
        const bool work = c.kind == command_kind::kernel || c.kind == command_kind::copy ||
                          c.kind == command_kind::fill;
        if (work && c.order == command_order::in_stream)
          all.push_back({recorded.operations[issues[k].operation].queued, thread, i, k});
      }
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.key() < b.key(); });
  return all;
}

class brought_work {
 public:
  brought_work(const trace::trace& recorded, const timing_profile& timing, program& p)
      : recorded_(recorded),
        timing_(timing),
        program_(p),
        costs_(p),
        all_(brought_operations(recorded, p)),
        came_(p.threads.size()) {}

  void time() {
    if (costs_.nothing()) return;
    std::vector<std::optional<price>> told;
    for (const brought_operation& b : all_) {
      told.push_back(told_by(b));
      if (told.back()) comes(b.thread, b.queued - told.back()->sum());
    }
    for (std::size_t i = 0; i < all_.size(); ++i) pay(all_[i], told[i]);
  }

 private:
  struct price {
    nanoseconds for_others = 0, for_stream = 0, itself = 0;  // itself: what it is, above its call
    [[nodiscard]] nanoseconds sum() const { return for_others + for_stream + itself; }
    [[nodiscard]] nanoseconds for_driver() const { return for_others + for_stream; }
  };

  [[nodiscard]] const command& command_of(const brought_operation& b) const {
    return program_.tasks[issue_of(b).operation].what;
  }
  [[nodiscard]] const issue& issue_of(const brought_operation& b) const {
    return program_.threads[b.thread][b.step].issues[b.issue];
  }

  // As much as is left of the time until then when the call's own cost is taken off, where that is
  // what a number of other threads cost.
  [[nodiscard]] std::optional<price> told_by(const brought_operation& b) const {
    if (b.issue != 0) return std::nullopt;
    const trace::call& c = recorded_.calls[program_.threads[b.thread][b.step].call];
    const nanoseconds own =
        c.begin + static_cast<nanoseconds>(call_cost_ns(timing_, c.name)) + itself(command_of(b));
    if (b.queued < own) return std::nullopt;
    const nanoseconds paid = b.queued - own;
    const bool kernel = command_of(b).kind == command_kind::kernel;
    for (const nanoseconds stream : {nanoseconds{0}, rounded_ns(timing_.other_stream_ns)}) {
      if (paid < stream || (stream != 0 && !kernel)) continue;
      for (std::size_t others = 0; others < came_.size(); ++others)
        if (costs_.for_others(others) == paid - stream)
          return price{paid - stream, stream, itself(command_of(b))};
    }
    return std::nullopt;
  }

  [[nodiscard]] nanoseconds itself(const command& c) const {
    if (c.kind == command_kind::copy && c.direction == copy_direction::device_to_device)
      return rounded_ns(timing_.inside_copy_ns);
    if (c.kind == command_kind::fill && c.bytes > small_fill_bytes)
      return rounded_ns(call_cost_ns(timing_, "cudaLaunchKernel") -
                        call_cost_ns(timing_, "cudaMemsetAsync"));
    return 0;
  }

  void comes(number thread, nanoseconds time) {
    std::vector<nanoseconds>& times = came_[thread];
    times.insert(std::upper_bound(times.begin(), times.end(), time), time);
  }

  // How many other threads brought work soon before that time.
  [[nodiscard]] std::size_t others(number thread, nanoseconds now) const {
    std::size_t count = 0;
    for (number other = 0; other < came_.size(); ++other) {
      const auto next = std::upper_bound(came_[other].begin(), came_[other].end(), now);
      count += other != thread && next != came_[other].begin() &&
               driver_costs::is_soon(*std::prev(next), now);
    }
    return count;
  }

  // When it came to pay depends on how many it paid for: as many as were there then.
  [[nodiscard]] price guessed(const brought_operation& b) {
    price paid;
    if (command_of(b).kind == command_kind::kernel)
      paid.for_stream = costs_.for_stream(program_.tasks[issue_of(b).operation].stream);
    const nanoseconds then = b.queued - std::min(b.queued, paid.for_stream);
    const auto came = [&](std::size_t n) { return then - std::min(then, costs_.for_others(n)); };
    std::size_t n = 0;
    while (n < came_.size() && others(b.thread, came(n)) != n) ++n;
    if (n == came_.size()) n = 0;
    paid.for_others = costs_.for_others(n);
    comes(b.thread, came(n));
    return paid;
  }

  void pay(const brought_operation& b, const std::optional<price>& told) {
    if (told && command_of(b).kind == command_kind::kernel)
      static_cast<void>(costs_.for_stream(program_.tasks[issue_of(b).operation].stream));
    const nanoseconds paid = (told ? *told : guessed(b)).for_driver();
    step& s = program_.threads[b.thread][b.step];
    issue& own = s.issues[b.issue];
    const nanoseconds before = b.issue == 0 ? 0 : s.issues[b.issue - 1].offset;
    const bool known = own.offset >= before + paid && s.between >= paid;
    own.brings = known ? bringing::paid : bringing::counted;
    if (!known) return;
    for (std::size_t k = b.issue; k < s.issues.size(); ++k)
      s.issues[k].offset -= std::min(s.issues[k].offset, paid);
    s.between -= paid;
    s.brought += paid;
  }

  const trace::trace& recorded_;
  const timing_profile& timing_;
  program& program_;
  driver_costs costs_;
  const std::vector<brought_operation> all_;
  std::vector<std::vector<nanoseconds>> came_;  // by thread: when it came to pay, in their order
};

}  // namespace

void time_driver(const trace::trace& recorded, const timing_profile* timing, program& p) {
  if (timing == nullptr) return;
  p.contended = timing->contended_ns;
  p.other_stream = timing->other_stream_ns;
  brought_work(recorded, *timing, p).time();
}

}  // namespace sb::analysis
