#include "text_timeline.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "time_axis.hpp"
#include "timeline_rows.hpp"
#include "trace/utf8.hpp"

namespace sb::tools {
namespace {

using trace::columns;
using trace::nanoseconds;
using trace::shortened;
using trace::visible;

constexpr std::size_t longest_label = 24;  // a third of the line at most
constexpr std::size_t most_streams = 16;   // of a device
constexpr std::size_t most_threads = 4;
constexpr int share_width = 5;  // " 100%"

struct symbols {
  std::array<std::string_view, bar_kinds> bars;  // in the order of bar_kind
  std::string_view blocked, tick, more;
  bool micro_sign;
};

constexpr symbols ascii_symbols = {
    {"#", ">", "<", "=", "~", "*", ".", ":"}, "-", "|", "...", false};
constexpr symbols utf8_symbols = {{"█", "▶", "◀", "◆", "▒", "●", "·", "░"}, "─", "│", "…", true};

std::string padded(std::string text, std::size_t width) {
  const std::size_t have = columns(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

std::string in_lines(const std::vector<std::string>& words, std::size_t width) {
  std::string out;
  std::size_t used = 0;
  for (const std::string& word : words) {
    if (used > 0 && used + 3 + columns(word) > width) {
      out += '\n';
      used = 0;
    }
    if (used > 0) out += "   ";
    out += word;
    used += columns(word) + (used > 0 ? 3 : 0);
  }
  return out.empty() ? out : out + '\n';
}

// How long each kind covers each cell of a row.
class cell_row {
 public:
  cell_row(const trace::trace& trace, const timeline_row& row, std::size_t cells)
      : time_(cells),
        blocked_(cells),
        cell_(std::max(1.0, static_cast<double>(trace.end)) / cells) {
    nanoseconds busy_until = 0;
    const bool work = row.kind == row_kind::engine || row.kind == row_kind::stream;
    for (const placed& bar : row.bars) {
      if (work && trace.operations[bar.what].started == trace::never) continue;
      const extent at = bar_extent(trace, row.kind, bar.what);
      add(time_, at, static_cast<std::size_t>(bar_of(trace, row.kind, bar.what)));
      if (row.kind == row_kind::thread && trace.calls[bar.what].blocked > 0) {
        const nanoseconds waited = std::min(trace.calls[bar.what].blocked, at.to - at.from);
        add_blocked({at.to - waited, at.to});
      }
      // Bars are in the order of their begin.
      if (at.to > busy_until) busy_ += at.to - std::max(at.from, busy_until);
      busy_until = std::max(busy_until, at.to);
    }
  }

  [[nodiscard]] std::string text(const symbols& use, row_kind kind, bool& overlap) const {
    std::string out;
    for (std::size_t i = 0; i < time_.size(); ++i) {
      const auto most = std::max_element(time_[i].begin(), time_[i].end());
      const auto bar = static_cast<std::size_t>(most - time_[i].begin());
      // Kernels next to each other touch at an end without being there together.
      const long together = std::lround(*most / cell_ - 0.1);
      if (*most <= 0) {
        out += ' ';
      } else if (kind == row_kind::thread && blocked_[i] * 2 > *most) {
        out += use.blocked;
      } else if (kind == row_kind::engine && together >= 2) {
        overlap = true;
        out += together > 9 ? '+' : static_cast<char>('0' + together);
      } else {
        out += use.bars[bar];
      }
    }
    return out;
  }

  [[nodiscard]] double busy() const { return static_cast<double>(busy_); }
  [[nodiscard]] bool has(std::size_t bar) const {
    return std::any_of(time_.begin(), time_.end(), [&](const auto& cell) { return cell[bar] > 0; });
  }
  [[nodiscard]] bool has_blocked() const {
    return std::any_of(blocked_.begin(), blocked_.end(), [](double time) { return time > 0; });
  }

 private:
  template <typename Put>
  void spread(extent at, Put put) const {
    const double from = static_cast<double>(at.from), to = static_cast<double>(at.to);
    const auto cell_of = [&](double time) {
      return static_cast<std::size_t>(
          std::min(time / cell_, static_cast<double>(time_.size() - 1)));
    };
    const auto first_cell = cell_of(from);
    const auto last_cell = cell_of(to);
    for (std::size_t i = first_cell; i <= last_cell; ++i) {
      const double begin = std::max(from, cell_ * static_cast<double>(i));
      const double end = std::min(to, cell_ * static_cast<double>(i + 1));
      // What has no length is there all the same.
      put(i, first_cell == last_cell ? std::max(end - begin, 1e-3) : end - begin);
    }
  }
  void add(std::vector<std::array<double, bar_kinds>>& into, extent at, std::size_t bar) {
    spread(at, [&](std::size_t i, double time) { into[i][bar] += time; });
  }
  void add_blocked(extent at) {
    spread(at, [&](std::size_t i, double time) { blocked_[i] += time; });
  }

  std::vector<std::array<double, bar_kinds>> time_;
  std::vector<double> blocked_;
  double cell_;
  nanoseconds busy_ = 0;
};

std::string in_units(std::string text, const symbols& use) {
  return use.micro_sign ? with_micro_sign(std::move(text)) : text;
}

std::string axis(const trace::trace& trace, std::size_t cells, const symbols& use) {
  std::string out;
  std::size_t at = 0;
  for (const axis_tick& tick : axis_ticks(trace.end, static_cast<int>(cells / 11) + 1)) {
    const auto column = static_cast<std::size_t>(static_cast<double>(tick.time) * cells /
                                                 std::max(1.0, static_cast<double>(trace.end)));
    const std::string label = std::string(use.tick) + in_units(tick.label, use);
    if (column < at || column + columns(label) > cells) continue;
    out += std::string(column - at, ' ') + label;
    at = column + columns(label);
  }
  return out;
}

std::string title(const trace::trace& trace, const symbols& use) {
  constexpr std::string_view clocks[] = {"", " modelled", " on a GPU"};
  std::string out = fmt::format(
      "{}: {}{}, {} operation{}", trace.head.program.empty() ? "run" : trace.head.program,
      in_units(duration_text(trace.end), use), clocks[static_cast<std::size_t>(trace.head.clock)],
      trace.operations.size(), trace.operations.size() == 1 ? "" : "s");
  if (!trace.devices.empty()) out += ", " + trace.devices[0].name;
  if (trace.devices.size() > 1) out += fmt::format(" x {}", trace.devices.size());
  if (trace.head.end == trace::ending::hung) out += ", hung";
  if (trace.head.end == trace::ending::stopped) out += ", ended by --timeout";
  if (trace.head.end == trace::ending::unknown) out += ", recording ends early";
  return out;
}

}  // namespace

std::string draw_text(const trace::trace& trace, int width, charset characters) {
  const symbols& use = characters == charset::utf8 ? utf8_symbols : ascii_symbols;
  const auto total = static_cast<std::size_t>(std::max(width, narrowest_text));
  const std::vector<timeline_group> groups = timeline_rows(trace);
  const bool names_device = trace.devices.size() > 1;

  struct line {
    const timeline_row* row = nullptr;  // none: only words
    std::string label;
  };
  std::vector<line> lines;
  std::size_t label_width = 0;
  for (const timeline_group& group : groups) {
    std::size_t streams = 0, threads = 0;
    for (const timeline_row& row : group.rows) {
      if (row.kind == row_kind::ranges) continue;
      if (row.kind == row_kind::stream && ++streams > most_streams) continue;
      if (row.kind == row_kind::thread && ++threads > most_threads) continue;
      const bool of_device = names_device && row.kind != row_kind::thread;
      lines.push_back(
          {&row, visible(of_device ? fmt::format("{} {}", group.label, row.label) : row.label)});
      label_width =
          std::max(label_width, std::min({columns(lines.back().label), longest_label, total / 3}));
    }
    if (streams > most_streams) {
      lines.push_back(
          {nullptr, fmt::format("{} {} more streams", use.more, streams - most_streams)});
    }
    if (threads > most_threads) {
      lines.push_back(
          {nullptr, fmt::format("{} {} more threads", use.more, threads - most_threads)});
    }
  }

  const std::size_t cells = total - label_width - 1 - share_width;
  std::string out = shortened(visible(title(trace, use)), total, use.more) + '\n';
  out += std::string(label_width + 1, ' ') + axis(trace, cells, use) + '\n';
  std::array<bool, bar_kinds> used{};
  bool overlap = false, blocked = false;
  for (const line& line : lines) {
    if (!line.row) {
      out += line.label + '\n';
      continue;
    }
    const cell_row row(trace, *line.row, cells);
    for (std::size_t bar = 0; bar < used.size(); ++bar) used[bar] = used[bar] || row.has(bar);
    blocked = blocked || (line.row->kind == row_kind::thread && row.has_blocked());
    const double share = trace.end ? 100.0 * row.busy() / static_cast<double>(trace.end) : 0;
    out += padded(shortened(line.label, label_width, use.more), label_width) + ' ';
    out += row.text(use, line.row->kind, overlap);
    out += fmt::format("{:>4}%\n", share > 0 && share < 0.5 ? "<1" : fmt::format("{:.0f}", share));
  }

  std::vector<std::string> legend;
  for (std::size_t bar = 0; bar < used.size(); ++bar) {
    if (!used[bar]) continue;
    legend.push_back(
        fmt::format("{} {}", use.bars[bar], bar_name(static_cast<bar_kind>(bar), trace)));
  }
  if (blocked) legend.push_back(fmt::format("{} call waits", use.blocked));
  if (overlap) legend.emplace_back("2-9 so many at once");
  return out + in_lines(legend, total);
}

charset terminal_charset() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string_view locale = value;
    for (const std::string_view word : {"UTF-8", "utf-8", "utf8", "UTF8"}) {
      if (locale.find(word) != std::string_view::npos) return charset::utf8;
    }
    return charset::ascii;
  }
  return charset::ascii;
}

int terminal_width() {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  return 100;
}

}  // namespace sb::tools
