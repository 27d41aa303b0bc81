#include "analysis/wait_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/words.hpp"

namespace sb::analysis {

using trace::never;
using trace::none;
using trace::number;

namespace {

std::string_view words_of(trace::wait_cause cause) {
  switch (cause) {
    case trace::wait_cause::stream_order:
      return "comes behind {} in its stream";
    case trace::wait_cause::event:
      return "waits by an event for {}";
    case trace::wait_cause::legacy_barrier:
      return "waits by the rules of the default stream for {}";
    case trace::wait_cause::graph_edge:
      return "comes in its graph behind {}";
    case trace::wait_cause::queue_head:
      return "is in the same hardware queue behind {}";
    case trace::wait_cause::engine_busy:
      return "needs the engine that is held by {}";
    case trace::wait_cause::device_full:
      return "finds no room on the device beside {}";
    case trace::wait_cause::allocation:
      return "needs the memory used by {}";
    case trace::wait_cause::loading:
      return "is used for the first time and is loaded only behind {}";
    case trace::wait_cause::host_call:
      break;
  }
  return "waits for {}";
}

}  // namespace

wait_graph::wait_graph(const trace::trace& t, guesses which)
    : trace_(t), kernels_there_(t.devices.size()) {
  for (const trace::operation& o : t.operations) {
    if (o.kind == trace::operation_kind::kernel && o.started != never && o.ended == never &&
        o.device < kernels_there_.size())
      ++kernels_there_[o.device];
  }
  for (number i = 0; i < t.operations.size(); ++i) add_operation(i);
  for (const trace::call& c : t.calls) {
    if (!c.returned && c.thread != none) add_thread(c);
  }
  add_stuck();
  const bool stopped = t.head.end == trace::ending::stopped && which == guesses::no;
  if (stopped) {
    add_askers();
    add_lookers();
    return;
  }
  if (which == guesses::yes && t.stuck.empty()) find_outside();
  for (number i = 0; which == guesses::yes && i < t.operations.size(); ++i) {
    if (pending(i) && t.operations[i].started != never) add_memory(i);
  }
  add_outside();
}

const std::vector<wait_graph::link>* wait_graph::links(node n) const {
  const auto found = links_.find(n);
  return found == links_.end() ? nullptr : &found->second;
}

const wait_graph::link* wait_graph::way(node from, node to) const {
  if (const std::vector<link>* out = links(from); out != nullptr) {
    for (const link& l : *out) {
      if (l.to == to) return &l;
    }
  }
  return nullptr;
}

// --- what waits for what

std::string wait_graph::reason(const trace::operation& o, const trace::edge& e,
                               std::size_t connections) const {
  if (e.cause == trace::wait_cause::event) {
    // Which one, where the trace says it.
    const trace::operation& record = trace_.operations[e.from];
    const number event = o.event != none ? o.event : record.event;
    if (event != none && record.kind == trace::operation_kind::event_record)
      return fmt::format("waits for event {}, which is recorded by {{}}", event);
  }
  if (const std::size_t limit = kernel_limit(e.from);
      e.cause == trace::wait_cause::device_full && limit != 0)
    return fmt::format(
        "finds no room on the device, which holds {} kernels at a time, one of them "
        "{{}}",
        limit);
  if (const std::uint64_t blocks = trace_.operations[e.from].left.resident;
      e.cause == trace::wait_cause::device_full && blocks != 0)
    return fmt::format("finds no room on the device beside {{}}, of which {} block{} there", blocks,
                       blocks == 1 ? " is" : "s are");
  if (e.cause == trace::wait_cause::graph_edge && o.kind == trace::operation_kind::graph_begin)
    return "launches the same executable graph as {}";
  if (e.cause == trace::wait_cause::queue_head && connections > 1)
    return fmt::format("waits for a hardware connection; all {} are held, one of them by {{}}",
                       connections);
  if (e.cause == trace::wait_cause::queue_head && o.queue.kind != queue_class::none)
    return fmt::format("is in {} behind {{}}", text_of(o.queue));
  return std::string(words_of(e.cause));
}

void wait_graph::add_operation(number i) {
  const trace::operation& o = trace_.operations[i];
  if (!pending(i)) return;
  const auto is_known = [&](number other) {
    return other < trace_.operations.size() && pending(other);
  };
  if (o.started == never) {
    const auto connections = static_cast<std::size_t>(
        std::count_if(o.waits.begin(), o.waits.end(), [&](const trace::edge& e) {
          return e.cause == trace::wait_cause::queue_head && is_known(e.from);
        }));
    bool known = false;
    for (const trace::edge& e : o.waits) {
      if (!is_known(e.from)) continue;
      const bool queue = e.cause == trace::wait_cause::queue_head;
      add(i, {e.from, reason(o, e, connections), e.cause == trace::wait_cause::stream_order,
              queue && connections > 1});
      known = true;
    }
    if (o.record != none && is_known(o.record)) {
      if (!known)
        add(i, {o.record, reason(o, {.from = o.record, .cause = trace::wait_cause::event}, 0)});
      known = true;
    }
    for (const number other : o.after) {
      if (is_known(other) && way(i, other) == nullptr)
        add(i, {other, reason(o, {.from = other, .cause = trace::wait_cause::graph_edge}, 0)});
    }
    const auto before = last_in_stream_.find(o.stream);
    if (!known && before != last_in_stream_.end())
      add(i, {before->second, std::string(words_of(trace::wait_cause::stream_order)), true});
  }
  if (!o.in_graph) last_in_stream_[o.stream] = i;
}

// A thread in a call that waits for one operation, or for all that are pending. A call that issued
// it and would not wait for it: modelled time goes on when it is known what the operation does.
void wait_graph::add_thread(const trace::call& c) {
  constexpr std::size_t most = 64;
  const std::string place = text_of_place_without_folders(trace_, c.place);
  const std::string where = c.name + (place.empty() ? "" : fmt::format(" ({})", place));
  const std::string why = "waits for {} in " + where;
  const node n = thread(c.thread);
  threads_.push_back(n);
  if (c.blocked_on < trace_.operations.size() && pending(c.blocked_on)) {
    const number issued_by = trace_.operations[c.blocked_on].call;
    const bool issued = issued_by < trace_.calls.size() && &trace_.calls[issued_by] == &c;
    return add(n, {c.blocked_on,
                   issued ? "is in " + where + "; modelled time goes on when {} has run" : why});
  }
  for (const auto& [stream, last] : last_in_stream_) {
    add(n, {last, why});
    if (links_[n].size() >= most) break;
  }
}

void wait_graph::find_outside() {
  const std::size_t threads = trace_.threads.size();
  std::vector<bool> out(threads, false);
  std::vector<trace::nanoseconds> last(threads, 0);
  for (const trace::call& c : trace_.calls) {
    if (c.thread >= threads) continue;
    out[c.thread] = true;
    last[c.thread] = std::max(last[c.thread], c.end);
  }
  for (const trace::call& c : trace_.calls) {
    if (!c.returned && c.thread < threads) out[c.thread] = false;
  }
  // Somebody waited for it behind its last call: for its end, as it seems.
  for (const trace::thread_wait& w : trace_.thread_waits) {
    if (w.other < threads && w.other != 0 && w.end > w.begin && w.end >= last[w.other])
      out[w.other] = false;
  }
  for (number i = 0; i < threads; ++i) {
    if (out[i]) outside_.push_back(thread(i));
  }
}

// "waits for lock 1": which one, where there are several.
std::string wait_graph::awaited_words(const trace::stuck_thread& s) const {
  std::vector<number> locks;
  for (const trace::stuck_thread& each : trace_.stuck) {
    if (each.what == trace::awaited::lock &&
        std::find(locks.begin(), locks.end(), each.object) == locks.end())
      locks.push_back(each.object);
  }
  switch (s.what) {
    case trace::awaited::lock:
      return locks.size() == 1
                 ? "waits for a lock"
                 : fmt::format("waits for lock {}",
                               std::find(locks.begin(), locks.end(), s.object) - locks.begin());
    case trace::awaited::condition:
      return "waits for the signal of a condition";
    case trace::awaited::semaphore:
      return "waits for a semaphore";
    case trace::awaited::barrier:
      return "waits for others at a barrier";
    case trace::awaited::thread:
      return "waits for another thread's end";
    case trace::awaited::memory:
      break;
  }
  return "waits for a future, an atomic or the like";
}

// What the trace of a run that hangs has of waits outside of the runtime's calls.
void wait_graph::add_stuck() {
  for (const trace::stuck_thread& s : trace_.stuck) {
    const bool function = s.thread == none;
    const node who = function ? node{s.function} : thread(s.thread);
    std::string what = awaited_words(s) + (function ? std::string() : last_call(s.thread));
    if (s.holder_ended) {  // nothing brings that back
      what += fmt::format(", which is held by {} that has ended",
                          s.holder != none ? name(thread(s.holder)) : "a thread");
      awaits_.emplace(who, what);
      lost_.push_back(who);
      if (!function) outside_.push_back(who);
      continue;
    }
    const bool known = s.holder != none || s.holding_function != none;
    if (known) {
      const node holder = s.holder != none ? thread(s.holder) : node{s.holding_function};
      const bool lock = s.what == trace::awaited::lock;
      if (lock && holder == who)
        what += ", which it holds itself";
      else
        what = lock ? what + ", which is held by {}"
                    : "waits for the end of {}" + (function ? std::string() : last_call(s.thread));
      add(who, {holder, what});
      held_.push_back(who);
      if (lock) locked_.push_back(who);
      continue;
    }
    awaits_.emplace(who, what);
    if (!function) outside_.push_back(who);
  }
}

// Whatever such a thread waits for, it does not come: from another thread, or from a host function.
void wait_graph::add_outside() {
  for (const node n : outside_) {
    if (std::find(lost_.begin(), lost_.end(), n) != lost_.end()) continue;
    const auto known = awaits_.find(n);
    const std::string why =
        known != awaits_.end()
            ? known->second + ", perhaps until something is done by {}"
            : fmt::format("is in none of the runtime's calls{} and waits, perhaps for {{}}",
                          last_call(static_cast<number>(n - trace_.operations.size())));
    for (const node other : threads_) add(n, {.to = other, .why = why, .guessed = guess::yes});
    for (const node other : held_) {
      if (is_thread(other)) add(n, {.to = other, .why = why, .guessed = guess::yes});
    }
    for (number i = 0; i < trace_.operations.size(); ++i) {
      const trace::operation& o = trace_.operations[i];
      if (pending(i) && o.started != never && o.kind == trace::operation_kind::host_function)
        add(n, {.to = i, .why = why, .guessed = guess::yes});
    }
  }
}

std::string wait_graph::last_call(number thread) const {
  const trace::call* last = nullptr;
  for (const trace::call& c : trace_.calls) {
    if (c.thread == thread && (last == nullptr || c.begin >= last->begin)) last = &c;
  }
  if (last == nullptr) return {};
  const std::string place = text_of_place_without_folders(trace_, last->place);
  return fmt::format(" (its last call was {}{})", last->name, place.empty() ? "" : ", " + place);
}

// What waits for nothing comes to its end, and so does what waits for such. The rest is stuck.
std::vector<bool> wait_graph::find_stuck(bool firm) const {
  const std::size_t nodes = trace_.operations.size() + trace_.threads.size() + threads_.size();
  std::size_t most = nodes;
  for (const auto& [n, out] : links_) {
    most = std::max(most, n + 1);
    for (const link& l : out) most = std::max(most, l.to + 1);
  }
  std::vector<bool> stuck(most, false);
  std::vector<std::size_t> needs(most, 0);
  std::map<node, std::vector<const std::pair<const node, std::vector<link>>*>> waited_for;
  for (const auto& entry : links_) {
    bool either = false;
    for (const link& l : entry.second) {
      if (!counts(l, firm)) continue;
      waited_for[l.to].push_back(&entry);
      needs[entry.first] += l.either ? 0 : 1;
      either |= l.either;
    }
    needs[entry.first] += either ? 1 : 0;
    stuck[entry.first] = needs[entry.first] != 0;
  }
  std::vector<node> go_on;
  for (const auto& [n, unused] : waited_for) {
    if (!stuck[n]) go_on.push_back(n);
  }
  std::vector<bool> chosen(most, false);  // one of those that would be enough goes on
  while (!go_on.empty()) {
    const node n = go_on.back();
    go_on.pop_back();
    const auto found = waited_for.find(n);
    if (found == waited_for.end()) continue;
    for (const auto* entry : found->second) {
      const node waits = entry->first;
      for (const link& l : entry->second) {
        if (l.to != n || !counts(l, firm)) continue;
        if (l.either && chosen[waits]) continue;
        if (l.either) chosen[waits] = true;
        if (--needs[waits] == 0) {
          stuck[waits] = false;
          go_on.push_back(waits);
        }
      }
    }
    waited_for.erase(found);  // once is enough
  }
  return stuck;
}

// --- ways through it

// Of several rings, one that does not need the host to write what nobody else would.
std::vector<wait_graph::node> wait_graph::ring() const {
  for (const bool firm : {true, false}) {
    if (std::vector<node> found = ring_in(find_stuck(firm), firm); !found.empty()) return found;
  }
  return {};
}

std::vector<wait_graph::node> wait_graph::ring_in(const std::vector<bool>& stuck, bool firm) const {
  // Every stuck node waits for another stuck one: whoever goes on comes back to where it was.
  for (const auto& [start, unused] : links_) {
    if (!stuck[start]) continue;
    std::vector<node> path;
    std::map<node, std::size_t> places;
    for (node n = start;;) {
      if (const auto seen = places.find(n); seen != places.end()) {
        path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(seen->second));
        const auto thread =
            std::find_if(path.begin(), path.end(), [&](node each) { return is_thread(each); });
        if (thread != path.end()) std::rotate(path.begin(), thread, path.end());
        return path;
      }
      places.emplace(n, path.size());
      path.push_back(n);
      const std::vector<link>* out = links(n);
      const auto next = std::find_if(out->begin(), out->end(),
                                     [&](const link& l) { return stuck[l.to] && counts(l, firm); });
      if (next == out->end()) break;
      n = next->to;
    }
  }
  return {};
}

std::vector<wait_graph::node> wait_graph::chain(node from, const std::vector<node>& until) const {
  std::vector<node> result{from};
  std::map<node, bool> seen{{from, true}};
  const auto is_end = [&](node n) {
    return std::find(until.begin(), until.end(), n) != until.end();
  };
  bool by_stream = false;
  for (node n = from; !is_end(n);) {
    const std::vector<link>* out = links(n);
    if (out == nullptr || !seen.emplace(out->front().to, true).second) break;
    const link& next = out->front();
    if (by_stream && next.in_stream) result.pop_back();
    by_stream = next.in_stream;
    n = next.to;
    result.push_back(n);
  }
  return result;
}

std::vector<wait_graph::node> wait_graph::between(node n, node on) const {
  std::vector<node> result;
  if (way(n, on) != nullptr) return result;
  for (const std::vector<link>* out = links(n); out != nullptr; out = links(out->front().to)) {
    if (out->front().to == on || !out->front().in_stream) break;
    result.push_back(out->front().to);
  }
  return result;
}

std::vector<std::vector<wait_graph::node>> wait_graph::chains() const {
  std::vector<std::vector<node>> result;
  // Of those that lead to one end, the longest says most.
  const auto keep = [&](std::vector<node> way) {
    const auto same = std::find_if(result.begin(), result.end(), [&](const std::vector<node>& c) {
      return c.front() == way.front() && c.back() == way.back();
    });
    if (same == result.end())
      result.push_back(std::move(way));
    else if (same->size() < way.size())
      *same = std::move(way);
  };
  for (const node t : threads_) {
    const std::vector<link>* out = links(t);
    for (std::size_t i = 0; out != nullptr && i < out->size(); ++i) {
      std::vector<node> way = chain((*out)[i].to);
      way.insert(way.begin(), t);
      keep(std::move(way));
    }
  }
  for (const auto& [stream, last] : last_in_stream_) {
    if (threads_.empty()) result.push_back(chain(last));
  }
  return result;
}

wait_graph::guess wait_graph::guess_of(node n, node on) const {
  const link* l = way(n, on);
  return l == nullptr ? guess::no : l->guessed;
}

bool wait_graph::waits_for_room(node n, node on) const {
  if (is_thread(n) || is_thread(on)) return false;
  const trace::operation& o = trace_.operations[n];
  return o.started == never && std::any_of(o.waits.begin(), o.waits.end(), [&](const auto& e) {
           return e.from == on && e.cause == trace::wait_cause::device_full;
         });
}

bool wait_graph::waits_for_blocks(node n, node on) const {
  if (is_thread(n) || is_thread(on) || !waits_for_own_blocks(trace_.operations[n])) return false;
  return n == on || trace_.operations[on].left.resident != 0;
}

std::size_t wait_graph::kernel_limit(node n) const {
  const number device = trace_.operations[n].device;
  if (device >= trace_.devices.size()) return 0;
  const std::size_t limit = trace_.devices[device].resident_kernels;
  return limit != 0 && kernels_there_[device] >= limit ? limit : 0;
}

// --- words

std::string wait_graph::name(node n) const {
  if (!is_thread(n)) return name_with_stream(trace_, static_cast<number>(n));
  const auto thread = static_cast<number>(n - trace_.operations.size());
  const bool named = thread < trace_.threads.size() && !trace_.threads[thread].name.empty();
  return named ? fmt::format("host thread {}", trace_.threads[thread].name)
               : fmt::format("host thread {}", thread);
}

std::string wait_graph::sentence(node n, node on) const {
  const link* l = way(n, on);
  std::string why = l != nullptr
                        ? l->why
                        : fmt::format("comes behind {{}} in its stream, with {} between them",
                                      between(n, on).size());
  if (const std::size_t hole = why.find("{}"); hole != std::string::npos)
    why.replace(hole, 2, name(on));
  return name(n) + (l != nullptr ? l->aside : " ") + why;
}

std::string wait_graph::state(node n) const {
  if (const auto known = awaits_.find(n); known != awaits_.end())
    return name(n) + " " + known->second;
  if (std::find(outside_.begin(), outside_.end(), n) != outside_.end()) {
    const auto thread = static_cast<number>(n - trace_.operations.size());
    const bool stopped = trace_.head.end == trace::ending::stopped;
    return fmt::format(
        "{} is in none of the runtime's calls{}: it {}{}waits for a lock, a signal or "
        "another thread",
        name(n), last_call(thread), thread == 0 ? "" : "has ended, or ",
        stopped ? "computes, or " : "");
  }
  if (is_thread(n)) return name(n) + " waits, and nothing is pending";
  const trace::operation& o = trace_.operations[n];
  if (o.started == never) return name(n) + " had not started; what it waits for is not recorded";
  const std::string time = text_of_time(trace_.end - std::min(trace_.end, o.started));
  if (o.kind == trace::operation_kind::host_function) {
    const number behind = written_behind(n);
    return fmt::format("{} had run for {} and had not returned{}", name(n), time,
                       behind == none
                           ? ""
                           : fmt::format("; {}, which comes behind it, writes memory that the host "
                                         "sees: if it looks for that, neither goes on",
                                         name(behind)));
  }
  std::string blocks;
  if (o.left.resident != 0) {
    blocks = fmt::format(": {} of its blocks {} on the device", o.left.resident,
                         o.left.resident == 1 ? "was" : "were");
    if (o.left.in_vain >= o.left.resident) blocks += " and looked at memory in vain";
    if (o.left.waiting != 0) blocks += fmt::format(", {} waited for room there", o.left.waiting);
  }
  return fmt::format("{} had run for {} and was not over{}", name(n), time, blocks);
}

std::string wait_graph::words(node n) const {
  const std::vector<link>* out = links(n);
  return out == nullptr ? state(n) : sentence(n, out->front().to);
}

}  // namespace sb::analysis
