#include "engine/engine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "engine/clock.hpp"
#include "engine/engine_state.hpp"
#include "engine/fault.hpp"
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
  o.devices.assign(number_in_environment("STREAMBED_DEVICES", 0, 64).value_or(1), h200_profile());
  const auto own = static_cast<std::uint32_t>(h200_profile().default_connections);
  o.connections = number_in_environment("CUDA_DEVICE_MAX_CONNECTIONS", 1, 32).value_or(own);
  o.workers = number_in_environment("STREAMBED_WORKERS", 1, 1024).value_or(0);
  return o;
}

sched::machine machine_of(const engine_options& o) {
  sched::machine m;
  for (const device_profile& p : o.devices) m.devices.push_back(sched::limits_of(p));
  m.connections = o.connections;
  // What an H200 completes in some microseconds may take a busy machine this long (nanoseconds).
  m.host_function_grace = 3'000'000;
  return m;
}

engine* the_instance = nullptr;

}  // namespace

// Never destroyed: destructors of the program's own statics may still call in. At exit its threads
// end.
engine& engine::instance() {
  static engine* const one = [] {
    the_instance = new engine(options_from_environment());
    std::atexit([] { the_instance->impl_->stop(std::chrono::milliseconds(200)); });
    return the_instance;
  }();
  return *one;
}

engine::engine(engine_options options) : impl_(std::make_unique<impl>(std::move(options))) {}
engine::~engine() = default;

engine::impl::impl(engine_options given)
    : options(std::move(given)), process(getpid()), scheduler(machine_of(options)) {
  install_fault_handlers();
  const auto copies = [this](node& n) { do_copy(n); };
  for (std::uint32_t i = 0; i < options.devices.size(); ++i) {
    auto d = std::make_unique<device_state>();
    d->profile = options.devices[i];
    d->runtime.id = device_id{i};
    d->runtime.clock_khz = static_cast<std::uint64_t>(d->profile.clock_khz);
    d->runtime.multiprocessors = static_cast<std::uint32_t>(d->profile.multiprocessors);
    d->to_device = std::make_unique<lane>("sb-to-device", copies);
    d->to_host = std::make_unique<lane>("sb-to-host", copies);
    d->inside = std::make_unique<lane>("sb-in-device", copies);
    d->between_hosts = std::make_unique<lane>("sb-host-copy", copies);
    devices.push_back(std::move(d));
  }
  host_functions = std::make_unique<lane>("sb-host-func", [this](node& n) { do_host_function(n); });
  idle_loops = std::make_unique<lane>("sb-loops", [this](node& n) { look_again(n); });
  foreign_waits = std::make_unique<event_watch>(
      [this](node& n, bool alone) { return foreign_wait_over(n, alone); },
      [this](node& n) { complete(n); });
  workers = std::make_unique<worker_pool>(options.workers != 0 ? options.workers : cores(), *this);
}

engine::impl::~impl() { stop(std::chrono::hours(24)); }

std::uint32_t engine::device_count() const {
  return static_cast<std::uint32_t>(impl_->devices.size());
}

const device_profile& engine::profile(device_id device) const { return impl_->at(device).profile; }

bool engine::in_kernel_heap(device_id device, const void* address) {
  return impl_->at(device).runtime.heap.contains(address);
}

stream_id engine::create_stream(device_id device, stream_kind kind, int priority,
                                std::uint64_t number) {
  if (kind == stream_kind::legacy) return legacy_stream(device);
  std::lock_guard lock(impl_->mutex);
  const stream_id id = impl_->scheduler.create_stream(device, kind, priority);
  if (impl_->streams.size() <= id.value) impl_->streams.resize(id.value + 1);
  impl_->streams[id.value] = {device, static_cast<std::int8_t>(priority), number};
  return id;
}

stream_id engine::legacy_stream(device_id device) {
  std::lock_guard lock(impl_->mutex);
  stream_id& id = impl_->at(device).legacy;
  if (!id.valid()) {
    id = impl_->scheduler.create_stream(device, stream_kind::legacy, 0);
    if (impl_->streams.size() <= id.value) impl_->streams.resize(id.value + 1);
    impl_->streams[id.value] = {device};
  }
  return id;
}

void engine::destroy_stream(stream_id stream) {
  impl::guard lock(impl_->mutex);
  impl_->scheduler.destroy_stream(stream);
  impl_->drain();
  impl_->finish(lock);
}

// --- submission

namespace {

// Fills in what the operation says of the command.
struct describe {
  command& c;

  void operator()(const marker_operation&) const { c.kind = command_kind::marker; }
  void operator()(const kernel_operation& k) const {
    c.kind = command_kind::kernel;
    c.kernel.blocks = std::uint64_t{k.grid.x} * k.grid.y * k.grid.z;
    c.kernel.threads_per_block = k.block.x * k.block.y * k.block.z;
    c.kernel.shared_bytes = k.kernel->static_shared_bytes + k.dynamic_shared_bytes;
    if (k.kernel->registers != 0) c.kernel.registers = k.kernel->registers;
    c.kernel.cooperative = k.cooperative;
    if (k.priority) c.priority = *k.priority;
  }
  void operator()(const copy_operation& o) const {
    c.kind = command_kind::copy;
    c.direction = o.direction;
    c.peer = o.peer;
    c.bytes = o.width * o.height * o.depth;
  }
  void operator()(const fill_operation& o) const {
    c.kind = command_kind::fill;
    c.bytes = o.width * o.element_size * o.height * o.depth;
  }
  void operator()(const host_operation&) const { c.kind = command_kind::host_function; }
  void operator()(const record_operation&) const { c.kind = command_kind::event_record; }
  void operator()(const conditional_operation&) const { c.kind = command_kind::section; }
  void operator()(const foreign_wait_operation&) const { c.kind = command_kind::section; }
  void operator()(const wait_operation& w) const {
    c.kind = command_kind::event_wait;
    c.record = w.record;
  }
};

bool takes_entry(const operation& what) {
  if (const auto* copy = std::get_if<copy_operation>(&what))
    return sb::takes_entry(command_kind::copy, copy->direction);
  return std::holds_alternative<kernel_operation>(what) ||
         std::holds_alternative<fill_operation>(what);
}

}  // namespace

// Only shared hardware queues ask for the time.
void engine::impl::keep_time() {
  if (shared_connections(options.connections) != 0) scheduler.set_time(steady_ns());
}

command_id engine::impl::submit_one(command c, operation what, std::span<const command_id> after) {
  std::visit(describe{c}, what);
  node* n = new_node();
  n->what = std::move(what);
  n->device = c.device;
  n->stream = c.stream;
  n->priority = c.priority;
  if (c.kind == command_kind::kernel) {
    n->run.launch = &std::get<kernel_operation>(n->what);
    n->run.device = &at(c.device).runtime;
    n->run.blocks = c.kernel.blocks;
    n->run.threads = c.kernel.threads_per_block;
    n->run.priority = c.priority;
    n->run.owner = n;
    n->blocks_left = c.kernel.blocks;
  }
  c.payload = reinterpret_cast<std::uintptr_t>(n);
  // The actions that name this node come out of drain(), later: the id is known by then.
  keep_time();
  const command_id id = scheduler.submit(c, after);
  n->id = id;
  if (auto* record = std::get_if<record_operation>(&n->what); record != nullptr && record->event)
    record->event->last_record.store(id.value, std::memory_order_release);
  return id;
}

command_id engine::submit(stream_id stream, operation what, std::span<const command_id> after) {
  impl& e = *impl_;
  impl::guard lock(e.mutex);
  if (e.stopped) return {};
  // CUDA: what comes behind 1023 pending entries of its stream blocks; h200/thresholds.tsv
  if (takes_entry(what)) {
    while (!e.stopped && e.scheduler.pending_entries(stream) >= e.options.pending_entries)
      e.wait_for(lock, e.scheduler.wait_for_room(stream, e.options.pending_entries));
    if (e.stopped) return {};
  }
  command c;
  c.stream = stream;
  c.device = e.streams[stream.value].device;
  c.priority = e.streams[stream.value].priority;
  const command_id id = e.submit_one(c, std::move(what), after);
  e.drain();
  e.finish(lock);
  return id;
}

std::vector<command_id> engine::impl::submit_nodes(command c, std::span<const graph_item> items,
                                                   command_id head) {
  std::vector<command_id> ids;
  std::vector<bool> has_successor(items.size(), false);
  std::vector<command_id> before;
  std::vector<command_id> first_kernels;  // that depend on nothing
  ids.reserve(items.size());
  c.order = command_order::free;
  for (const graph_item& item : items) {
    c.device = item.device;
    c.priority = item.priority;
    before.clear();
    for (const std::uint32_t i : item.after) {
      before.push_back(ids[i]);
      has_successor[i] = true;
    }
    if (before.empty() && head.valid()) before.push_back(head);
    operation what = *item.what;
    auto* conditional = std::get_if<conditional_operation>(&what);
    if (conditional != nullptr && item.after.empty()) conditional->rather_after = first_kernels;
    const bool kernel = std::holds_alternative<kernel_operation>(what);
    ids.push_back(submit_one(c, std::move(what), before));
    if (kernel && item.after.empty()) first_kernels.push_back(ids.back());
  }
  std::vector<command_id> leaves;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (!has_successor[i]) leaves.push_back(ids[i]);
  return leaves;
}

command_id engine::submit_graph(stream_id stream, std::span<const graph_item> items,
                                std::span<const command_id> after,
                                std::shared_ptr<const std::vector<condition_default>> defaults) {
  impl& e = *impl_;
  impl::guard lock(e.mutex);
  if (e.stopped) return {};
  command c;
  c.stream = stream;
  c.device = e.streams[stream.value].device;
  c.priority = e.streams[stream.value].priority;
  marker_operation begin;
  begin.defaults = std::move(defaults);
  const command_id head = e.submit_one(c, std::move(begin), after);
  const std::vector<command_id> leaves = e.submit_nodes(c, items, head);
  const command_id tail = e.submit_one(c, marker_operation{}, leaves);
  e.drain();
  e.finish(lock);
  return tail;
}

// --- queries and waits

bool engine::impl::markers_settled() const {
  return markers_done == markers_issued || marker_runner == std::this_thread::get_id();
}

bool engine::done(command_id id) {
  std::lock_guard lock(impl_->mutex);
  return impl_->scheduler.done(id) && impl_->markers_settled();
}

bool engine::idle(stream_id stream) {
  std::lock_guard lock(impl_->mutex);
  return impl_->scheduler.idle(stream) && impl_->markers_settled();
}

bool engine::idle(device_id device) {
  std::lock_guard lock(impl_->mutex);
  return impl_->scheduler.idle(device) && impl_->markers_settled();
}

void engine::impl::wait_for(guard& lock, waiter_id waiter) {
  host_wait w;
  waits.emplace(waiter, &w);
  drain();
  finish(lock);
  lock.lock();
  w.changed.wait(lock, [&] { return w.released || stopped; });
  waits.erase(waiter);
}

status engine::synchronize(const sched::wait_target& target, device_id device) {
  impl& e = *impl_;
  {
    impl::guard lock(e.mutex);
    if (!e.stopped && !e.scheduler.satisfied(target)) e.wait_for(lock, e.scheduler.wait(target));
    if (e.stopped) return status::cudart_unloading;
    // What the work before it set going (a free, the end of a graph) has happened too.
    const std::uint64_t issued = e.markers_issued;
    e.markers_changed.wait(lock, [&] {
      return e.markers_done >= issued || e.marker_runner == std::this_thread::get_id() || e.stopped;
    });
  }
  flush_prints(device);
  return sticky_error(device);
}

void engine::flush_prints(device_id device) { impl_->at(device).runtime.prints.flush(stdout); }

status engine::sticky_error(device_id device) const {
  return impl_->at(device).runtime.sticky.load(std::memory_order_acquire);
}

void engine::reset(device_id device) { impl_->reset(device); }

std::uint64_t engine::now_ns() const { return steady_ns(); }

}  // namespace sb::engine
