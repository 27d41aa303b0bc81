#include "trace/store.hpp"

#include <algorithm>
#include <tuple>

#include "trace/writer.hpp"

namespace sb::trace {
namespace {

// Records come in the order in which a running program would write them: that keeps differences of
// times small.
struct moment {
  enum class what : std::uint8_t { submitted, finished, called } kind;
  nanoseconds at;
  number which;
  [[nodiscard]] auto key() const { return std::tuple(at, kind, which); }
};

bool is_finished(const operation& op) {
  return op.ready != never || op.started != never || op.ended != never || !op.waits.empty() ||
         op.queue.kind != queue_class::none;
}

std::vector<moment> moments_of(const trace& what) {
  std::vector<moment> order;
  order.reserve(2 * what.operations.size() + what.calls.size());
  nanoseconds queued = 0;
  for (number i = 0; i < what.operations.size(); ++i) {
    const operation& op = what.operations[i];
    if (op.queued != never) queued = std::max(queued, op.queued);
    order.push_back({moment::what::submitted, queued, i});
    if (is_finished(op)) order.push_back({moment::what::finished, std::max(queued, op.ended), i});
  }
  for (number i = 0; i < what.calls.size(); ++i)
    order.push_back({moment::what::called, what.calls[i].end, i});
  std::sort(order.begin(), order.end(),
            [](const moment& a, const moment& b) { return a.key() < b.key(); });
  return order;
}

submitted_record submitted_of(const operation& op) {
  submitted_record record;
  record.kind = op.kind;
  record.engine = op.engine;
  record.direction = op.direction;
  record.host_memory = op.host_memory;
  record.in_graph = op.in_graph;
  record.cooperative = op.cooperative;
  record.first_use = op.first_use;
  record.priority = op.priority;
  record.device = op.device;
  record.peer = op.peer;
  record.stream = op.stream;
  record.call = op.call;
  record.name = op.name;
  record.record = op.record;
  record.event = op.event;
  record.graph = op.graph;
  record.called = op.called;
  record.queued = op.queued;
  record.bytes = op.bytes;
  std::copy_n(op.grid, 3, record.grid);
  std::copy_n(op.block, 3, record.block);
  record.shared_bytes = op.shared_bytes;
  record.registers = op.registers;
  record.after = op.after;
  record.ranges = op.ranges;
  return record;
}

number name_of(writer& out, const std::string& text) {
  return text.empty() ? none : out.name(text);
}

void store_call(writer& out, number which, const call& what) {
  call_record record;
  record.thread = what.thread;
  record.name = name_of(out, what.name);
  record.place = what.place;
  record.begin = what.begin;
  record.end = what.end;
  record.blocked = what.blocked;
  record.blocked_on = what.blocked_on;
  record.status = what.status;
  record.times = what.times;
  record.behind_clock = what.behind_clock;
  if (what.returned) return out.returned(which, record);
  // Of a call that only others have named nothing is known.
  if (what.thread != none || !what.name.empty()) out.blocks(which, record);
}

void store_annotation(writer& out, const annotation& what) {
  annotation_record record;
  record.thread = what.thread;
  record.domain = name_of(out, what.domain);
  record.category = name_of(out, what.category);
  record.text = name_of(out, what.text);
  record.colour = what.colour;
  record.at = what.begin;
  if (what.what == annotation::shape::mark) {
    out.mark(record);
    return;
  }
  const number which = out.begin_range(record);
  if (what.end != never) out.end_range(which, what.end);
}

}  // namespace

outcome<std::uint64_t> store_trace(const trace& what, const std::string& path,
                                   existing_file policy) {
  auto opened = writer::open(path, what.head, policy);
  if (!opened) return failure{opened.message()};
  writer& out = **opened;
  for (const std::string& text : what.names) out.name(text);
  for (const device& one : what.devices) out.device(one);
  for (const stream& one : what.streams) out.stream(one);
  for (const host_thread& one : what.threads) out.thread(one.name);
  for (const place& one : what.places) out.place(one.file.c_str(), one.line);
  for (const allocation& one : what.allocations)
    out.allocated(one.kind, one.device, one.bytes, one.from, one.allocated_by);
  for (std::size_t i = 0; i < what.calls.size(); ++i) out.begin_call();
  for (const moment& next : moments_of(what)) {
    switch (next.kind) {
      case moment::what::submitted:
        out.submitted(submitted_of(what.operations[next.which]));
        break;
      case moment::what::finished: {
        const operation& op = what.operations[next.which];
        out.finished(next.which, {op.ready, op.started, op.ended, op.waits, op.status, op.queue});
        if (op.needs.alone != 0) out.needs(next.which, op.needs);
        if (op.left.resident != 0) out.blocks(next.which, op.left);
        break;
      }
      case moment::what::called:
        store_call(out, next.which, what.calls[next.which]);
        break;
    }
  }
  for (number i = 0; i < what.allocations.size(); ++i) {
    const allocation& one = what.allocations[i];
    if (one.to != 0 || one.freed_by != none) out.freed(i, one.to, one.freed_by);
  }
  for (const annotation& one : what.annotations) store_annotation(out, one);
  for (const thread_wait& one : what.thread_waits) out.thread_waited(one);
  for (const stuck_thread& one : what.stuck) out.stuck(one);
  if (what.head.end != ending::unknown && what.head.end != ending::cut)
    out.close(what.head.end, what.head.deterministic, what.end);
  if (const std::string why = out.problem(); !why.empty())
    return failure{"cannot write " + path + ": " + why};
  return out.bytes();
}

}  // namespace sb::trace
