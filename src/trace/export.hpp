// A trace in the formats of other tools.
#pragma once

#include <functional>
#include <string_view>

#include "trace/trace.hpp"

namespace sb::trace {

// Takes the next part of the file.
using export_sink = std::function<void(std::string_view)>;

// Track events of Perfetto's protocol buffers: https://ui.perfetto.dev opens it. Edges and launches
// are flows.
void export_perfetto(const trace& what, const export_sink& out);
// The JSON of chrome://tracing, which Perfetto opens as well.
void export_chrome(const trace& what, const export_sink& out);
// A line for each operation, after a line with the names of the columns; RFC 4180.
void export_csv(const trace& what, const export_sink& out);
// The tables of `nsys stats`: calls, kernels, copies and fills by time and by size, ranges.
void export_tables(const trace& what, const export_sink& out);

}  // namespace sb::trace
