// The explanation as JSON. Times are nanoseconds, numbers those of the trace.
#include <algorithm>

#include "analysis/explain.hpp"
#include "analysis/json_writer.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

using trace::number;

namespace {

double percent(trace::nanoseconds part, trace::nanoseconds whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view severity_key(severity s) {
  return s == severity::hang    ? "hang"
         : s == severity::fault ? "fault"
         : s == severity::cost  ? "cost"
                                : "warning";
}

void write_numbers(json_writer& w, std::string_view name, const std::vector<number>& numbers) {
  w.begin_array(name);
  for (const number n : numbers) w.member("", std::uint64_t{n});
  w.end_array();
}

void write_places(json_writer& w, const trace::trace& t, const std::vector<number>& places) {
  w.begin_array("lines");
  for (const number p : places) w.member("", text_of_place(t, p));
  w.end_array();
}

void write_run(json_writer& w, const trace::trace& t, const explanation& e) {
  static constexpr std::string_view clocks[] = {"wall", "modelled", "device"};
  static constexpr std::string_view endings[] = {"unknown", "complete", "hung", "stopped", "cut"};
  const run_summary& s = e.summary;
  w.begin_object("run");
  w.member("program", t.head.program);
  w.member("profile", t.head.profile);
  w.member("clock", clocks[static_cast<std::size_t>(t.head.clock)]);
  w.member("ending", endings[static_cast<std::size_t>(t.head.end)]);
  w.member("deterministic", t.head.deterministic);
  w.member("length", s.length);
  w.member("modelled", e.modelled);
  w.member("operations", std::uint64_t{s.operations});
  w.member("kernels", std::uint64_t{s.kernels});
  w.member("copies", std::uint64_t{s.copies});
  w.member("bytes_to_device", s.bytes_to_device);
  w.member("bytes_to_host", s.bytes_to_host);
  w.member("calls", std::uint64_t{s.calls});
  w.member("streams", std::uint64_t{s.streams});
  w.member("threads", std::uint64_t{s.threads});
  w.member("host_blocked", s.host_blocked);
  w.end_object();
}

void write_path(json_writer& w, const trace::trace& t, const critical_path& path) {
  w.begin_object("bound");
  w.member("length", path.length);
  w.begin_array("causes");
  for (const path_share& s : path.shares) {
    w.begin_object();
    w.member("work", key_of(s.work));
    w.member("link", key_of(s.link));
    w.member("time", s.time);
    w.fraction("percent", percent(s.time, path.length));
    w.member("text", text_of(s.work, s.link));
    write_places(w, t, s.places);
    w.begin_array("calls");
    for (const std::string& name : s.calls) w.member("", name);
    w.end_array();
    w.end_object();
  }
  w.end_array();
  w.begin_array("path");
  for (const path_stretch& s : path.stretches) {
    w.begin_object();
    w.member("begin", s.begin);
    w.member("end", s.end);
    w.member("work", key_of(s.work));
    w.member("link", key_of(s.link));
    if (s.operation != trace::none) w.member("operation", std::uint64_t{s.operation});
    if (s.call != trace::none) w.member("call", std::uint64_t{s.call});
    if (s.thread != trace::none) w.member("thread", std::uint64_t{s.thread});
    w.end_object();
  }
  w.end_array();
  w.end_object();
}

void write_overlap(json_writer& w, const overlap_facts& o) {
  w.begin_object("overlap");
  w.member("begin", o.begin);
  w.member("end", o.end);
  w.member("busy", o.busy);
  w.member("serial", o.serial);
  w.member("longest_chain", o.longest_chain);
  w.member("possible", o.possible());
  w.fraction("achieved_percent", 100 * o.achieved());
  w.begin_array("engines");
  for (const engine_use& e : o.engines) {
    w.begin_object();
    w.member("device", std::uint64_t{e.device});
    w.member("engine", key_of(e.engine));
    w.member("operations", std::uint64_t{e.operations});
    w.member("busy", e.busy);
    w.member("alone", e.alone);
    w.member("together", e.together);
    w.member("work", e.work);
    w.end_object();
  }
  w.end_array();
  w.begin_array("pairs");
  for (const engine_pair& p : o.pairs) {
    w.begin_object();
    w.member("first", std::uint64_t{p.first});
    w.member("second", std::uint64_t{p.second});
    w.member("together", p.together);
    w.end_object();
  }
  w.end_array();
  w.end_object();
}

void write_findings(json_writer& w, const trace::trace& t, const explanation& e) {
  w.begin_array("findings");
  for (const finding& f : e.findings) {
    w.begin_object();
    w.member("rule", f.rule);
    w.member("severity", severity_key(f.weight));
    w.member("cost", f.cost);
    w.fraction("percent", percent(f.cost, std::max(e.overlap.span(), f.cost)));
    w.member("title", f.title);
    w.member("why", f.why);
    w.member("change", f.change);
    w.member("count", std::uint64_t{f.count});
    write_numbers(w, "operations", f.operations);
    write_numbers(w, "calls", f.calls);
    write_places(w, t, f.places);
    w.begin_array("evidence");
    for (const std::string& line : f.evidence) w.member("", line);
    w.end_array();
    w.end_object();
  }
  w.end_array();
}

}  // namespace

std::string json_of(const trace::trace& t, const explanation& e) {
  json_writer w;
  w.begin_object();
  w.member("version", std::uint64_t{1});
  write_run(w, t, e);
  write_path(w, t, e.path);
  write_overlap(w, e.overlap);
  write_findings(w, t, e);
  w.begin_array("not_looked_at");
  for (const std::string& what : e.not_looked_at) w.member("", what);
  w.end_array();
  w.end_object();
  return w.text() + "\n";
}

}  // namespace sb::analysis
