#include "recorded_run.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "progress.hpp"

namespace sb::tools {

outcome<trace::trace> read_run(const std::string& path) {
  try {
    return trace::read_trace(path, progress_bar());
  } catch (const std::bad_alloc&) {
    return failure{path + " is too large: there is not enough memory for it."};
  }
}

int status_of(const trace::trace& run, std::string_view command) {
  const bool cut = run.head.end == trace::ending::cut;
  if (!cut && run.head.end != trace::ending::unknown) return 0;
  fmt::print(stderr,
             "streambed {}: the trace stops without an end: {}. What was recorded up to there is "
             "written.\n",
             command,
             cut ? "there was no room for more of it"
                 : "the program was killed or still runs, or the file was cut off");
  return 3;
}

analysis::explanation explain_run(const trace::trace& run) { return analysis::explain(run); }

}  // namespace sb::tools
