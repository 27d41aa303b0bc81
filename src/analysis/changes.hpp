// Changes to a program before it is replayed: what the run would be if it were written differently.
// Each keeps what the program computes, as far as the byte ranges of its operations tell.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/allocation_parts.hpp"
#include "analysis/program.hpp"
#include "model/graph_timing.hpp"

namespace sb::analysis {

struct step_place {
  number thread = none;  // none: no call issues it
  std::size_t index = 0;
};

// --- the host

// The call is not made, or does not wait any more. Operations of a call that is taken out stay.
void take_out(step& s);
void do_not_wait(step& s);

// --- streams and queues

void make_non_blocking(program& p);  // all blocking streams
void set_connections(program& p, std::uint32_t connections);
// Each `n` streams of a kind and device become one, so that at most `streams` are left of it.
void merge_streams(const trace::trace& t, program& p, std::uint32_t streams);

enum class issue_order : std::uint8_t {
  breadth_first,  // the first operation of every stream, then the second of every stream
  depth_first,    // everything of the first stream, then of the next
};

// Reorders the calls of each thread between its waits. A wait for an event stays behind its record,
// and nothing crosses work in the legacy stream.
void reorder(program& p, issue_order order);

// Issues an operation before another one of the same thread: the calls of its stream that come
// between them go along. False, and nothing changes, where a call between them waits or the
// operation needs something that comes between. `places` are the issuers, and stay so.
[[nodiscard]] bool issue_before(program& p, std::vector<step_place>& places, number operation,
                                number other);

// A call that only makes its stream wait for an event is made right behind the call that issues
// another operation of that stream, a later one of the same thread.
struct moved_wait {
  number wait = none, behind = none;
};
void move_waits(program& p, const std::vector<moved_wait>& moves);

// --- operations

// All kernels are loaded before the run.
void load_before(program& p);

// The copy's host memory is pinned: its length. Much of a copy of pageable memory may have been
// done by its call, which filled the driver's buffer.
void pin_memory(const trace::trace& t, program& p, const step& call, number operation);
// The same, and a call that returns at once.
void pin(const trace::trace& t, program& p, step_place call, number operation);

// What a graph costs: in modelled time as its nodes do by the device's profile, or else as the
// trace has it, or else as on an H200.
struct graph_costs {
  nanoseconds instantiate = 0;  // with what the first launch takes longer
  nanoseconds first_graph = 0;  // of the process, above that; none if the run has graphs
  nanoseconds launch = 0, update = 0;
  nanoseconds first_launch = 0;       // above the others
  nanoseconds captured_call = never;  // the most that one takes
  nanoseconds gap = 0;                // from one node to the next
  std::vector<nanoseconds> given{};   // by node: how far its launch is then; empty: at its end
  std::vector<nanoseconds> later{};   // by node: beyond what it takes to follow another one
};
[[nodiscard]] graph_costs graph_costs_of(const trace::trace& t, const graph_shape& shape);

// The launches in these calls, which are the same each time, become launches of one graph. The
// first time captures it too: it makes the calls. With work of several streams, each of
// them has a branch of the graph, which begins when all of the time before is done, or behind what
// its stream waits for by events of the same time; the host waits for all of them at once.
void launch_as_graph(program& p, number thread, const std::vector<std::vector<std::size_t>>& times,
                     const graph_costs& costs);

// Operations that touch the same bytes, one of them writing, keep their order whatever else is
// changed. To be called before the change. Kernels that were given different ones of the parts use
// different bytes; the answer says whether some are independent only because of that.
enum class assumes_parts : bool { no, yes };
assumes_parts keep_data_order(const trace::trace& t, program& p, const allocation_parts& parts);

// --- looking things up

// Whether two operations have to keep their order because of their data.
enum class data_view : std::uint8_t {
  careful,  // a kernel may touch any byte of the allocations behind its arguments
  likely,   // two kernels with pointers to different places of an allocation touch different bytes
};
[[nodiscard]] bool share_data(const trace::operation& a, const trace::operation& b, data_view view);

// Two ranges of one allocation: they have a byte in common, one of them writing.
[[nodiscard]] bool meet(const trace::byte_range& a, const trace::byte_range& b);

// By operation: the step that issues it.
[[nodiscard]] std::vector<step_place> issuers(const program& p);

}  // namespace sb::analysis
