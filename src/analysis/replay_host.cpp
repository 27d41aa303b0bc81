// The host's threads in a replay.
#include <algorithm>

#include "analysis/replay_run.hpp"
#include "model/stream_rules.hpp"

namespace sb::analysis {

namespace {

constexpr std::uint32_t entries_of_a_stream = 1021;  // docs/semantics.md

}  // namespace

// Moves a thread on from where it stood. It comes here again at every time that matters to it.
void replay_run::advance(number thread) {
  thread_state& t = threads_[thread];
  const std::vector<step>& steps = program_.threads[thread];
  while (t.step < steps.size()) {
    const step& s = steps[t.step];
    call_times& times = result_.steps[thread][t.step];
    switch (t.at) {
      case stage::pauses:
        if (!pause(thread) || !take(thread, s.takes)) return;
        t.at = stage::begins;
        if (s.gap != 0) return at(now_ + s.gap, event_kind::thread_goes_on, thread);
        break;
      case stage::begins:
        times.begin = now_;
        let_go(thread, s.lets_go);
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
          if (!wakes(thread, s.first)) return;
          end_wait(thread, s.first);
          t.base = now_;
        }
        while (t.issued < s.issues.size()) {
          const issue& next = s.issues[t.issued];
          if (t.base + next.offset > now_) {
            return at(t.base + next.offset, event_kind::thread_goes_on, thread);
          }
          if (!pay(thread, next) || !give(thread, next.operation)) return;
          ++t.issued;
          t.due = thread_state::price::others;
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
          if (!wakes(thread, s.last)) return;
          end_wait(thread, s.last);
          t.base = now_;
          if (s.after != 0) return at(now_ + s.after, event_kind::thread_goes_on, thread);
        }
        times.end = now_;
        let_go(thread, s.lets_go_behind);
        t.at = stage::pauses;
        t.pause = 0;
        ++t.step;
        let_on(thread);
        break;
    }
  }
  pause(thread);
}

// Those that wait until this one is further look again.
void replay_run::let_on(number thread) {
  for (const number other : std::exchange(pausing_[thread], {}))
    at(now_, event_kind::thread_goes_on, other);
}

// When a thread comes to that point; never: it has not made its last call before that, has not
// ended its last pause, or the host function has not begun.
nanoseconds replay_run::reached(const thread_point& p) const {
  if (p.function != none) {
    const nanoseconds begin = result_.operations[p.function].started;
    return begin == never ? never : begin + p.after;
  }
  if (p.thread == none) return 0;
  const thread_state& t = threads_[p.thread];
  if (t.step < p.calls) return never;
  const nanoseconds called = p.calls == 0 ? 0 : result_.steps[p.thread][p.calls - 1].end;
  // A change may have left some of the pauses out.
  const std::size_t pauses = std::min(p.pauses, pauses_before(program_, p.thread, p.calls).size());
  if (pauses == 0) return called + p.after;
  const auto& steps = paused_[p.thread];
  const auto ends = steps.find(p.calls);
  if (ends == steps.end() || ends->second.size() < pauses) return never;
  return ends->second[pauses - 1] + p.after;
}

// Takes a thread through its pauses before a call. False: it comes back here later.
bool replay_run::pause(number thread) {
  thread_state& t = threads_[thread];
  const std::vector<thread_pause>& pauses = pauses_before(program_, thread, t.step);
  while (t.pause < pauses.size()) {
    const thread_pause& p = pauses[t.pause];
    if (!std::exchange(t.pauses, true) && p.before != 0) {
      at(now_ + p.before, event_kind::thread_goes_on, thread);
      return false;
    }
    const nanoseconds when = reached(p.until);
    if (when == never) {
      if (p.until.function != none)
        awaiting_functions_[p.until.function].push_back(thread);
      else
        pausing_[p.until.thread].push_back(thread);
      return false;
    }
    t.pauses = false;
    ++t.pause;
    paused_[thread][t.step].push_back(std::max(now_, when));
    let_on(thread);
    if (when > now_) {
      at(when, event_kind::thread_goes_on, thread);
      return false;
    }
  }
  return true;
}

// False: another thread has the lock, and wakes this one when it lets go. Who has not let go for
// longer than a moment takes it again before the one that it woke.
bool replay_run::take(number thread, number lock) {
  if (lock == none) return true;
  lock_state& l = locks_[lock];
  const bool was_first = l.woken == thread;
  if (was_first) l.woken = none;
  if (l.holder == none) l.holder = thread;
  if (l.holder == thread) return true;
  l.waiting.insert(was_first ? l.waiting.begin() : l.waiting.end(), thread);
  return false;
}

void replay_run::let_go(number thread, number lock) {
  if (lock == none) return;
  lock_state& l = locks_[lock];
  if (l.holder != thread) return;
  l.holder = none;
  if (l.waiting.empty() || l.woken != none) return;
  l.woken = l.waiting.front();
  l.waiting.pop_front();
  at(now_, event_kind::thread_goes_on, l.woken);
}

std::optional<sched::wait_target> replay_run::target_of(const host_wait& w) const {
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
bool replay_run::begin_wait(number thread, const host_wait& w) {
  threads_[thread].waiting = now_;
  const std::optional<sched::wait_target> target = target_of(w);
  if (!target || scheduler_.satisfied(*target)) {
    return false;
  }
  waiters_.emplace_back(scheduler_.wait(*target), thread);
  threads_[thread].is_asleep = true;
  return true;
}

// Its wait is over. False: it comes back here when it has woken up.
bool replay_run::wakes(number thread, const host_wait& w) {
  thread_state& t = threads_[thread];
  if (!std::exchange(t.is_asleep, false)) return true;
  t.awaited_last = last_ended_;
  if (w.is_awake || last_ended_ == none) return true;
  const nanoseconds time = program_.wakes.after(now_ - t.waiting, program_.tasks[last_ended_].what);
  if (time == 0) return true;
  at(now_ + time, event_kind::thread_goes_on, thread);
  return false;
}

void replay_run::end_wait(number thread, const host_wait& w) {
  thread_state& t = threads_[thread];
  call_times& times = result_.steps[thread][t.step];
  if (now_ > t.waiting) {
    times.blocked += now_ - t.waiting;
    times.blocked_on = t.awaited_last;
  }
  // Named even when there was nothing to wait for: it says which stream or event was meant.
  if (w.scope == wait_scope::operation) {
    times.blocked_on = w.target;
  } else if (w.scope == wait_scope::stream && w.target < last_in_stream_.size() &&
             last_in_stream_[w.target] != none) {
    times.blocked_on = last_in_stream_[w.target];
  }
}

// What the call pays for bringing the operation. False: it comes back here when it has.
bool replay_run::pay(number thread, const issue& next) {
  using price = thread_state::price;
  if (next.brings == bringing::nothing) return true;
  thread_state& t = threads_[thread];
  const task& what = program_.tasks[next.operation];
  while (t.due != price::none) {
    nanoseconds cost = 0;
    if (t.due == price::others) {
      cost = driver_.for_others(driver_.others(thread, now_));
      driver_.brings(thread, now_);
      t.due = price::stream;
    } else {
      if (what.what.kind == command_kind::kernel)
        cost = driver_.for_stream(what.instead_of == none ? what.stream : what.instead_of);
      t.due = price::none;
    }
    if (next.brings != bringing::paid || cost == 0) continue;
    t.base += cost;
    at(now_ + cost, event_kind::thread_goes_on, thread);
    return false;
  }
  return true;
}

// False when the operation's stream has no room for it yet.
bool replay_run::give(number thread, number operation) {
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

}  // namespace sb::analysis
