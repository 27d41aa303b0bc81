// libFuzzer over the reader and the explanation: ninja fuzz_explain in a build with clang, then
//   fuzz_explain CORPUS_FOLDER
// with recorded runs in the folder.
#include <cstddef>
#include <cstdint>

#include "analysis/explain.hpp"
#include "trace/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = sb::trace::parse_trace({data, size}, "input");
  if (!found) return 0;
  const sb::analysis::explanation facts = sb::analysis::explain(*found);
  if (sb::analysis::text_of(*found, facts).empty() || sb::analysis::json_of(*found, facts).empty())
    __builtin_trap();
  return 0;
}
