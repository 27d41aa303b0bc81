// A submitted operation while the engine holds it: what a command's payload points at.
//
// A node is freed when nobody holds it: the scheduler's half (from submission to completion) counts
// one, every granted block of a kernel one more.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/kernel_run.hpp"
#include "engine/operation.hpp"
#include "engine/races.hpp"
#include "model/command.hpp"
#include "model/ids.hpp"

namespace sb::engine {

// What the submitter writes and the scheduling thread reads: few lines of the processor's cache,
// and no others, since they move from one core to the other.
struct alignas(64) submission {
  command as;  // what the scheduler hears
  operation what;
  command_id id;
  device_id device;
};

// What belongs to the engine from the moment it takes the node in.
struct node_progress {
  // Guarded by the engine's lock. A section: the drain in which its present body began. The marker
  // at the end of a body: its section.
  std::uint64_t body_began = 0;
  struct node* section = nullptr;
  kernel_run run;
  std::shared_ptr<race_command> races;  // null: races are not checked
  std::atomic<std::uint64_t> references{1};
  std::uint64_t blocks_left = 0;  // kernels; guarded by the engine's lock, as the next
  bool started = false;
  bool ended = false;  // completed or abandoned
  // All nodes that the scheduler knows, for the end of the engine and for faults. Guarded by the
  // engine's lock.
  struct node* previous = nullptr;
  struct node* next = nullptr;
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
