#include "trace/rows.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "trace/words.hpp"

namespace sb::trace {
namespace {

// Each slice goes to the first lane that is free.
void add_lanes(lane_group& group, const std::string& name, lane::sort what,
               std::vector<slice>&& slices) {
  std::sort(slices.begin(), slices.end(), [](const slice& a, const slice& b) {
    return std::tuple(a.begin, a.end, a.which) < std::tuple(b.begin, b.end, b.which);
  });
  const std::size_t first = group.lanes.size();
  for (const slice& one : slices) {
    std::size_t index = first;
    while (index < group.lanes.size() && group.lanes[index].slices.back().end > one.begin) ++index;
    if (index == group.lanes.size()) group.lanes.push_back({name, what, {}});
    group.lanes[index].slices.push_back(one);
  }
}

// Annotations may lie inside each other, and then share a lane. Their numbers are in the order in
// which they began: of two that begin at once the first is the outer one. Those that cross go to
// further lanes.
void add_nested(lane_group& group, const std::string& name, std::vector<slice>&& slices) {
  std::sort(slices.begin(), slices.end(), [](const slice& a, const slice& b) {
    return std::tuple(a.begin, a.which) < std::tuple(b.begin, b.which);
  });
  const std::size_t first = group.lanes.size();
  std::vector<std::vector<nanoseconds>> open;  // in each lane: the ends, the outermost first
  for (const slice& one : slices) {
    std::size_t index = 0;
    for (; index < open.size(); ++index) {
      std::vector<nanoseconds>& ends = open[index];
      while (!ends.empty() && ends.back() <= one.begin) ends.pop_back();
      if (ends.empty() || ends.back() >= one.end) break;
    }
    if (index == open.size()) {
      open.emplace_back();
      group.lanes.push_back({name, lane::sort::annotations, {}});
    }
    open[index].push_back(one.end);
    group.lanes[first + index].slices.push_back(one);
  }
}

nanoseconds end_of(const trace& what, nanoseconds begin, nanoseconds end) {
  return std::max(begin, end == never ? what.end : end);
}

std::string engine_row(engine_kind engine) {
  std::string text(word(engine));
  std::replace(text.begin(), text.end(), '_', ' ');
  return engine == engine_kind::host ? "host functions" : text;
}

void add_text(std::vector<detail>& list, std::string_view key, std::string text) {
  if (!text.empty()) list.push_back({key, 0, std::move(text), true});
}

std::string three(const std::uint32_t (&size)[3]) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
         std::to_string(size[2]);
}

void add_operation(const trace& what, const operation& op, std::vector<detail>& list) {
  const auto add = [&](std::string_view key, std::uint64_t value) {
    list.push_back({key, value, {}, false});
  };
  if (op.stream != none) add("stream", op.stream);
  add_text(list, "queue", word(op.queue));
  if (op.bytes) add("bytes", op.bytes);
  if (!op.ranges.empty()) add_text(list, "ranges", range_words(op));
  if (op.kind == operation_kind::kernel) {
    add_text(list, "grid", three(op.grid));
    add_text(list, "block", three(op.block));
    add("shared bytes", op.shared_bytes);
    add("registers", op.registers);
  }
  if (op.kind == operation_kind::copy && op.host_memory != memory_kind::device)
    add_text(list, "host memory", std::string(word(op.host_memory)));
  if (op.status != 0) add_text(list, "error", error_name(op.status));
  if (op.event != none) add("event", op.event);
  if (op.graph != none) add("graph", op.graph);
  if (op.queued != never) add("queued", op.queued);
  if (op.ready != never) add("ready", op.ready);
  if (op.call != none) {
    add("call", op.call);
    add_text(list, "line", place_label(what, what.calls[op.call].place));
  }
  std::string waits;
  for (const edge& wait : op.waits) {
    if (!waits.empty()) waits += ", ";
    waits += word(wait.cause);
    if (wait.from != none) waits += " of " + std::to_string(wait.from);
  }
  add_text(list, "waited for", waits);
}

}  // namespace

std::vector<lane_group> rows_of(const trace& what) {
  using key = std::pair<number, unsigned>;
  std::map<key, std::vector<slice>> engines, streams;  // by device
  std::vector<slice> functions;
  for (number i = 0; i < what.operations.size(); ++i) {
    const operation& op = what.operations[i];
    if (op.started == never) continue;
    const slice one{slice::source::operation, i, op.started, end_of(what, op.started, op.ended)};
    if (op.engine == engine_kind::host)
      functions.push_back(one);
    else if (op.engine != engine_kind::none)
      engines[{op.device, static_cast<unsigned>(op.engine)}].push_back(one);
    if (op.stream != none) streams[{what.streams[op.stream].device, op.stream}].push_back(one);
  }
  std::vector<std::vector<slice>> calls(what.threads.size()), ranges(what.threads.size());
  for (number i = 0; i < what.calls.size(); ++i) {
    const call& one = what.calls[i];
    if (one.thread == none || one.begin == never) continue;
    calls[one.thread].push_back({slice::source::call, i, one.begin, std::max(one.begin, one.end)});
  }
  for (number i = 0; i < what.annotations.size(); ++i) {
    const annotation& one = what.annotations[i];
    if (one.thread == none || one.begin == never) continue;
    ranges[one.thread].push_back(
        {slice::source::annotation, i, one.begin, end_of(what, one.begin, one.end)});
  }

  std::vector<lane_group> groups = {{what.head.program.empty() ? "host" : what.head.program, {}}};
  for (number i = 0; i < what.threads.size(); ++i) {
    const std::string name = thread_label(what, i);
    add_nested(groups[0], name + " annotations", std::move(ranges[i]));
    add_lanes(groups[0], name, lane::sort::thread, std::move(calls[i]));
  }
  add_lanes(groups[0], engine_row(engine_kind::host), lane::sort::engine, std::move(functions));
  for (number device = 0; device < what.devices.size(); ++device) {
    lane_group group{"device " + std::to_string(device) + " " + what.devices[device].name, {}};
    for (auto& [where, slices] : engines) {
      if (where.first != device) continue;
      add_lanes(group, engine_row(static_cast<engine_kind>(where.second)), lane::sort::engine,
                std::move(slices));
    }
    for (auto& [where, slices] : streams) {
      if (where.first != device) continue;
      add_lanes(group, stream_label(what, where.second), lane::sort::stream, std::move(slices));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<detail> details_of(const trace& what, const slice& one) {
  std::vector<detail> list;
  if (one.what == slice::source::operation) {
    list.push_back({"operation", one.which, {}, false});
    add_operation(what, what.operations[one.which], list);
  } else if (one.what == slice::source::call) {
    const call& the = what.calls[one.which];
    add_text(list, "line", place_label(what, the.place));
    if (the.blocked) list.push_back({"blocked", the.blocked, {}, false});
    if (the.blocked_on != none) list.push_back({"blocked on", the.blocked_on, {}, false});
    if (the.status) list.push_back({"error", static_cast<std::uint32_t>(the.status), {}, false});
    if (the.times != 1) list.push_back({"times", the.times, {}, false});
    if (!the.returned) add_text(list, "returned", "no");
  } else {
    add_text(list, "domain", what.annotations[one.which].domain);
    add_text(list, "category", what.annotations[one.which].category);
  }
  return list;
}

std::string label_of(const trace& what, const slice& one) {
  switch (one.what) {
    case slice::source::operation:
      return label(what, what.operations[one.which]);
    case slice::source::call:
      return what.calls[one.which].name;
    case slice::source::annotation:
      break;
  }
  return what.annotations[one.which].text;
}

std::string_view category_of(const trace& what, const slice& one) {
  switch (one.what) {
    case slice::source::operation:
      return word(what.operations[one.which].kind);
    case slice::source::call:
      return "call";
    case slice::source::annotation:
      break;
  }
  return "annotation";
}

}  // namespace sb::trace
