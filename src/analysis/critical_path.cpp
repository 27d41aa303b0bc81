#include "analysis/critical_path.hpp"

#include <algorithm>
#include <map>

#include "analysis/sort_stably.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

using trace::nanoseconds;
using trace::never;
using trace::none;
using trace::number;

namespace {

path_work work_of(const trace::operation& o) {
  switch (o.kind) {
    case trace::operation_kind::kernel:
      return path_work::kernel;
    case trace::operation_kind::copy:
      return o.direction == copy_direction::host_to_device   ? path_work::copy_host_to_device
             : o.direction == copy_direction::device_to_host ? path_work::copy_device_to_host
             : o.direction == copy_direction::peer           ? path_work::copy_peer
                                                             : path_work::copy_other;
    case trace::operation_kind::fill:
      return path_work::fill;
    case trace::operation_kind::host_function:
      return path_work::host_function;
    default:
      return path_work::other_operation;
  }
}

// Whether one waited for the other only because the device has no engine for copies.
bool take_turns(const trace::trace& t, const trace::operation& o, const trace::edge& e) {
  if (e.cause != trace::wait_cause::device_full && e.cause != trace::wait_cause::engine_busy)
    return false;
  const bool known = o.device < t.devices.size() && t.devices[o.device].multiprocessors != 0;
  const auto computes = [](const trace::operation& one) {
    return one.kind == trace::operation_kind::kernel;
  };
  return known && t.devices[o.device].copy_engines == 0 &&
         computes(o) != computes(t.operations[e.from]);
}

path_link link_of(const trace::operation& o, trace::wait_cause cause) {
  switch (cause) {
    case trace::wait_cause::stream_order:
      return path_link::stream_order;
    case trace::wait_cause::event:
      return path_link::event;
    case trace::wait_cause::legacy_barrier:
      return path_link::legacy_barrier;
    case trace::wait_cause::graph_edge:
      return o.kind == trace::operation_kind::graph_begin ? path_link::same_graph
                                                          : path_link::graph_edge;
    case trace::wait_cause::queue_head:
      return path_link::queue_head;
    case trace::wait_cause::engine_busy:
      return path_link::engine_busy;
    case trace::wait_cause::device_full:
      return path_link::device_full;
    case trace::wait_cause::allocation:
      return path_link::allocation;
    case trace::wait_cause::loading:
      return path_link::loading;
    case trace::wait_cause::host_call:
      break;
  }
  return path_link::host_issue;
}

class walk {
 public:
  explicit walk(const trace::trace& t);
  critical_path go();

 private:
  void find_threads_of_cut_off_calls();
  void follow_thread(number thread);
  void follow_operation(number operation, bool with_its_run);
  void add(nanoseconds from, path_work work, number operation, number call, number thread);
  [[nodiscard]] number call_before(number thread, nanoseconds time) const;
  [[nodiscard]] const trace::thread_wait* wait_before(number thread, nanoseconds time) const;

  const trace::trace& trace_;
  std::vector<number> threads_;             // of calls
  std::vector<std::vector<number>> calls_;  // by thread, in order
  std::vector<std::vector<number>> thread_waits_;
  critical_path path_;
  nanoseconds at_ = 0;  // everything behind this moment is explained
  path_link link_ = path_link::end_of_run;
  // Where to go on: an operation, or a thread.
  number operation_ = none, thread_ = none;
  bool with_its_run_ = true;
};

walk::walk(const trace::trace& t) : trace_(t), calls_(t.threads.size()) {
  for (number i = 0; i < t.calls.size(); ++i) {
    const number thread = t.calls[i].thread;
    threads_.push_back(thread);
    if (thread == none) continue;
    if (thread >= calls_.size()) calls_.resize(thread + 1);
    calls_[thread].push_back(i);
  }
  for (std::vector<number>& calls : calls_) {
    sort_stably(calls, [&](number a, number b) { return t.calls[a].begin < t.calls[b].begin; });
  }
  find_threads_of_cut_off_calls();
  thread_waits_.resize(calls_.size());
  for (number i = 0; i < t.thread_waits.size(); ++i) {
    const trace::thread_wait& w = t.thread_waits[i];
    const bool known =
        w.function != none ? w.function < t.operations.size() : w.other < calls_.size();
    if (w.thread < calls_.size() && known && w.thread != w.other)
      thread_waits_[w.thread].push_back(i);
  }
  for (std::vector<number>& waits : thread_waits_) {
    sort_stably(waits,
                [&](number a, number b) { return t.thread_waits[a].end < t.thread_waits[b].end; });
  }
}

// A killed program may leave a call of which only its operations tell, without the thread. It is
// the last one of a thread that is in no other then: of several, the one that called last.
void walk::find_threads_of_cut_off_calls() {
  for (number i = 0; i < trace_.calls.size(); ++i) {
    const trace::call& cut_off = trace_.calls[i];
    if (threads_[i] != none || cut_off.returned) continue;
    nanoseconds latest = 0;
    for (number thread = 0; thread < calls_.size(); ++thread) {
      if (calls_[thread].empty()) continue;
      const trace::call& last = trace_.calls[calls_[thread].back()];
      if (!last.returned || last.end > cut_off.begin || last.end < latest) continue;
      latest = last.end;
      threads_[i] = thread;
    }
    if (threads_[i] != none) calls_[threads_[i]].push_back(i);
  }
}

void walk::add(nanoseconds from, path_work work, number operation, number call, number thread) {
  from = std::min(from, at_);
  if (from == at_) return;
  path_.stretches.push_back({.begin = from,
                             .end = at_,
                             .work = work,
                             .link = link_,
                             .operation = operation,
                             .call = call,
                             .thread = thread});
  at_ = from;
}

// The thread's last call that began before that time.
number walk::call_before(number thread, nanoseconds time) const {
  if (thread >= calls_.size()) return none;
  const std::vector<number>& calls = calls_[thread];
  const auto behind = std::lower_bound(
      calls.begin(), calls.end(), time,
      [&](number call, nanoseconds when) { return trace_.calls[call].begin < when; });
  return behind == calls.begin() ? none : *std::prev(behind);
}

// The thread's last wait for another one that was over by that time.
const trace::thread_wait* walk::wait_before(number thread, nanoseconds time) const {
  if (thread >= thread_waits_.size()) return nullptr;
  const std::vector<number>& waits = thread_waits_[thread];
  const auto behind = std::upper_bound(
      waits.begin(), waits.end(), time,
      [&](nanoseconds when, number wait) { return when < trace_.thread_waits[wait].end; });
  return behind == waits.begin() ? nullptr : &trace_.thread_waits[*std::prev(behind)];
}

// The host thread was what the path came to: its code, then its call before that, or the thread
// that it waited for.
void walk::follow_thread(number thread) {
  const number call = call_before(thread, at_);
  if (const trace::thread_wait* w = wait_before(thread, at_);
      w != nullptr && (call == none || trace_.calls[call].end <= w->end)) {
    add(w->end, path_work::host_code, none, call, thread);
    link_ = w->function != none ? path_link::thread_waits : path_link::other_thread;
    thread_ = w->other;
    operation_ = w->function;
    with_its_run_ = true;
    return;
  }
  if (call == none) {
    add(0, path_work::host_code, none, none, thread);
    return;
  }
  const trace::call& c = trace_.calls[call];
  const nanoseconds end = c.end == never || c.end < c.begin ? at_ : c.end;
  if (end < at_) {
    add(end, path_work::host_code, none, call, thread);
    link_ = path_link::thread;
  }
  const bool waited = c.blocked > 0 && c.blocked_on < trace_.operations.size();
  const nanoseconds released = waited ? trace_.operations[c.blocked_on].ended : never;
  if (released != never && released > c.begin && released <= at_) {
    add(released, path_work::host_call, none, call, thread);
    link_ = path_link::host_waits;
    operation_ = c.blocked_on;
    thread_ = none;
    with_its_run_ = true;
    return;
  }
  add(c.begin, path_work::host_call, none, call, thread);
  link_ = path_link::thread;
}

void walk::follow_operation(number operation, bool with_its_run) {
  const trace::operation& o = trace_.operations[operation];
  if (with_its_run && o.started < at_) {
    add(o.started, work_of(o), operation, none, none);
    // A record only stands for what was before it, also where it takes a moment itself.
    if (o.kind != trace::operation_kind::event_record) link_ = path_link::starts;
  }
  const trace::edge* last = nullptr;
  for (const trace::edge& e : o.waits) {
    const bool usable = e.cause != trace::wait_cause::host_call &&
                        e.from < trace_.operations.size() && e.until <= at_ && e.until != never;
    if (usable && (last == nullptr || e.until >= last->until)) last = &e;
  }
  const nanoseconds queued = o.queued == never ? o.called : o.queued;
  if (last != nullptr && (queued == never || last->until >= queued)) {
    add(last->until, path_work::start, operation, none, none);
    // A record only stands for what was before it: who waits for it waits for that. So does the
    // end of a graph, and the head of a queue for who was behind it.
    const bool stands_for_others =
        o.kind == trace::operation_kind::event_record || o.kind == trace::operation_kind::graph_end;
    if (!stands_for_others && with_its_run)
      link_ = take_turns(trace_, o, *last) ? path_link::takes_turns : link_of(o, last->cause);
    operation_ = last->from;
    // The head of a queue let this one go when it left the queue, not when it was done.
    with_its_run_ = last->cause != trace::wait_cause::queue_head;
    return;
  }
  if (queued != never && queued < at_) add(queued, path_work::start, operation, none, none);
  link_ = path_link::host_issue;
  operation_ = none;
  thread_ = o.call < threads_.size() ? threads_[o.call] : none;
  if (thread_ == none) add(0, path_work::other_operation, operation, none, none);
}

critical_path walk::go() {
  at_ = trace_.end;
  number last_call = none, last_operation = none;
  for (number i = 0; i < trace_.calls.size(); ++i) {
    const nanoseconds end = trace_.calls[i].end;
    if (threads_[i] == none) continue;
    if (end != never && (last_call == none || end >= trace_.calls[last_call].end)) last_call = i;
  }
  for (number i = 0; i < trace_.operations.size(); ++i) {
    const nanoseconds end = trace_.operations[i].ended;
    if (end != never &&
        (last_operation == none || end >= trace_.operations[last_operation].ended)) {
      last_operation = i;
    }
  }
  const nanoseconds call_end = last_call == none ? 0 : trace_.calls[last_call].end;
  const nanoseconds operation_end =
      last_operation == none ? 0 : trace_.operations[last_operation].ended;
  at_ = std::max({at_, call_end, operation_end});
  path_.length = at_;
  if (last_call != none && call_end >= operation_end) {
    thread_ = threads_[last_call];
  } else if (last_operation != none) {
    if (operation_end < at_) add(operation_end, path_work::host_code, none, last_call, none);
    operation_ = last_operation;
  }
  // Every step goes back in time, or over one of finitely many waits of the same moment.
  std::size_t steps =
      4 * (trace_.calls.size() + trace_.operations.size() + trace_.thread_waits.size()) + 16;
  while (at_ > 0 && steps-- > 0) {
    if (operation_ != none) {
      follow_operation(operation_, with_its_run_);
    } else if (thread_ != none) {
      follow_thread(thread_);
    } else {
      break;
    }
  }
  add(0, path_work::host_code, none, none, none);
  std::reverse(path_.stretches.begin(), path_.stretches.end());
  return std::move(path_);
}

number place_of(const trace::trace& t, const path_stretch& s) {
  if (s.operation != none) return analysis::place_of(t, s.operation);
  return s.call < t.calls.size() ? t.calls[s.call].place : none;
}

// The keys with the most time, at most `most` of them.
template <class Key>
std::vector<Key> longest(const std::map<Key, nanoseconds>& times, std::size_t most) {
  std::vector<std::pair<nanoseconds, Key>> order;
  for (const auto& [key, time] : times) order.emplace_back(time, key);
  sort_stably(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Key> keys;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) keys.push_back(order[i].second);
  return keys;
}

void share_out(const trace::trace& t, critical_path& path) {
  struct sum {
    path_share share;
    std::map<number, nanoseconds> places;
    std::map<std::string, nanoseconds> calls;
  };
  std::map<std::pair<path_work, path_link>, sum> sums;
  for (const path_stretch& s : path.stretches) {
    // The host's own stretch at the end is one of its stretches like the others.
    const path_link link =
        s.operation == none && s.link == path_link::end_of_run ? path_link::thread : s.link;
    sum& into = sums[{s.work, link}];
    into.share.work = s.work;
    into.share.link = link;
    into.share.time += s.length();
    ++into.share.stretches;
    if (s.work == path_work::host_call && s.call < t.calls.size() &&
        !t.calls[s.call].name.empty()) {
      into.calls[t.calls[s.call].name] += s.length();
    }
    if (const number place = place_of(t, s); place != none) into.places[place] += s.length();
  }
  for (auto& [key, from] : sums) {
    from.share.places = longest(from.places, 4);
    from.share.calls = longest(from.calls, 3);
    path.shares.push_back(std::move(from.share));
  }
  sort_stably(path.shares,
              [](const path_share& a, const path_share& b) { return a.time > b.time; });
}

}  // namespace

critical_path critical_path_of(const trace::trace& t) {
  critical_path path = walk(t).go();
  share_out(t, path);
  return path;
}

}  // namespace sb::analysis
