#include "engine/engine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/at_once.hpp"
#include "engine/clock.hpp"
#include "engine/end_request.hpp"
#include "engine/engine_state.hpp"
#include "engine/fault.hpp"
#include "engine/fork.hpp"
#include "engine/modelled.hpp"
#include "engine/recorder.hpp"
#include "model/stream_rules.hpp"

namespace sb::engine {

namespace {

std::uint32_t cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<std::uint32_t>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::optional<std::uint32_t> number_in_environment(const char* name, std::uint32_t least,
                                                   std::uint32_t most) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != 0) return std::nullopt;
  return static_cast<std::uint32_t>(
      std::clamp(value, static_cast<long>(least), static_cast<long>(most)));
}

engine_options options_from_environment() {
  engine_options o;
  o.record = true;
  const profile* chosen = profile_in_environment();
  const profile& p = chosen != nullptr ? *chosen : h200();
  o.devices.assign(number_in_environment("STREAMBED_DEVICES", 0, 64).value_or(1), p.device);
  o.profile = p.key;
  const auto own = static_cast<std::uint32_t>(p.device.default_connections);
  o.connections =
      std::min(number_in_environment("CUDA_DEVICE_MAX_CONNECTIONS", 1, 32).value_or(own),
               static_cast<std::uint32_t>(p.device.hardware_queues));
  if (chosen != nullptr) o.timing = p.timing;
  const char* host_time = std::getenv("STREAMBED_HOST_TIME");
  o.host_time = o.timing && host_time != nullptr && *host_time != 0 && *host_time != '0';
  o.workers = number_in_environment("STREAMBED_WORKERS", 1, 1024).value_or(0);
  const char* loading = std::getenv("CUDA_MODULE_LOADING");
  o.lazy_loading = loading == nullptr || std::string_view(loading) != "EAGER";
  return o;
}

sched::machine machine_of(const engine_options& o) {
  sched::machine m;
  for (const device_profile& p : o.devices) m.devices.push_back(sched::limits_of(p));
  m.connections = o.connections;
  // What an H200 completes in some microseconds may take a busy machine this long (nanoseconds).
  m.grace = o.timing ? 0 : 3'000'000;
  return m;
}

}  // namespace

const profile* profile_in_environment() {
  static const std::optional<profile> found = []() -> std::optional<profile> {
    const char* device = std::getenv("STREAMBED_DEVICE");
    if (device == nullptr || *device == 0) return std::nullopt;
    std::string error;
    std::optional<profile> p = load_profile(device, error);
    if (!p) {
      std::fprintf(stderr, "streambed: STREAMBED_DEVICE: %s\n", error.c_str());
      std::_Exit(2);
    }
    return p;
  }();
  return found ? &*found : nullptr;
}

// Never destroyed: destructors of the program's own statics may still call in. At exit its threads
// end.
engine& engine::create() {
  static engine* const one = [] {
    auto* made = new engine(options_from_environment());
    watch_forks();
    std::atexit([] {
      const unwatched quiet;
      instance().impl_->stop(std::chrono::milliseconds(200));
    });
    existing.store(made, std::memory_order_release);
    return made;
  }();
  return *one;
}

engine::engine(engine_options options) : impl_(std::make_unique<impl>(std::move(options))) {
  for (const auto& d : impl_->devices) known_.push_back({&d->profile, &d->runtime.sticky});
}
engine::~engine() = default;

engine::impl::impl(engine_options given)
    : options(std::move(given)),
      process(getpid()),
      cores_to_spare(cores() > 1),
      measures(options.connections == 1 && !options.timing),
      scheduler(machine_of(options)) {
  install_fault_handlers();
  const auto copy_lane = [this](const char* name) {
    // Belongs to whoever is with a node of the lane.
    auto attends = std::make_shared<bool>(false);
    return std::make_unique<lane>(
        name, [this, attends](node& n) { do_copy(n, *attends); },
        [this, attends] { stop_attending(*attends); });
  };
  for (std::uint32_t i = 0; i < options.devices.size(); ++i) {
    auto d = std::make_unique<device_state>();
    d->profile = options.devices[i];
    d->runtime.id = device_id{i};
    d->runtime.clock_khz = static_cast<std::uint64_t>(d->profile.clock_khz);
    d->runtime.multiprocessors = static_cast<std::uint32_t>(d->profile.multiprocessors);
    if (options.connections == 1) d->connection = std::make_unique<stream_state::connection>();
    d->to_device = copy_lane("sb-to-device");
    d->to_host = copy_lane("sb-to-host");
    d->inside = copy_lane("sb-in-device");
    d->between_hosts = copy_lane("sb-host-copy");
    devices.push_back(std::move(d));
  }
  host_functions = std::make_unique<lane>("sb-host-func", [this](node& n) { do_host_function(n); });
  idle_loops = std::make_unique<lane>("sb-loops", [this](node& n) { look_again(n); });
  foreign_waits = std::make_unique<event_watch>(
      [this](node& n, bool alone) { return foreign_wait_over(n, alone); },
      [this](node& n) { complete(n); });
  alone = std::make_unique<at_once>();
  workers = std::make_unique<worker_pool>(
      options.workers != 0 ? options.workers : cores(),
      worker_pool::habits{.looks = cores_to_spare, .measures = measures}, *this);
  if (options.timing) {
    model = std::make_unique<modelled>(*this, *options.timing);
    model->take_clocks();
  }
  if (options.record) {
    record =
        recorder::from_environment(options.devices, options.connections, model != nullptr,
                                   options.profile, options.timing ? &*options.timing : nullptr);
  }
  if (record) {
    scheduler.tell_queues();
    record->look_at(scheduler, nodes);
    record->start_clock([this] { return trace_ns(); });
    observe_allocations(record.get());
    watch_for_end_request([this] { asked_to_end(); });
  }
}

engine::impl::~impl() { stop(std::chrono::hours(24)); }

bool engine::in_kernel_heap(device_id device, const void* address) {
  return impl_->at(device).runtime.heap.contains(address);
}

stream_id engine::create_stream(device_id device, stream_kind kind, int priority,
                                std::uint64_t number) {
  if (kind == stream_kind::legacy) return legacy_stream(device);
  std::lock_guard lock(impl_->mutex);
  const stream_id id = impl_->scheduler.create_stream(device, kind, priority);
  impl_->streams.add(id, device, priority, number, impl_->at(device).connection.get());
  impl_->races.add_stream(id, device, kind);
  if (impl_->record) impl_->record->add_stream(id, device, kind, priority);
  return id;
}

void engine::set_priority(stream_id stream, int priority) {
  impl_->streams[stream].priority.store(static_cast<std::int8_t>(priority),
                                        std::memory_order_relaxed);
}

stream_id engine::legacy_stream(device_id device) {
  std::lock_guard lock(impl_->mutex);
  stream_id& id = impl_->at(device).legacy;
  if (!id.valid()) {
    id = impl_->scheduler.create_stream(device, stream_kind::legacy, 0);
    impl_->streams.add(id, device, 0, 0, impl_->at(device).connection.get());
    impl_->races.add_stream(id, device, stream_kind::legacy);
    if (impl_->record) impl_->record->add_stream(id, device, stream_kind::legacy, 0);
  }
  return id;
}

void engine::destroy_stream(stream_id stream) {
  impl::guard lock(impl_->mutex);
  impl_->take_in();
  impl_->scheduler.destroy_stream(stream);
  impl_->drain();
  impl_->finish(lock);
}

// --- queries and waits

bool engine::impl::markers_settled() const {
  return markers_done == markers_issued || marker_runner == std::this_thread::get_id();
}

template <class Question>
auto engine::impl::ask(Question&& question) {
  guard lock(mutex);
  take_in();
  drain();
  const auto answer = question();
  finish(lock);
  return answer;
}

bool engine::done(command_id id) {
  return impl_->ask([&] {
    if (impl_->record) impl_->record->looks_at(id);
    return impl_->scheduler.done(id) && impl_->markers_settled();
  });
}

bool engine::known_done(const event_state& event, command_id record) {
  if (event.reached_record.load(std::memory_order_acquire) == record.value) return true;
  return !impl_->works_at_once() && done(record);
}

bool engine::idle(stream_id stream) {
  impl_->wait_behind_blocked(stream);
  return impl_->ask([&] {
    if (impl_->record) impl_->record->looks_at(stream);
    return impl_->scheduler.idle(stream) && impl_->markers_settled();
  });
}

bool engine::idle(device_id device) {
  return impl_->ask([&] { return impl_->scheduler.idle(device) && impl_->markers_settled(); });
}

void engine::seen_done(command_id id) {
  if (!races_checked()) return;
  std::lock_guard lock(impl_->mutex);
  host_comes_after(impl_->races.of(id));
}

void engine::seen_idle(stream_id stream) {
  if (!races_checked()) return;
  std::lock_guard lock(impl_->mutex);
  host_comes_after(impl_->races.of(stream));
}

void engine::takes_freed_memory(stream_id stream) {
  if (!races_checked()) return;
  std::lock_guard lock(impl_->mutex);
  impl_->races.join_all(stream);
}

// Does a copy that the target includes, if nobody has begun with it.
bool engine::impl::help_with_copy(const sched::wait_target& target, device_id device) {
  if (races_checked()) return false;  // a lane is a thread of its own there
  const auto wanted = [&](const node& n) {
    switch (target.scope) {
      case sched::wait_scope::command:
        return n.id == target.command;
      case sched::wait_scope::stream:
        return n.as.stream == target.stream;
      case sched::wait_scope::device:
        return true;
      case sched::wait_scope::blocking_streams:
        break;
    }
    return false;
  };
  const device_state& d = at(device);
  for (lane* l : {d.to_device.get(), d.to_host.get(), d.inside.get(), d.between_hosts.get()}) {
    if (!l->waits()) continue;
    const signals_put_off quiet;
    if (l->help(wanted)) return true;
  }
  return false;
}

void engine::impl::wait_for(guard& lock, waiter_id waiter, const sched::wait_target* target,
                            device_id device) {
  host_wait w;
  waits.push_back({waiter, &w});
  drain();
  finish(lock);
  const std::uint64_t begin = record ? trace_ns() : 0;
  if (record) record->blocks();
  if (model)
    model->wait(w);
  else
    w.wait(cores_to_spare, [&] {
      return workers->help(w) || (target != nullptr && help_with_copy(*target, device));
    });
  if (record) {
    recorded_call& call = recorder::present();
    call.blocked_ns += trace_ns() - begin;
    if (w.released_by != trace::none) call.blocked_on = w.released_by;
  }
}

// A worker that attends is about to take in what was submitted: it can run it at once, where this
// thread would have to hand it over.
void engine::impl::let_attend() {
  constexpr int looks = 50;
  if (!cores_to_spare || model) return;
  for (int i = 0; i < looks && workers->attended() && !box.empty(); ++i) relax();
}

race_set engine::impl::races_before(const sched::wait_target& target) const {
  switch (target.scope) {
    case sched::wait_scope::command:
      return races.of(target.command);
    case sched::wait_scope::stream:
      return races.of(target.stream);
    case sched::wait_scope::blocking_streams:
    case sched::wait_scope::device:
      break;
  }
  return races.of(target.device);
}

status engine::synchronize(const sched::wait_target& target, device_id device) {
  impl& e = *impl_;
  e.let_attend();
  const print_fifo::reader reads(e.at(device).runtime.prints);
  race_set before;
  {
    impl::guard lock(e.mutex);
    if (races_checked()) before = e.races_before(target);
    if (!e.stopped) {
      e.take_in();
      if (e.record && target.scope == sched::wait_scope::command)
        e.record->asks_for(target.command);
      else if (e.record && target.scope == sched::wait_scope::stream)
        e.record->asks_for(target.stream);
      if (!e.scheduler.satisfied(target)) {
        e.wait_for(lock, e.scheduler.wait(target), &target, device);
      } else {
        e.drain();
        e.finish(lock);
      }
    }
  }
  if (e.stopped) return status::cudart_unloading;
  // What the work before it set going (a free, the end of a graph) has happened too.
  const std::uint64_t issued = e.markers_issued.load(std::memory_order_acquire);
  if (e.markers_done.load(std::memory_order_acquire) < issued) {
    impl::guard lock(e.mutex);
    e.markers_changed.wait(lock, [&] {
      return e.markers_done >= issued || e.marker_runner == std::this_thread::get_id() || e.stopped;
    });
    if (e.stopped) return status::cudart_unloading;
  }
  host_comes_after(before);
  flush_prints(device);
  return sticky_error(device);
}

bool engine::resize_kernel_heap(device_id device, std::size_t bytes) {
  return impl_->at(device).runtime.heap.resize(bytes);
}

bool engine::resize_print_buffer(device_id device, std::size_t bytes) {
  return impl_->at(device).runtime.prints.resize(bytes);
}

void engine::flush_prints(device_id device) { impl_->at(device).runtime.prints.flush(stdout); }

void engine::reset(device_id device) { impl_->reset(device); }

std::uint64_t engine::impl::clock_ns() const { return model ? model->now() : steady_ns(); }

std::uint64_t engine::impl::trace_ns() const { return model ? model->now() : counter.now(); }

bool engine::impl::deterministic() {
  return model && !options.host_time && model->clocks().deterministic();
}

std::uint64_t engine::impl::decision_ns() {
  constexpr int together = 4;
  if (decisions_left == 0) {
    decided_ns = trace_ns();
    decisions_left = together;
  }
  --decisions_left;
  return decided_ns;
}

std::uint64_t engine::now_ns() const { return impl_->clock_ns(); }

bool engine::is_modelled() const { return impl_->model != nullptr; }

void engine::call(recorded_thread& thread, const char* name) {
  impl& e = *impl_;
  if (!e.model) {
    if (e.record) e.record->begin_call(thread, name, e.counter.now());
    return;
  }
  e.model->host_code_ran();
  e.model->looks_are_over();
  const std::uint64_t begin = e.model->clocks().now();
  const auto cost = static_cast<std::uint64_t>(call_cost_ns(e.model->timing(), name));
  if (e.captures.load(std::memory_order_relaxed) == 0)
    e.model->host_call(cost);
  else
    e.model->host_call_beside_captures(cost);
  if (e.record) e.record->begin_call(thread, name, begin);
}

void engine::end_call(recorded_thread& thread, int status) {
  impl& e = *impl_;
  if (e.model) e.model->pay_rest();
  if (e.model && status == static_cast<int>(sb::status::not_ready)) e.model->found_not_ready();
  if (e.record) e.record->end_call(thread, e.trace_ns(), status);
  if (!e.model) return;
  e.model->host_code_begins();
  host_clocks::left();
}

void engine::call_place(recorded_thread& thread, const char* file, std::uint32_t line) {
  if (impl_->record) impl_->record->call_place(thread, file, line);
}

void engine::call_place(const char* file, std::uint32_t line) {
  if (impl_->record) impl_->record->call_place(recorded_thread::own(), file, line);
}

void engine::idle_wait(stream_id stream, event_state& event) {
  if (!impl_->record) return;
  const std::lock_guard lock(impl_->mutex);
  impl_->record->done_at_once(stream, event, trace::operation_kind::event_wait);
}

recorder* engine::recording() const { return impl_->record.get(); }

void engine::name_stream(stream_id stream, std::string_view name) {
  if (!impl_->record) return;
  const std::lock_guard lock(impl_->mutex);
  impl_->record->name_stream(stream, name);
}

void engine::tell_captures(int under_way) {
  impl_->captures.store(under_way, std::memory_order_relaxed);
}

void engine::call_was_captured() {
  if (impl_->model) impl_->model->call_was_captured();
}

void engine::spend(double ns) {
  if (impl_->model) impl_->model->call(static_cast<std::uint64_t>(ns));
}

const timing_profile* engine::timing() const {
  return impl_->model ? &impl_->model->timing() : nullptr;
}

void engine::impl::hung() {
  if (!record) return;
  {
    const guard lock(mutex);
    record->tell_pending(nodes, scheduler);
  }
  model->tell_stuck();
  record->close(trace::ending::hung, deterministic(), trace_ns());
}

// The program's time is over, at a moment that nothing in it decides. The lock stays taken: nothing
// goes on behind the end of the trace.
void engine::impl::asked_to_end() {
  constexpr int status = 124;
  mutex.lock();
  if (!stopped) {
    take_in();
    record->tell_pending(nodes, scheduler);
    record->tell_call_under_way();
    record->close(trace::ending::stopped, false, trace_ns());
  }
  std::fflush(stdout);
  std::_Exit(status);
}

}  // namespace sb::engine
