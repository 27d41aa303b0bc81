// Two traces compared by every field, through a text that a failing test can show.
#pragma once

#include <sstream>
#include <string>

#include "trace/trace.hpp"

namespace sb::trace::testing {

// Without the table of names, which has more after reading; what points into it is shown as text.
inline std::string everything(const trace& what) {
  std::ostringstream out;
  const auto list = [&](const auto&... values) { ((out << ' ' << +values), ...); };
  const auto text = [&](number name) { return name == none ? "-" : what.names.at(name); };
  out << static_cast<int>(what.head.clock) << what.head.deterministic
      << static_cast<int>(what.head.end) << ' ' << what.head.connections << ' '
      << what.head.host_bytes << what.head.program << what.head.profile << '\n';
  for (const device& d : what.devices) {
    out << "device " << d.name;
    list(d.multiprocessors, d.threads_per_multiprocessor, d.blocks_per_multiprocessor,
         d.shared_per_multiprocessor, d.registers_per_multiprocessor, d.reserved_shared_per_block,
         d.resident_kernels, d.copy_engines, d.to_device.latency_ns, d.to_device.bytes_per_us,
         d.to_host.latency_ns, d.to_host.bytes_per_us);
    out << '\n';
  }
  for (const stream& s : what.streams) {
    out << "stream " << s.name;
    list(s.device, static_cast<int>(s.kind), s.per_thread, s.priority, s.connection);
    out << '\n';
  }
  for (const host_thread& t : what.threads) out << "thread " << t.name << '\n';
  for (const place& p : what.places) out << "place " << p.file << ':' << p.line << '\n';
  for (const allocation& a : what.allocations) {
    out << "allocation";
    list(static_cast<int>(a.kind), a.device, a.bytes, a.from, a.to, a.allocated_by, a.freed_by);
    out << '\n';
  }
  for (const call& c : what.calls) {
    out << "call " << c.name;
    list(c.thread, c.place, c.begin, c.end, c.blocked, c.blocked_on, c.status, c.returned, c.times);
    out << '\n';
  }
  for (const operation& o : what.operations) {
    out << "operation " << text(o.name);
    list(static_cast<int>(o.kind), static_cast<int>(o.engine), static_cast<int>(o.direction),
         static_cast<int>(o.host_memory), o.in_graph, o.cooperative, o.first_use, o.priority,
         o.device, o.peer, o.stream, o.call, o.record, o.event, o.graph, o.called, o.queued,
         o.ready, o.started, o.ended, o.bytes, o.grid[0], o.grid[1], o.grid[2], o.block[0],
         o.block[1], o.block[2], o.shared_bytes, o.registers, o.status,
         static_cast<int>(o.queue.kind), o.queue.number, o.needs.alone, o.needs.arithmetic,
         o.needs.memory, o.left.resident, o.left.waiting, o.left.in_vain);
    out << " after";
    for (const number other : o.after) list(other);
    for (const edge& e : o.waits) {
      out << " edge";
      list(e.from, e.call, static_cast<int>(e.cause), e.until);
    }
    for (const byte_range& r : o.ranges) {
      out << " range";
      list(r.allocation, r.offset, r.bytes, static_cast<int>(r.how), r.exact);
    }
    out << '\n';
  }
  for (const thread_wait& w : what.thread_waits) {
    out << "thread wait";
    list(w.thread, w.other, w.begin, w.end, static_cast<int>(w.what), w.function);
    out << '\n';
  }
  for (const stuck_thread& s : what.stuck) {
    out << "stuck";
    list(s.thread, s.function, static_cast<int>(s.what), s.object, s.holder, s.holding_function,
         s.holder_ended);
    out << '\n';
  }
  for (const annotation& a : what.annotations) {
    out << "annotation " << a.domain << '/' << a.category << '/' << a.text;
    list(static_cast<int>(a.what), a.thread, a.colour, a.begin, a.end);
    out << '\n';
  }
  out << "end " << what.end << '\n';
  return out.str();
}

}  // namespace sb::trace::testing
