#include "analysis/program.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/sort_stably.hpp"
#include "model/occupancy.hpp"
#include "model/stream_rules.hpp"

namespace sb::analysis {

namespace {

sched::device_limits limits_of(const trace::device& d) {
  sched::device_limits l;
  const auto take = [](std::uint32_t& to, std::uint32_t from) {
    if (from != 0) to = from;
  };
  take(l.multiprocessors, d.multiprocessors);
  take(l.threads_per_multiprocessor, d.threads_per_multiprocessor);
  take(l.blocks_per_multiprocessor, d.blocks_per_multiprocessor);
  take(l.shared_per_multiprocessor, d.shared_per_multiprocessor);
  take(l.registers_per_multiprocessor, d.registers_per_multiprocessor);
  take(l.resident_kernels, d.resident_kernels);
  l.reserved_shared_per_block = d.reserved_shared_per_block;
  if (d.multiprocessors != 0) l.copy_engines = d.copy_engines;  // 0 says something, if it was said
  return l;
}

command_kind kind_of(trace::operation_kind kind) {
  switch (kind) {
    case trace::operation_kind::kernel:
      return command_kind::kernel;
    case trace::operation_kind::copy:
      return command_kind::copy;
    case trace::operation_kind::fill:
      return command_kind::fill;
    case trace::operation_kind::host_function:
      return command_kind::host_function;
    case trace::operation_kind::event_record:
      return command_kind::event_record;
    case trace::operation_kind::event_wait:
      return command_kind::event_wait;
    case trace::operation_kind::section:
      return command_kind::section;
    case trace::operation_kind::allocate:
    case trace::operation_kind::free:
    case trace::operation_kind::graph_begin:
    case trace::operation_kind::graph_end:
    case trace::operation_kind::marker:
      break;
  }
  return command_kind::marker;
}

kernel_shape shape_of(const trace::operation& o) {
  kernel_shape s;
  s.blocks = std::uint64_t{o.grid[0]} * o.grid[1] * o.grid[2];
  s.threads_per_block = std::max(1U, o.block[0] * o.block[1] * o.block[2]);
  s.shared_bytes = o.shared_bytes;
  s.registers = o.registers == 0 ? 32 : o.registers;
  s.cooperative = o.cooperative;
  return s;
}

task task_of(const trace::operation& o, const program& p) {
  task t;
  t.what.kind = kind_of(o.kind);
  t.what.order = o.in_graph ? command_order::free : command_order::in_stream;
  t.what.direction = o.direction;
  t.what.priority = o.priority;
  t.what.bytes = o.bytes;
  t.stream = o.stream;
  t.record = o.record;
  t.after = o.after;
  if (o.kind == trace::operation_kind::kernel && o.stream < p.streams.size()) {
    t.what.kernel = shape_of(o);
    t.waves = waves_of(p.machine.devices[p.streams[o.stream].device], t.what.kernel);
  }
  if (o.started != never && o.ended != never && o.ended > o.started) {
    t.duration = o.ended - o.started;
  }
  if (o.needs.alone != 0) {
    constexpr double million = 1e6;
    t.shares = true;
    t.demand = {.arithmetic = o.needs.arithmetic / million, .memory = o.needs.memory / million};
  }
  return t;
}

// The call returns when its own operation is done.
bool waits_for_own(const trace::trace& recorded, const trace::call& c, call_class kind,
                   const trace::operation& own) {
  if (kind == call_class::copy) {
    // With device memory alone it returns before the work is done.
    return own.host_memory != trace::memory_kind::device || c.blocked_on != none;
  }
  if (own.kind != trace::operation_kind::copy || own.host_memory != trace::memory_kind::pageable) {
    return c.blocked_on != none && &recorded.operations[c.blocked_on] == &own;
  }
  return own.direction == copy_direction::device_to_host || (c.blocked > 0 && own.ended <= c.end);
}

void add_waits(const trace::trace& recorded, const trace::call& c, step& s) {
  const call_class kind = class_of(c.name);
  const bool known = c.blocked_on != none && c.blocked_on < recorded.operations.size();
  switch (kind) {
    case call_class::device_wait:
    case call_class::free: {
      const number stream = known ? recorded.operations[c.blocked_on].stream : none;
      const number device =
          stream < recorded.streams.size() ? recorded.streams[stream].device : none;
      s.last = {wait_scope::device, device == none ? 0 : device};
      return;
    }
    case call_class::stream_wait:
      if (known) s.last = {wait_scope::stream, recorded.operations[c.blocked_on].stream};
      return;
    case call_class::event_wait:
      if (known) s.last = {wait_scope::operation, c.blocked_on};
      return;
    case call_class::other:
    case call_class::copy:
    case call_class::launch:
    case call_class::allocate:
    case call_class::query:
    case call_class::create:
      break;
  }
  for (const issue& i : s.issues) {
    if (waits_for_own(recorded, c, kind, recorded.operations[i.operation])) {
      s.last = {wait_scope::operation, i.operation};
    }
  }
  if (s.last.scope == wait_scope::nothing && known && c.blocked > 0) {
    (s.issues.empty() ? s.last : s.first) = {wait_scope::operation, c.blocked_on};
  }
}

// Launches that load their kernel do so in the replay as well. What others loaded, as a question
// for a kernel's attributes does, and older traces, which do not say who did, have edges alone.
void add_first_uses(const trace::trace& recorded, program& p) {
  const auto& all = recorded.operations;
  std::set<number> names;
  std::vector<std::pair<nanoseconds, number>> order;
  for (number i = 0; i < all.size(); ++i) {
    if (all[i].kind != trace::operation_kind::kernel || all[i].queued == never) continue;
    if (all[i].first_use) names.insert(all[i].name);
    order.emplace_back(all[i].queued, i);
  }
  std::sort(order.begin(), order.end());
  std::map<number, std::pair<nanoseconds, number>> newest;  // by device
  for (const std::pair<nanoseconds, number>& at : order) {
    const trace::operation& o = all[at.second];
    if (o.name != none && names.contains(o.name)) p.tasks[at.second].loads = o.name;
    if (o.first_use) newest[o.device] = at;
    const auto loaded = newest.find(o.device);
    for (const trace::edge& e : o.waits) {
      if (e.cause != trace::wait_cause::loading || e.from >= all.size()) continue;
      const bool told =
          loaded != newest.end() && std::pair(all[e.from].queued, e.from) < loaded->second;
      if (!told) p.tasks[at.second].loading.push_back(e.from);
    }
  }
}

bool returned(const trace::call& c) { return c.returned && c.end >= c.begin; }

}  // namespace

namespace {

sched::device_limits device_of(const trace::trace& t, const trace::operation& o) {
  return o.device < t.devices.size() ? limits_of(t.devices[o.device]) : sched::device_limits{};
}

}  // namespace

std::uint64_t blocks_at_once(const sched::device_limits& device, const kernel_shape& shape) {
  const multiprocessor_limits m{
      .threads = device.threads_per_multiprocessor,
      .blocks = device.blocks_per_multiprocessor,
      .shared_bytes = device.shared_per_multiprocessor,
      .registers = device.registers_per_multiprocessor,
      .reserved_shared_bytes = device.reserved_shared_per_block,
  };
  const block_footprint f =
      footprint_of(m, shape.threads_per_block, shape.shared_bytes, shape.registers);
  return std::uint64_t{device.multiprocessors} * std::max(1U, blocks_per_multiprocessor(m, f));
}

std::uint32_t waves_of(const sched::device_limits& device, const kernel_shape& shape) {
  const std::uint64_t at_once = blocks_at_once(device, shape);
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, (shape.blocks + at_once - 1) / at_once));
}

std::uint32_t waves_of(const trace::trace& t, const trace::operation& kernel) {
  return waves_of(device_of(t, kernel), shape_of(kernel));
}

nanoseconds length_of_piece(const task& t, nanoseconds whole, std::uint64_t grant,
                            std::uint64_t together, block_turn turn) {
  if (t.blocks.known())
    return rounded_ns(static_cast<double>(whole) * t.blocks.together(together, turn) /
                      t.blocks.alone(t.what.kernel.blocks));
  // A kernel alone gets a grant for each of its waves, and their times add up to its length.
  const std::uint64_t waves = std::max(1U, t.waves), wave = grant % waves;
  return whole * (wave + 1) / waves - whole * wave / waves;
}

nanoseconds alone_of(const trace::operation& o, std::uint32_t waves, nanoseconds beginning) {
  const nanoseconds took = o.ended - o.started;
  return o.needs.alone == 0 ? took : std::min(took, o.needs.alone * waves + beginning);
}

double share_of_device(const trace::trace& t, number operation) {
  const trace::operation& o = t.operations[operation];
  const kernel_shape shape = shape_of(o);
  return std::min(1.0, static_cast<double>(shape.blocks) /
                           static_cast<double>(blocks_at_once(device_of(t, o), shape)));
}

const std::vector<thread_pause>& pauses_before(const program& p, number thread, std::size_t step) {
  static const std::vector<thread_pause> no_pauses;
  if (step < p.threads[thread].size()) return p.threads[thread][step].pauses;
  return thread < p.last_pauses.size() ? p.last_pauses[thread] : no_pauses;
}

nanoseconds waking::after(nanoseconds waited, const command& ended) const {
  const bool large = ended.kind == command_kind::copy && ended.bytes >= separate_copy_bytes;
  return waited >= long_wait || (waited > 0 && large) ? late : soon;
}

program skeleton_of(const trace::trace& recorded) {
  program p;
  p.machine.connections = recorded.head.connections;
  for (const trace::device& d : recorded.devices) {
    p.machine.devices.push_back(limits_of(d));
  }
  for (const trace::stream& s : recorded.streams) {
    p.streams.push_back({s.device == none ? 0 : s.device, s.kind});
    p.machine.devices.resize(
        std::max<std::size_t>(p.machine.devices.size(), p.streams.back().device + 1));
  }
  for (const trace::operation& o : recorded.operations) {
    p.tasks.push_back(task_of(o, p));
  }

  add_first_uses(recorded, p);

  // A wait for a record that was over names the event alone; after a change it may not be over.
  std::map<number, number> records;  // by event: the newest so far
  for (number i = 0; i < recorded.operations.size(); ++i) {
    const trace::operation& o = recorded.operations[i];
    if (o.event == none) continue;
    if (o.kind == trace::operation_kind::event_record) records[o.event] = i;
    if (o.kind != trace::operation_kind::event_wait || o.record != none) continue;
    if (const auto found = records.find(o.event); found != records.end())
      p.tasks[i].record = found->second;
  }

  std::vector<std::vector<number>> issued(recorded.calls.size());
  for (number i = 0; i < recorded.operations.size(); ++i) {
    const trace::operation& o = recorded.operations[i];
    if (o.call < issued.size() && o.ended != never && o.stream < recorded.streams.size()) {
      issued[o.call].push_back(i);
    }
  }
  p.threads.resize(recorded.threads.size());
  for (number i = 0; i < recorded.calls.size(); ++i) {
    const trace::call& c = recorded.calls[i];
    if (!returned(c) || c.thread >= recorded.threads.size()) continue;
    step s;
    s.call = i;
    for (const number operation : issued[i]) {
      s.issues.push_back({operation, 0});
    }
    add_waits(recorded, c, s);
    p.threads[c.thread].push_back(std::move(s));
  }
  for (std::vector<step>& steps : p.threads) {
    sort_stably(steps, [&](const step& a, const step& b) {
      return recorded.calls[a.call].begin < recorded.calls[b.call].begin;
    });
  }
  return p;
}

}  // namespace sb::analysis
