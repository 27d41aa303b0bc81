// The part of wait_graph.hpp that guesses who would write the memory that a kernel looks at.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/wait_graph.hpp"

namespace sb::analysis {

using trace::never;
using trace::none;
using trace::number;

namespace {

bool may_write_what_it_reads(const trace::operation& kernel) {
  return std::any_of(kernel.ranges.begin(), kernel.ranges.end(), [](const trace::byte_range& r) {
    return is_anything(r) || r.how == trace::access::read_write;
  });
}

}  // namespace

bool waits_for_own_blocks(const trace::operation& kernel) {
  const trace::blocks_at_end& left = kernel.left;
  return left.waiting != 0 && left.resident != 0 && left.in_vain >= left.resident &&
         may_write_what_it_reads(kernel);
}

// Host functions that cannot start: what they would do does not happen.
std::vector<wait_graph::node> wait_graph::pending_functions() const {
  std::vector<node> functions;
  for (number i = 0; i < trace_.operations.size(); ++i) {
    const trace::operation& o = trace_.operations[i];
    if (pending(i) && o.started == never && o.kind == trace::operation_kind::host_function)
      functions.push_back(i);
  }
  return functions;
}

bool wait_graph::host_may_write(const trace::operation& o) const {
  return std::any_of(o.ranges.begin(), o.ranges.end(), [&](const trace::byte_range& r) {
    return is_anything(r) || (r.allocation < trace_.allocations.size() &&
                              trace_.allocations[r.allocation].kind != trace::memory_kind::device);
  });
}

// One of these, nobody knows which: the first is named as the one, and the others beside it.
void wait_graph::add_guesses(node from, const std::string& why, const std::vector<node>& who,
                             guess how) {
  std::vector<node> each;
  for (const node n : who)
    if (n != from && std::find(each.begin(), each.end(), n) == each.end()) each.push_back(n);
  for (const node n : each) {
    std::string others;
    if (each.size() == 2)
      others = ", or by " + name(each[n == each[0] ? 1 : 0]);
    else if (each.size() > 2)
      others = fmt::format(", or by one of {} others", each.size() - 1);
    add(from, {.to = n, .why = why + " by {}" + others, .guessed = how});
  }
}

// An operation that cannot start, or blocks that cannot, and would write what a kernel reads: the
// likeliest.
std::optional<wait_graph::writer> wait_graph::writer_for(number runs) const {
  const trace::operation& o = trace_.operations[runs];
  number same = none;     // by a pointer to the same place
  number near = none;     // the same allocation, but a pointer to another place of it
  number unknown = none;  // both use memory that is not among their arguments
  for (number i = 0; i < trace_.operations.size() && same == none; ++i) {
    const trace::operation& other = trace_.operations[i];
    if (i == runs || !pending(i) || (other.started != never && other.left.waiting == 0)) continue;
    if (unknown == none && touches_anything(o) && touches_anything(other)) unknown = i;
    for (const trace::byte_range& r : o.ranges) {
      for (const trace::byte_range& w : other.ranges) {
        if (is_anything(r) || r.allocation != w.allocation || w.how == trace::access::read ||
            r.how == trace::access::write) {
          continue;
        }
        if (r.offset == w.offset && same == none) same = i;
        if (near == none) near = i;
      }
    }
  }
  const auto found = [&](number i, std::string_view what) {
    const trace::operation& other = trace_.operations[i];
    return writer{i, what, other.started == never ? 0 : other.left.waiting};
  };
  if (same != none) return found(same, "memory that it reads");
  if (near != none) return found(near, "memory of an allocation that it reads");
  if (unknown != none) return found(unknown, "memory");
  return std::nullopt;
}

// Of a kernel some blocks look at memory in vain, and the others find no room: beside another
// kernel's, or beside these.
void wait_graph::add_blocks(number runs, const std::optional<writer>& other) {
  const trace::operation& o = trace_.operations[runs];
  const std::string why = fmt::format(
      "has {} of its {} blocks on the device; they look at memory in vain, perhaps until it is "
      "written by the {} others, which find no room beside ",
      o.left.resident, std::uint64_t{o.grid[0]} * o.grid[1] * o.grid[2], o.left.waiting);
  for (number i = 0; i < trace_.operations.size(); ++i) {
    const trace::operation& beside = trace_.operations[i];
    if (i == runs || !pending(i) || beside.device != o.device || beside.left.resident == 0)
      continue;
    add(runs, {.to = i,
               .why = fmt::format("{}{{}}, of which {} block{} there", why, beside.left.resident,
                                  beside.left.resident == 1 ? " is" : "s are"),
               .guessed = guess::yes});
  }
  add(runs, {.to = runs,
             .why = why + "them" + (other ? ", or by " + name(other->operation) : ""),
             .guessed = guess::yes});
}

// A kernel that runs for ever reads what others would write: an operation that cannot start, or a
// thread that is stuck in a call.
void wait_graph::add_memory(number runs) {
  const trace::operation& o = trace_.operations[runs];
  std::vector<node> who = pending_functions();
  if (o.kind == trace::operation_kind::host_function) {
    if (links(runs) != nullptr) return;  // the trace says for whom
    const auto known = awaits_.find(runs);
    // One that holds a lock waits for nothing of the device's, mostly.
    std::copy_if(held_.begin(), held_.end(), std::back_inserter(who),
                 [&](node n) { return is_thread(n); });
    who.insert(who.end(), outside_.begin(), outside_.end());
    for (const trace::call& c : trace_.calls)
      if (!c.returned && c.thread != none) who.push_back(thread(c.thread));
    add_guesses(runs,
                (known != awaits_.end() ? known->second : "does not return") +
                    ", perhaps until something is done",
                who);
    return;
  }
  const std::optional<writer> other = writer_for(runs);
  if (waits_for_own_blocks(o)) add_blocks(runs, other);
  if (other) {
    const std::string blocks =
        other->blocks == 0
            ? "{}"
            : fmt::format("{} block{} of {{}} that find{} no room", other->blocks,
                          other->blocks == 1 ? "" : "s", other->blocks == 1 ? "s" : "");
    add(runs,
        {.to = other->operation,
         .why = fmt::format("does not end, perhaps until {} is written by {}", other->what, blocks),
         .guessed = guess::yes});
  }
  if (links(runs) != nullptr) return;
  if (!host_may_write(o)) who.clear();
  const bool nobody = who.empty();
  for (const trace::call& c : trace_.calls) {
    if (c.returned || c.thread == none) continue;
    who.push_back(thread(c.thread));
    break;
  }
  std::string why = "does not end, perhaps until memory is written";
  if (nobody && may_write_what_it_reads(o)) why += " by threads of its own that cannot go on, or";
  add_guesses(runs, why, who, nobody ? guess::anybody : guess::yes);
}

}  // namespace sb::analysis
