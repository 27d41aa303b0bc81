// The timeline of a run in a few lines of text.
//
//   three_way: 410 us modelled, 9 operations, NVIDIA H200
//                     |0         |100 us    |200 us    |300 us    |400 us
//   Kernels                      ############################ ####         68%
//   Stream 1            >>>>>>>>>############                              50%
//
// A cell is the kind of work that covers most of its time, however little; where kernels overlap,
// their number. The share at the end is how long the row was busy.
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace sb::tools {

enum class charset { ascii, utf8 };

inline constexpr int narrowest_text = 30, widest_text = 10000;

// Lines of `width` columns at most, or of `narrowest_text` where that is more. Each ends with a
// newline.
[[nodiscard]] std::string draw_text(const trace::trace& trace, int width, charset characters);

// What this terminal shows: utf8 where the locale of the environment says so.
[[nodiscard]] charset terminal_charset();
// Columns of the terminal behind standard output or standard error; 100 without one.
[[nodiscard]] int terminal_width();

}  // namespace sb::tools
