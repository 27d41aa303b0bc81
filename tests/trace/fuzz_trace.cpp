// libFuzzer over the reader and the exports: ninja fuzz_trace in a build with clang, then
//   fuzz_trace CORPUS_FOLDER
// with files of make_trace in the folder.
#include <cstddef>
#include <cstdint>

#include "sound.hpp"
#include "trace/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = sb::trace::parse_trace({data, size}, "input");
  if (found) {
    sb::trace::testing::expect_sound(*found);
    if (::testing::Test::HasFailure()) __builtin_trap();
  }
  return 0;
}
