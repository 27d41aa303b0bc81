#include "timeline_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>

#include "columns.hpp"
#include "timeline_rows.hpp"
#include "trace/words.hpp"

namespace sb::tools {
namespace {

using trace::number;

// A JSON string that may stand inside an HTML script element.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '<':
        out += "\\u003c";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

template <typename Items, typename Write>
std::string list(const Items& items, Write write) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += write(item);
  }
  return out + ']';
}

// -1 for none: small tables are for reading, not for size.
std::int64_t index(number value) { return value == trace::none ? -1 : std::int64_t{value}; }

std::string head_json(const trace::trace& trace) {
  constexpr std::string_view clocks[] = {"wall", "modelled", "device"};
  constexpr std::string_view ends[] = {"unknown", "complete", "hung", "stopped", "unknown"};
  const trace::header& head = trace.head;
  return fmt::format(
      R"({{"program":{},"profile":{},"clock":"{}","deterministic":{},"end":"{}","connections":{},"duration":{}}})",
      quoted(head.program), quoted(head.profile), clocks[static_cast<std::size_t>(head.clock)],
      head.deterministic, ends[static_cast<std::size_t>(head.end)], head.connections, trace.end);
}

class table {
 public:
  template <typename Items, typename Add>
  table& column(std::string_view name, const Items& items, Add add) {
    column_writer out;
    for (const auto& item : items) add(out, item);
    return named(name, out);
  }
  table& named(std::string_view name, column_writer& out) {
    text_ += fmt::format(R"(,"{}":"{}")", name, out.text());
    return *this;
  }
  [[nodiscard]] std::string close(std::size_t count) const {
    return fmt::format(R"({{"count":{}{}}})", count, text_);
  }

 private:
  std::string text_;
};

std::string calls_json(const trace::trace& trace, std::string& call_names) {
  std::map<std::string, std::uint32_t, std::less<>> numbers;
  std::vector<std::string_view> names;
  table out;
  const auto& calls = trace.calls;
  using trace::call;
  out.column("name", calls, [&](column_writer& c, const call& x) {
    const std::string name = x.times == 1 ? x.name : fmt::format("{}, {} times", x.name, x.times);
    const auto [at, added] = numbers.try_emplace(name, static_cast<std::uint32_t>(names.size()));
    if (added) names.push_back(at->first);
    c.add(at->second);
  });
  out.column("thread", calls, [](column_writer& c, const call& x) { c.add_number(x.thread); });
  out.column("place", calls, [](column_writer& c, const call& x) { c.add_number(x.place); });
  out.column("begin", calls, [](column_writer& c, const call& x) { c.add_time(x.begin); });
  out.column("end", calls, [](column_writer& c, const call& x) { c.add_time(x.end); });
  out.column("blocked", calls, [](column_writer& c, const call& x) { c.add_time(x.blocked); });
  out.column("blockedOn", calls,
             [](column_writer& c, const call& x) { c.add_number(x.blocked_on); });
  out.column("returned", calls, [](column_writer& c, const call& x) { c.add(x.returned ? 1 : 0); });
  out.column("status", calls, [](column_writer& c, const call& x) {
    c.add_number(static_cast<std::uint32_t>(x.status));
  });
  call_names = list(names, quoted);
  return out.close(calls.size());
}

std::string operations_json(const trace::trace& trace) {
  using trace::operation;
  const auto& operations = trace.operations;
  table out;
  const auto numbers = [&](std::string_view name, number operation::* field) {
    out.column(name, operations,
               [=](column_writer& c, const operation& x) { c.add_number(x.*field); });
  };
  const auto times = [&](std::string_view name, trace::nanoseconds operation::* field) {
    out.column(name, operations,
               [=](column_writer& c, const operation& x) { c.add_time(x.*field); });
  };
  const auto values = [&](std::string_view name, auto value) {
    out.column(name, operations, [=](column_writer& c, const operation& x) { c.add(value(x)); });
  };
  values("kind", [](const operation& x) { return static_cast<std::uint64_t>(x.kind); });
  values("bar", [](const operation& x) { return static_cast<std::uint64_t>(bar_of(x)); });
  values("engine", [](const operation& x) { return static_cast<std::uint64_t>(x.engine); });
  values("direction", [](const operation& x) { return static_cast<std::uint64_t>(x.direction); });
  values("hostMemory",
         [](const operation& x) { return static_cast<std::uint64_t>(x.host_memory); });
  values("flags", [](const operation& x) {
    return static_cast<std::uint64_t>((x.in_graph ? 1 : 0) | (x.cooperative ? 2 : 0));
  });
  values("priority",
         [](const operation& x) { return static_cast<std::uint64_t>(x.priority + 128); });
  values("queue", [](const operation& x) {
    if (x.queue.kind == queue_class::none) return std::uint64_t{0};
    return std::uint64_t{1} + x.queue.number +
           std::uint64_t{most_connections} * static_cast<std::uint64_t>(x.queue.kind);
  });
  numbers("device", &operation::device);
  numbers("peer", &operation::peer);
  numbers("stream", &operation::stream);
  numbers("call", &operation::call);
  numbers("name", &operation::name);
  numbers("record", &operation::record);
  numbers("event", &operation::event);
  numbers("graph", &operation::graph);
  times("called", &operation::called);
  times("queued", &operation::queued);
  times("ready", &operation::ready);
  times("started", &operation::started);
  times("ended", &operation::ended);
  values("bytes", [](const operation& x) { return x.bytes; });
  for (int i = 0; i < 3; ++i) {
    values(fmt::format("grid{}", i), [=](const operation& x) { return std::uint64_t{x.grid[i]}; });
    values(fmt::format("block{}", i),
           [=](const operation& x) { return std::uint64_t{x.block[i]}; });
  }
  values("shared", [](const operation& x) { return std::uint64_t{x.shared_bytes}; });
  values("registers", [](const operation& x) { return std::uint64_t{x.registers}; });
  values("status", [](const operation& x) { return static_cast<std::uint32_t>(x.status); });
  values("ranges", [](const operation& x) { return std::uint64_t{x.ranges.size()}; });
  values("waits", [](const operation& x) { return std::uint64_t{x.waits.size()}; });
  return out.close(operations.size());
}

std::string waits_json(const trace::trace& trace) {
  column_writer from, call, cause, until;
  std::size_t count = 0;
  for (const trace::operation& operation : trace.operations) {
    for (const trace::edge& edge : operation.waits) {
      from.add_number(edge.from);
      call.add_number(edge.call);
      cause.add(static_cast<std::uint64_t>(edge.cause));
      until.add_time(edge.until);
      ++count;
    }
  }
  table out;
  out.named("from", from).named("call", call).named("cause", cause).named("until", until);
  return out.close(count);
}

std::string ranges_json(const trace::trace& trace) {
  column_writer allocation, offset, bytes, how;
  std::size_t count = 0;
  for (const trace::operation& operation : trace.operations) {
    for (const trace::byte_range& range : operation.ranges) {
      allocation.add_number(range.allocation);
      offset.add(range.offset);
      bytes.add(range.bytes);
      how.add(static_cast<std::uint64_t>(range.how) | (uses_all(operation, range) ? 4u : 0u));
      ++count;
    }
  }
  table out;
  out.named("allocation", allocation).named("offset", offset);
  return out.named("bytes", bytes).named("how", how).close(count);
}

std::string allocations_json(const trace::trace& trace) {
  using trace::allocation;
  table out;
  out.column("kind", trace.allocations, [](column_writer& c, const allocation& x) {
    c.add(static_cast<std::uint64_t>(x.kind));
  });
  out.column("bytes", trace.allocations,
             [](column_writer& c, const allocation& x) { c.add(x.bytes); });
  return out.close(trace.allocations.size());
}

std::string row_json(const timeline_row& row) {
  constexpr std::string_view kinds[] = {"thread", "ranges", "engine", "stream"};
  column_writer what, lane, marks;
  for (const placed& bar : row.bars) {
    what.add_number(bar.what);
    lane.add(bar.lane);
  }
  for (const number mark : row.marks) marks.add_number(mark);
  return fmt::format(
      R"({{"kind":"{}","of":{},"label":{},"detail":{},"lanes":{},"leftOut":{},"bars":{},"what":"{}","lane":"{}","markCount":{},"marks":"{}"}})",
      kinds[static_cast<std::size_t>(row.kind)], index(row.of), quoted(row.label),
      quoted(row.detail), row.lanes, row.left_out, row.bars.size(), what.text(), lane.text(),
      row.marks.size(), marks.text());
}

std::string notes_json(const timeline_notes& notes) {
  const auto numbers = [](const std::vector<number>& values) {
    return fmt::format("[{}]", fmt::join(values, ","));
  };
  table path;
  path.column("operation", notes.path,
              [](column_writer& c, const path_step& x) { c.add_number(x.operation); });
  path.column("call", notes.path,
              [](column_writer& c, const path_step& x) { c.add_number(x.call); });
  path.column("from", notes.path, [](column_writer& c, const path_step& x) { c.add_time(x.from); });
  path.column("to", notes.path, [](column_writer& c, const path_step& x) { c.add_time(x.to); });
  path.column("bar", notes.path, [](column_writer& c, const path_step& x) {
    c.add(static_cast<std::uint64_t>(x.bar));
  });
  path.column("words", notes.path,
              [](column_writer& c, const path_step& x) { c.add_number(x.words); });
  const auto parts = list(notes.parts, [&](const path_part& part) {
    return fmt::format(R"({{"time":{},"words":{},"places":{}}})", part.time, index(part.words),
                       numbers(part.places));
  });
  const auto findings = list(notes.findings, [&](const timeline_finding& finding) {
    return fmt::format(
        R"({{"title":{},"detail":{},"evidence":{},"advice":{},"cost":{},"from":{},"to":{},"operations":{},"calls":{},"places":{}}})",
        quoted(finding.title), quoted(finding.detail), list(finding.evidence, quoted),
        quoted(finding.advice), finding.cost, finding.from, finding.to, numbers(finding.operations),
        numbers(finding.calls), numbers(finding.places));
  });
  return fmt::format(R"("words":{},"path":{},"parts":{},"findings":{})", list(notes.words, quoted),
                     path.close(notes.path.size()), parts, findings);
}

}  // namespace

std::string timeline_data(const trace::trace& trace, const timeline_notes& notes) {
  std::string call_names;
  const std::string calls = calls_json(trace, call_names);
  std::string out = R"({"version":1,"head":)" + head_json(trace);
  out += R"(,"names":)" + list(trace.names, quoted);
  out += R"(,"callNames":)" + call_names;
  out += R"(,"places":)" + list(trace.places, [](const trace::place& place) {
           return fmt::format("[{},{}]", quoted(place.file), place.line);
         });
  out +=
      R"(,"annotations":)" + list(trace.annotations, [&](const trace::annotation& range) {
        const extent at =
            range.what == trace::annotation::shape::mark
                ? extent{range.begin, range.begin}
                : extent{range.begin,
                         std::max(range.begin, range.end == trace::never ? trace.end : range.end)};
        return fmt::format(
            R"({{"thread":{},"domain":{},"category":{},"text":{},"colour":{},"begin":{},"end":{}}})",
            index(range.thread), quoted(range.domain), quoted(range.category), quoted(range.text),
            range.colour, at.from, at.to);
      });
  out += R"(,"groups":)" + list(timeline_rows(trace), [](const timeline_group& group) {
           return fmt::format(R"({{"label":{},"detail":{},"rows":{}}})", quoted(group.label),
                              quoted(group.detail), list(group.rows, row_json));
         });
  out += R"(,"calls":)" + calls;
  out += R"(,"operations":)" + operations_json(trace);
  out += R"(,"waits":)" + waits_json(trace);
  out += R"(,"ranges":)" + ranges_json(trace);
  out += R"(,"allocations":)" + allocations_json(trace);
  return out + "," + notes_json(notes) + "}";
}

std::string timeline_page(std::string_view page, const trace::trace& trace,
                          const timeline_notes& notes) {
  const std::size_t at = page.find(page_data_mark);
  if (at == std::string_view::npos) {
    throw std::runtime_error("the timeline page has no place for the data; build the toolkit anew");
  }
  std::string out(page.substr(0, at));
  out += timeline_data(trace, notes);
  out += page.substr(at + page_data_mark.size());
  return out;
}

}  // namespace sb::tools
