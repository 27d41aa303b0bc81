// streambed explain: what bounded a recorded run, what overlapped, and what to change.
// Exit status: 0; 1 when the trace cannot be read; 3 when it stops early.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "commands.hpp"
#include "recorded_run.hpp"

namespace sb::tools {
namespace {

class explain_command final : public subcommand {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view description() const override {
    return "Say what bounded a recorded run, what overlapped, and what to change";
  }
  std::vector<option> options() override {
    return {
        {"trace", "the trace that a run wrote", &trace_, option_use::required},
        {"--json", "for programs: one JSON object", &json_},
    };
  }

  std::string_view footer() const override { return about_status_3; }

  int run() override {
    const outcome<trace::trace> recorded = read_run(trace_);
    if (!recorded) {
      fmt::print(stderr, "streambed explain: {}\n", recorded.message());
      return 1;
    }
    const analysis::explanation facts = explain_run(*recorded);
    const auto colour = isatty(STDOUT_FILENO) != 0 ? analysis::colour::yes : analysis::colour::no;
    const std::string text =
        json_ ? analysis::json_of(*recorded, facts) : analysis::text_of(*recorded, facts, colour);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
      fmt::print(stderr, "streambed explain: cannot write the explanation\n");
      return 1;
    }
    return status_of(*recorded, name());
  }

 private:
  std::string trace_;
  bool json_ = false;
};

}  // namespace

subcommand& explain_subcommand() {
  static explain_command command;
  return command;
}

}  // namespace sb::tools
