// streambed export: a trace in the formats of other tools.
// Exit status: 0; 1 when the trace cannot be read or the file not written; 2 for a wrong command
// line; 3 when the trace stops early.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "commands.hpp"
#include "output_file.hpp"
#include "recorded_run.hpp"
#include "trace/export.hpp"
#include "trace/reader.hpp"

namespace sb::tools {
namespace {

// A file that is written in large pieces, and does not stay when it could not be written.
class output {
 public:
  enum class existing { refuse, replace };

  // An empty path is the standard output. errno says why it is not good.
  output(const std::string& path, existing policy) : path_(path) {
    if (path.empty()) {
      descriptor_ = STDOUT_FILENO;
      return;
    }
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
    descriptor_ =
        ::open(path.c_str(), flags | (policy == existing::refuse ? O_EXCL : O_TRUNC), 0666);
    good_ = descriptor_ >= 0;
    created_ = good_;
  }
  output(const output&) = delete;
  output& operator=(const output&) = delete;
  ~output() {
    if (!created_) return;
    ::close(descriptor_);
    if (!good_) ::unlink(path_.c_str());
  }

  [[nodiscard]] bool good() const { return good_; }
  void add(std::string_view part) {
    if (!good_) return;
    waiting_.append(part);
    if (waiting_.size() >= piece) flush();
  }
  bool flush() {
    std::string_view rest = waiting_;
    while (good_ && !rest.empty()) {
      const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      good_ = written > 0;
      if (good_) rest.remove_prefix(static_cast<std::size_t>(written));
    }
    waiting_.clear();
    return good_;
  }

 private:
  static constexpr std::size_t piece = 1 << 20;
  std::string path_, waiting_;
  int descriptor_ = -1;
  bool good_ = true, created_ = false;
};

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
    const outcome<trace::trace> recorded = read_run(trace_);
    if (!recorded) {
      fmt::print(stderr, "streambed export: {}\n", recorded.message());
      return 1;
    }
    output out(output_, force_ ? output::existing::replace : output::existing::refuse);
    if (!out.good()) {
      const bool exists = errno == EEXIST;
      fmt::print(stderr, "streambed export: {} {}\n", output_,
                 exists ? "exists already. Choose another name, or replace it with --force."
                        : fmt::format("cannot be created: {}", std::strerror(errno)));
      return 1;
    }
    write(*recorded, [&](std::string_view part) { out.add(part); });
    if (!out.flush()) {
      fmt::print(stderr, "streambed export: cannot write {}: {}\n",
                 output_.empty() ? "the standard output" : output_, std::strerror(errno));
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
