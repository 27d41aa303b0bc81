#include "progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

namespace sb::tools {
namespace {

constexpr std::uint64_t width = 40;

}  // namespace

progress progress_bar(std::string what, is_long work) {
  if (work == is_long::no || isatty(STDERR_FILENO) == 0) return {};
  return [what = std::move(what), last = ~std::uint64_t{0}](std::uint64_t done,
                                                            std::uint64_t total) mutable {
    const std::uint64_t percent = done * 100 / total;
    if (percent == last) return;
    last = percent;
    std::string bar(width, '.');
    bar.replace(0, width * done / total, width * done / total, '#');
    std::fprintf(stderr, "\r%s [%s] %3u %%", what.c_str(), bar.c_str(),
                 static_cast<unsigned>(percent));
    if (done == total) std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  };
}

}  // namespace sb::tools
