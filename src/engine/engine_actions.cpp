// What the scheduler decides, carried out. Actions are taken up under the lock, in their order, and
// only hand work to others (workers, lanes, waiting host threads); marker functions run after the
// lock.
#include <cstdio>
#include <exception>
#include <utility>

#include "engine/clock.hpp"
#include "engine/engine_state.hpp"
#include "engine/modelled.hpp"
#include "engine/recorder.hpp"
#include "engine/shared_event.hpp"
#include "engine/transfer.hpp"
#include "model/stream_rules.hpp"

namespace sb::engine {

namespace {

thread_local bool host_function_runs = false;

node* node_of(const sched::action& a) { return reinterpret_cast<node*>(a.payload); }
node* node_of(kernel_run& run) { return static_cast<node*>(run.owner); }

class stopwatch {
 public:
  explicit stopwatch(bool measures) : begin_(measures ? steady_ns() : 0) {}
  [[nodiscard]] std::uint64_t ns() const {
    return begin_ != 0 ? steady_ns() - begin_ : kernel_sink::unmeasured;
  }

 private:
  std::uint64_t begin_;
};

}  // namespace

bool engine::in_host_function() { return host_function_runs; }

// --- nodes

void engine::impl::free_node(node* n) {
  (n->previous != nullptr ? n->previous->next : nodes) = n->next;
  if (n->next != nullptr) n->next->previous = n->previous;
  n->races.reset();
  pool->give(n);
  if (reset_waits) nodes_freed.notify_all();
}

void engine::impl::hold(kernel_run& run, std::uint64_t n) {
  node_of(run)->references.fetch_add(n, std::memory_order_relaxed);
}

void engine::impl::release(kernel_run& run, std::uint64_t n) {
  node* owner = node_of(run);
  if (owner->references.fetch_sub(n, std::memory_order_acq_rel) != n) return;
  guard lock(mutex);
  free_node(owner);
}

void engine::impl::end_command(node* n) {
  if (record && !n->ended)
    record->finished(*n, model && n->times.end != 0 ? n->times.end : decision_ns());
  n->ended = true;
  dead.push_back(n);
}

// --- actions

void engine::impl::drain() {
  ++drains;
  while (!scheduler.actions().empty()) {
    batch = scheduler.actions();
    scheduler.clear_actions();
    for (const sched::action& a : batch) act(a);
    // Not while actions of the batch may still name them.
    for (node* n : std::exchange(to_abandon, {})) {
      scheduler.abandon(n->id);
      end_command(n);
    }
  }
  for (node* n : dead)
    if (n->references.fetch_sub(1, std::memory_order_acq_rel) == 1) free_node(n);
  dead.clear();
  for (auto& d : devices) {
    const std::int32_t waits = scheduler.waiting_priority(d->runtime.id);
    auto& word = d->runtime.waiting_priority;  // workers read it: written only when it changes
    if (word.load(std::memory_order_relaxed) != waits) word.store(waits, std::memory_order_relaxed);
  }
  // Last: a thread that is released finds done whatever was done with what it waited for.
  for (host_wait* w : released) {
    if (model)
      model->release(*w);
    else
      w->release();
  }
  released.clear();
  decisions_left = 0;
}

void engine::impl::act(const sched::action& a) {
  switch (a.kind) {
    case sched::action_kind::start:
      if (record) {
        node_of(a)->recorded.queue = a.queue;
        node_of(a)->recorded.came = drains;
      }
      start(node_of(a));
      break;
    case sched::action_kind::grant: {
      node* n = node_of(a);
      if (n->ended || failed(n->device) || stopped) break;
      if (record && !n->recorded.began) {
        const std::uint64_t now = decision_ns();
        if (!model) n->times.begin = now;
        // Where there is room, blocks are granted with the start.
        record->started(*n, now, n->recorded.came == drains ? room::found : room::waited_for);
      }
      if (model) {
        hold(n->run, a.count);
        model->grant(*n, a.count);
      } else if (workers->keep_small(n->run, a.count)) {
        hold(n->run, 1);
      } else {
        hold(n->run, a.count);
        const std::uint64_t there = workers->grant(n->run, a.count);
        // Its own reference is left in any case.
        if (there != a.count) n->references.fetch_sub(a.count - there, std::memory_order_relaxed);
      }
      break;
    }
    case sched::action_kind::reached: {
      node* n = node_of(a);
      n->recorded.queue = a.queue;
      if (auto* record = std::get_if<record_operation>(&n->what);
          record != nullptr && record->event) {
        event_state& event = *record->event;
        give_turn_back(*n);
        if (record->ticket != 0) event.shared->complete(record->ticket);
        // A record that was overtaken by a newer one leaves no trace.
        const std::uint64_t newest = event.reached_record.load(std::memory_order_relaxed);
        if (newest == command_id::none_value || newest < n->id.value) {
          event.reached_ns.store(model ? model->record_ns(*n) : steady_ns(),
                                 std::memory_order_relaxed);
          event.reached_record.store(n->id.value, std::memory_order_release);
        }
      } else if (auto* marker = std::get_if<marker_operation>(&n->what); marker != nullptr) {
        if (marker->defaults) {
          for (const condition_default& d : *marker->defaults)
            d.value->store(d.at_launch, std::memory_order_relaxed);
        }
        if (marker->reached) {
          markers.push_back(std::move(marker->reached));
          markers_issued.fetch_add(1, std::memory_order_release);
        }
        if (n->section != nullptr) body_over(n->section);
        give_entry_back(*n);
      }
      end_command(n);
      break;
    }
    case sched::action_kind::release:
      for (waiting_thread& w : waits) {
        if (w.waiter != a.waiter) continue;
        if (record) w.wait->released_by = record->last_finished();
        released.push_back(w.wait);
        w = waits.back();
        waits.pop_back();
        break;
      }
      break;
    case sched::action_kind::entered:
      if (record) record->entered_queue(*node_of(a), {a.count}, 0);
      break;
    case sched::action_kind::admitted:
      if (record) record->entered_queue(*node_of(a), {a.count}, trace_ns());
      break;
    case sched::action_kind::left:
      if (record) record->left_queue(*node_of(a), decision_ns());
      break;
  }
}

void engine::impl::give_entry_back(const node& n) {
  give_turn_back(n);
  const queue_class queue = entry_of(n.as);
  if (queue == queue_class::none) return;
  stream_state::entries& s = streams[n.as.stream].in(queue);
  const std::uint32_t over = s.count(s.over.load(std::memory_order_relaxed)) + 1;
  const std::uint64_t ended = record ? record->last_finished() : trace::none;
  s.over.store(over | ended << 32, std::memory_order_release);
}

// Work that comes up on a failed device is over at once: nothing of it runs, what waits for it goes
// on.
void engine::impl::start(node* n) {
  n->started = true;
  give_entry_back(*n);
  const bool drop = failed(n->device) || stopped;
  if (model && !drop) model->start(*n);
  if (record && n->as.kind != command_kind::kernel) {
    const std::uint64_t now = decision_ns();
    if (!model) n->times.begin = now;
    record->started(*n, now);
  }
  if (std::holds_alternative<kernel_operation>(n->what)) {
    if (drop) to_abandon.push_back(n);
  } else if (std::holds_alternative<host_operation>(n->what)) {
    if (model && drop) model->start(*n);
    host_functions->push(*n);  // told of the failure, so that callbacks can tell their users
  } else if (std::holds_alternative<conditional_operation>(n->what)) {
    begin_section(n);
  } else if (std::holds_alternative<foreign_wait_operation>(n->what) && !drop) {
    foreign_waits->push(*n);
  } else if (drop) {
    n->what = marker_operation{};
    scheduler.complete(n->id);
    end_command(n);
  } else if (!model) {
    lane_of(*n).push(*n);
  }
}

void engine::impl::finish(guard& lock) {
  if (markers.empty() || marker_runner != std::thread::id{}) {
    lock.unlock();
    if (model) model->settle();
    return;
  }
  marker_runner = std::this_thread::get_id();
  while (!markers.empty()) {
    std::function<void()> reached = std::move(markers.front());
    markers.pop_front();
    lock.unlock();
    reached();
    reached = nullptr;
    lock.lock();
    markers_done.fetch_add(1, std::memory_order_release);
  }
  marker_runner = {};
  markers_changed.notify_all();
  lock.unlock();
  if (model) model->settle();
}

bool engine::impl::leave() {
  if (markers.empty() || marker_runner != std::thread::id{}) {
    const bool noted = mutex.unlock_with_note();
    if (model) model->settle();
    return noted;
  }
  if (mutex.refuse_notes()) {
    take_in_quickly();
    drain();
  }
  guard lock(mutex, std::adopt_lock);
  finish(lock);
  return false;
}

// --- completions

// Takes the lock, lets `tell` tell the scheduler, and leaves without the lock.
template <class Tell>
void engine::impl::completed(mail what, Tell&& tell) {
  mutex.lock_for_notes();
  if (stopped) {
    static_cast<void>(mutex.unlock_with_note());  // nothing starts any more
    return;
  }
  if (what == mail::taken_in) take_in_quickly();
  tell();
  drain();
  if (leave()) attend();
}

void engine::impl::complete(node& n, std::uint64_t took_ns) {
  completed(mail::taken_in, [&] {
    keep_time();
    scheduler.complete(n.id, took_ns);
    end_command(&n);
  });
}

void engine::impl::blocks_done(kernel_run& run, std::uint64_t n, std::uint64_t took_ns) {
  node* owner = node_of(run);
  bool asserted = false;
  completed(mail::taken_in, [&] {
    if (owner->ended) return;
    const std::uint64_t passed = run.passed.exchange(0, std::memory_order_relaxed);
    asserted = owner->asserted != 0 && (owner->blocks_left - n - passed <= owner->asserted ||
                                        steady_ns() >= owner->asserted_until);
    if (asserted) return;
    keep_time();
    scheduler.blocks_done(owner->id, n, passed, took_ns);
    owner->blocks_left -= n + passed;
    if (owner->blocks_left == 0) end_command(owner);
  });
  if (asserted) fail_device(owner->device, status::assert_triggered, *owner);
}

void engine::impl::small_done(kernel_run& run, std::uint64_t took_ns, mail what) {
  node* owner = node_of(run);
  completed(what, [&] {
    // Whoever else held it gave it back under the lock, too.
    const bool last = owner->references.fetch_sub(1, std::memory_order_relaxed) == 1;
    if (!owner->ended) {
      keep_time();
      scheduler.blocks_done(owner->id, run.blocks, 0, took_ns);
      end_command(owner);
    } else if (last) {
      free_node(owner);  // abandoned meanwhile
    }
  });
}

lane& engine::impl::lane_of(const node& n) {
  device_state& d = at(n.device);
  const auto* copy = std::get_if<copy_operation>(&n.what);
  if (copy == nullptr) return *d.inside;
  switch (copy->direction) {
    case copy_direction::host_to_device:
      return *d.to_device;
    case copy_direction::device_to_host:
      return *d.to_host;
    case copy_direction::device_to_device:
      return *d.inside;
    case copy_direction::peer:
      return *d.to_host;
    case copy_direction::host_to_host:
      return *d.between_hosts;
  }
  return *d.inside;
}

// Who does a row of short copies looks at the inbox behind each: others who submit something need
// not. It says so from the first to the last of them: those who submit read it every time, and what
// both cores write and read takes longer than the rest of such a copy.
void engine::impl::do_copy(node& n, bool& attends) {
  constexpr std::uint64_t short_bytes = 32 << 10;  // few microseconds
  const bool is_short = n.as.bytes <= short_bytes;
  if (!is_short) stop_attending(attends);
  if (is_short && !std::exchange(attends, true))
    short_copies.fetch_add(1, std::memory_order_relaxed);
  failure_record fault;
  const stopwatch watch(measures);
  if (const auto* copy = std::get_if<copy_operation>(&n.what)) {
    note_accesses(n.races.get(), *copy);
    fault = carry_out(*copy, dropping);
  } else if (const auto* fill = std::get_if<fill_operation>(&n.what)) {
    note_accesses(n.races.get(), *fill);
    fault = carry_out(*fill, dropping);
  }
  const std::uint64_t took_ns = watch.ns();
  // The staging room is free again before anybody can see that the copy is done.
  n.what = marker_operation{};
  if (fault.error != status::success) {
    stop_attending(attends);
    report_copy(n, fault);
    fail_device(n.device, fault.error, n);
  }
  complete(n, took_ns);
}

// Whoever submits after this sees that nobody attends; what was submitted before is taken in here.
void engine::impl::stop_attending(bool& attends) {
  if (!std::exchange(attends, false)) return;
  short_copies.fetch_sub(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!box.empty()) attend();
}

namespace {

void call_host_function(std::function<void(status)>& call, status error) noexcept {
  try {
    call(error);
  } catch (const std::exception& e) {
    std::fprintf(
        stderr,
        "streambed: a host function threw %s. Host functions run between stream work and must "
        "not throw: catch it inside the function.\n",
        e.what());
    std::terminate();
  } catch (...) {
    std::fprintf(
        stderr,
        "streambed: a host function threw an exception. Host functions run between stream work "
        "and must not throw: catch it inside the function.\n");
    std::terminate();
  }
}

}  // namespace

void engine::impl::do_host_function(node& n) {
  auto& operation = std::get<host_operation>(n.what);
  if (model) model->begin_host_function(n);
  host_function_runs = true;
  race_fiber watched;
  watched.start(n.races.get());
  watched.enter();
  const stopwatch watch(measures);
  call_host_function(operation.call, at(n.device).runtime.sticky.load(std::memory_order_acquire));
  const std::uint64_t took_ns = watch.ns();
  watched.end();
  operation.call = nullptr;
  host_function_runs = false;
  if (model) model->end_host_function(n);
  complete(n, took_ns);
  if (model) model->clocks().leave();
}

}  // namespace sb::engine
