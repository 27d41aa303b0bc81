#include "run_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "recorded_run.hpp"
#include "text_timeline.hpp"
#include "timeline_notes.hpp"
#include "timeline_page.hpp"
#include "toolkit.hpp"
#include "whole_output.hpp"

namespace sb::tools {

namespace {

namespace fs = std::filesystem;

bool write_page(const std::string& path, const std::string& form, const trace::trace& recorded,
                const analysis::explanation& facts) {
  std::ifstream in(form);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string why =
      write_whole(path, timeline_page(page, recorded, timeline_notes_of(recorded, facts)));
  if (why.empty()) return true;
  fmt::print(stderr, "streambed run: '{}' cannot be written: {}\n", path, why);
  return false;
}

}  // namespace

std::string free_name(const std::string& program, const std::string& ending) {
  std::string name = program + ending;
  for (int i = 2; fs::exists(name); ++i) name = fmt::format("{}-{}{}", program, i, ending);
  return name;
}

bool tell(const run_report& what) {
  const outcome<trace::trace> recorded = read_run(what.trace);
  if (!recorded) {
    fmt::print(stderr, "streambed run: {}\n", recorded.message());
    return false;
  }
  const bool cut = recorded->head.end == trace::ending::cut;
  if (cut) {
    fmt::print(
        stderr,
        "streambed run: '{}' is not complete: there was no room for more of it. Make room, or "
        "write it elsewhere with --trace.\n",
        what.trace);
  }
  const bool aloud = what.words == report_words::all;
  const std::string form = own_toolkit().timeline_page().string();
  const bool with_page = !what.page.empty() && fs::exists(form);
  if (!aloud && !with_page) return !cut;
  const analysis::explanation facts = explain_run(*recorded);
  if (aloud) {
    const auto colour = isatty(STDERR_FILENO) != 0 ? analysis::colour::yes : analysis::colour::no;
    fmt::print(stderr, "\n{}\n{}", draw_text(*recorded, terminal_width(), terminal_charset()),
               analysis::text_of(*recorded, facts, colour));
    if (!what.page.empty() && !with_page) {
      fmt::print(stderr,
                 "No timeline page: {} is missing; it is built where node and npm are.\n"
                 "`streambed timeline` draws pictures (.svg) and text without it.\n",
                 form);
    }
  }
  const bool written = !with_page || write_page(what.page, form, *recorded, facts);
  if (aloud) {
    fmt::print(stderr, "\ntrace     {}\n", what.trace);
    if (with_page && written) fmt::print(stderr, "timeline  {}\n", what.page);
  }
  return written && !cut;
}

}  // namespace sb::tools
