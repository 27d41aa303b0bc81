// What is advised about waits for events leaves all that meets in memory in its order, and gains
// what it says: for programs of any kind, compared with the program that is written so.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <regex>
#include <set>

#include "findings_checks.hpp"

namespace sb::analysis {
namespace {

constexpr number streams = 4, memories = 5;
constexpr std::uint32_t wait_line = 99, last_line = 100;

// Whether each wait has a line of its own, or a function makes all of them.
enum class waits_at : bool { lines_of_their_own, one_line };

struct written {
  enum class kind : std::uint8_t { kernel, record, wait, host_waits } what = kind::kernel;
  number stream = 0;
  std::size_t of = 0;  // wait: the record, by its line
  std::uint32_t line = 0;
  nanoseconds length = 0;
  std::set<number> reads, writes;
};
using text = std::vector<written>;

text any_program(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](number n) { return static_cast<number>(random() % n); };
  text lines;
  std::vector<std::size_t> records;
  const number length = 8 + below(25);
  for (std::uint32_t i = 0; i < length; ++i) {
    written w{.stream = below(streams), .line = i + 1, .reads = {}, .writes = {}};
    const number what = below(10);
    if (what < 2) {
      w.what = written::kind::record;
      records.push_back(w.line);
    } else if (what < 5 && !records.empty()) {
      w.what = written::kind::wait;
      w.of = records[records.size() - 1 - below(std::min<number>(3, records.size()))];
    } else if (what == 9 && below(4) == 0) {
      w.what = written::kind::host_waits;
    } else {
      w.length = (10 + below(90)) * 1000;
      w.reads.insert(below(memories));
      if (below(3) != 0) w.writes.insert(below(memories));
    }
    lines.push_back(w);
  }
  return lines;
}

// Whether the times of the records that nothing waits for are read in the end.
enum class times : bool { not_read, read };

trace::trace run(const text& lines, waits_at where, times read) {
  program_builder b;
  std::vector<number> s, memory;
  std::map<std::size_t, number> events;  // by line: each record has its own
  for (number i = 0; i < streams; ++i) s.push_back(b.stream());
  for (number i = 0; i < memories; ++i)
    memory.push_back(b.allocation(trace::memory_kind::device, 1 << 20));
  for (const written& w : lines) {
    b.line(w.line);
    switch (w.what) {
      case written::kind::kernel:
        b.kernel(s[w.stream], std::to_string(w.line).insert(0, 1, 'k'), w.length);
        for (const number m : w.reads) b.reads(memory[m]);
        for (const number m : w.writes) b.writes(memory[m]);
        break;
      case written::kind::record:
        events[w.line] = b.event();
        b.record(s[w.stream], events[w.line]);
        break;
      case written::kind::wait:
        if (where == waits_at::one_line) b.line(wait_line);
        b.wait(s[w.stream], events.at(w.of));
        break;
      case written::kind::host_waits:
        b.synchronize(s[w.stream]);
        break;
    }
  }
  b.line(last_line).synchronize();
  if (read == times::read) b.host_call("cudaEventElapsedTime", 1000);
  return b.run();
}

// By line: the lines that are over before it begins. Slow and simple.
std::map<std::uint32_t, std::set<std::uint32_t>> before(const text& lines) {
  std::map<std::uint32_t, std::set<std::uint32_t>> over;
  std::map<number, std::uint32_t> last;  // of streams
  std::set<std::uint32_t> host;
  for (const written& w : lines) {
    std::set<std::uint32_t> mine = host;
    const auto add = [&](std::uint32_t line) {
      mine.insert(line);
      mine.insert(over.at(line).begin(), over.at(line).end());
    };
    if (last.contains(w.stream)) add(last.at(w.stream));
    if (w.what == written::kind::wait) add(static_cast<std::uint32_t>(w.of));
    if (w.what == written::kind::host_waits) {
      host.insert(mine.begin(), mine.end());
      continue;
    }
    over[w.line] = mine;
    last[w.stream] = w.line;
  }
  return over;
}

bool meets(const written& a, const written& b) {
  const auto any = [](const std::set<number>& x, const std::set<number>& y) {
    return std::any_of(x.begin(), x.end(), [&](number m) { return y.contains(m); });
  };
  return any(a.writes, b.writes) || any(a.writes, b.reads) || any(a.reads, b.writes);
}

// By line.
std::set<std::uint32_t> timed_records(const text& lines) {
  std::set<std::uint32_t> timed;
  for (const written& w : lines)
    if (w.what == written::kind::record) timed.insert(w.line);
  for (const written& w : lines)
    if (w.what == written::kind::wait) timed.erase(static_cast<std::uint32_t>(w.of));
  return timed;
}

// An interval encloses what it did: all kernels and timed records stay on their side of a timed
// one.
void expect_order_kept(const text& as_it_is, const text& changed, times read, std::uint32_t seed) {
  const auto with = before(as_it_is), then = before(changed);
  const auto timed = read == times::read ? timed_records(as_it_is) : std::set<std::uint32_t>();
  const auto counts = [&](const written& w) {
    return w.what == written::kind::kernel || timed.contains(w.line);
  };
  for (const written& b : as_it_is) {
    if (!counts(b)) continue;
    for (const written& a : as_it_is) {
      const bool needed =
          counts(a) && (timed.contains(a.line) || timed.contains(b.line) || meets(a, b));
      if (needed && with.at(b.line).contains(a.line)) {
        EXPECT_TRUE(then.at(b.line).contains(a.line)) << seed << ": " << a.line << ", " << b.line;
      }
    }
  }
}

void expect_gain(const finding& f, const trace::trace& t, const text& changed, times read,
                 std::uint32_t seed) {
  const nanoseconds then = run(changed, waits_at::lines_of_their_own, read).end;
  const auto gained = static_cast<double>(t.end) - static_cast<double>(then);
  EXPECT_NEAR(static_cast<double>(f.cost), gained, 3000.0) << seed << ' ' << f.rule;
}

text::iterator at_line(text& lines, std::uint32_t line) {
  return std::find_if(lines.begin(), lines.end(), [&](const written& w) { return w.line == line; });
}

text without(const text& as_it_is, const finding& f) {
  std::vector<std::uint32_t> of;  // by operation: its line
  for (const written& w : as_it_is)
    if (w.what != written::kind::host_waits) of.push_back(w.line);
  text lines = as_it_is;
  for (const number o : f.operations) lines.erase(at_line(lines, of[o]));
  return lines;
}

// Not where more waits are meant than are told.
std::optional<text> moved(const text& as_it_is, const finding& f) {
  text lines = as_it_is;
  const std::regex words(R"(Event \(program.cu:(\d+)\) behind [^()]*\(program.cu:(\d+)\))");
  std::size_t n = 0;
  for (std::sregex_iterator i(f.change.begin(), f.change.end(), words), end; i != end; ++i, ++n) {
    const auto number_of = [&](std::size_t group) {
      return static_cast<std::uint32_t>(std::stoul((*i)[group]));
    };
    const auto wait = at_line(lines, number_of(1));
    const written w = *wait;
    lines.erase(wait);
    lines.insert(at_line(lines, number_of(2)) + 1, w);
  }
  return n == f.count ? std::optional(lines) : std::nullopt;
}

// Each record for which one stream waits once gets another one, behind what that stream needs.
std::optional<text> recorded_earlier(const text& as_it_is, const trace::trace& t,
                                     const finding& f) {
  text lines = as_it_is;
  const std::regex words(R"(stream (\d+) needs kernel k(\d+);)");
  for (std::size_t i = 0; i < f.operations.size(); ++i) {
    std::smatch told;
    if (i == f.evidence.size() || !std::regex_search(f.evidence[i], told, words)) return {};
    const auto stream = static_cast<number>(std::stoul(told[1])) - 1;  // the first is the default
    const auto needed = static_cast<std::uint32_t>(std::stoul(told[2]));
    const std::uint32_t old = t.places[t.calls[t.operations[f.operations[i]].call].place].line;
    const auto is_meant = [&](const written& w) {
      return w.what == written::kind::wait && w.stream == stream && w.of == old;
    };
    if (std::count_if(lines.begin(), lines.end(), is_meant) != 1) return {};
    const std::uint32_t line = last_line + 1 + static_cast<std::uint32_t>(i);
    std::find_if(lines.begin(), lines.end(), is_meant)->of = line;
    const auto after = at_line(lines, needed);
    const written record{.what = written::kind::record,
                         .stream = after->stream,
                         .line = line,
                         .reads = {},
                         .writes = {}};
    lines.insert(after + 1, record);
  }
  return lines;
}

TEST(FindingsOfAnyWaits, WhatIsAdvisedKeepsTheOrderOfTheDataAndGainsWhatItSays) {
  std::map<std::string, std::size_t> looked_at;
  const auto look = [&](std::uint32_t seed, waits_at where, times read) {
    const text lines = any_program(seed);
    if (read == times::read && timed_records(lines).size() < 2) return;  // it has no interval
    const trace::trace t = run(lines, where, read);
    for (const finding& f : explain(t).findings) {
      std::optional<text> changed;
      if (f.rule == "needless-event-wait") changed = without(lines, f);
      if (f.rule == "early-event-wait" && where == waits_at::lines_of_their_own)
        changed = moved(lines, f);
      if (f.rule == "event-recorded-late") changed = recorded_earlier(lines, t, f);
      if (!changed) continue;
      ++looked_at[f.rule + (where == waits_at::one_line ? ", one line" : "") +
                  (read == times::read ? ", timed" : "")];
      expect_order_kept(lines, *changed, read, seed);
      expect_gain(f, t, *changed, read, seed);
    }
  };
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    look(seed, waits_at::lines_of_their_own, times::not_read);
    look(seed, waits_at::one_line, times::not_read);
    look(seed, waits_at::lines_of_their_own, times::read);
  }
  EXPECT_GT(looked_at["needless-event-wait"], 50U);
  EXPECT_GT(looked_at["needless-event-wait, one line"], 50U);
  EXPECT_GT(looked_at["early-event-wait"], 50U);
  EXPECT_GT(looked_at["event-recorded-late"], 20U);
  EXPECT_GT(looked_at["needless-event-wait, timed"], 20U);
  EXPECT_GT(looked_at["early-event-wait, timed"], 20U);
}

}  // namespace
}  // namespace sb::analysis
