#include "recorded_run.hpp"

#include "progress.hpp"

namespace sb::tools {

outcome<trace::trace> read_run(const std::string& path) {
  return trace::read_trace(path, progress_bar());
}

analysis::explanation explain_run(const trace::trace& run) { return analysis::explain(run); }

}  // namespace sb::tools
