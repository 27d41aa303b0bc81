// A subcommand of `streambed` is an object: a name, a description, its options, and run().
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sb::tools {

// Where the value of an option goes. A bool is a flag without a value; an int must be positive, and
// a string not empty.
using option_target = std::variant<bool*, int*, std::string*, std::vector<std::string>*>;

enum class option_use { optional, required };

struct option {
  std::string names;  // "-n,--devices", or a bare word for a positional argument
  std::string description;
  option_target target;
  option_use use = option_use::optional;
  std::vector<std::string> allowed = {};  // of a string; empty: anything
  int most = 0;                           // of an int; 0: any
};

class subcommand {
 public:
  virtual ~subcommand() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view description() const = 0;
  [[nodiscard]] virtual std::vector<option> options() = 0;
  // What its help ends with.
  [[nodiscard]] virtual std::string_view footer() const { return {}; }
  // What stood after `--` on the command line; only for subcommands that take it.
  [[nodiscard]] virtual std::vector<std::string>* rest() { return nullptr; }
  // The exit status of the command.
  [[nodiscard]] virtual int run() = 0;
};

// Parses the command line, runs the subcommand that it names and answers the exit status.
int run_command_line(int argc, char** argv, const std::vector<subcommand*>& subcommands);

}  // namespace sb::tools
