// streambed export: a trace in the formats of other tools.
// Exit status: 0; 1 when the trace cannot be read or the file not written; 2 for a wrong command
// line; 3 when the trace stops early.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "commands.hpp"
#include "output_file.hpp"
#include "recorded_run.hpp"
#include "trace/export.hpp"
#include "trace/reader.hpp"
#include "whole_output.hpp"

namespace sb::tools {
namespace {

class export_command final : public subcommand {
 public:
  std::string_view name() const override { return "export"; }
  std::string_view description() const override {
    return "Write a trace for other tools: Perfetto, chrome://tracing, CSV, tables as of nsys "
           "stats";
  }
  std::vector<option> options() override {
    return {
        {"trace", "the trace that a run wrote", &trace_, option_use::required},
        {"-f,--format",
         "perfetto, chrome, csv (operations) or text (tables)",
         &format_,
         option_use::required,
         {"perfetto", "chrome", "csv", "text"}},
        {"-o,--output", "the file to write (default: standard output)", &output_},
        {"--force", "replace the file if it exists", &force_},
    };
  }

  std::string_view footer() const override { return about_status_3; }

  int run() override {
    if (output_.empty() && format_ == "perfetto" && isatty(STDOUT_FILENO) != 0) {
      fmt::print(stderr, "streambed export: this format is not text. Name a file with -o.\n");
      return 2;
    }
    if (!output_.empty() && same_file(trace_, output_)) {
      fmt::print(stderr, "streambed export: {} is the trace itself. Choose another name.\n",
                 output_);
      return 2;
    }
    if (const std::string why = why_not_replaced(
            output_,
            {".json", ".csv", ".txt", ".perfetto", ".pftrace", ".perfetto-trace", ".trace", ".pb"});
        !why.empty()) {
      fmt::print(stderr, "streambed export: {}\n", why);
      return 2;
    }
    if (!force_ && takes_the_place_of_a_file(output_)) {
      fmt::print(stderr,
                 "streambed export: {} exists already. Choose another name, or replace it with "
                 "--force.\n",
                 output_);
      return 1;
    }
    const outcome<trace::trace> recorded = read_run(trace_);
    if (!recorded) {
      fmt::print(stderr, "streambed export: {}\n", recorded.message());
      return 1;
    }
    whole_output out(output_);
    write(*recorded, [&](std::string_view part) { out.add(part); });
    if (!out.finish()) {
      fmt::print(stderr, "streambed export: cannot write {}: {}\n",
                 output_.empty() ? "the standard output" : output_, out.problem());
      return 1;
    }
    return status_of(*recorded, name());
  }

 private:
  void write(const trace::trace& what, const trace::export_sink& sink) const {
    if (format_ == "perfetto") return trace::export_perfetto(what, sink);
    if (format_ == "chrome") return trace::export_chrome(what, sink);
    if (format_ == "csv") return trace::export_csv(what, sink);
    trace::export_tables(what, sink);
  }

  std::string trace_, format_, output_;
  bool force_ = false;
};

}  // namespace

subcommand& export_subcommand() {
  static export_command command;
  return command;
}

}  // namespace sb::tools
