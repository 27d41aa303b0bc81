#include <cstdio>
#include <string>

#include "trace/export.hpp"
#include "trace/rows.hpp"
#include "trace/words.hpp"

namespace sb::trace {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      (out += '\\') += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(letter));
      out += code;
    } else {
      out += letter;
    }
  }
  return out += '"';
}

// Microseconds, exact.
std::string micro(nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(time / 1000),
                static_cast<unsigned>(time % 1000));
  return text;
}

class chrome_file {
 public:
  chrome_file(const trace& what, const export_sink& out)
      : what_(what), out_(out), places_(what.operations.size()) {}

  void write() {
    out_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    const std::vector<lane_group> groups = rows_of(what_);
    for (std::size_t pid = 0; pid < groups.size(); ++pid) {
      name("process_name", pid, 0, groups[pid].name);
      for (std::size_t tid = 0; tid < groups[pid].lanes.size(); ++tid) {
        const lane& row = groups[pid].lanes[tid];
        name("thread_name", pid, tid, row.name);
        sort(pid, tid);
        for (const slice& one : row.slices) add(one, pid, tid, row.what);
      }
    }
    add_arrows();
    out_("\n]}\n");
  }

 private:
  struct where {
    std::size_t pid = 0, tid = 0;
    bool is_known = false;
  };

  void event(const std::string& text) {
    out_(first_ ? "" : ",\n");
    first_ = false;
    out_(text);
  }
  static std::string at(std::size_t pid, std::size_t tid) {
    return "\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid);
  }
  void name(std::string_view what, std::size_t pid, std::size_t tid, std::string_view text) {
    event("{\"ph\":\"M\",\"name\":" + quoted(what) + "," + at(pid, tid) +
          ",\"args\":{\"name\":" + quoted(text) + "}}");
  }
  void sort(std::size_t pid, std::size_t tid) {
    event("{\"ph\":\"M\",\"name\":\"thread_sort_index\"," + at(pid, tid) +
          ",\"args\":{\"sort_index\":" + std::to_string(tid) + "}}");
  }

  void add(const slice& one, std::size_t pid, std::size_t tid, lane::sort row) {
    const bool is_mark = one.what == slice::source::annotation &&
                         what_.annotations[one.which].what == annotation::shape::mark;
    std::string text = is_mark ? "{\"ph\":\"i\",\"s\":\"t\"," : "{\"ph\":\"X\",";
    text += at(pid, tid) + ",\"ts\":" + micro(one.begin);
    if (!is_mark) text += ",\"dur\":" + micro(one.end - one.begin);
    text += ",\"cat\":" + quoted(category_of(what_, one)) +
            ",\"name\":" + quoted(label_of(what_, one)) + ",\"args\":{";
    bool first = true;
    for (const detail& part : details_of(what_, one)) {
      if (!first) text += ',';
      (text += quoted(part.key)) += ':';
      text += part.is_text ? quoted(part.text) : std::to_string(part.value);
      first = false;
    }
    event(text + "}}");
    if (one.what == slice::source::operation && row == lane::sort::stream)
      places_[one.which] = {pid, tid, true};
  }

  // An arrow begins within the slice that was waited for and ends where the one that waited begins.
  void add_arrows() {
    std::uint64_t id = 0;
    for (number i = 0; i < what_.operations.size(); ++i) {
      const operation& op = what_.operations[i];
      for (const edge& wait : op.waits) {
        if (wait.from == none || !places_[i].is_known || !places_[wait.from].is_known) continue;
        const std::string common = "\"cat\":" + quoted(word(wait.cause)) +
                                   ",\"name\":" + quoted(word(wait.cause)) +
                                   ",\"id\":" + std::to_string(++id) + ",";
        const where &from = places_[wait.from], &to = places_[i];
        event("{\"ph\":\"s\"," + common + at(from.pid, from.tid) +
              ",\"ts\":" + micro(what_.operations[wait.from].started) + "}");
        event("{\"ph\":\"f\",\"bp\":\"e\"," + common + at(to.pid, to.tid) +
              ",\"ts\":" + micro(op.started) + "}");
      }
    }
  }

  const trace& what_;
  const export_sink& out_;
  std::vector<where> places_;
  bool first_ = true;
};

}  // namespace

void export_chrome(const trace& what, const export_sink& out) { chrome_file(what, out).write(); }

}  // namespace sb::trace
