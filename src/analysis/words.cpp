#include "analysis/words.hpp"

#include <fmt/format.h>

#include "trace/utf8.hpp"

namespace sb::analysis {

using trace::engine_kind;
using trace::none;
using trace::number;
using trace::operation_kind;
using trace::wait_cause;

namespace {

constexpr std::size_t longest_name = 60;  // of a stream, in columns

std::string three_digits(double value, std::string_view unit) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string_view direction(copy_direction d) {
  switch (d) {
    case copy_direction::host_to_device:
      return "host to device";
    case copy_direction::device_to_host:
      return "device to host";
    case copy_direction::device_to_device:
      return "within the device";
    case copy_direction::peer:
      return "between devices";
    case copy_direction::host_to_host:
      return "host to host";
  }
  return "";
}

// A wait knows the record that it waits for, and by that the event; none when that was complete.
std::string name_of_wait(const trace::trace& t, const trace::operation& o) {
  const bool known = o.event == none && o.record < t.operations.size();
  const number event = known ? t.operations[o.record].event : o.event;
  if (event != none) return fmt::format("wait for event {}", event);
  return known ? "wait for an event" : "wait for an event that is complete";
}

}  // namespace

std::string text_of_time(trace::nanoseconds t) {
  if (t == 0) return "0";
  if (t < 1000) return fmt::format("{} ns", t);
  const auto value = static_cast<double>(t);
  if (value < 999.5e3) return three_digits(value / 1e3, "µs");
  if (value < 999.5e6) return three_digits(value / 1e6, "ms");
  return three_digits(value / 1e9, "s");
}

std::string text_of_bytes(std::uint64_t bytes) {
  static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  return whole ? fmt::format("{:.0f} {}", value, units[unit]) : three_digits(value, units[unit]);
}

std::string name_of(const trace::trace& t, number operation) {
  const trace::operation& o = t.operations[operation];
  const std::string name = o.name < t.names.size() ? " " + t.names[o.name] : "";
  switch (o.kind) {
    case operation_kind::kernel:
      return "kernel" + name;
    case operation_kind::copy:
      return fmt::format("copy of {} {}", text_of_bytes(o.bytes), direction(o.direction));
    case operation_kind::fill:
      return fmt::format("memset of {}", text_of_bytes(o.bytes));
    case operation_kind::host_function:
      return "host function" + name;
    case operation_kind::event_record:
      return o.event != none ? fmt::format("record of event {}", o.event) : "record of an event";
    case operation_kind::event_wait:
      return name_of_wait(t, o);
    case operation_kind::allocate:
      return fmt::format("stream-ordered allocation of {}", text_of_bytes(o.bytes));
    case operation_kind::free:
      return "stream-ordered free";
    case operation_kind::graph_begin:
      return fmt::format("begin of graph {}", o.graph);
    case operation_kind::graph_end:
      return fmt::format("end of graph {}", o.graph);
    case operation_kind::section:
      return name.empty() ? "conditional node" : "wait for" + name;
    case operation_kind::marker:
      break;
  }
  return "marker";
}

std::string stream_name(const trace::trace& t, number stream) {
  if (stream >= t.streams.size()) return "an unknown stream";
  const trace::stream& s = t.streams[stream];
  if (!s.name.empty()) return fmt::format("stream {}", trace::shortened(s.name, longest_name));
  if (s.kind == stream_kind::legacy) return "the default stream";
  return fmt::format("stream {}", stream);
}

std::string name_with_stream(const trace::trace& t, number operation) {
  return fmt::format("{} on {}", name_of(t, operation),
                     stream_name(t, t.operations[operation].stream));
}

std::string text_of_place(const trace::trace& t, number place) {
  if (place >= t.places.size() || t.places[place].file.empty()) return "";
  return fmt::format("{}:{}", t.places[place].file, t.places[place].line);
}

std::string text_of_place_without_folders(const trace::trace& t, number place) {
  std::string text = text_of_place(t, place);
  text.erase(0, text.rfind('/') + 1);
  return text;
}

std::string place_in_brackets(const trace::trace& t, number operation) {
  const std::string place = text_of_place_without_folders(t, place_of(t, operation));
  return place.empty() ? "" : fmt::format(" ({})", place);
}

number place_of(const trace::trace& t, number operation) {
  const number call = t.operations[operation].call;
  return call < t.calls.size() ? t.calls[call].place : none;
}

std::string_view text_of(engine_kind engine) {
  switch (engine) {
    case engine_kind::multiprocessors:
      return "multiprocessors";
    case engine_kind::host_to_device:
      return "copies host to device";
    case engine_kind::device_to_host:
      return "copies device to host";
    case engine_kind::device_to_device:
      return "copies within the device";
    case engine_kind::host:
      return "host functions";
    case engine_kind::none:
      break;
  }
  return "none";
}

std::string_view text_of(const engine_use& use) {
  const bool has_inner = use.operations > use.between_devices;
  if (use.between_devices == 0) return text_of(use.engine);
  return has_inner ? "copies within and between devices" : "copies between devices";
}

std::string_view key_of(engine_kind engine) {
  switch (engine) {
    case engine_kind::multiprocessors:
      return "multiprocessors";
    case engine_kind::host_to_device:
      return "host_to_device";
    case engine_kind::device_to_host:
      return "device_to_host";
    case engine_kind::device_to_device:
      return "device_to_device";
    case engine_kind::host:
      return "host";
    case engine_kind::none:
      break;
  }
  return "none";
}

std::string text_of(hardware_queue queue) {
  switch (queue.kind) {
    case queue_class::compute:
      return fmt::format("hardware queue {}", queue.number);
    case queue_class::host_to_device:
      return fmt::format("copy queue {} to the device", queue.number);
    case queue_class::device_to_host:
      return fmt::format("copy queue {} to the host", queue.number);
    case queue_class::none:
      break;
  }
  return "its hardware queue";
}

std::string_view key_of(wait_cause cause) {
  switch (cause) {
    case wait_cause::stream_order:
      return "stream_order";
    case wait_cause::event:
      return "event";
    case wait_cause::legacy_barrier:
      return "legacy_barrier";
    case wait_cause::graph_edge:
      return "graph_edge";
    case wait_cause::queue_head:
      return "queue_head";
    case wait_cause::engine_busy:
      return "engine_busy";
    case wait_cause::device_full:
      return "device_full";
    case wait_cause::host_call:
      return "host_call";
    case wait_cause::allocation:
      return "allocation";
    case wait_cause::loading:
      return "loading";
  }
  return "";
}

}  // namespace sb::analysis
