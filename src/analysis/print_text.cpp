// The explanation for people.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "analysis/explain.hpp"
#include "analysis/plural.hpp"
#include "analysis/words.hpp"
#include "trace/utf8.hpp"

namespace sb::analysis {

namespace {

using out = std::back_insert_iterator<std::string>;

constexpr std::size_t line_width = 100;

double percent(trace::nanoseconds part, trace::nanoseconds whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string lines_of(const trace::trace& t, const std::vector<trace::number>& places) {
  constexpr std::size_t most = 4;
  std::string text;
  std::size_t told = 0;
  for (const trace::number p : places) {
    const std::string place = text_of_place_without_folders(t, p);
    if (place.empty()) continue;
    if (++told > most) continue;
    text += text.empty() ? " (" : ", ";
    text += trace::visible(place);
  }
  if (told > most) text += fmt::format(" and {} more", told - most);
  return text.empty() ? text : text + ")";
}

class printer {
 public:
  printer(const trace::trace& t, const explanation& e, colour c)
      : trace_(t), facts_(e), colour_(c) {}

  std::string print() {
    summary();
    bound();
    overlap();
    findings();
    return std::move(text_);
  }

 private:
  void heading(std::string_view words) {
    if (!text_.empty()) text_ += '\n';
    const std::string title = trace::visible(words);
    text_ += colour_ == colour::yes ? fmt::format("\033[1m{}\033[0m\n", title)
                                    : fmt::format("{}\n", title);
  }

  // Words of `text` from the column on, broken at the line's width.
  void paragraph(std::string_view words, std::size_t indent) {
    const std::string shown = trace::visible(words);
    std::string_view text = shown;
    std::size_t column = 0;
    while (!text.empty()) {
      const std::size_t end = text.find(' ');
      const std::string_view word = text.substr(0, end);
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
      if (column != 0 && column + 1 + word.size() > line_width) {
        text_ += '\n';
        column = 0;
      }
      if (column == 0) {
        text_.append(indent, ' ');
        column = indent;
      } else {
        text_ += ' ';
        ++column;
      }
      text_ += word;
      column += word.size();
    }
    text_ += '\n';
  }

  void summary() {
    const run_summary& s = facts_.summary;
    static constexpr std::string_view clocks[] = {" on this machine", " in modelled time",
                                                  " on the device"};
    // By the clock of this machine the profile says nothing of times.
    const bool profiled =
        trace_.head.clock != trace::clock_kind::wall && !trace_.head.profile.empty();
    heading(fmt::format("{}: {}{}{}", trace_.head.program.empty() ? "run" : trace_.head.program,
                        text_of_time(s.length), clocks[static_cast<std::size_t>(trace_.head.clock)],
                        profiled ? " (" + trace_.head.profile + ")" : ""));
    fmt::format_to(out(text_), "  {} and {} on {}; {} to the device, {} to the host\n",
                   plural(s.kernels, "kernel"),
                   s.copies == 1 ? "1 copy" : fmt::format("{} copies", s.copies),
                   plural(s.streams, "stream"), text_of_bytes(s.bytes_to_device),
                   text_of_bytes(s.bytes_to_host));
    fmt::format_to(out(text_), "  {} of the host waited {} in all\n", plural(s.calls, "call"),
                   text_of_time(s.host_blocked));
    if (trace_.head.end == trace::ending::unknown) {
      text_ +=
          "  The trace stops before the program's end: it crashed, was killed, left by _exit, or "
          "is "
          "still running.\n";
    } else if (trace_.head.end == trace::ending::hung) {
      text_ += "  The program hangs: nothing could move any more.\n";
    } else if (trace_.head.end == trace::ending::cut) {
      text_ += "  The trace stops before the program's end: there was no room for more of it.\n";
    } else if (trace_.head.end == trace::ending::stopped) {
      text_ += "  The program was ended: it had run for the time that it was given.\n";
    } else if (trace_.head.clock == trace::clock_kind::modelled && !trace_.head.deterministic) {
      paragraph(
          "The program's own code was measured, or a thread computed for long or waited for "
          "something that is not modelled while others had their turn: another run may come out "
          "differently.",
          2);
    }
  }

  void bound() {
    heading("What bounded the run");
    for (const path_share& s : facts_.path.shares) {
      const double part = percent(s.time, facts_.path.length);
      if (part < 0.5) continue;
      const std::string calls =
          s.calls.empty() ? "" : trace::visible(fmt::format(" [{}]", fmt::join(s.calls, ", ")));
      fmt::format_to(out(text_), "  {:5.1f} %  {:>8}  {}{}{}\n", part, text_of_time(s.time),
                     analysis::text_of(s.work, s.link), calls, lines_of(trace_, s.places));
    }
  }

  void overlap() {
    const overlap_facts& o = facts_.overlap;
    if (o.engines.empty()) return;
    heading("Overlap");
    const auto name_of = [&](const engine_use& e) {
      return trace_.devices.size() > 1 ? fmt::format("{}, device {}", text_of(e), e.device)
                                       : std::string(text_of(e));
    };
    constexpr std::size_t least_width = 26;
    std::size_t width = least_width;
    for (const engine_use& e : o.engines) width = std::max(width, name_of(e).size() + 2);
    fmt::format_to(out(text_), "  {:<{}}{:>10}{:>10}{:>16}\n", "", width, "busy", "alone",
                   "beside others");
    for (const engine_use& e : o.engines) {
      fmt::format_to(out(text_), "  {:<{}}{:>10}{:>10}{:>16}\n", name_of(e), width,
                     text_of_time(e.busy), text_of_time(e.alone), text_of_time(e.together));
    }
    if (trace_.head.end == trace::ending::hung) return;  // what never ended is not in these times
    const bool by_engine = o.engines[o.busiest].least >= o.longest_chain;
    const std::string limit =
        by_engine ? fmt::format("the {} alone need that", text_of(o.engines[o.busiest]))
                  : "operations that have to follow each other need that";
    paragraph(
        fmt::format("The device's work took {}, and something ran in {} of that: {} one after "
                    "another, {} at best ({}). {:.0f} % of the possible overlap happened.",
                    text_of_time(o.span()), text_of_time(o.busy), text_of_time(o.serial),
                    text_of_time(o.possible()), limit, 100 * o.achieved()),
        2);
  }

  // Costs are differences between replays; how near a replay comes to the run says what they are
  // worth.
  void fidelity() {
    const trace::nanoseconds recorded = facts_.summary.length, modelled = facts_.modelled;
    const trace::nanoseconds off = recorded > modelled ? recorded - modelled : modelled - recorded;
    if (facts_.findings.empty() || off * 20 <= recorded) return;
    paragraph(fmt::format("Costs are differences between replays of the run. A replay without any "
                          "change takes {} instead of {}: take them as estimates.",
                          text_of_time(modelled), text_of_time(recorded)),
              2);
  }

  // Of a run that did not come to its end, where nothing says what it waited for: the call that
  // each thread was in, or behind.
  void last_calls() {
    constexpr std::size_t most = 8;                     // threads
    std::map<trace::number, const trace::call*> calls;  // by thread: the one that began last
    for (const trace::call& c : trace_.calls) {
      const trace::call*& last = calls[c.thread];
      if (last == nullptr || c.begin >= last->begin) last = &c;
    }
    std::size_t told = 0;
    for (const auto& [thread, last] : calls) {
      if (told++ == most) break;
      const std::string call = trace::visible(last->name) + lines_of(trace_, {last->place});
      // The first thread is there until the program ends; of another one nobody knows.
      paragraph(!last->returned ? fmt::format("Thread {} was in {}.", thread, call)
                : thread == 0 ? fmt::format("Thread {} was in its own code since {}.", thread, call)
                              : fmt::format("The last call of thread {} was {}.", thread, call),
                2);
    }
  }

  void findings() {
    // Of a run that did not come to its end "nothing to change" would sound as if all were well.
    const bool whole = trace_.head.end == trace::ending::complete;
    const std::string_view nothing =
        whole ? "Nothing to change was found."
              : "The program did not come to its end. Nothing to change was found up to there.";
    heading(facts_.findings.empty() ? nothing : "What to change");
    if (!whole && facts_.findings.empty()) last_calls();
    fidelity();
    int n = 0;
    for (const finding& f : facts_.findings) {
      std::string cost;
      if (f.weight == severity::cost) {
        const trace::nanoseconds whole = std::max(facts_.overlap.span(), f.cost);
        cost = fmt::format(" Costs {} of {} ({:.0f} %).", text_of_time(f.cost), text_of_time(whole),
                           percent(f.cost, whole));
      }
      fmt::format_to(out(text_), "{:>3}. {}{}.{}\n", ++n, trace::visible(f.title),
                     lines_of(trace_, f.places), cost);
      if (!f.why.empty()) paragraph(f.why, 5);
      for (const std::string& line : f.evidence) paragraph("- " + line, 5);
      paragraph("Change: " + f.change, 5);
    }
    for (const std::string& what : facts_.not_looked_at) paragraph("Not looked at: " + what, 2);
  }

  const trace::trace& trace_;
  const explanation& facts_;
  colour colour_;
  std::string text_;
};

}  // namespace

std::string text_of(const trace::trace& t, const explanation& e, colour c) {
  return printer(t, e, c).print();
}

}  // namespace sb::analysis
