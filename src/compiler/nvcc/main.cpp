// nvcc: compiles CUDA C++ for Streambed's devices. See docs/nvcc.md.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>

#include "driver.hpp"
#include "help.hpp"

namespace {

using namespace sb::nvcc;

int run_driver(const std::string& name, const arguments& args) {
  if (ends_with(name, "host-link")) become_host_linker(args);
  const options o = parse_command_line(args);
  for (const std::string& message : o.messages) std::cerr << "nvcc warning : " << message << "\n";
  if (o.show_help) return print_help(), 0;
  if (o.show_version) return print_version(), 0;
  if (o.list_code || o.list_architectures) return print_architectures(o), 0;
  leave_out_other_headers();
  toolchain tools = find_toolkit();
  driver work(o, tools);
  // Errors in the names of inputs come before those about missing tools.
  if (o.unknown_inputs.empty() && !o.inputs.empty()) find_tools(tools);
  return work.run();
}

int guarded(const std::string& name, const arguments& args) {
  try {
    return run_driver(name, args);
  } catch (const fatal_error& error) {
    std::cerr << "nvcc fatal   : " << error.what() << "\n";
    return 1;
  } catch (const tool_failed& failure) {
    return failure.status;
  } catch (const std::exception& error) {
    std::cerr << "nvcc fatal   : " << error.what() << "\n";
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  install_signal_handlers();
  const int status = guarded(argv[0], arguments(argv + 1, argv + argc));
  // Temporary files are gone by now; end as the signal would have ended us.
  if (const int signal = pending_signal()) {
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
  return status;
}
