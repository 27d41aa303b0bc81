#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "commands.hpp"

namespace {

// What was printed is only buffered until now.
int written(int status) {
  if (status != 0 || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return status;
  std::fprintf(stderr, "streambed: the standard output cannot be written: %s\n",
               std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sb::tools;
  try {
    return written(
        run_command_line(argc, argv,
                         {&run_subcommand(), &device_subcommand(), &doctor_subcommand(),
                          &explain_subcommand(), &export_subcommand(), &timeline_subcommand()}));
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "streambed: there is not enough memory for");
    for (int i = 0; i < argc; ++i) std::fprintf(stderr, " %s", argv[i]);
    std::fprintf(stderr, "\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "streambed: %s\n", error.what());
    return 1;
  }
}
