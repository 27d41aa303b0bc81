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

namespace sb::tools {

namespace {

namespace fs = std::filesystem;

bool write_page(const std::string& path, const trace::trace& recorded,
                const analysis::explanation& facts) {
  const fs::path form = own_toolkit().timeline_page();
  std::ifstream in(form);
  if (!in) {
    fmt::print(stderr,
               "No timeline page: {} is missing; it is built where node and npm are.\n"
               "`streambed timeline` draws pictures (.svg) and text without it.\n",
               form.string());
    return true;
  }
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  std::ofstream out(path, std::ios::binary);
  out << timeline_page(page, recorded, timeline_notes_of(recorded, facts));
  out.close();
  if (out) return true;
  fmt::print(stderr, "streambed run: '{}' cannot be written\n", path);
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
  const analysis::explanation facts = explain_run(*recorded);
  const auto colour = isatty(STDERR_FILENO) != 0 ? analysis::colour::yes : analysis::colour::no;
  fmt::print(stderr, "\n{}\n{}", draw_text(*recorded, terminal_width(), terminal_charset()),
             analysis::text_of(*recorded, facts, colour));
  const bool written = what.page.empty() || write_page(what.page, *recorded, facts);
  fmt::print(stderr, "\ntrace     {}\n", what.trace);
  if (!what.page.empty() && written && fs::exists(what.page))
    fmt::print(stderr, "timeline  {}\n", what.page);
  return written;
}

}  // namespace sb::tools
