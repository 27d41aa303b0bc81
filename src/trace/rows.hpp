// A trace as a timeline: groups (the host, each device) of rows (threads, engines, streams) of
// slices that do not overlap, but for annotations, which may lie inside each other. What overlaps
// in a row has further lanes of the same name.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sb::trace {

struct slice {
  enum class source : std::uint8_t { operation, call, annotation } what;
  number which;
  nanoseconds begin, end;
};

struct lane {
  std::string name;
  enum class sort : std::uint8_t { engine, stream, thread, annotations } what;
  // In the order of time; none begins before the one before it ends. Annotations: or it ends with
  // that one or before it, and lies inside.
  std::vector<slice> slices;
};

struct lane_group {
  std::string name;
  std::vector<lane> lanes;
};

// What has begun but not ended lasts to the end of the trace; what has not begun is in no row.
[[nodiscard]] std::vector<lane_group> rows_of(const trace& what);

// What is worth telling about a slice beside its name and times.
struct detail {
  std::string_view key;
  std::uint64_t value = 0;
  std::string text;
  bool is_text = false;
};
[[nodiscard]] std::vector<detail> details_of(const trace& what, const slice& one);
[[nodiscard]] std::string label_of(const trace& what, const slice& one);
[[nodiscard]] std::string_view category_of(const trace& what, const slice& one);

}  // namespace sb::trace
