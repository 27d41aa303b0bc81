// The timeline page: the built page of web/ with a trace in it.
//
//   data    := JSON object; tables are arrays of objects, long tables objects of columns
//   column  := base64 of step*
//   step    := 0x00 run:varint        that many times the value before
//            | zigzag:varint          the difference to the value before, which is not 0
//   value   := 0 for "none" and "never", else the number + 1; before the first is 0
//
// Columns keep 200,000 operations in a few megabytes, and a page reads them in one pass.
#pragma once

#include <string>
#include <string_view>

#include "timeline_notes.hpp"

namespace sb::tools {

[[nodiscard]] std::string timeline_data(const trace::trace& trace, const timeline_notes& notes);

// Where the data goes in the page, once.
inline constexpr std::string_view page_data_mark = "\"streambed trace data\"";

// Throws std::runtime_error when the page has no place for the data.
[[nodiscard]] std::string timeline_page(std::string_view page, const trace::trace& trace,
                                        const timeline_notes& notes);

}  // namespace sb::tools
