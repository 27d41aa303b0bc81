// Where everything of a trace stands in a timeline: the rows, and the lane of each thing in its
// row. The page, the picture and the text all show these rows.
//
// An operation that ran has a place in the row of its engine and one in the row of its stream.
// Things in one lane of a row never overlap and are in the order of their time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace sb::tools {

// What decides about the colour of a bar.
enum class bar_kind : std::uint8_t {
  kernel,
  to_device,  // copies from the host
  to_host,    // copies to the host
  on_device,  // copies within a device, and between devices
  fill,
  host_function,
  call,
  other,
};
inline constexpr int bar_kinds = 8;

[[nodiscard]] bar_kind bar_of(const trace::operation& operation);
// In a legend of the trace.
[[nodiscard]] std::string_view bar_name(bar_kind kind, const trace::trace& trace);

enum class row_kind : std::uint8_t { thread, ranges, engine, stream };

struct placed {
  trace::number what = trace::none;  // operation, call or annotation, as the row's kind says
  std::uint32_t lane = 0;
};

struct timeline_row {
  row_kind kind = row_kind::stream;
  trace::number of = trace::none;  // the thread, the engine_kind or the stream
  std::string label = {};
  std::string detail = {};  // a few more words
  std::uint32_t lanes = 1;
  std::vector<placed> bars = {};
  std::vector<trace::number> marks = {};  // operations without an extent: events, allocations
  std::uint64_t left_out = 0;             // bars beyond the last lane that is drawn
};

struct timeline_group {
  std::string label = {};  // "Host", "Device 0"
  std::string detail = {};
  std::vector<timeline_row> rows = {};
};

// More lanes than this are not drawn; an H200 has 128 kernels resident at most.
inline constexpr std::uint32_t most_lanes = 128;

[[nodiscard]] std::vector<timeline_group> timeline_rows(const trace::trace& trace);

struct extent {
  trace::nanoseconds from = 0, to = 0;
};

// From start to end; what never ended lasts until the end of the run, and what never started is
// where it waited. Nothing that was called has no extent at all.
[[nodiscard]] extent bar_extent(const trace::trace& trace, const trace::operation& operation);
[[nodiscard]] extent bar_extent(const trace::trace& trace, row_kind row, trace::number what);
[[nodiscard]] bar_kind bar_of(const trace::trace& trace, row_kind row, trace::number what);

// Short words for one operation: its kernel's name, or "copy to device, 4 MiB".
[[nodiscard]] std::string operation_label(const trace::trace& trace,
                                          const trace::operation& operation);
[[nodiscard]] std::string bar_label(const trace::trace& trace, row_kind row, trace::number what);

// A kernel's name without its parameters: "saxpy<float>".
[[nodiscard]] std::string short_name(std::string_view name);

[[nodiscard]] std::string bytes_text(std::uint64_t bytes);             // 4 MiB
[[nodiscard]] std::string duration_text(trace::nanoseconds duration);  // 4.62 ms

}  // namespace sb::tools
