#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "subcommand.hpp"

namespace sb::tools {
namespace {

constexpr int usage_error = 2;

std::string range_of(int most) { return most == 0 ? "1 or more" : fmt::format("1 to {}", most); }

void add_option(CLI::App& app, const option& what) {
  CLI::Option* added = std::visit(
      [&](auto* target) -> CLI::Option* {
        if constexpr (std::is_same_v<decltype(target), bool*>) {
          return app.add_flag(what.names, *target, what.description);
        } else {
          return app.add_option(what.names, *target, what.description);
        }
      },
      what.target);
  if (what.use == option_use::required) added->required();
  if (!what.allowed.empty()) added->check(CLI::IsMember(what.allowed));
  if (std::holds_alternative<int*>(what.target)) {
    added->check(CLI::Validator(
        [most = what.most](const std::string& text) -> std::string {
          // CLI11's own words for this are a range up to the largest double.
          const long value = std::strtol(text.c_str(), nullptr, 0);
          if (value > 0 && (most == 0 || value <= most)) return "";
          return fmt::format("must be {}, not {}", range_of(most), text);
        },
        range_of(what.most)));
  }
  if (std::holds_alternative<std::string*>(what.target)) {
    // As `--device "$NAME"` with a variable that is not set: not to be taken for no device.
    added->check([](const std::string& text) -> std::string {
      return text.empty() ? "must not be empty" : "";
    });
  }
  // `--nvcc A file.cu` must not take file.cu too.
  if (std::holds_alternative<std::vector<std::string>*>(what.target) && what.names[0] == '-') {
    added->allow_extra_args(false);
  }
}

}  // namespace

int run_command_line(int argc, char** argv, const std::vector<subcommand*>& subcommands) {
  CLI::App app{"Streambed: CUDA streams without a GPU.", "streambed"};
  app.set_version_flag("--version", "streambed " STREAMBED_VERSION " (CUDA 13.0 runtime API)");
  app.require_subcommand(1);
  for (subcommand* command : subcommands) {
    CLI::App* sub =
        app.add_subcommand(std::string(command->name()), std::string(command->description()));
    for (const option& what : command->options()) add_option(*sub, what);
    sub->footer(std::string(command->footer()));
    if (command->rest()) sub->footer("What stands after -- goes to the program.");
  }

  // CLI11 would take what follows -- for more positional arguments.
  char** const separator = std::find(argv, argv + argc, std::string_view("--"));
  try {
    app.parse(static_cast<int>(separator - argv), argv);
  } catch (const CLI::RequiredError& error) {
    // CLI11 says only that a subcommand is needed when it does not know the one that was given.
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
      std::fprintf(stderr, "streambed: there is no subcommand '%s'\n", argv[1]);
    }
    app.exit(error);
    return usage_error;
  } catch (const CLI::ParseError& error) {
    const bool is_answer = error.get_exit_code() == 0;  // --help, --version
    app.exit(error);
    return is_answer ? 0 : usage_error;
  }

  for (subcommand* command : subcommands) {
    if (!app.got_subcommand(std::string(command->name()))) continue;
    if (separator != argv + argc) {
      if (!command->rest()) {
        std::fprintf(stderr, "streambed %s takes no arguments after --\n",
                     std::string(command->name()).c_str());
        return usage_error;
      }
      command->rest()->assign(separator + 1, argv + argc);
    }
    return command->run();
  }
  return usage_error;
}

}  // namespace sb::tools
