// A submitted operation while the engine holds it: what a command's payload points at.
//
// A node is freed when nobody holds it: the scheduler's half (from submission to completion) counts
// one, every granted block of a kernel one more.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/kernel_run.hpp"
#include "engine/operation.hpp"
#include "engine/races.hpp"
#include "engine/recorder_tables.hpp"
#include "model/command.hpp"
#include "model/ids.hpp"
#include "model/timing_profile.hpp"
#include "trace/trace.hpp"

namespace sb::engine {

struct known_work;

// What the submitter writes and the scheduling thread reads: few lines of the processor's cache,
// and no others, since they move from one core to the other.
struct alignas(64) submission {
  command as;  // what the scheduler hears
  operation what;
  command_id id;
  device_id device;
  trace::number call = trace::none;  // that submitted it, when that is recorded
  std::uint64_t called_ns = 0;
  trace::number traced_as = trace::none;  // its number in the trace, where its submitter took one
  bool told = false;                      // the trace knows of it by its call
  bool takes_turn = false;                // see engine::impl::take_turn
};

struct node;

// What the trace keeps of a command (recorder.hpp). What is wanted of each, with the first of its
// times, is one line of the processor's cache: there may be so many pending that they have left it
// when they begin.
struct recorded_node {
  trace::number number = trace::none;
  // What its stream had before it, if that was pending, and when it was over.
  trace::number before = trace::none;
  std::uint64_t before_ended = trace::never;
  node* follower = nullptr;  // what is behind it in the same way; it may be gone
  std::uint64_t came = 0;    // the engine's drain in which it could start
  std::int32_t status = 0;   // it failed
  hardware_queue queue;      // that it went through
  bool began = false;
  // What there is beside this.
  enum : std::uint8_t { in_edges = 1, in_held = 2, has_note = 4, waited_for_before = 8 };
  std::uint8_t parts = 0;
};

// A node of a graph: how much later it comes to the device and begins than another operation would
// (model/graph_timing.hpp).
struct graph_place {
  double late_ns = 0, gap_ns = 0;
  bool first = false;  // it waits for nothing in the graph
};

// When what happened to a command, in nanoseconds of the engine's clock; what of it is kept depends
// on who wants to know.
struct command_times {
  std::uint64_t queued = 0;  // it was in its stream
  std::uint64_t ready = 0, begin = 0, end = 0;
  std::uint64_t arrival = 0;                          // modelled time: the device knows of it
  graph_place in_graph;                               // modelled time
  std::uint64_t blocks_granted = 0, blocks_over = 0;  // modelled time
  std::uint64_t end_event = 0;  // modelled time: the event that ends it, which may move
  static constexpr std::uint32_t no_piece = 0xffffffff;
  std::uint32_t piece = no_piece;  // modelled time, of a copy or fill that shares the memory
  // Modelled time: sums over the blocks that were shared out, for the trace.
  struct {
    double blocks = 0, alone = 0, arithmetic = 0, memory = 0;
  } needs;
  std::shared_ptr<known_work> work;  // modelled time, of a kernel that can be counted
  bool counted = false;              // modelled time: this launch is
  std::uint64_t last_ones = 0;       // modelled time: so many blocks were left when that last told
};

// What else the trace keeps of one that waits for more than what is before it in its stream, or
// that others wait for.
struct recorded_waits {
  static constexpr std::uint32_t no_note = 0xffffffff;
  struct wait {
    std::uint32_t on;  // a note
    trace::wait_cause cause;
  };
  std::uint32_t note = no_note;             // its own
  std::uint32_t ahead = no_note;            // a note: in front of it in its hardware queue
  std::uint64_t admitted = 0;               // it got a connection, after it had waited for one
  std::uint64_t left_queue = trace::never;  // when others waited for that
  short_list<wait, 3> waits;
  short_list<trace::edge, 3> edges;
};

// What belongs to the engine from the moment it takes the node in.
struct alignas(64) node_progress {
  // Guarded by the engine's lock.
  recorded_node recorded;
  command_times times;
  recorded_waits held;
  // A section: the drain in which its present body began. The marker at the end of a body: its
  // section.
  std::uint64_t body_began = 0;
  node* section = nullptr;
  kernel_run run;
  std::shared_ptr<race_command> races;  // null: races are not checked
  std::atomic<std::uint64_t> references{1};
  std::uint64_t blocks_left = 0;     // kernels; guarded by the engine's lock, as the next
  std::uint64_t asserted = 0;        // of them, ended by a failed assertion
  std::uint64_t asserted_until = 0;  // when the device fails for it at the latest
  bool started = false;
  bool ended = false;  // completed or abandoned
  // All nodes that the scheduler knows, for the end of the engine and for faults. Guarded by the
  // engine's lock.
  node* previous = nullptr;
  node* next = nullptr;
};

struct node : submission, node_progress {
  // Not in use: the next of its batch.
  [[nodiscard]] node*& next_idle() { return next_idle_; }
  // The first of a batch: the first of the next one, and how many there are in its own.
  [[nodiscard]] node*& next_batch() { return next_batch_; }
  [[nodiscard]] std::size_t& batch_count() { return batch_count_; }

 private:
  node* next_idle_ = nullptr;
  node* next_batch_ = nullptr;
  std::size_t batch_count_ = 0;
};

}  // namespace sb::engine
