// The timing of a recorded program. The recorded times are led once through the scheduler: every
// operation is given to it and ends when it was and did. When the scheduler would have let it
// start is then known; what is missing until it really started is the operation's own lag.
#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/driver_costs.hpp"
#include "analysis/first_uses.hpp"
#include "analysis/program.hpp"
#include "analysis/replay.hpp"
#include "analysis/sort_stably.hpp"
#include "analysis/thread_order.hpp"
#include "analysis/transfers.hpp"
#include "analysis/waiting_copies.hpp"
#include "model/profile.hpp"

namespace sb::analysis {

namespace {

struct moment {
  nanoseconds time = 0;
  enum class what : std::uint8_t { ends, blocks_end, comes } kind = what::ends;
  std::uint64_t order = 0;
  number operation = none;
  std::uint64_t blocks = 0;

  friend bool operator>(const moment& a, const moment& b) {
    if (a.time != b.time) return a.time > b.time;
    if (a.kind != b.kind) return a.kind > b.kind;
    return a.order > b.order;
  }
};

class guided_run {
 public:
  guided_run(const trace::trace& recorded, const program& p);
  // When each operation could have started, and what ended then.
  struct start {
    nanoseconds time = never;
    number behind = none;
    std::uint32_t others = 0;  // streams with copies for the same engine
  };
  std::vector<start> go();

 private:
  void submit(number operation);
  void follow();
  void granted(number operation, std::uint64_t blocks);
  void push(nanoseconds time, moment::what kind, number operation, std::uint64_t blocks = 0) {
    moments_.push({time, kind, order_++, operation, blocks});
  }

  const trace::trace& recorded_;
  const program& program_;
  sched::scheduler scheduler_;
  std::vector<stream_id> streams_;
  std::vector<command_id> commands_;
  std::vector<std::uint32_t> grants_;
  std::vector<std::uint64_t> blocks_granted_, running_;
  std::vector<bool> over_;  // its recorded end has passed
  std::vector<start> could_start_;
  waiting_copies copies_;
  first_uses loads_;
  number ending_ = none;
  std::priority_queue<moment, std::vector<moment>, std::greater<>> moments_;
  std::uint64_t order_ = 0;
  nanoseconds now_ = 0;
};

guided_run::guided_run(const trace::trace& recorded, const program& p)
    : recorded_(recorded),
      program_(p),
      scheduler_(p.machine),
      commands_(p.tasks.size()),
      grants_(p.tasks.size(), 0),
      blocks_granted_(p.tasks.size(), 0),
      running_(p.tasks.size(), 0),
      over_(p.tasks.size(), false),
      could_start_(p.tasks.size()),
      copies_(p),
      loads_(p) {
  for (const program_stream& s : p.streams) {
    streams_.push_back(scheduler_.create_stream({s.device}, s.kind, 0));
  }
  std::vector<number> ends;
  for (number i = 0; i < recorded.operations.size(); ++i) {
    const trace::operation& o = recorded.operations[i];
    if (o.ended == never || o.queued == never || o.stream >= p.streams.size()) continue;
    push(o.queued, moment::what::comes, i);
    ends.push_back(i);
  }
  // Of those that end together, the one that began first is told first, as a replay does it.
  sort_stably(ends, [&](number a, number b) {
    return recorded.operations[a].started < recorded.operations[b].started;
  });
  for (const number i : ends) push(recorded.operations[i].ended, moment::what::ends, i);
}

std::vector<guided_run::start> guided_run::go() {
  while (!moments_.empty()) {
    const moment m = moments_.top();
    moments_.pop();
    now_ = m.time;
    ending_ = m.kind == moment::what::comes ? none : m.operation;
    switch (m.kind) {
      case moment::what::comes:
        submit(m.operation);
        break;
      case moment::what::blocks_end:
        running_[m.operation] -= m.blocks;
        scheduler_.blocks_done(commands_[m.operation], m.blocks);
        break;
      case moment::what::ends:
        over_[m.operation] = true;
        if (commands_[m.operation].valid()) {
          scheduler_.complete(commands_[m.operation]);  // kernels: whatever blocks are left
        }
        break;
    }
    follow();
  }
  return std::move(could_start_);
}

void guided_run::submit(number operation) {
  const task& t = program_.tasks[operation];
  command c = t.what;
  c.stream = streams_[t.stream];
  c.device = {program_.streams[t.stream].device};
  c.payload = operation;
  if (t.record != none) c.record = commands_[t.record];
  std::vector<command_id> after;
  for (const std::vector<number>* list : {&t.after, &t.loading}) {
    for (const number other : *list) {
      if (commands_[other].valid()) after.push_back(commands_[other]);
    }
  }
  copies_.came(operation);
  const first_uses::work* loading = loads_.before(operation, scheduler_);
  commands_[operation] =
      scheduler_.submit(c, after, loading == nullptr ? sched::gathering{} : loading->all);
}

void guided_run::follow() {
  while (!scheduler_.actions().empty()) {
    const std::vector<sched::action> actions = scheduler_.actions();
    scheduler_.clear_actions();
    for (const sched::action& a : actions) {
      const auto operation = static_cast<number>(a.payload);
      switch (a.kind) {
        case sched::action_kind::reached:
          could_start_[operation] = {now_, ending_};
          break;
        case sched::action_kind::start:
          if (program_.tasks[operation].what.kind != command_kind::kernel) {
            could_start_[operation] = {now_, ending_, copies_.begins(operation)};
          } else if (program_.beginning) {
            could_start_[operation] = {now_, ending_};
          }
          // Recorded as over although the scheduler would only start it now.
          if (over_[operation]) scheduler_.complete({a.id});
          break;
        case sched::action_kind::grant:
          granted(operation, a.count);
          break;
        case sched::action_kind::entered:
        case sched::action_kind::admitted:
        case sched::action_kind::left:
        case sched::action_kind::release:
          break;
      }
    }
  }
}

void guided_run::granted(number operation, std::uint64_t blocks) {
  const task& t = program_.tasks[operation];
  const trace::operation& o = recorded_.operations[operation];
  if (could_start_[operation].time == never) could_start_[operation] = {now_, ending_};
  blocks_granted_[operation] += blocks;
  running_[operation] += blocks;
  // Blocks that came in several grants for want of room took no longer than alone; the last ones
  // were there until the end.
  const nanoseconds all = t.waves == 1 ? t.duration : o.ended - o.started;
  const nanoseconds length = length_of_piece(
      t, all, grants_[operation]++, running_[operation],
      blocks_granted_[operation] == running_[operation] ? block_turn::first : block_turn::later);
  const bool last = blocks_granted_[operation] >= t.what.kernel.blocks;
  const nanoseconds until = std::max(now_, o.ended);
  push(last ? until : std::min(std::max(now_, o.started) + length, until), moment::what::blocks_end,
       operation, blocks);
}

const timing_profile* timing_of(const trace::trace& recorded) {
  if (recorded.head.clock != trace::clock_kind::modelled) return nullptr;
  const profile* known = find_profile(recorded.head.profile);
  return known == nullptr ? nullptr : &known->timing;
}

// What waking up took a call whose wait was over then, as far as it is known.
nanoseconds waking_of(const program& p, const trace::call& c, nanoseconds released) {
  if (c.blocked == 0 || c.blocked_on == none) return 0;
  const nanoseconds waited = c.blocked - std::min(c.blocked, p.wakes.soon);
  const nanoseconds expected = p.wakes.after(waited, p.tasks[c.blocked_on].what);
  return expected <= c.end - released ? expected : 0;
}

// Splits a call's own time around its wait, so that a replay returns when the recorded call did.
void time_step(const trace::trace& recorded, const program& p, const trace::call& c, step& s) {
  const nanoseconds whole = c.end - c.begin;
  const nanoseconds own = whole - std::min(whole, c.blocked);
  const number waited = s.first.scope != wait_scope::nothing ? s.first.target : c.blocked_on;
  nanoseconds released = c.begin;
  if (c.blocked > 0 && waited != none) {
    released = std::clamp(recorded.operations[waited].ended, c.begin, c.end);
  }
  const auto queued_after = [&](const issue& i, nanoseconds from) {
    const nanoseconds queued = recorded.operations[i.operation].queued;
    return queued > from ? std::min(queued, c.end) - from : 0;
  };
  if (s.first.scope != wait_scope::nothing) {
    s.first.is_awake = true;
    s.before = std::min(own, released - c.begin - std::min(released - c.begin, c.blocked));
    s.between = own - s.before;
    for (issue& i : s.issues) i.offset = std::min(s.between, queued_after(i, released));
    return;
  }
  // A thread that slept takes longer to go on; the recorded wait has that in it.
  s.after = c.blocked > 0 ? c.end - released : 0;
  if (released == c.begin) s.after = std::min(own, s.after);
  const nanoseconds waking = std::min(s.after, waking_of(p, c, released));
  s.last.is_awake = class_of(c.name) == call_class::query || (c.blocked > 0 && waking == 0);
  if (!s.last.is_awake) s.after -= waking;
  s.between = own - std::min(own, s.after);
  for (issue& i : s.issues) {
    i.offset = queued_after(i, c.begin);
    // A launch that found no room was blocked in front of its operation; the replay does that anew.
    if (s.last.scope == wait_scope::nothing) i.offset -= std::min(i.offset, c.blocked);
  }
}

void time_host(const trace::trace& recorded, program& p) {
  nanoseconds last = 0;
  if (const timing_profile* timing = timing_of(recorded)) {
    p.wakes = {rounded_ns(timing->wake_ns), rounded_ns(timing->long_wake_ns),
               rounded_ns(timing->long_wait_ns)};
  }
  const thread_order order(recorded, p);
  for (number thread = 0; thread < p.threads.size(); ++thread) {
    nanoseconds end = 0;
    for (std::size_t i = 0; i < p.threads[thread].size(); ++i) {
      step& s = p.threads[thread][i];
      const trace::call& c = recorded.calls[s.call];
      s.pauses = order.pauses(thread, i);
      if (!s.pauses.empty()) end = s.pauses.back().to;
      s.gap = c.begin - std::min(c.begin, end);
      end = std::max(end, c.end);
      time_step(recorded, p, c, s);
    }
    p.last_pauses.push_back(order.pauses(thread, p.threads[thread].size()));
    last = std::max(last, end);
  }
  for (const trace::operation& o : recorded.operations) {
    if (o.ended != never) last = std::max(last, o.ended);
  }
  p.tail = recorded.end - std::min(recorded.end, last);
  add_hand_overs(recorded, p);
  leave_out_needless_pauses(p);
}

// How far the replay's operations end from where the recorded ones did, all of them together.
nanoseconds distance(const trace::trace& recorded, const timing& t) {
  nanoseconds sum = 0;
  for (number i = 0; i < recorded.operations.size(); ++i) {
    const nanoseconds want = recorded.operations[i].ended, got = t.operations[i].ended;
    if (want == never || got == never) continue;
    sum += want > got ? want - got : got - want;
  }
  return sum;
}

// By which factor each kernel's length is off; none: no kernel's is.
std::vector<double> factors_of(const trace::trace& recorded, const program& p, const timing& t) {
  std::vector<double> factors(p.tasks.size(), 1);
  bool any = false;
  for (number i = 0; i < p.tasks.size(); ++i) {
    const trace::operation& o = recorded.operations[i];
    const operation_times& now = t.operations[i];
    if (p.tasks[i].what.kind != command_kind::kernel || o.ended == never || now.ended == never ||
        now.ended <= now.started || o.ended <= o.started) {
      continue;
    }
    const nanoseconds want = o.ended - o.started, got = now.ended - now.started;
    const nanoseconds off = want > got ? want - got : got - want;
    if (off * 1000 <= want) continue;
    factors[i] = static_cast<double>(want) / static_cast<double>(got);
    any = true;
  }
  return any ? factors : std::vector<double>();
}

// Blocks take as long as the trace says that they take alone, in the pieces in which they came.
// False: they do so already.
bool settle_blocks(const trace::trace& recorded, program& p, const timing& t) {
  const nanoseconds beginning = p.beginning.value_or(0);
  bool any = false;
  for (number i = 0; i < p.tasks.size(); ++i) {
    task& one = p.tasks[i];
    if (!one.blocks.known() || t.pieces[i].empty() || !one.blocks.fit(t.pieces[i])) continue;
    any = true;
    const trace::operation& o = recorded.operations[i];
    const nanoseconds most = o.ended - o.started + (one.found_no_room ? beginning : 0);
    one.duration = std::min(most, beginning + rounded_ns(one.blocks.alone(one.what.kernel.blocks)));
  }
  return any;
}

// The lengths of kernels with which a replay came nearest to the recorded run so far.
class nearest_lengths {
 public:
  explicit nearest_lengths(const trace::trace& recorded) : recorded_(recorded) {}

  // False: others were nearer.
  bool offer(const program& p, const timing& t) {
    const nanoseconds off = distance(recorded_, t);
    if (off >= least_) return false;
    least_ = off;
    lengths_.clear();
    for (const task& one : p.tasks) lengths_.emplace_back(one.duration, one.blocks);
    factors_ = factors_of(recorded_, p, t);
    return true;
  }
  [[nodiscard]] bool exact() const { return factors_.empty(); }
  // A part of the way from them to what each kernel took.
  void take(program& p, double part) const {
    for (number i = 0; i < p.tasks.size(); ++i) {
      task& one = p.tasks[i];
      std::tie(one.duration, one.blocks) = lengths_[i];
      if (part != 0 && factors_[i] != 1)
        one.duration = static_cast<nanoseconds>(static_cast<double>(one.duration) *
                                                std::pow(factors_[i], part));
    }
  }

 private:
  const trace::trace& recorded_;
  nanoseconds least_ = never;
  std::vector<std::pair<nanoseconds, block_time>> lengths_;
  std::vector<double> factors_;
};

// A kernel that shared the device took longer than it does alone, and one whose blocks came in
// parts is of these. How long it would be is found by trying: from what its blocks take, and then
// the lengths are changed until the replay gives the recorded ones. Kernels that share the device
// move each other, so a step may lead away from there; then a smaller one is tried. The best stays.
void settle_shared_kernels(const trace::trace& recorded, program& p) {
  constexpr int rounds = 4, rounds_of_blocks = 3;
  bool several = false;
  for (const task& t : p.tasks) {
    const trace::operation& o = recorded.operations[static_cast<std::size_t>(&t - p.tasks.data())];
    several |= t.what.kind == command_kind::kernel &&
               (t.waves > 1 || (t.shares && t.duration < o.ended - o.started));
  }
  if (!several) return;

  nearest_lengths best(recorded);
  timing t = replay(p, record_waits::no, record_pieces::yes);
  best.offer(p, t);
  for (int round = 0; round < rounds_of_blocks && !best.exact() && settle_blocks(recorded, p, t);
       ++round) {
    t = replay(p, record_waits::no, record_pieces::yes);
    best.offer(p, t);
  }
  double part = 1;  // of the step
  for (int round = 0; round < rounds && !best.exact(); ++round) {
    best.take(p, part);
    if (!best.offer(p, replay(p))) part /= 2;
  }
  best.take(p, 0);
}

start_pair pair_of(const program& p, number behind, number what) {
  const task &before = p.tasks[behind], &next = p.tasks[what];
  start_class one = start_class_of(next.what);
  // The first kernels of a graph begin as any other behind what was before the graph.
  const bool inside = std::find(next.after.begin(), next.after.end(), behind) != next.after.end();
  if (one == start_class::graph_node && !inside) one = start_class::compute;
  return {start_class_of(before.what), one,
          found_in(before) == found_in(next) ? start_pair::streams::same
                                             : start_pair::streams::different};
}

// Kernels that shared the device, as they would be alone.
void time_kernels(const trace::trace& recorded, program& p) {
  const timing_profile* timing = timing_of(recorded);
  const nanoseconds beginning = beginning_of_kernels(recorded);
  if (timing != nullptr) {
    p.older_first = timing->older_first;
    p.beginning = beginning;
    p.kernel_gap = rounded_ns(timing->kernel_gap_ns);
  }
  using shape_and_needs = std::tuple<nanoseconds, std::uint32_t, std::uint32_t, std::uint32_t,
                                     std::uint64_t, std::uint64_t, std::uint32_t>;
  std::map<shape_and_needs, block_time> known;
  for (number i = 0; i < p.tasks.size(); ++i) {
    task& t = p.tasks[i];
    if (!t.shares || t.duration == 0) continue;
    const trace::operation& o = recorded.operations[i];
    t.duration = alone_of(o, t.waves, beginning);
    if (timing == nullptr) continue;
    const sched::device_limits& device = p.machine.devices[p.streams[t.stream].device];
    const kernel_shape& shape = t.what.kernel;
    const std::uint64_t full = std::min(shape.blocks, blocks_at_once(device, shape));
    const shape_and_needs key{o.needs.alone,           o.needs.arithmetic, o.needs.memory,
                              shape.threads_per_block, shape.blocks,       full,
                              device.multiprocessors};
    const auto [found, added] = known.try_emplace(key);
    if (added)
      found->second = {o.needs,      shape.threads_per_block, full,
                       shape.blocks, device.multiprocessors,  block_costs(*timing)};
    t.blocks = found->second;
    t.duration =
        std::min(o.ended - o.started, beginning + rounded_ns(t.blocks.alone(shape.blocks)));
  }
}

// What an idle copy engine takes to look at other streams, where it does: behind something else
// than a copy of the same direction.
nanoseconds looking(const program& p, number operation, number behind, std::uint32_t others) {
  if (behind == none || others == 0) return 0;
  const start_class what = start_class_of(p.tasks[operation].what);
  if (what == start_class_of(p.tasks[behind].what)) return 0;
  return rounded_ns(others * p.copy_look);
}

// How each host function found its thread. They begin one after another.
void time_functions(const trace::trace& recorded, program& p,
                    const std::vector<guided_run::start>& could_start) {
  p.functions = function_thread(timing_of(recorded));
  std::vector<number> functions;
  for (number i = 0; i < p.tasks.size(); ++i) {
    if (p.tasks[i].what.kind == command_kind::host_function && could_start[i].time != never &&
        recorded.operations[i].ended != never)
      functions.push_back(i);
  }
  std::sort(functions.begin(), functions.end(), [&](number a, number b) {
    return recorded.operations[a].started < recorded.operations[b].started;
  });
  nanoseconds over = 0;
  for (const number f : functions) {
    const auto& [time, behind, others] = could_start[f];
    const bool by_device =
        behind != none && p.tasks[behind].what.kind != command_kind::host_function;
    p.tasks[f].found = over == 0 ? function_thread::found::unknown
                                 : p.functions.when(time - std::min(time, over), by_device);
    over = recorded.operations[f].ended;
  }
}

// Its first blocks waited for it, and the kernel is said to begin with them.
bool waited_for_room(const program& p, number operation, number behind, const trace::operation& o) {
  const task& t = p.tasks[operation];
  if (!p.beginning || t.what.kind != command_kind::kernel) return false;
  if (std::any_of(o.waits.begin(), o.waits.end(), [&](const trace::edge& e) {
        return e.cause == trace::wait_cause::device_full && e.until == o.started;
      }))
    return true;
  // Nobody may be known to have had it.
  if (t.what.order == command_order::free) return false;
  nanoseconds lag = 0;
  if (const auto arrival = p.gaps.arrival(start_class::compute))
    lag = *arrival - std::min(*arrival, t.held);
  if (t.start == start_rule::by_gap)
    lag = std::max(lag, p.gaps.gap(pair_of(p, behind, operation)).value_or(0));
  return t.lag > lag + *p.beginning;
}

// It took its beginning while it waited.
void add_beginning(const trace::operation& o, nanoseconds beginning, task& t) {
  const nanoseconds most = o.ended - o.started + beginning;
  t.duration = t.blocks.known()
                   ? std::min(most, beginning + rounded_ns(t.blocks.alone(t.what.kernel.blocks)))
                   : t.duration + beginning;
}

// A kernel that waited for room does not say when it would have begun with some: as others do.
void start_as_others(program& p, number operation, number behind) {
  task& t = p.tasks[operation];
  const nanoseconds arrival = p.gaps.arrival(start_class_of(t.what)).value_or(0);
  const nanoseconds coming = arrival - std::min(arrival, t.held);
  nanoseconds gap = 0;
  if (t.start == start_rule::by_gap) {
    t.follows = pair_of(p, behind, operation);
    gap = p.gaps.gap(t.follows).value_or(0);
  }
  if (coming >= gap) t.start = start_rule::by_arrival;
  t.lag = std::max(coming, gap);
}

// How long each operation took from where it could start, and which part of the way decided.
void time_starts(const trace::trace& recorded, program& p) {
  const std::vector<guided_run::start> could_start = guided_run(recorded, p).go();
  p.gaps.fall_back_to(timing_of(recorded));
  start_gaps arrivals = p.gaps;
  if (const timing_profile* timing = timing_of(recorded)) p.copy_look = timing->copy_look_ns;
  for (number i = 0; i < p.tasks.size(); ++i) {
    task& t = p.tasks[i];
    const trace::operation& o = recorded.operations[i];
    const guided_run::start& could = could_start[i];
    if (could.time == never || o.started == never) continue;
    t.lag = o.started - std::min(o.started, could.time);
    const start_class what = start_class_of(t.what);
    if (what == start_class::other || o.queued == never || o.started < could.time) continue;
    t.held = could.time - o.queued;
    t.start = t.held == 0 || could.behind == none ? start_rule::by_arrival : start_rule::by_gap;
    t.found_no_room = waited_for_room(p, i, could.behind, o);
    if (t.start == start_rule::by_arrival && !t.found_no_room)
      arrivals.saw_arrival(what, t.held + t.lag);
  }
  p.gaps = std::move(arrivals);
  p.gaps.settle();
  // What came later than the gap behind it asked for says nothing about that gap.
  start_gaps gaps = p.gaps;
  for (number i = 0; i < p.tasks.size(); ++i) {
    task& t = p.tasks[i];
    if (t.start != start_rule::by_gap || t.found_no_room) continue;
    const start_class what = start_class_of(t.what);
    const std::optional<nanoseconds> arrival = p.gaps.arrival(what);
    const number behind = could_start[i].behind;
    if (arrival && t.held + t.lag <= *arrival) {
      t.start = start_rule::by_arrival;
    } else {
      t.looked = std::min(t.lag, looking(p, i, behind, could_start[i].others));
      t.follows = pair_of(p, behind, i);
      gaps.saw_gap(t.follows, t.lag - t.looked);
    }
  }
  gaps.settle();
  p.gaps = std::move(gaps);
  for (number i = 0; i < p.tasks.size(); ++i)
    if (task& t = p.tasks[i]; t.found_no_room) {
      start_as_others(p, i, could_start[i].behind);
      add_beginning(recorded.operations[i], *p.beginning, t);
    }
  time_functions(recorded, p, could_start);
}

}  // namespace

nanoseconds beginning_of_kernels(const trace::trace& t) {
  const timing_profile* timing = timing_of(t);
  return timing == nullptr ? 0 : rounded_ns(timing->kernel_ns);
}

nanoseconds lag_of(const program& p, number operation, nanoseconds held, number behind,
                   std::uint32_t others) {
  const task& t = p.tasks[operation];
  const nanoseconds looked = looking(p, operation, behind, others);
  const bool looks_alike = t.start != start_rule::by_gap || looked == t.looked;
  if (t.start == start_rule::as_recorded || (held == t.held && looks_alike)) return t.lag;
  const start_class what = start_class_of(t.what);
  const bool follows = held != 0 && behind != none;
  std::optional<nanoseconds> arrival = t.held + t.lag, gap = t.lag - t.looked;
  if (t.start == start_rule::by_gap) arrival = p.gaps.arrival(what);
  const bool as_recorded =
      t.start == start_rule::by_gap && follows && pair_of(p, behind, operation) == t.follows;
  if (follows && !as_recorded) gap = p.gaps.gap(pair_of(p, behind, operation));
  if (!arrival || (follows && !gap)) return t.lag;
  const nanoseconds coming = *arrival - std::min(*arrival, held);
  if (!follows) return coming;
  // A copy behind another one has waited for its engine longer than that.
  const bool for_engine =
      t.what.kind == command_kind::copy && p.tasks[behind].what.kind == command_kind::copy;
  return std::max(coming, *gap + looked + (for_engine ? 0 : t.later));
}

program program_of(const trace::trace& recorded) {
  program p = skeleton_of(recorded);
  time_kernels(recorded, p);
  time_starts(recorded, p);
  time_transfers(recorded, p);
  time_host(recorded, p);
  time_driver(recorded, timing_of(recorded), p);
  settle_shared_kernels(recorded, p);
  return p;
}

}  // namespace sb::analysis
