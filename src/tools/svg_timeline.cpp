#include "svg_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

#include "time_axis.hpp"
#include "timeline_rows.hpp"

namespace sb::tools {
namespace {

using trace::nanoseconds;
using trace::number;

constexpr double label_width = 170, right_margin = 16, top_margin = 50, title_height = 24;
constexpr double row_padding = 4, marks_height = 7, legend_height = 34;
constexpr double thinnest = 1.0;       // pixels; what is thinner is drawn together
constexpr double character_width = 6;  // of the labels in bars
// Each title costs some hundred bytes, and nobody points at so many.
constexpr std::size_t most_titles = 5000, most_arrows = 400;

constexpr std::string_view light_style =
    ".page{fill:#fff}.band{fill:#f5f6f9}.line{stroke:#eceef2}.text{fill:#1c2230}.quiet{fill:#"
    "69707d}"
    ".k0{fill:#5b7cfa}.k1{fill:#17a398}.k2{fill:#f08c2e}.k3{fill:#a46ce0}.k4{fill:#d3a812}"
    ".k5{fill:#e0558f}.k6{fill:#b6c0d0}.k7{fill:#9aa4b5}.blocked{fill:#8693a8}"
    ".t0,.t1,.t3,.t5{fill:#fff}.t2{fill:#3d1f00}.t4{fill:#3a2d00}.t6,.t7{fill:#1c2230}"
    ".path{fill:#e5243b}.arrow{fill:none;stroke:#e5243b;stroke-width:1.2}.record{fill:#0369a1}."
    "wait{fill:#c2410c}";
constexpr std::string_view dark_style =
    ".page{fill:#14171e}.band{fill:#1a1e27}.line{stroke:#262c38}.text{fill:#e6e9ef}.quiet{fill:#"
    "98a1b1}"
    ".k0{fill:#7b97ff}.k1{fill:#2cc0b2}.k2{fill:#ff9f45}.k3{fill:#b98af0}.k4{fill:#e5bd3a}"
    ".k5{fill:#f276a8}.k6{fill:#485468}.k7{fill:#667289}.blocked{fill:#6a7a94}"
    ".t0,.t1,.t2,.t3,.t4,.t5{fill:#0b1018}.t6,.t7{fill:#f0f3f8}"
    ".path{fill:#ff5c70}.arrow{fill:none;stroke:#ff5c70;stroke-width:1.2}.record{fill:#38bdf8}."
    "wait{fill:#fb923c}";

std::string style(picture_theme theme) {
  switch (theme) {
    case picture_theme::light:
      return std::string(light_style);
    case picture_theme::dark:
      return std::string(dark_style);
    case picture_theme::as_viewer:
      break;
  }
  return fmt::format("{}@media (prefers-color-scheme:dark){{{}}}", light_style, dark_style);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML has no other control characters.
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

// Cut to the room there is, at the border of a character.
std::string cut(const std::string& text, double room) {
  const auto most = static_cast<std::size_t>(std::max(room / character_width, 0.0));
  std::size_t taken = 0, end = 0;
  for (; end < text.size(); ++end) {
    if ((text[end] & 0xc0) != 0x80 && taken++ == most) break;
  }
  if (end == text.size()) return text;
  if (most < 3) return {};
  std::string out = text.substr(0, end);
  while (!out.empty() && (out.back() & 0xc0) == 0x80) out.pop_back();
  if (!out.empty()) out.pop_back();
  return out + "…";
}

double lane_height(std::uint32_t lanes) {
  if (lanes <= 1) return 20;
  if (lanes <= 3) return 17;
  if (lanes <= 8) return 13;
  return lanes <= 32 ? 6 : 4;
}

class painter {
 public:
  painter(const trace::trace& trace, const timeline_notes& notes, const picture_options& options)
      : trace_(trace),
        width_(std::max(options.width, narrowest_picture)),
        on_path_(trace.operations.size()) {
    for (const path_step& step : notes.path) {
      if (step.operation >= on_path_.size()) continue;
      on_path_[step.operation] = true;
      if (path_.empty() || path_.back() != step.operation) path_.push_back(step.operation);
    }
    plot_ = width_ - label_width - right_margin;
    std::size_t bars = 0;
    groups_ = timeline_rows(trace);
    for (const timeline_group& group : groups_) {
      for (const timeline_row& row : group.rows) bars += row.bars.size();
    }
    titles_ = bars <= most_titles;
  }

  picture paint(const picture_options& options) {
    const double height = this->height();
    put(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1:.0f}" viewBox="0 0 {0} {1:.0f}" font-family="system-ui,'Segoe UI','DejaVu Sans',sans-serif" font-size="11">)",
        width_, height);
    put("\n<title>{}</title>\n<style>{}</style>\n", escaped(heading()), style(options.theme));
    put(R"(<rect class="page" width="{}" height="{:.0f}"/>)", width_, height);
    put("\n<text class=\"text\" x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"600\">{}</text>\n",
        escaped(cut(heading(), (width_ - 24) * 0.7)));
    axis(height);
    double top = top_margin;
    for (const timeline_group& group : groups_) top = paint_group(group, top);
    paint_arrows();
    legend(top + 22);
    out_ += "</svg>\n";
    return {std::move(out_), width_, static_cast<int>(height)};
  }

 private:
  template <typename... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }

  [[nodiscard]] double x(nanoseconds time) const {
    return label_width + plot_ * static_cast<double>(std::min(time, trace_.end)) /
                             std::max(1.0, static_cast<double>(trace_.end));
  }

  [[nodiscard]] std::string heading() const {
    constexpr std::string_view clocks[] = {"", " modelled", " on a GPU"};
    std::string out = trace_.head.program.empty() ? "run" : trace_.head.program;
    out += fmt::format(": {}{}", with_micro_sign(duration_text(trace_.end)),
                       clocks[static_cast<std::size_t>(trace_.head.clock)]);
    if (!trace_.devices.empty()) out += ", " + trace_.devices[0].name;
    return out;
  }

  static double row_height(const timeline_row& row) {
    const double marks = row.marks.empty() ? 0 : marks_height;
    return std::max(lane_height(row.lanes) * row.lanes + marks + 2 * row_padding, 28.0);
  }

  [[nodiscard]] double height() const {
    double total = top_margin + legend_height;
    for (const timeline_group& group : groups_) {
      total += title_height;
      for (const timeline_row& row : group.rows) total += row_height(row);
    }
    return total;
  }

  void axis(double height) {
    const double bottom = height - legend_height;
    for (const axis_tick& tick : axis_ticks(trace_.end, static_cast<int>(plot_ / 90) + 1)) {
      const double at = x(tick.time);
      put(R"(<path class="line" d="M{0:.1f} {1:.0f}V{2:.0f}"/>)", at, top_margin - 6, bottom);
      const bool last = at > width_ - right_margin - 30;
      put(R"(<text class="quiet" x="{:.1f}" y="{:.0f}" text-anchor="{}">{}</text>)", at,
          top_margin - 9,
          tick.time == 0 ? "start"
          : last         ? "end"
                         : "middle",
          with_micro_sign(tick.label));
      out_ += '\n';
    }
  }

  double paint_group(const timeline_group& group, double top) {
    put(R"(<rect class="band" x="0" y="{:.0f}" width="{}" height="{:.0f}"/>)", top, width_,
        title_height);
    put("<text x=\"12\" y=\"{:.0f}\"><tspan class=\"text\" font-weight=\"600\">{}</tspan> <tspan "
        "class=\"quiet\">{}</tspan></text>\n",
        top + 16, escaped(group.label), escaped(group.detail));
    top += title_height;
    for (const timeline_row& row : group.rows) {
      const double tall = row_height(row);
      put("<g data-row=\"{}\">\n", escaped(row.label));
      put(R"(<path class="line" d="M0 {0:.1f}H{1}"/>)", top + tall - 0.5, width_);
      put(R"(<text class="text" x="20" y="{:.1f}"{}>{}</text>)", top + tall / 2 + 4,
          row.kind == row_kind::engine ? " font-weight=\"600\"" : "",
          escaped(cut(row.label, label_width - 28)));
      out_ += '\n';
      paint_bars(row, top + row_padding);
      paint_marks(row, top + row_padding + lane_height(row.lanes) * row.lanes);
      out_ += "</g>\n";
      top += tall;
    }
    return top;
  }

  // Thin bars of a lane: those of one pixel column together, and columns of one kind that touch as
  // one rectangle.
  struct thin_bars {
    long column = -1;
    std::array<double, bar_kinds> time{};
    std::size_t count = 0;
    long from = 0, to = -1;  // columns that wait to be painted
    std::size_t kind = 0, painted = 0;
  };

  void end_column(thin_bars& thin, double y, double tall) {
    if (thin.count == 0) return;
    const auto most = std::max_element(thin.time.begin(), thin.time.end());
    const auto kind = static_cast<std::size_t>(most - thin.time.begin());
    if (kind != thin.kind || thin.column != thin.to) end_run(thin, y, tall);
    if (thin.painted == 0) thin.from = thin.column;
    thin.to = thin.column + 1;
    thin.kind = kind;
    thin.painted += thin.count;
    thin.count = 0;
    thin.time = {};
  }

  void end_run(thin_bars& thin, double y, double tall) {
    if (thin.painted == 0) return;
    put("<rect class=\"k{}\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" "
        "data-count=\"{}\"/>\n",
        thin.kind, thin.from, y, thin.to - thin.from, tall, thin.painted);
    thin.painted = 0;
  }

  void paint_bars(const timeline_row& row, double top) {
    const double lane = lane_height(row.lanes), tall = lane - (lane > 8 ? 2 : 1);
    std::vector<thin_bars> waiting(row.lanes);
    for (const placed& bar : row.bars) {
      const extent at = bar_extent(trace_, row.kind, bar.what);
      const double from = x(at.from), to = x(at.to), y = top + lane * bar.lane;
      const auto kind = static_cast<std::size_t>(bar_of(trace_, row.kind, bar.what));
      thin_bars& thin = waiting[bar.lane];
      const long column = static_cast<long>(from);
      if (column != thin.column) end_column(thin, y, tall);
      if (to - from < thinnest) {
        thin.column = column;
        thin.time[kind] += to - from + 1e-6;
        ++thin.count;
        continue;
      }
      end_column(thin, y, tall);
      end_run(thin, y, tall);
      paint_bar(row, bar.what, static_cast<int>(kind), from, to, y, tall);
    }
    for (std::uint32_t i = 0; i < row.lanes; ++i) {
      end_column(waiting[i], top + lane * i, tall);
      end_run(waiting[i], top + lane * i, tall);
    }
  }

  void paint_bar(const timeline_row& row, number what, int kind, double from, double to, double y,
                 double tall) {
    const bool work = row.kind == row_kind::engine || row.kind == row_kind::stream;
    const bool open = work && trace_.operations[what].ended == trace::never;
    const double wide = to - from > 4 ? to - from - 0.75 : to - from;
    const std::string label = bar_label(trace_, row.kind, what);
    put(R"(<rect class="k{}" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}" rx="{}" data-count="1"{})",
        kind, from, y, wide, tall, wide > 6 && tall > 8 ? 3 : 0, open ? " opacity=\"0.5\"" : "");
    if (titles_) {
      const extent at = bar_extent(trace_, row.kind, what);
      put("><title>{}: {}</title></rect>\n", escaped(label),
          with_micro_sign(duration_text(at.to - at.from)));
    } else {
      out_ += "/>\n";
    }
    if (row.kind == row_kind::thread && trace_.calls[what].blocked > 0) {
      const extent at = bar_extent(trace_, row.kind, what);
      const double begin = x(at.to - std::min(trace_.calls[what].blocked, at.to - at.from));
      put("<rect class=\"blocked\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"4\"/>\n",
          begin, y + tall - 4, from + wide - begin);
    }
    if (row.kind == row_kind::stream && on_path_[what])
      anchors_.try_emplace(what, anchor{from, from + wide, y + tall / 2});
    if (work && on_path_[what]) {
      put("<rect class=\"path\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"2\"/>\n", from,
          y + tall, wide);
    }
    const std::string shown = tall >= 11 ? cut(label, wide - 10) : std::string{};
    if (!shown.empty()) {
      put("<text class=\"t{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, from + 5,
          y + tall / 2 + 4, escaped(shown));
    }
  }

  // From operation to operation of the critical path, where both can be seen and the path goes from
  // one stream to another.
  void paint_arrows() {
    std::size_t painted = 0;
    for (std::size_t i = 1; i < path_.size() && painted < most_arrows; ++i) {
      const auto a = anchors_.find(path_[i - 1]), b = anchors_.find(path_[i]);
      if (a == anchors_.end() || b == anchors_.end() || a->second.y == b->second.y) continue;
      const double down = b->second.y > a->second.y ? 1 : -1;
      const double y = b->second.y - 5 * down;  // the tip is in the bar
      put("<path class=\"arrow\" d=\"M{0:.1f} {1:.1f}C{0:.1f} {2:.1f} {3:.1f} {2:.1f} {3:.1f} "
          "{4:.1f}m-3 {5}l3 {6}l3 {5}\"/>\n",
          a->second.to, a->second.y, (a->second.y + y) / 2, b->second.from + 2, y, -4 * down,
          4 * down);
      ++painted;
    }
  }

  void paint_marks(const timeline_row& row, double y) {
    double last = -10;
    for (const number mark : row.marks) {
      const trace::operation& operation = trace_.operations[mark];
      const bool waits = operation.kind == trace::operation_kind::event_wait;
      const bool records = operation.kind == trace::operation_kind::event_record;
      if ((!waits && !records) || operation.ended == trace::never) continue;
      const double at = x(operation.ended);
      if (at - last < 1.5) continue;
      last = at;
      put("<path class=\"{}\" d=\"M{:.1f} {:.1f}h7l-3.5 {}z\"/>\n", waits ? "wait" : "record",
          at - 3.5, waits ? y + 6 : y + 0.5, waits ? "-5.5" : "5.5");
    }
  }

  void legend(double y) {
    double at = 12;
    std::array<bool, bar_kinds> used{};
    for (const timeline_group& group : groups_) {
      for (const timeline_row& row : group.rows) {
        if (row.kind == row_kind::ranges) continue;
        for (const placed& bar : row.bars) {
          used[static_cast<std::size_t>(bar_of(trace_, row.kind, bar.what))] = true;
        }
      }
    }
    const auto entry = [&](std::string_view box, std::string_view words) {
      put("<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"10\" height=\"10\" rx=\"2\"/><text "
          "class=\"quiet\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
          box, at, y - 9, at + 15, y, words);
      at += 15 + 6.5 * static_cast<double>(words.size()) + 16;
    };
    for (std::size_t kind = 0; kind < used.size(); ++kind) {
      if (used[kind])
        entry(fmt::format("k{}", kind), bar_name(static_cast<bar_kind>(kind), trace_));
    }
    if (std::any_of(on_path_.begin(), on_path_.end(), [](bool is) { return is; })) {
      entry("path", "critical path");
    }
  }

  const trace::trace& trace_;
  const int width_;
  double plot_ = 0;
  bool titles_ = true;
  struct anchor {
    double from, to, y;
  };
  std::vector<bool> on_path_;
  std::vector<number> path_;          // the operations on it, in the order of time
  std::map<number, anchor> anchors_;  // where they are, in the rows of their streams
  std::vector<timeline_group> groups_;
  std::string out_;
};

}  // namespace

picture draw_svg(const trace::trace& trace, const timeline_notes& notes,
                 const picture_options& options) {
  return painter(trace, notes, options).paint(options);
}

}  // namespace sb::tools
