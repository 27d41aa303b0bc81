#include "analysis/replay.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include "analysis/transfers.hpp"
#include "analysis/wait_recorder.hpp"
#include "analysis/waiting_copies.hpp"
#include "model/stream_rules.hpp"

namespace sb::analysis {

namespace {

constexpr std::uint32_t entries_of_a_stream = 1021;  // docs/semantics.md

// At one moment, what ends comes before what the host does next.
enum class event_kind : std::uint8_t { operation_ends, blocks_end, piece_begins, thread_goes_on };

struct event {
  nanoseconds time = 0;
  event_kind kind = event_kind::operation_ends;
  std::uint64_t order = 0;  // threads: their number; others: the order in which they came up
  number what = none;       // operation, thread or device
  std::uint64_t blocks = 0;
  shared_device::piece_id piece = shared_device::none;  // blocks that share the device

  friend bool operator>(const event& a, const event& b) {
    const bool a_host = a.kind == event_kind::thread_goes_on;
    const bool b_host = b.kind == event_kind::thread_goes_on;
    if (a.time != b.time) return a.time > b.time;
    if (a_host != b_host) return a_host;
    return a.order > b.order;
  }
};

// Where a thread is within its step.
enum class stage : std::uint8_t { pauses, begins, first_wait, issuing, room, last_wait, returns };

struct thread_state {
  std::size_t step = 0;
  stage at = stage::pauses;
  std::size_t pause = 0;  // of its step's
  bool pauses = false;    // its own code before that is done
  std::size_t issued = 0;
  nanoseconds base = 0;     // issues are counted from here
  nanoseconds waiting = 0;  // since
};

class run {
 public:
  run(const program& p, record_waits waits);
  timing go();

 private:
  void at(nanoseconds time, event_kind kind, number what, std::uint64_t blocks = 0,
          shared_device::piece_id piece = shared_device::none);
  void advance(number thread);
  bool pause(number thread);
  [[nodiscard]] nanoseconds reached(const thread_point& p) const;
  bool begin_wait(number thread, const host_wait& w);
  void end_wait(number thread, const host_wait& w);
  bool give(number thread, number operation);
  void submit(number operation);
  void follow();
  void started(number operation);
  void granted(number operation, std::uint64_t blocks);
  void ended(number operation);
  void piece_ends(number device, shared_device::piece_id id, number operation, nanoseconds time);
  [[nodiscard]] bool outdated(const event& e) const;
  void share();
  void transfer(number device);
  [[nodiscard]] std::optional<sched::wait_target> target_of(const host_wait& w) const;

  // What is on a device together.
  struct sharing {
    shared_device device;
    std::vector<std::uint64_t> ends;  // by piece: the event that ends it, by its order
    std::vector<number> operations;   // by piece
    nanoseconds look = never;         // when a piece begins
  };

  const program& program_;
  timing result_;
  std::vector<sharing> shares_;
  std::vector<device_link> links_;            // by device
  std::vector<std::uint64_t> transfer_ends_;  // by operation: the event that ends it, by its order
  waiting_copies copies_;
  sched::scheduler scheduler_;
  std::optional<wait_recorder> recorder_;
  std::vector<stream_id> streams_;
  std::vector<command_id> commands_;                  // of operations
  std::vector<number> operations_;                    // of commands, where waits are recorded
  std::vector<std::uint32_t> grants_;                 // of kernels
  std::vector<std::uint64_t> blocks_left_, running_;  // of kernels
  std::vector<thread_state> threads_;
  std::vector<std::vector<number>> pausing_;  // by thread: those that wait until it is further
  std::vector<std::pair<waiter_id, number>> waiters_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::vector<sched::action> actions_;
  std::uint64_t order_ = 0;
  nanoseconds now_ = 0;
  number last_ended_ = none;
  number ending_ = none;  // what ends at this moment and may let others start
  std::vector<number> last_in_stream_;
};

run::run(const program& p, record_waits waits)
    : program_(p),
      transfer_ends_(p.tasks.size(), 0),
      copies_(p),
      scheduler_(p.machine),
      commands_(p.tasks.size()),
      grants_(p.tasks.size(), 0),
      blocks_left_(p.tasks.size(), 0),
      running_(p.tasks.size(), 0),
      threads_(p.threads.size()),
      pausing_(p.threads.size()),
      last_in_stream_(p.streams.size(), none) {
  result_.operations.resize(p.tasks.size());
  result_.steps.resize(p.threads.size());
  for (std::size_t i = 0; i < p.threads.size(); ++i) {
    result_.steps[i].resize(p.threads[i].size());
  }
  for (const sched::device_limits& d : p.machine.devices) {
    shares_.push_back(
        {.device = shared_device(d.multiprocessors, p.older_first), .ends = {}, .operations = {}});
    links_.emplace_back(p.both_directions);
  }
  for (const program_stream& s : p.streams) {
    streams_.push_back(scheduler_.create_stream({s.device}, s.kind, 0));
  }
  if (waits == record_waits::yes) {
    recorder_.emplace(p, result_.operations);
    scheduler_.tell_queues();
  }
}

void run::at(nanoseconds time, event_kind kind, number what, std::uint64_t blocks,
             shared_device::piece_id piece) {
  const std::uint64_t order = kind == event_kind::thread_goes_on ? what : order_++;
  events_.push({time, kind, order, what, blocks, piece});
}

bool run::outdated(const event& e) const {
  if (e.kind == event_kind::piece_begins) return shares_[e.what].look != e.time;
  if (e.kind == event_kind::operation_ends)
    return program_.tasks[e.what].on_link && transfer_ends_[e.what] != e.order;
  if (e.piece == shared_device::none) return false;
  return shares_[program_.streams[program_.tasks[e.what].stream].device].ends[e.piece] != e.order;
}

timing run::go() {
  for (number i = 0; i < threads_.size(); ++i) {
    if (!program_.threads[i].empty()) {
      at(0, event_kind::thread_goes_on, i);
    }
  }
  while (!events_.empty()) {
    event e = events_.top();
    events_.pop();
    if (outdated(e)) continue;
    now_ = e.time;
    const bool ends = e.kind == event_kind::operation_ends || e.kind == event_kind::blocks_end;
    ending_ = ends ? e.what : none;
    switch (e.kind) {
      case event_kind::operation_ends:
        ended(e.what);
        if (const task& t = program_.tasks[e.what]; t.on_link) {
          const number device = program_.streams[t.stream].device;
          links_[device].end(e.what);
          transfer(device);
        }
        scheduler_.complete(commands_[e.what]);
        break;
      case event_kind::piece_begins:
        shares_[e.what].look = never;
        shares_[e.what].device.look_again();
        break;
      case event_kind::blocks_end:
        if (e.piece != shared_device::none) {
          sharing& s = shares_[program_.streams[program_.tasks[e.what].stream].device];
          e.blocks = s.device.at(e.piece).blocks;
          s.device.remove(e.piece);
          s.ends[e.piece] = ~std::uint64_t{0};
        }
        blocks_left_[e.what] -= e.blocks;
        running_[e.what] -= e.blocks;
        if (recorder_) recorder_->blocks_left(e.what);
        if (blocks_left_[e.what] == 0) ended(e.what);
        scheduler_.blocks_done(commands_[e.what], e.blocks);
        break;
      case event_kind::thread_goes_on:
        advance(e.what);
        break;
    }
    follow();
    share();
  }
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    result_.hung |= threads_[i].step < program_.threads[i].size();
    for (const call_times& c : result_.steps[i]) {
      if (c.end != never) result_.end = std::max(result_.end, c.end);
    }
  }
  for (const operation_times& o : result_.operations) {
    if (o.ended != never) result_.end = std::max(result_.end, o.ended);
  }
  result_.end += program_.tail;
  if (recorder_) result_.waits = recorder_->take();
  return std::move(result_);
}

// Moves a thread on from where it stood. It comes here again at every time that matters to it.
void run::advance(number thread) {
  thread_state& t = threads_[thread];
  const std::vector<step>& steps = program_.threads[thread];
  while (t.step < steps.size()) {
    const step& s = steps[t.step];
    call_times& times = result_.steps[thread][t.step];
    switch (t.at) {
      case stage::pauses:
        if (!pause(thread)) return;
        t.at = stage::begins;
        if (s.gap != 0) return at(now_ + s.gap, event_kind::thread_goes_on, thread);
        break;
      case stage::begins:
        times.begin = now_;
        t.issued = 0;
        t.at = stage::first_wait;
        if (s.before != 0) return at(now_ + s.before, event_kind::thread_goes_on, thread);
        break;
      case stage::first_wait:
        t.at = stage::issuing;
        t.base = never;
        if (begin_wait(thread, s.first)) return;
        break;
      case stage::issuing: {
        if (t.base == never) {
          end_wait(thread, s.first);
          t.base = now_;
        }
        while (t.issued < s.issues.size()) {
          const issue& next = s.issues[t.issued];
          if (t.base + next.offset > now_) {
            return at(t.base + next.offset, event_kind::thread_goes_on, thread);
          }
          if (!give(thread, next.operation)) return;
          ++t.issued;
        }
        t.at = stage::last_wait;
        const nanoseconds until = std::max(now_, t.base + s.between);
        if (until > now_) return at(until, event_kind::thread_goes_on, thread);
        break;
      }
      case stage::room: {
        // What the thread waited here moves the rest of its call.
        const nanoseconds waited = now_ - t.waiting;
        times.blocked += waited;
        times.blocked_on = last_ended_;
        t.base += waited;
        t.at = stage::issuing;
        break;
      }
      case stage::last_wait:
        t.at = stage::returns;
        t.base = never;
        if (begin_wait(thread, s.last)) return;
        break;
      case stage::returns:
        if (t.base == never) {
          end_wait(thread, s.last);
          t.base = now_;
          if (s.after != 0) return at(now_ + s.after, event_kind::thread_goes_on, thread);
        }
        times.end = now_;
        t.at = stage::pauses;
        t.pause = 0;
        ++t.step;
        for (const number other : std::exchange(pausing_[thread], {})) {
          at(now_, event_kind::thread_goes_on, other);
        }
        break;
    }
  }
}

// When a thread comes to that point; never: it has not made its last call before that.
nanoseconds run::reached(const thread_point& p) const {
  if (p.calls == 0) return p.after;
  return threads_[p.thread].step >= p.calls ? result_.steps[p.thread][p.calls - 1].end + p.after
                                            : never;
}

// Takes a thread through its pauses before a call. False: it comes back here later.
bool run::pause(number thread) {
  thread_state& t = threads_[thread];
  const std::vector<thread_pause>& pauses = program_.threads[thread][t.step].pauses;
  while (t.pause < pauses.size()) {
    const thread_pause& p = pauses[t.pause];
    if (!std::exchange(t.pauses, true) && p.before != 0) {
      at(now_ + p.before, event_kind::thread_goes_on, thread);
      return false;
    }
    const nanoseconds when = reached(p.until);
    if (when == never) {
      pausing_[p.until.thread].push_back(thread);
      return false;
    }
    t.pauses = false;
    ++t.pause;
    if (when > now_) {
      at(when, event_kind::thread_goes_on, thread);
      return false;
    }
  }
  return true;
}

std::optional<sched::wait_target> run::target_of(const host_wait& w) const {
  sched::wait_target target;
  switch (w.scope) {
    case wait_scope::nothing:
      return std::nullopt;
    case wait_scope::operation:
      if (w.target >= commands_.size() || !commands_[w.target].valid()) return std::nullopt;
      target.scope = sched::wait_scope::command;
      target.command = commands_[w.target];
      break;
    case wait_scope::stream:
      if (w.target >= streams_.size()) return std::nullopt;
      target.scope = sched::wait_scope::stream;
      target.stream = streams_[w.target];
      break;
    case wait_scope::device:
      if (w.target >= program_.machine.devices.size()) return std::nullopt;
      target.scope = sched::wait_scope::device;
      target.device = {w.target};
      break;
  }
  return target;
}

// True when the thread has to wait; it is woken by the scheduler's release.
bool run::begin_wait(number thread, const host_wait& w) {
  threads_[thread].waiting = now_;
  const std::optional<sched::wait_target> target = target_of(w);
  if (!target || scheduler_.satisfied(*target)) {
    return false;
  }
  waiters_.emplace_back(scheduler_.wait(*target), thread);
  return true;
}

void run::end_wait(number thread, const host_wait& w) {
  thread_state& t = threads_[thread];
  call_times& times = result_.steps[thread][t.step];
  if (now_ > t.waiting) {
    times.blocked += now_ - t.waiting;
    times.blocked_on = last_ended_;
  }
  // Named even when there was nothing to wait for: it says which stream or event was meant.
  if (w.scope == wait_scope::operation) {
    times.blocked_on = w.target;
  } else if (w.scope == wait_scope::stream && w.target < last_in_stream_.size() &&
             last_in_stream_[w.target] != none) {
    times.blocked_on = last_in_stream_[w.target];
  }
}

// False when the operation's stream has no room for it yet.
bool run::give(number thread, number operation) {
  const task& t = program_.tasks[operation];
  const queue_class queue = entry_of(t.what);
  const stream_id stream = streams_[t.stream];
  if (queue != queue_class::none &&
      scheduler_.pending_entries(stream, queue) >= entries_of_a_stream) {
    waiters_.emplace_back(scheduler_.wait_for_room(stream, queue, entries_of_a_stream), thread);
    threads_[thread].waiting = now_;
    threads_[thread].at = stage::room;
    return false;
  }
  submit(operation);
  return true;
}

void run::submit(number operation) {
  const task& t = program_.tasks[operation];
  command c = t.what;
  c.stream = streams_[t.stream];
  c.device = {program_.streams[t.stream].device};
  c.payload = operation;
  if (c.kind == command_kind::event_wait && t.record != none) {
    c.record = commands_[t.record];
  }
  std::vector<command_id> after;
  for (const std::vector<number>* list : {&t.after, &t.loading}) {
    for (const number other : *list) {
      if (commands_[other].valid()) after.push_back(commands_[other]);
    }
  }
  result_.operations[operation].queued = now_;
  if (makes_stream_busy(c.kind)) last_in_stream_[t.stream] = operation;
  blocks_left_[operation] = std::max<std::uint64_t>(1, c.kernel.blocks);
  if (recorder_) recorder_->submitted(operation);
  copies_.came(operation);
  const bool waits = c.kind == command_kind::event_wait;
  const bool pending_record = waits && c.record.valid() && !scheduler_.done(c.record);
  commands_[operation] = scheduler_.submit(c, after);
  if (recorder_) {
    operations_.resize(commands_[operation].value + 1, none);
    operations_[commands_[operation].value] = operation;
  }
  if (recorder_ && waits && !pending_record && after.empty() &&
      program_.streams[t.stream].kind != stream_kind::legacy) {
    recorder_->took_no_place(operation);
  }
  follow();
}

// Does what the scheduler says until it has nothing more to say.
void run::follow() {
  while (!scheduler_.actions().empty()) {
    actions_ = scheduler_.actions();
    scheduler_.clear_actions();
    for (const sched::action& a : actions_) {
      const auto operation = static_cast<number>(a.payload);
      switch (a.kind) {
        case sched::action_kind::start:
          result_.operations[operation].queue = a.queue;
          started(operation);
          break;
        case sched::action_kind::grant:
          granted(operation, a.count);
          break;
        case sched::action_kind::reached:
          if (recorder_) recorder_->reached(operation, now_);
          result_.operations[operation].ready = now_;
          result_.operations[operation].started = now_;
          result_.operations[operation].queue = a.queue;
          ended(operation);
          break;
        case sched::action_kind::entered:
        case sched::action_kind::admitted:
          recorder_->entered_queue(operation,
                                   a.count < operations_.size() ? operations_[a.count] : none,
                                   a.kind == sched::action_kind::admitted ? now_ : 0);
          break;
        case sched::action_kind::left:
          recorder_->left_queue(operation, now_);
          break;
        case sched::action_kind::release: {
          const auto found = std::find_if(waiters_.begin(), waiters_.end(),
                                          [&](const auto& w) { return w.first == a.waiter; });
          at(now_, event_kind::thread_goes_on, found->second);
          waiters_.erase(found);
          break;
        }
      }
    }
  }
}

void run::started(number operation) {
  const task& t = program_.tasks[operation];
  if (t.what.kind == command_kind::kernel) {
    if (recorder_) recorder_->resident(operation);
    return;
  }
  if (recorder_) recorder_->may_start(operation, now_);
  operation_times& times = result_.operations[operation];
  times.started =
      now_ + lag_of(program_, operation, now_ - times.queued, ending_, copies_.begins(operation));
  if (!t.on_link) return at(times.started + t.duration, event_kind::operation_ends, operation);
  const number device = program_.streams[t.stream].device;
  links_[device].begin(operation, t.what.direction, times.started, t.duration);
  transfer(device);
}

// After a copy between host and device has begun or ended.
void run::transfer(number device) {
  for (const device_link::moved& m : links_[device].update(now_)) {
    transfer_ends_[m.copy] = order_;
    at(m.end, event_kind::operation_ends, m.copy);
  }
}

// The blocks of one grant run together.
void run::granted(number operation, std::uint64_t blocks) {
  const task& t = program_.tasks[operation];
  operation_times& times = result_.operations[operation];
  nanoseconds from = now_;
  if (times.started == never) {
    if (recorder_) recorder_->may_start(operation, now_);
    times.started = now_ + lag_of(program_, operation, now_ - times.queued, ending_);
  }
  from = std::max(from, times.started);
  running_[operation] += blocks;
  const nanoseconds length =
      length_of_piece(t, t.duration, grants_[operation]++, running_[operation]);
  if (!t.shares) return at(from + length, event_kind::blocks_end, operation, blocks);
  const number device = program_.streams[t.stream].device;
  // What a block does is the same however long it takes.
  block_demand demand = t.demand;
  if (t.blocks.known() && length > 0) {
    const double times_longer = t.blocks.recorded() / static_cast<double>(length);
    demand.arithmetic *= times_longer;
    demand.memory *= times_longer;
  }
  const shared_device::piece_id id =
      shares_[device].device.add({.owner = &t,
                                  .blocks = blocks,
                                  .threads = t.what.kernel.threads_per_block,
                                  .demand = demand,
                                  .from = from,
                                  .alone = static_cast<double>(length)});
  piece_ends(device, id, operation, from + length);
}

void run::piece_ends(number device, shared_device::piece_id id, number operation,
                     nanoseconds time) {
  sharing& s = shares_[device];
  if (s.ends.size() <= id) {
    s.ends.resize(id + 1);
    s.operations.resize(id + 1);
  }
  s.ends[id] = order_;
  s.operations[id] = operation;
  at(time, event_kind::blocks_end, operation, 0, id);
}

// After everything that happens at this event.
void run::share() {
  for (number i = 0; i < shares_.size(); ++i) {
    sharing& s = shares_[i];
    if (!s.device.changed()) continue;
    for (const shared_device::moved& m : s.device.update(now_)) {
      piece_ends(i, m.id, s.operations[m.id], m.end);
    }
    if (s.device.next_begin() == s.look) continue;
    s.look = s.device.next_begin();
    if (s.look != never) at(s.look, event_kind::piece_begins, i);
  }
}

void run::ended(number operation) {
  result_.operations[operation].ended = now_;
  if (program_.tasks[operation].what.kind != command_kind::event_record) {
    last_ended_ = operation;
  }
  if (recorder_) recorder_->finished(operation);
}

}  // namespace

timing replay(const program& p, record_waits waits) { return run(p, waits).go(); }

}  // namespace sb::analysis
