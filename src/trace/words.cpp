#include "trace/words.hpp"

#include <array>

namespace sb::trace {
namespace {

template <std::size_t Count, class Enum>
std::string_view at(const std::array<std::string_view, Count>& words, Enum which) {
  const auto index = static_cast<std::size_t>(which);
  return index < Count ? words[index] : "?";
}

std::string spaced(std::string_view word) {
  std::string text(word);
  for (char& letter : text)
    if (letter == '_') letter = ' ';
  return text;
}

}  // namespace

std::string_view word(operation_kind kind) {
  static constexpr std::array<std::string_view, 12> words = {
      "kernel",   "copy", "fill",        "host_function", "event_record", "event_wait",
      "allocate", "free", "graph_begin", "graph_end",     "section",      "marker"};
  return at(words, kind);
}

std::string_view word(engine_kind kind) {
  static constexpr std::array<std::string_view, 6> words = {
      "none", "multiprocessors", "host_to_device", "device_to_host", "device_to_device", "host"};
  return at(words, kind);
}

std::string_view word(wait_cause cause) {
  static constexpr std::array<std::string_view, 10> words = {
      "stream_order", "event",       "legacy_barrier", "graph_edge", "queue_head",
      "engine_busy",  "device_full", "host_call",      "allocation", "loading"};
  return at(words, cause);
}

std::string_view word(copy_direction direction) {
  static constexpr std::array<std::string_view, 5> words = {
      "host_to_device", "device_to_host", "device_to_device", "peer", "host_to_host"};
  return at(words, direction);
}

std::string_view word(memory_kind kind) {
  static constexpr std::array<std::string_view, 4> words = {"device", "pinned", "managed",
                                                            "pageable"};
  return at(words, kind);
}

std::string word(hardware_queue queue) {
  static constexpr std::array<std::string_view, 3> words = {"compute", "host_to_device",
                                                            "device_to_host"};
  if (queue.kind == queue_class::none) return {};
  return std::string(at(words, queue.kind)) + " " + std::to_string(queue.number);
}

std::string error_name(std::int32_t status) {
  struct known {
    std::int32_t status;
    std::string_view name;
  };
  static constexpr std::array<known, 10> names = {{{700, "cudaErrorIllegalAddress"},
                                                   {701, "cudaErrorLaunchOutOfResources"},
                                                   {702, "cudaErrorLaunchTimeout"},
                                                   {710, "cudaErrorAssert"},
                                                   {714, "cudaErrorHardwareStackError"},
                                                   {715, "cudaErrorIllegalInstruction"},
                                                   {716, "cudaErrorMisalignedAddress"},
                                                   {717, "cudaErrorInvalidAddressSpace"},
                                                   {718, "cudaErrorInvalidPc"},
                                                   {719, "cudaErrorLaunchFailure"}}};
  for (const known& one : names)
    if (one.status == status) return std::string(one.name) + " (" + std::to_string(status) + ")";
  return "error " + std::to_string(status);
}

bool uses_all(const operation& op, const byte_range& r) {
  const bool counted = op.kind == operation_kind::copy || op.kind == operation_kind::fill;
  return r.exact && (!counted || op.bytes == 0 || r.bytes <= op.bytes);
}

std::string range_words(const operation& op) {
  std::string text;
  for (const byte_range& r : op.ranges) {
    if (!text.empty()) text += ' ';
    if (is_anything(r)) {
      text += "anything";
      continue;
    }
    switch (r.how) {
      case access::read:
        text += "read:";
        break;
      case access::write:
        text += "write:";
        break;
      case access::read_write:
        text += "both:";
        break;
    }
    if (r.allocation != none) text += std::to_string(r.allocation);
    text += ':' + std::to_string(r.offset) + ':' + std::to_string(r.bytes);
    if (!uses_all(op, r)) text += '~';
  }
  return text;
}

std::string label(const trace& what, const operation& op) {
  if (op.kind == operation_kind::copy) return "copy " + spaced(word(op.direction));
  if (op.name != none) return what.names[op.name];
  return spaced(word(op.kind));
}

std::string stream_label(const trace& what, number which) {
  const stream& one = what.streams[which];
  std::string text = "stream " + std::to_string(which);
  if (!one.name.empty()) return text + " " + one.name;
  if (one.kind == stream_kind::legacy) return text + " (default)";
  return one.per_thread ? text + " (per-thread default)" : text;
}

std::string thread_label(const trace& what, number which) {
  const std::string& name = what.threads[which].name;
  std::string text = "thread " + std::to_string(which);
  if (!name.empty()) (text += ' ') += name;
  return text;
}

std::string place_label(const trace& what, number which) {
  if (which == none) return {};
  return what.places[which].file + ":" + std::to_string(what.places[which].line);
}

}  // namespace sb::trace
