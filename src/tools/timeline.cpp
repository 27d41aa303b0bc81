// streambed timeline: a recorded run as a page, a picture, or text.
// Exit status: 0; 1 when the trace cannot be read or the output not made; 2 for a wrong command
// line; 3 when the trace stops early.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "commands.hpp"
#include "output_file.hpp"
#include "process.hpp"
#include "recorded_run.hpp"
#include "svg_timeline.hpp"
#include "text_timeline.hpp"
#include "timeline_page.hpp"
#include "toolkit.hpp"
#include "whole_output.hpp"

namespace sb::tools {
namespace {

namespace fs = std::filesystem;

enum class format { text, html, svg, png };

std::optional<format> format_of(const std::string& output) {
  if (output.empty() || output == "-") return format::text;
  const std::string ending = fs::path(output).extension().string();
  if (ending == ".html" || ending == ".htm") return format::html;
  if (ending == ".svg") return format::svg;
  if (ending == ".png") return format::png;
  if (ending == ".txt") return format::text;
  return std::nullopt;
}

class timeline_command final : public subcommand {
 public:
  std::string_view name() const override { return "timeline"; }
  std::string_view description() const override {
    return "Draw a recorded run: a page (-o out.html), a picture (.svg, .png), or text";
  }
  std::vector<option> options() override {
    return {
        {"trace", "the recorded run", &trace_, option_use::required},
        {"-o,--output", "out.html, out.svg, out.png, out.txt; without it, or -: text here",
         &output_},
        {"--width",
         "columns of the text (30 to 10000), or pixels of the picture (400 to 16000); a .png up to "
         "7000 has two dots for each",
         &width_},
        {"--theme",
         "colours of a picture (default: an .svg as its viewer, a .png light)",
         &theme_,
         option_use::optional,
         {"light", "dark"}},
        {"--force", "write over a file that is there", &force_},
    };
  }

  std::string_view footer() const override { return about_status_3; }

  int run() override {
    const std::optional<format> as = format_of(output_);
    if (!as) {
      return complain(2, fmt::format("'{}' is none of .html, .svg, .png and .txt", output_));
    }
    if (const std::string why = wrong_look(*as); !why.empty()) return complain(2, why);
    const bool to_file = !output_.empty() && output_ != "-";
    if (to_file && same_file(trace_, output_)) {
      return complain(2, fmt::format("'{}' is the trace itself; choose another name", output_));
    }
    if (to_file && !force_ && takes_the_place_of_a_file(output_)) {
      return complain(1, fmt::format("'{}' is there already; --force writes over it", output_));
    }
    // What is missing is said before a large trace is read.
    if (*as == format::html && !fs::exists(own_toolkit().timeline_page())) {
      return complain(
          1, fmt::format("the page is not in this toolkit ({} is missing): node or npm was not "
                         "there when it was built. Install nodejs and npm and build again, or ask "
                         "for an .svg or for text (-o -), which need neither.",
                         own_toolkit().timeline_page().string()));
    }
    if (*as == format::png && find_browser().empty()) {
      return complain(1,
                      "a .png is drawn by Chromium, and there is none on PATH. Install the package "
                      "chromium, or ask for an .svg, which needs nothing.");
    }
    const outcome<trace::trace> read = read_run(trace_);
    if (!read) return complain(1, read.message());
    const int drawn = draw(*read, *as);
    return drawn == 0 ? status_of(*read, name()) : drawn;
  }

 private:
  // A page is as wide as its window; text has no colours of its own.
  [[nodiscard]] std::string wrong_look(format as) const {
    const bool page = as == format::html;
    if (!theme_.empty() && (page || as == format::text))
      return fmt::format("--theme is for pictures (.svg, .png){}",
                         page ? ": a page has a button for it, and begins as its viewer" : "");
    if (width_ != 0 && page)
      return "--width is for pictures (.svg, .png) and text: a page is as wide as its window";
    if (width_ == 0) return {};
    const bool text = as == format::text;
    const int least = text ? narrowest_text : narrowest_picture;
    const int most = text ? widest_text : widest_picture;
    if (width_ >= least && width_ <= most) return {};
    return fmt::format("--width {} is too {}: {} to {} {}", width_,
                       width_ < least ? "narrow" : "wide", least, most,
                       text ? "columns" : "pixels");
  }

  [[nodiscard]] int draw(const trace::trace& run, format as) const {
    const bool to_file = !output_.empty() && output_ != "-";
    if (as == format::text) {
      const charset characters = to_file ? charset::utf8 : terminal_charset();
      return write(draw_text(run, width_ ? width_ : terminal_width(), characters));
    }
    const timeline_notes notes = timeline_notes_of(run, explain_run(run));
    if (as == format::html) {
      std::ifstream in(own_toolkit().timeline_page());
      const std::string page{std::istreambuf_iterator<char>(in), {}};
      return write(timeline_page(page, run, notes));
    }
    picture_options how;
    if (width_) how.width = width_;
    if (theme_ == "dark") {
      how.theme = picture_theme::dark;
    } else if (theme_ == "light" || as == format::png) {
      how.theme = picture_theme::light;
    }
    const picture drawn = draw_svg(run, notes, how);
    return as == format::svg ? write(drawn.svg) : write_png(drawn);
  }

  static int complain(int status, const std::string& words) {
    fmt::print(stderr, "streambed timeline: {}\n", words);
    return status;
  }

  [[nodiscard]] int write(const std::string& text) const {
    if (output_.empty() || output_ == "-") {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return std::fflush(stdout) == 0 ? 0 : complain(1, "the text could not be written");
    }
    const std::string why = write_whole(output_, text);
    return why.empty() ? 0 : complain(1, fmt::format("'{}' cannot be written: {}", output_, why));
  }

  [[nodiscard]] int write_png(const picture& drawn) const {
    temporary_directory scratch;
    const fs::path folder = scratch.path();
    std::ofstream(folder / "timeline.svg") << drawn.svg;
    // Sharp on good screens, but within what the browser can draw at once.
    const int scale = std::max(drawn.width, drawn.height) <= 7000 ? 2 : 1;
    std::vector<std::string> command = {
        find_browser(),
        "--headless",
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--user-data-dir=" + (folder / "profile").string(),
        fmt::format("--window-size={},{}", drawn.width, drawn.height),
        fmt::format("--force-device-scale-factor={}", scale),
        "--screenshot=" + (folder / "timeline.png").string(),
        "file://" + (folder / "timeline.svg").string()};
    // Its sandbox does not work for root.
    if (geteuid() == 0) command.insert(command.begin() + 1, "--no-sandbox");
    if (const std::string limit = find_program("timeout"); !limit.empty()) {
      command.insert(command.begin(), {limit, "120"});
    }
    spawn_options how;
    how.silent = true;
    const int status = run_process(command, how);
    std::ifstream made(folder / "timeline.png", std::ios::binary);
    if (status != 0 || !made) {
      return complain(
          1, fmt::format("{} did not draw the picture (exit status {}). An .svg needs no browser.",
                         find_browser(), status));
    }
    return write(std::string{std::istreambuf_iterator<char>(made), {}});
  }

  std::string trace_, output_, theme_;
  int width_ = 0;  // 0: as the output needs it
  bool force_ = false;
};

}  // namespace

subcommand& timeline_subcommand() {
  static timeline_command command;
  return command;
}

}  // namespace sb::tools
