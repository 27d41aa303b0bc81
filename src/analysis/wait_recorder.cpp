#include "analysis/wait_recorder.hpp"

#include <algorithm>

#include "analysis/sort_stably.hpp"
#include "model/stream_rules.hpp"

namespace sb::analysis {

namespace {

// Keys of what runs operations one at a time, or as many as there is room for.
constexpr std::uint32_t kernels_key = 0, host_functions_key = 1, copies_key = 2;

}  // namespace

wait_recorder::wait_recorder(const program& p, std::vector<operation_times>& times)
    : program_(p),
      times_(times),
      waits_(p.tasks.size()),
      dependencies_(p.tasks.size()),
      streams_(p.streams.size()),
      ahead_(p.tasks.size(), none),
      admitted_(p.tasks.size(), 0),
      left_queue_(p.tasks.size(), never) {
  for (number i = 0; i < p.streams.size(); ++i) {
    const program_stream& s = p.streams[i];
    auto& [legacy, blocking] = default_rules_[s.device];
    if (s.kind == stream_kind::legacy) {
      legacy.push_back(i);
    } else if (s.kind == stream_kind::blocking) {
      blocking.push_back(i);
    }
  }
}

void wait_recorder::depend(number operation, number on, trace::wait_cause cause) {
  if (on != none && on != operation && times_[on].ended == never && times_[on].queued != never) {
    dependencies_[operation].push_back({on, cause});
  }
}

void wait_recorder::submitted(number operation) {
  const task& t = program_.tasks[operation];
  const program_stream& where = program_.streams[t.stream];
  stream_state& s = streams_[t.stream];
  if (t.what.order == command_order::in_stream) {
    depend(operation, s.last, trace::wait_cause::stream_order);
    if (where.kind != stream_kind::non_blocking) {
      const auto& [legacy, blocking] = default_rules_[where.device];
      for (const number other : where.kind == stream_kind::legacy ? blocking : legacy) {
        depend(operation, streams_[other].last, trace::wait_cause::legacy_barrier);
      }
    }
    s.before_last = s.last;
    s.last = operation;
  }
  depend(operation, t.record, trace::wait_cause::event);
  const bool launch = t.what.kind == command_kind::graph_head;
  const bool graph =
      launch || t.what.order == command_order::free || t.what.kind == command_kind::marker;
  for (const number other : t.after) {
    // A launch behind another one of the same graph in its stream is behind it in any case.
    if (launch && other == s.before_last) continue;
    depend(operation, other, graph ? trace::wait_cause::graph_edge : trace::wait_cause::event);
  }
  for (const number other : t.loading) depend(operation, other, trace::wait_cause::loading);
}

// What holds it for another reason holds it for that one.
void wait_recorder::loads_behind(number operation, number on) {
  const std::vector<dependency>& known = dependencies_[operation];
  if (std::none_of(known.begin(), known.end(), [&](const dependency& d) { return d.on == on; }))
    depend(operation, on, trace::wait_cause::loading);
}

void wait_recorder::entered_queue(number operation, number behind, nanoseconds waited_until) {
  ahead_[operation] = behind;
  admitted_[operation] = waited_until;
}

void wait_recorder::left_queue(number operation, nanoseconds now) { left_queue_[operation] = now; }

void wait_recorder::took_no_place(number operation) {
  stream_state& s = streams_[program_.tasks[operation].stream];
  if (s.last == operation) {
    s.last = s.before_last;
  }
  dependencies_[operation].clear();
}

void wait_recorder::note(number operation, number from, trace::wait_cause cause,
                         nanoseconds until) {
  waits_[operation].push_back({.from = from, .call = none, .cause = cause, .until = until});
}

void wait_recorder::resolve(number operation) {
  operation_times& t = times_[operation];
  t.ready = t.queued;
  for (const dependency& d : dependencies_[operation]) {
    const nanoseconds until = times_[d.on].ended;
    if (until != never && until > t.queued) {
      note(operation, d.on, d.cause, until);
      t.ready = std::max(t.ready, until);
    }
  }
  sort_stably(waits_[operation],
              [](const trace::edge& a, const trace::edge& b) { return a.until < b.until; });
  dependencies_[operation] = {};
}

void wait_recorder::reached(number operation, nanoseconds now) {
  resolve(operation);
  times_[operation].ready = now;
}

number& wait_recorder::last_on_engine(number operation) {
  const task& t = program_.tasks[operation];
  const std::uint32_t device = program_.streams[t.stream].device;
  std::pair<std::uint32_t, std::uint32_t> key{device, kernels_key};
  if (t.what.kind == command_kind::host_function) {
    key = {0, host_functions_key};
  } else if (t.what.kind == command_kind::copy) {
    const copy_direction d = t.what.direction == copy_direction::peer
                                 ? copy_direction::device_to_device
                                 : t.what.direction;
    key = {device, copies_key + static_cast<std::uint32_t>(d)};
  }
  return engine_last_.try_emplace(key, none).first->second;
}

void wait_recorder::resident(number operation) { resolve(operation); }

void wait_recorder::may_start(number operation, nanoseconds now) {
  const command_kind kind = program_.tasks[operation].what.kind;
  if (kind != command_kind::kernel) {
    resolve(operation);
  }
  const nanoseconds ready = times_[operation].ready;
  nanoseconds from = std::max(ready, admitted_[operation]);
  if (const number ahead = ahead_[operation]; ahead != none) {
    if (left_queue_[ahead] != never) from = std::max(from, left_queue_[ahead]);
    if (from > ready) note(operation, ahead, trace::wait_cause::queue_head, from);
  }
  if (now > from && last_on_engine(operation) != none) {
    note(operation, last_on_engine(operation),
         kind == command_kind::kernel ? trace::wait_cause::device_full
                                      : trace::wait_cause::engine_busy,
         now);
  }
}

void wait_recorder::blocks_left(number operation) { last_on_engine(operation) = operation; }

void wait_recorder::finished(number operation) {
  const command_kind kind = program_.tasks[operation].what.kind;
  if (kind == command_kind::copy || kind == command_kind::host_function) {
    last_on_engine(operation) = operation;
  }
}

}  // namespace sb::analysis
