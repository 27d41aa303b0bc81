#include "recorded_run.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <new>
#include <system_error>

#include "progress.hpp"
#include "trace/reader.hpp"

namespace sb::tools {

namespace {

constexpr std::uint64_t long_file = 8 << 20;
constexpr std::size_t long_run = 50000;  // operations

is_long long_if(bool one) { return one ? is_long::yes : is_long::no; }

is_long reading(const std::string& path) {
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  return long_if(!unknown && bytes >= long_file);
}

}  // namespace

outcome<trace::trace> read_run(const std::string& path) {
  try {
    return trace::read_trace(path, progress_bar("reading the trace", reading(path)));
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

analysis::explanation explain_run(const trace::trace& run) {
  return analysis::explain(
      run, progress_bar("looking for what to change", long_if(run.operations.size() >= long_run)));
}

}  // namespace sb::tools
