#include "analysis/replay.hpp"

#include <algorithm>
#include <utility>

#include "analysis/replay_run.hpp"
#include "model/block_rules.hpp"
#include "model/stream_rules.hpp"

namespace sb::analysis {

replay_run::replay_run(const program& p, record_waits waits, record_pieces pieces)
    : program_(p),
      transfer_ends_(p.tasks.size(), 0),
      copies_(p),
      loads_(p),
      driver_(p),
      scheduler_(p.machine),
      commands_(p.tasks.size()),
      grants_(p.tasks.size(), 0),
      blocks_left_(p.tasks.size(), 0),
      running_(p.tasks.size(), 0),
      begins_(p.tasks.size(), 0),
      threads_(p.threads.size()),
      pausing_(p.threads.size()),
      paused_(p.threads.size()),
      last_in_stream_(p.streams.size(), none) {
  result_.operations.resize(p.tasks.size());
  result_.steps.resize(p.threads.size());
  if (pieces == record_pieces::yes) result_.pieces.resize(p.tasks.size());
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

void replay_run::at(nanoseconds time, event_kind kind, number what, std::uint64_t blocks,
                    shared_device::piece_id piece) {
  const std::uint64_t order = kind == event_kind::thread_goes_on ? what : order_++;
  events_.push({time, kind, order, what, blocks, piece});
}

bool replay_run::outdated(const event& e) const {
  if (e.kind == event_kind::piece_begins) return shares_[e.what].look != e.time;
  if (e.kind == event_kind::operation_ends)
    return program_.tasks[e.what].on_link && transfer_ends_[e.what] != e.order;
  if (e.piece == shared_device::none) return false;
  return shares_[program_.streams[program_.tasks[e.what].stream].device].ends[e.piece] != e.order;
}

timing replay_run::go() {
  for (number i = 0; i < threads_.size(); ++i) {
    if (!program_.threads[i].empty() || !pauses_before(program_, i, 0).empty()) {
      at(0, event_kind::thread_goes_on, i);
    }
  }
  while (!events_.empty()) {
    const event e = events_.top();
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
        blocks_ended(e);
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

std::uint64_t replay_run::blocks_of(const event& e) const {
  if (e.piece == shared_device::none) return e.blocks;
  return shares_[program_.streams[program_.tasks[e.what].stream].device].device.at(e.piece).blocks;
}

// As in the engine's modelled time: whether blocks of a kernel which has others that wait end in so
// short a time that it does not matter to them.
bool replay_run::is_nearly_over(const event& e, number device) const {
  if (e.kind != event_kind::blocks_end || e.piece == shared_device::none || outdated(e) ||
      program_.streams[program_.tasks[e.what].stream].device != device) {
    return false;
  }
  const nanoseconds from = shares_[device].device.at(e.piece).from;
  return blocks_left_[e.what] != running_[e.what] &&
         ends_in_a_moment(from, e.time, now_, program_.kernel_gap);
}

// What follows a kernel in its stream comes a moment later: the room that others make until then is
// taken by those of their blocks which wait already. What the host does meanwhile comes behind
// that.
void replay_run::make_room_before_next(number device) {
  std::vector<event> of_host;
  while (!events_.empty()) {
    const event e = events_.top();
    const bool over = outdated(e), host = is_of_host(e);
    if (!over && !host && !is_nearly_over(e, device)) break;
    events_.pop();
    if (over) continue;
    if (host) {
      of_host.push_back(e);
      continue;
    }
    tell_blocks(e.what, end_piece(e));
    follow();
  }
  for (const event& e : of_host) events_.push(e);
}

bool replay_run::is_of_host(const event& e) const {
  return e.kind == event_kind::thread_goes_on ||
         (e.kind == event_kind::operation_ends &&
          program_.tasks[e.what].what.kind == command_kind::host_function);
}

// How many blocks it had.
std::uint64_t replay_run::end_piece(const event& e) {
  const std::uint64_t blocks = blocks_of(e);
  if (e.piece != shared_device::none) {
    sharing& s = shares_[program_.streams[program_.tasks[e.what].stream].device];
    s.device.remove(e.piece);
    s.ends[e.piece] = ~std::uint64_t{0};
  }
  blocks_left_[e.what] -= blocks;
  running_[e.what] -= blocks;
  return blocks;
}

// What ends together makes room together.
void replay_run::blocks_ended(const event& first) {
  std::uint64_t blocks = end_piece(first);
  for (; !events_.empty() && events_.top().ends_with(first); events_.pop())
    if (!outdated(events_.top())) blocks += end_piece(events_.top());
  if (blocks_left_[first.what] == 0)
    make_room_before_next(program_.streams[program_.tasks[first.what].stream].device);
  tell_blocks(first.what, blocks);
}

void replay_run::tell_blocks(number operation, std::uint64_t count) {
  if (recorder_) recorder_->blocks_left(operation);
  if (blocks_left_[operation] == 0) ended(operation);
  scheduler_.blocks_done(commands_[operation], count);
}

void replay_run::submit(number operation) {
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
  const first_uses::work* loading = loads_.before(operation, scheduler_);
  result_.operations[operation].queued = now_;
  if (makes_stream_busy(c.kind)) last_in_stream_[t.stream] = operation;
  blocks_left_[operation] = std::max<std::uint64_t>(1, c.kernel.blocks);
  if (recorder_) {
    recorder_->submitted(operation);
    if (loading != nullptr) {
      for (const command_id id : loading->commands)
        recorder_->loads_behind(operation, operations_[id.value]);
    }
  }
  copies_.came(operation);
  const bool waits = c.kind == command_kind::event_wait;
  const bool pending_record = waits && c.record.valid() && !scheduler_.done(c.record);
  commands_[operation] =
      scheduler_.submit(c, after, loading == nullptr ? sched::gathering{} : loading->all);
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
void replay_run::follow() {
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

void replay_run::started(number operation) {
  const task& t = program_.tasks[operation];
  if (t.what.kind == command_kind::kernel) {
    if (recorder_) recorder_->resident(operation);
    if (program_.beginning) begins_[operation] = now_ + lag_to_start(operation);
    return;
  }
  if (recorder_) recorder_->may_start(operation, now_);
  operation_times& times = result_.operations[operation];
  times.started = now_ + lag_to_start(operation);
  if (const auto waiting = awaiting_functions_.extract(operation); !waiting.empty())
    for (const number thread : waiting.mapped()) at(now_, event_kind::thread_goes_on, thread);
  if (!t.on_link) return at(times.started + t.duration, event_kind::operation_ends, operation);
  const number device = program_.streams[t.stream].device;
  links_[device].begin(operation, t.what.direction, times.started, t.duration);
  transfer(device);
}

// A host function begins as it did where its thread is found as it was.
nanoseconds replay_run::lag_to_start(number operation) {
  const task& t = program_.tasks[operation];
  using found = function_thread::found;
  if (t.what.kind == command_kind::host_function && t.found != found::unknown) {
    const bool by_device =
        ending_ != none && program_.tasks[ending_].what.kind != command_kind::host_function;
    const found now = program_.functions.when(now_ - std::min(now_, functions_over_), by_device);
    return now == t.found ? t.lag : program_.functions.begins(now);
  }
  const nanoseconds held = now_ - result_.operations[operation].queued;
  return lag_of(program_, operation, held, ending_, copies_.begins(operation));
}

// After a copy between host and device has begun or ended.
void replay_run::transfer(number device) {
  for (const device_link::moved& m : links_[device].update(now_)) {
    transfer_ends_[m.copy] = order_;
    at(m.end, event_kind::operation_ends, m.copy);
  }
}

// Of those that have room now. As in the engine's modelled time, a kernel whose first ones waited
// for it has begun before.
nanoseconds replay_run::begin_of_blocks(number operation) {
  operation_times& times = result_.operations[operation];
  if (times.started != never) return program_.beginning ? now_ : std::max(now_, times.started);
  if (recorder_) recorder_->may_start(operation, now_);
  if (!program_.beginning) {
    times.started = now_ + lag_of(program_, operation, now_ - times.queued, ending_);
    return times.started;
  }
  const kernel_begin begin = begin_with_room(begins_[operation], *program_.beginning, now_);
  times.started = begin.kernel;
  return begin.blocks;
}

// The blocks of one grant run together.
void replay_run::granted(number operation, std::uint64_t blocks) {
  const task& t = program_.tasks[operation];
  const nanoseconds from = begin_of_blocks(operation);
  running_[operation] += blocks;
  const nanoseconds whole = t.duration - std::min(t.duration, program_.beginning.value_or(0));
  const block_turn turn =
      blocks_left_[operation] < t.what.kernel.blocks ? block_turn::later : block_turn::first;
  const nanoseconds length =
      length_of_piece(t, whole, grants_[operation]++, running_[operation], turn);
  if (!result_.pieces.empty())
    result_.pieces[operation].push_back({blocks, running_[operation], turn});
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

void replay_run::piece_ends(number device, shared_device::piece_id id, number operation,
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
void replay_run::share() {
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

void replay_run::ended(number operation) {
  result_.operations[operation].ended = now_;
  if (program_.tasks[operation].what.kind == command_kind::host_function) functions_over_ = now_;
  if (program_.tasks[operation].what.kind != command_kind::event_record) {
    last_ended_ = operation;
  }
  if (recorder_) recorder_->finished(operation);
}

timing replay(const program& p, record_waits waits, record_pieces pieces) {
  return replay_run(p, waits, pieces).go();
}

}  // namespace sb::analysis
