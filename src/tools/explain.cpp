// streambed explain: what bounded a recorded run, what overlapped, and what to change.
// Exit status: 0; 1 when the trace cannot be read.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "analysis/explain.hpp"
#include "commands.hpp"
#include "trace/reader.hpp"

namespace sb::tools {
namespace {

std::uint64_t memory_of_this_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
             : 0;
}

// Long files only: a line on the terminal that is overwritten.
void show_progress(std::uint64_t done, std::uint64_t total) {
  constexpr std::uint64_t worth_showing = 32 << 20;
  if (total < worth_showing || isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\rreading the trace: {:3} %{}", done * 100 / total,
             done >= total ? "\n" : "");
}

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

  int run() override {
    const outcome<trace::trace> recorded = trace::read_trace(trace_, show_progress);
    if (!recorded) {
      fmt::print(stderr, "streambed explain: {}\n", recorded.message());
      return 1;
    }
    const analysis::explanation facts =
        analysis::explain(*recorded, {.host_memory = memory_of_this_machine()});
    const auto colour = isatty(STDOUT_FILENO) != 0 ? analysis::colour::yes : analysis::colour::no;
    const std::string text =
        json_ ? analysis::json_of(*recorded, facts) : analysis::text_of(*recorded, facts, colour);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
      fmt::print(stderr, "streambed explain: cannot write the explanation\n");
      return 1;
    }
    return 0;
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
