// What an explanation of a run adds to its timeline.
#pragma once

#include <string>
#include <vector>

#include "analysis/explain.hpp"
#include "timeline_rows.hpp"
#include "trace/trace.hpp"

namespace sb::tools {

// A stretch of the critical path: an operation that ran, or why none did.
struct path_step {
  trace::number operation = trace::none;
  trace::number call = trace::none;
  trace::nanoseconds from = 0, to = 0;
  bar_kind bar = bar_kind::other;
  trace::number words = trace::none;  // of timeline_notes::words
};

// A part of the critical path that has one cause.
struct path_part {
  trace::nanoseconds time = 0;
  trace::number words = trace::none;
  std::vector<trace::number> places = {};
};

struct timeline_finding {
  std::string title, detail;
  std::vector<std::string> evidence = {};
  std::string advice;           // the change that removes it
  trace::nanoseconds cost = 0;  // what the run would take less; 0: it has no time
  trace::nanoseconds from = 0, to = 0;
  std::vector<trace::number> operations = {}, calls = {}, places = {};
};

struct timeline_notes {
  std::vector<std::string> words;
  std::vector<path_step> path;   // in the order of time
  std::vector<path_part> parts;  // the longest first
  std::vector<timeline_finding> findings;
};

[[nodiscard]] timeline_notes timeline_notes_of(const trace::trace& trace,
                                               const analysis::explanation& explanation);

}  // namespace sb::tools
