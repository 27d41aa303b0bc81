// What `streambed run` says and writes after a recorded run.
#pragma once

#include <string>

namespace sb::tools {

enum class report_words { none, all };

struct run_report {
  std::string trace;  // the file that the run wrote
  std::string page;   // where the timeline page goes; empty: none is wanted
  report_words words = report_words::all;
};

// A free name for a file of this run: program.sbt, program-2.sbt, and so on.
[[nodiscard]] std::string free_name(const std::string& program, const std::string& ending);

// Prints the timeline and the explanation on standard error, unless no words are wanted, and writes
// the page. False when the trace cannot be read or the page not written; that is said.
bool tell(const run_report& what);

}  // namespace sb::tools
