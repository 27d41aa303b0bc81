#include "timeline_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <tuple>

namespace sb::tools {
namespace {

using trace::nanoseconds;
using trace::none;
using trace::number;
using trace::operation_kind;

bool has_extent(const trace::operation& operation) {
  switch (operation.kind) {
    case operation_kind::kernel:
    case operation_kind::copy:
    case operation_kind::fill:
    case operation_kind::host_function:
    case operation_kind::section:
      return true;
    default:
      return false;
  }
}

// Operations that never started, drawn in a stream: all of them would be a lane each.
constexpr std::uint32_t most_waiting = 4;

// Gives each bar the lowest lane that is free when it begins.
void pack(const trace::trace& trace, timeline_row& row) {
  const auto place = [&](const placed& bar) { return bar_extent(trace, row.kind, bar.what); };
  const auto waits = [&](const placed& bar) {
    return row.kind == row_kind::stream && trace.operations[bar.what].started == trace::never;
  };
  std::sort(row.bars.begin(), row.bars.end(), [&](const placed& a, const placed& b) {
    const extent x = place(a), y = place(b);
    // What never started is below everything that ran. Of others the longer first, so that ranges
    // that contain others are above them.
    return std::tuple(waits(a), x.from, y.to, a.what) < std::tuple(waits(b), y.from, x.to, b.what);
  });
  using lane_end = std::pair<nanoseconds, std::uint32_t>;
  std::priority_queue<lane_end, std::vector<lane_end>, std::greater<>> busy;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  std::uint32_t lanes = 0;
  for (placed& bar : row.bars) {
    if (waits(bar)) {
      bar.lane = lanes++;
      continue;
    }
    const extent at = place(bar);
    while (!busy.empty() && busy.top().first <= at.from) {
      free.push(busy.top().second);
      busy.pop();
    }
    if (free.empty()) free.push(lanes++);
    bar.lane = free.top();
    free.pop();
    busy.emplace(at.to, bar.lane);
  }
  row.lanes = std::clamp(lanes, 1u, most_lanes);
  row.left_out += std::erase_if(row.bars, [](const placed& bar) { return bar.lane >= most_lanes; });
}

// Copies that neither come from the host nor go there: the same engines do them.
struct inner_copies {
  bool within = false, between = false;

  void add(const trace::operation& o) {
    if (bar_of(o) != bar_kind::on_device) return;
    (o.direction == copy_direction::peer ? between : within) = true;
  }
  [[nodiscard]] std::string_view choose(std::string_view on_device, std::string_view to_others,
                                        std::string_view both) const {
    if (!between) return on_device;
    return within ? both : to_others;
  }
};

std::string_view engine_label(trace::engine_kind engine) {
  switch (engine) {
    case trace::engine_kind::multiprocessors:
      return "Kernels";
    case trace::engine_kind::host_to_device:
      return "Copy to device";
    case trace::engine_kind::device_to_host:
      return "Copy to host";
    case trace::engine_kind::device_to_device:
      return "Copy on device";
    case trace::engine_kind::host:
      return "Host functions";
    case trace::engine_kind::none:
      break;
  }
  return "";
}

timeline_row stream_row(const trace::trace& trace, number index) {
  const trace::stream& stream = trace.streams[index];
  timeline_row row{.kind = row_kind::stream, .of = index};
  if (!stream.name.empty()) {
    row.label = stream.name;
  } else if (stream.kind == stream_kind::legacy) {
    row.label = "Default stream";
  } else if (stream.per_thread) {
    row.label = "Default stream of a thread";
  } else {
    row.label = fmt::format("Stream {}", index);  // as explanations call it
  }
  std::vector<std::string> details;
  if (stream.kind == stream_kind::non_blocking) details.emplace_back("non-blocking");
  if (stream.priority != 0) details.push_back(fmt::format("priority {}", stream.priority));
  if (stream.connection != none) details.push_back(fmt::format("queue {}", stream.connection));
  row.detail = fmt::format("{}", fmt::join(details, ", "));
  return row;
}

timeline_group host_group(const trace::trace& trace) {
  timeline_group group{.label = "Host", .detail = trace.head.program};
  std::vector<timeline_row> threads(trace.threads.size()), ranges(trace.threads.size());
  for (number i = 0; i < trace.threads.size(); ++i) {
    const std::string& name = trace.threads[i].name;
    const std::string label = !name.empty() ? name
                              : i == 0      ? "Main thread"
                                            : fmt::format("Thread {}", i);
    threads[i] = {.kind = row_kind::thread, .of = i, .label = label, .detail = "calls"};
    ranges[i] = {.kind = row_kind::ranges, .of = i, .label = label, .detail = "ranges"};
  }
  for (number i = 0; i < trace.calls.size(); ++i) {
    if (trace.calls[i].thread < threads.size()) threads[trace.calls[i].thread].bars.push_back({i});
  }
  for (number i = 0; i < trace.annotations.size(); ++i) {
    const trace::annotation& what = trace.annotations[i];
    if (what.thread < ranges.size()) ranges[what.thread].bars.push_back({i});
  }
  for (number i = 0; i < threads.size(); ++i) {
    if (!ranges[i].bars.empty()) group.rows.push_back(std::move(ranges[i]));
    group.rows.push_back(std::move(threads[i]));
  }
  return group;
}

timeline_group device_group(const trace::trace& trace, number index) {
  const trace::device& device = trace.devices[index];
  timeline_group group{.label = fmt::format("Device {}", index), .detail = device.name};
  std::map<trace::engine_kind, timeline_row> engines;
  std::map<number, timeline_row> streams;
  std::map<number, std::uint32_t> waiting;
  for (number i = 0; i < trace.streams.size(); ++i) {
    if (trace.streams[i].device == index) streams[i] = stream_row(trace, i);
  }
  for (number i = 0; i < trace.operations.size(); ++i) {
    const trace::operation& operation = trace.operations[i];
    const auto stream = streams.find(operation.stream);
    const bool ran = operation.started != trace::never;
    if (stream != streams.end()) {
      if (!ran && has_extent(operation) && ++waiting[operation.stream] > most_waiting) {
        ++stream->second.left_out;
      } else if (has_extent(operation)) {
        stream->second.bars.push_back({i});
      } else {
        stream->second.marks.push_back(i);
      }
    }
    if (operation.device == index && has_extent(operation) && ran &&
        operation.engine != trace::engine_kind::none) {
      timeline_row& row = engines[operation.engine];
      row.kind = row_kind::engine;
      row.of = static_cast<number>(operation.engine);
      row.bars.push_back({i});
    }
  }
  for (auto& [kind, row] : engines) {
    row.label = engine_label(kind);
    if (kind == trace::engine_kind::device_to_device) {
      inner_copies copies;
      for (const placed& bar : row.bars) copies.add(trace.operations[bar.what]);
      // Short enough for a terminal, behind the name of the device.
      row.label = copies.choose(engine_label(kind), "Peer copies", "Copy, also peer");
    }
    if (kind == trace::engine_kind::multiprocessors && device.multiprocessors > 0) {
      row.detail = fmt::format("{} multiprocessor{}", device.multiprocessors,
                               device.multiprocessors == 1 ? "" : "s");
    }
    group.rows.push_back(std::move(row));
  }
  for (auto& [number, row] : streams) {
    // A default stream that nobody used is no row.
    const bool unused = row.bars.empty() && row.marks.empty();
    if (unused &&
        (trace.streams[number].kind == stream_kind::legacy || trace.streams[number].per_thread)) {
      continue;
    }
    group.rows.push_back(std::move(row));
  }
  return group;
}

}  // namespace

bar_kind bar_of(const trace::operation& operation) {
  switch (operation.kind) {
    case operation_kind::kernel:
      return bar_kind::kernel;
    case operation_kind::fill:
      return bar_kind::fill;
    case operation_kind::host_function:
      return bar_kind::host_function;
    case operation_kind::copy:
      break;
    default:
      return bar_kind::other;
  }
  switch (operation.direction) {
    case copy_direction::host_to_device:
      return bar_kind::to_device;
    case copy_direction::device_to_host:
      return bar_kind::to_host;
    case copy_direction::host_to_host:
      return bar_kind::host_function;
    case copy_direction::device_to_device:
    case copy_direction::peer:
      break;
  }
  return bar_kind::on_device;
}

std::string_view bar_name(bar_kind kind, const trace::trace& trace) {
  if (kind == bar_kind::on_device) {
    inner_copies copies;
    for (const trace::operation& o : trace.operations) copies.add(o);
    return copies.choose("copy on device", "copy between devices", "copy on or between devices");
  }
  constexpr std::array<std::string_view, bar_kinds> names = {
      "kernel", "copy to device", "copy to host", "copy on device",
      "fill",   "host function",  "host call",    "other"};
  return names[static_cast<std::size_t>(kind)];
}

extent bar_extent(const trace::trace& trace, const trace::operation& operation) {
  nanoseconds from = operation.started;
  if (from == trace::never) from = operation.queued;
  if (from == trace::never) from = operation.called;
  if (from == trace::never) return {trace.end, trace.end};
  const nanoseconds to = operation.ended != trace::never ? operation.ended : trace.end;
  return {from, std::max(from, to)};
}

extent bar_extent(const trace::trace& trace, row_kind row, number what) {
  // A damaged trace may end before it begins.
  const auto lasting = [&](nanoseconds from, nanoseconds to) {
    return extent{from, std::max(from, to == trace::never ? trace.end : to)};
  };
  if (row == row_kind::thread) return lasting(trace.calls[what].begin, trace.calls[what].end);
  if (row == row_kind::ranges) {
    const trace::annotation& range = trace.annotations[what];
    const bool mark = range.what == trace::annotation::shape::mark;
    return lasting(range.begin, mark ? range.begin : range.end);
  }
  return bar_extent(trace, trace.operations[what]);
}

bar_kind bar_of(const trace::trace& trace, row_kind row, number what) {
  if (row == row_kind::thread) return bar_kind::call;
  if (row == row_kind::ranges) return bar_kind::other;
  return bar_of(trace.operations[what]);
}

std::string short_name(std::string_view name) {
  // Parentheses that belong to "(anonymous namespace)" or to a template's arguments stay.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with("(anonymous namespace)")) {
      i += std::string_view("(anonymous namespace)").size() - 1;
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>') {
      --depth;
    } else if (name[i] == '(' && depth <= 0) {
      name = name.substr(0, i);
      break;
    }
  }
  if (name.starts_with("void ")) name.remove_prefix(5);
  return std::string(name);
}

std::string operation_label(const trace::trace& trace, const trace::operation& operation) {
  const std::string name = operation.name < trace.names.size() ? trace.names[operation.name] : "";
  const auto sized = [&](std::string_view words) {
    return operation.bytes ? fmt::format("{}, {}", words, bytes_text(operation.bytes))
                           : std::string(words);
  };
  switch (operation.kind) {
    case operation_kind::kernel:
      return name.empty() ? "kernel" : short_name(name);
    case operation_kind::copy:
      switch (operation.direction) {
        case copy_direction::host_to_device:
          return sized("copy to device");
        case copy_direction::device_to_host:
          return sized("copy to host");
        case copy_direction::device_to_device:
          return sized("copy on device");
        case copy_direction::host_to_host:
          return sized("copy on host");
        case copy_direction::peer:
          return sized("copy between devices");
      }
      return sized("copy");
    case operation_kind::fill:
      return sized("fill");
    case operation_kind::host_function:
      return name.empty() ? "host function" : short_name(name);
    case operation_kind::event_record:
      return "event record";
    case operation_kind::event_wait:
      return "event wait";
    case operation_kind::allocate:
      return sized("allocate");
    case operation_kind::free:
      return sized("free");
    case operation_kind::graph_begin:
      return "graph begins";
    case operation_kind::graph_end:
      return "graph ends";
    case operation_kind::section:
      return "conditional node";
    case operation_kind::marker:
      break;
  }
  return "marker";
}

std::string bar_label(const trace::trace& trace, row_kind row, number what) {
  if (row == row_kind::thread) return trace.calls[what].name;
  if (row == row_kind::ranges) return trace.annotations[what].text;
  return operation_label(trace, trace.operations[what]);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::string digits = fmt::format("{:.{}f}", value, value < 10 && unit > 0 ? 1 : 0);
  if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
  return fmt::format("{} {}", digits, units[unit]);
}

std::string duration_text(nanoseconds duration) {
  const auto scaled = [](double value, std::string_view unit) {
    const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, decimals, unit);
  };
  const double value = static_cast<double>(duration);
  if (duration < 1000) return fmt::format("{} ns", duration);
  if (value < 999.5e3) return scaled(value / 1e3, "us");
  if (value < 999.5e6) return scaled(value / 1e6, "ms");
  return scaled(value / 1e9, "s");
}

std::vector<timeline_group> timeline_rows(const trace::trace& trace) {
  std::vector<timeline_group> groups;
  groups.push_back(host_group(trace));
  for (number i = 0; i < trace.devices.size(); ++i) groups.push_back(device_group(trace, i));
  std::erase_if(groups, [](const timeline_group& group) { return group.rows.empty(); });
  for (timeline_group& group : groups) {
    for (timeline_row& row : group.rows) pack(trace, row);
  }
  return groups;
}

}  // namespace sb::tools
