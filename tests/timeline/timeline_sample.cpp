// What the tests of the page and of the command look at:
//   timeline_sample trace small|hung|COUNT OUT          a trace
//   timeline_sample page small|hung|COUNT OUT TEMPLATE  a page with findings made by hand
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "sample_traces.hpp"
#include "tools/timeline_page.hpp"
#include "trace/store.hpp"

int main(int argc, char** argv) {
  using namespace sb;
  if (argc < 4) return 2;
  const std::string what = argv[1], which = argv[2], path = argv[3];
  const auto trace = which == "small"  ? testing::small_trace()
                     : which == "hung" ? testing::hung_trace()
                                       : testing::large_trace(std::strtoul(argv[2], nullptr, 10));
  if (what == "trace") {
    const auto stored = trace::store_trace(trace, path);
    if (!stored) std::fprintf(stderr, "%s\n", stored.message().c_str());
    return stored ? 0 : 1;
  }
  if (argc != 5) return 2;
  std::ifstream in(argv[4]);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const auto notes = which == "small" ? testing::small_notes() : tools::timeline_notes{};
  std::ofstream out(path);
  out << tools::timeline_page(page, trace, notes);
  return out ? 0 : 1;
}
