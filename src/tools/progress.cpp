#include "progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

namespace sb::tools {
namespace {

constexpr std::uint64_t worth_showing = 8 << 20;  // bytes
constexpr std::uint64_t width = 40;

}  // namespace

trace::read_progress progress_bar() {
  if (isatty(STDERR_FILENO) == 0) return {};
  return [last = ~std::uint64_t{0}](std::uint64_t done, std::uint64_t total) mutable {
    if (total < worth_showing) return;
    const std::uint64_t percent = done * 100 / total;
    if (percent == last) return;
    last = percent;
    std::string bar(width, '.');
    bar.replace(0, width * done / total, width * done / total, '#');
    std::fprintf(stderr, "\rreading the trace [%s] %3u %%", bar.c_str(),
                 static_cast<unsigned>(percent));
    if (done == total) std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  };
}

}  // namespace sb::tools
