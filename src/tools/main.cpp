#include <cstdio>
#include <exception>
#include <new>

#include "commands.hpp"

int main(int argc, char** argv) {
  using namespace sb::tools;
  try {
    return run_command_line(argc, argv,
                            {&run_subcommand(), &device_subcommand(), &doctor_subcommand(),
                             &explain_subcommand(), &export_subcommand(), &timeline_subcommand()});
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
