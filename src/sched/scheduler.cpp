#include "sched/scheduler.hpp"

#include <bit>
#include <limits>

#include "sched/state.hpp"

namespace sb::sched {

device_limits limits_of(const device_profile& p) {
  return {
      .multiprocessors = static_cast<std::uint32_t>(p.multiprocessors),
      .threads_per_multiprocessor = static_cast<std::uint32_t>(p.threads_per_multiprocessor),
      .blocks_per_multiprocessor = static_cast<std::uint32_t>(p.blocks_per_multiprocessor),
      .shared_per_multiprocessor = p.shared_per_multiprocessor,
      .registers_per_multiprocessor = p.registers_per_multiprocessor,
      .reserved_shared_per_block = p.reserved_shared_per_block,
      .resident_kernels = static_cast<std::uint32_t>(p.resident_kernels),
      .copy_engines = static_cast<std::uint32_t>(p.async_engines),
  };
}

scheduler::impl::impl(machine m) : connections(usable_connections(m.connections)), grace(m.grace) {
  if (connections == 1) {
    time.keep(grace);
  }
  devices.resize(m.devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    device_state& d = devices[i];
    const device_limits& l = m.devices[i];
    d.limits = l;
    d.multiprocessor = {
        .threads = l.threads_per_multiprocessor,
        .blocks = l.blocks_per_multiprocessor,
        .shared_bytes = l.shared_per_multiprocessor,
        .registers = l.registers_per_multiprocessor,
        .reserved_shared_bytes = l.reserved_shared_per_block,
    };
    d.free_threads = l.multiprocessors * l.threads_per_multiprocessor;
    d.free_blocks = l.multiprocessors * l.blocks_per_multiprocessor;
    d.free_shared = l.multiprocessors * l.shared_per_multiprocessor;
    d.free_wide_shared = d.free_wide_registers = l.multiprocessors;
    d.free_registers = l.multiprocessors * l.registers_per_multiprocessor;
    d.last_left.fill(command_id::none_value);
    for (auto& owners : d.copy_owners) {
      owners.fill(none);
    }
    d.queues.resize(
        place_of(queues_of(queue_class::device_to_host, connections), queue_class::device_to_host));
  }
}

void scheduler::impl::push(line& l, index command) {
  commands[command].link = none;
  if (l.tail == none) {
    l.head = command;
  } else {
    commands[l.tail].link = command;
  }
  l.tail = command;
}

index scheduler::impl::pop(line& l) {
  const index command = l.head;
  l.head = commands[command].link;
  if (l.head == none) {
    l.tail = none;
  }
  return command;
}

void scheduler::impl::add_edge(index from, index target, bool is_waiter) {
  const index e = edges.take();
  pending_command& c = commands[from];
  index first = e;
  if (c.edges != none) {
    first = edges[c.edges].link;
    edges[c.edges].link = e;
  }
  edges[e] = {.target = target, .link = first, .is_waiter = is_waiter};
  c.edges = e;
}

void scheduler::impl::emit(action_kind kind, const pending_command& c, std::uint64_t n) {
  const bool last = kind == action_kind::start || kind == action_kind::reached;
  actions.push_back({.kind = kind,
                     .queue = tells_queues && last ? place_of(c) : hardware_queue{},
                     .id = {c.id},
                     .waiter = {},
                     .count = n,
                     .payload = c.payload});
}

void scheduler::impl::emit_release(std::uint64_t waiter) {
  actions.push_back({.kind = action_kind::release, .queue = {}, .id = {}, .waiter = {waiter}});
}

scheduler::scheduler(machine m) : impl_(std::make_unique<impl>(std::move(m))) {}
scheduler::~scheduler() = default;

stream_id scheduler::create_stream(device_id device, stream_kind kind, int priority) {
  return impl_->create_stream(device, kind, priority);
}
void scheduler::destroy_stream(stream_id stream) { impl_->destroy_stream(stream); }
command_id scheduler::submit(const command& c, std::span<const command_id> after,
                             gathering and_after) {
  return impl_->submit(c, after, and_after);
}
gathering scheduler::gather(std::span<const command_id> all) { return impl_->gather(all); }
bool scheduler::done(gathering all) const { return impl_->done(all); }
void scheduler::set_time(std::uint64_t now) { impl_->time.set_clock(now); }
bool scheduler::needs_time() const { return impl_->needs_time(); }
void scheduler::tell_queues() { impl_->tells_queues = true; }
void scheduler::complete(command_id id, std::uint64_t took) { impl_->complete(id, took); }
void scheduler::blocks_done(command_id id, std::uint64_t n, std::uint64_t passed,
                            std::uint64_t took) {
  impl_->blocks_done(id, n, passed, took);
}
void scheduler::abandon(command_id id) { impl_->abandon(id); }
scheduler::kernel_blocks scheduler::blocks_of(command_id id) const { return impl_->blocks_of(id); }
bool scheduler::done(command_id id) const { return impl_->done(id); }
bool scheduler::idle(stream_id stream) const { return impl_->idle(stream); }
bool scheduler::idle(device_id device) const {
  return impl_->devices[device.value].pending_work == 0;
}
bool scheduler::satisfied(const wait_target& target) const { return impl_->satisfied(target); }
std::uint32_t scheduler::pending_entries(stream_id stream, queue_class queue) const {
  return impl_->entries_of(impl_->streams[stream.value]).pending[static_cast<std::size_t>(queue)];
}
bool scheduler::clear(stream_id stream) const { return impl_->clear(stream); }
bool scheduler::clear_for(stream_id stream, const kernel_shape& kernel) const {
  return impl_->clear(stream) &&
         impl_->has_room(impl_->devices[impl_->streams[stream.value].device], kernel);
}
command_id scheduler::pass() { return {impl_->ids.bind_complete()}; }
std::vector<command_id> scheduler::pending_work(device_id device) const {
  std::vector<command_id> all;
  for (index i = impl_->devices[device.value].busy; i != none; i = impl_->streams[i].busy_next) {
    if (const index last = impl_->streams[i].last_work; last != none) {
      all.push_back({impl_->commands[last].id});
    }
  }
  return all;
}
std::vector<std::uint64_t> scheduler::crowd(device_id device) const {
  std::vector<std::uint64_t> all;
  for (index i = impl_->devices[device.value].crowd.head; i != none;) {
    all.push_back(impl_->commands[i].payload);
    i = impl_->commands[i].queue_next;
  }
  return all;
}
std::vector<std::uint64_t> scheduler::stuck(device_id device) const {
  std::vector<std::uint64_t> all;
  for (std::uint32_t i = 0; i < impl_->connections; ++i) {
    const std::size_t place = impl_->place_of(i, queue_class::compute);
    if (const index head = impl_->devices[device.value].queues[place].head; head != none) {
      all.push_back(impl_->commands[head].payload);
    }
  }
  return all;
}
hardware_queue scheduler::present_queue(command_id id) const {
  const index found = impl_->ids.find(id.value);
  return found == none ? hardware_queue{} : impl_->place_of(impl_->commands[found]);
}
hardware_queue scheduler::next_queue(stream_id stream, queue_class queue) const {
  const device_state& d = impl_->devices[impl_->streams[stream.value].device];
  return {queue, static_cast<std::uint8_t>(queue == queue_class::compute
                                               ? impl_->free_connection(d)
                                               : impl_->free_copy_queue(d, queue))};
}
int scheduler::waiting_priority(device_id device) const {
  const device_state& d = impl_->devices[device.value];
  const std::uint32_t levels = d.kernels_mask | d.granting_mask;
  return levels == 0 ? std::numeric_limits<int>::max() : std::countr_zero(levels) + first_priority;
}
waiter_id scheduler::wait(const wait_target& target) { return impl_->wait(target); }
waiter_id scheduler::wait_for_room(stream_id stream, queue_class queue, std::uint32_t limit) {
  return impl_->wait_for_room(stream, queue, limit);
}
const std::vector<action>& scheduler::actions() const { return impl_->actions; }
void scheduler::clear_actions() { impl_->actions.clear(); }

std::size_t scheduler::memory_bytes() const {
  return impl_->commands.bytes() + impl_->edges.bytes() + impl_->streams.bytes() +
         impl_->waiters.bytes() + impl_->residents.bytes() + impl_->ids.bytes() +
         impl_->time.bytes() + impl_->actions.capacity() * sizeof(action);
}

}  // namespace sb::sched
