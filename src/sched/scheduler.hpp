// The scheduler: the ordering rules of CUDA streams as a deterministic state machine.
//
// In:  submit, complete, blocks_done, wait. Out: a list of actions. There is no thread, lock, clock
// or callback in here; whoever owns a scheduler serialises the calls and performs the actions. The
// same calls in the same order give the same actions.
//
// Invariants
//   - a command starts only when everything it depends on is complete, when it is at the head of
//   its
//     hardware queue, and when its engine has room;
//   - every submitted command is eventually started if every started command is completed;
//   - an instant command (event_record, event_wait, marker) is complete when its `reached` action
//   is out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/command.hpp"
#include "model/device_profile.hpp"
#include "model/ids.hpp"
#include "model/stream_rules.hpp"

namespace sb::sched {

// What of a device matters for ordering and arbitration.
struct device_limits {
  std::uint32_t multiprocessors = 132;
  std::uint32_t threads_per_multiprocessor = 2048;
  std::uint32_t blocks_per_multiprocessor = 32;
  std::uint32_t shared_per_multiprocessor = 233472;
  std::uint32_t registers_per_multiprocessor = 65536;
  std::uint32_t reserved_shared_per_block = 1024;
  std::uint32_t resident_kernels = 128;
  // 3 and more: one for each direction, and one for copies inside the device and between devices.
  // 2: these use the one of host-to-device copies. 1: all copies take turns. 0: so do copies, fills
  // and kernels; several kernels may still be resident together.
  std::uint32_t copy_engines = 3;
};

[[nodiscard]] device_limits limits_of(const device_profile& profile);

struct machine {
  std::vector<device_limits> devices;
  std::uint32_t connections = 8;  // CUDA_DEVICE_MAX_CONNECTIONS
  // What completes within this time counts as complete before. With one connection: a host function
  // takes no place in a shared queue if its dependencies do, by device_time. With several: a stream
  // that had to share a connection moves to one that is unused by then. 0 is exact; a machine that
  // is slower than the device it stands for needs some, or its slowness would show as order. See
  // set_time.
  std::uint64_t grace = 0;
};

enum class action_kind : std::uint8_t {
  start,    // begin executing the command (kernels: blocks follow by grants)
  grant,    // `count` more blocks of the kernel may run
  reached,  // an instant command came to its place in the stream and is complete
  release,  // the host wait `waiter` is over
  // After tell_queues. What the order of its own stream holds anyway is not told.
  entered,   // it stands in its hardware queue behind the command `count`
  admitted,  // no other stream is in front of it any more; `count`, if any, left that place last
  left,      // it left its hardware queue, and others waited for that
};

struct action {
  action_kind kind;
  hardware_queue queue;  // after tell_queues, with start and reached: that it went through
  command_id id;
  waiter_id waiter;
  std::uint64_t count = 0;
  std::uint64_t payload = 0;
};

// What a host call waits for. Only work submitted before the wait counts.
enum class wait_scope : std::uint8_t {
  command,           // one command
  stream,            // cudaStreamSynchronize; for the legacy stream: all blocking streams too
  blocking_streams,  // of one device, with the legacy stream
  device,            // every stream of one device
};

struct wait_target {
  wait_scope scope = wait_scope::device;
  command_id command;
  stream_id stream;
  device_id device;
};

// Several commands as one: what comes after it has one dependency, however many they are.
struct gathering {
  std::uint32_t place = 0xffffffff;
  std::uint64_t number = 0;
};

class scheduler {
 public:
  explicit scheduler(machine m);
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  // A device's legacy stream is created with the first call that names kind legacy for it.
  stream_id create_stream(device_id device, stream_kind kind, int priority);
  // The time now, in the unit of machine::grace, and whether what comes next may need it.
  void set_time(std::uint64_t now);
  [[nodiscard]] bool needs_time() const;

  // From now on actions say who stands in whose way in hardware queues.
  void tell_queues();

  // Pending work still runs; the id is not reused before it is done.
  void destroy_stream(stream_id stream);

  // Takes a command. `after` names further commands it waits for; completed ones cost nothing.
  // A wait for a record that is complete or was never made takes no place in its stream: it is
  // reached at once. A graph launch is: an in_stream graph_head, the nodes (order free, each naming
  // the marker or other nodes in `after`, and its stream), and an in_stream marker after the last
  // nodes. Nodes take no place in hardware queues; copy engines, host functions and residency hold
  // for them as for others. Idleness counts the nodes; waits rely on the marker at the end.
  command_id submit(const command& c, std::span<const command_id> after = {},
                    gathering and_after = {});
  [[nodiscard]] gathering gather(std::span<const command_id> all);
  // Whether all of them are complete.
  [[nodiscard]] bool done(gathering all) const;
  // The id of a command that was over before the scheduler heard of it.
  command_id pass();

  // A started command (not a kernel) is finished. `took`: what it took to run, in the unit of
  // set_time and as far as it is known; see device_time.
  static constexpr std::uint64_t unmeasured = ~std::uint64_t{0};
  void complete(command_id id, std::uint64_t took = unmeasured);
  // `n` granted blocks of a kernel are finished; the last one completes the kernel. Nothing happens
  // for a kernel that was abandoned meanwhile. `passed` more are finished that took the places of
  // finished ones without being granted, which only blocks of the kernel whose turn it is may do.
  void blocks_done(command_id id, std::uint64_t n, std::uint64_t passed = 0,
                   std::uint64_t took = unmeasured);
  // Ends a started or partly granted kernel at once (a fault): its remaining blocks do not run.
  void abandon(command_id id);

  // Of a kernel that has begun: its blocks on the device, and those that wait for room there.
  struct kernel_blocks {
    std::uint64_t running = 0, waiting = 0;
  };
  [[nodiscard]] kernel_blocks blocks_of(command_id id) const;

  [[nodiscard]] bool done(command_id id) const;  // true as well for ids that were never submitted
  // As cudaStreamQuery sees it: a record alone does not make a stream busy; the legacy stream
  // covers all blocking streams of its device, an idle blocking stream does not look at legacy
  // work.
  [[nodiscard]] bool idle(stream_id stream) const;
  [[nodiscard]] bool idle(device_id device) const;
  [[nodiscard]] bool satisfied(const wait_target& target) const;
  // Whether nothing is before what comes next in the stream. May say no where it is so.
  [[nodiscard]] bool clear(stream_id stream) const;
  // Whether such a kernel would also run at once, all its blocks beside what runs.
  [[nodiscard]] bool clear_for(stream_id stream, const kernel_shape& kernel) const;
  // The last work of every stream of the device that has work pending.
  [[nodiscard]] std::vector<command_id> pending_work(device_id device) const;
  // Payloads: of what has to wait for a connection, and of what is stuck in each of them.
  [[nodiscard]] std::vector<std::uint64_t> crowd(device_id device) const;
  [[nodiscard]] std::vector<std::uint64_t> stuck(device_id device) const;
  // Where it stands while it is in a queue, and where in an idle stream the next such command
  // would.
  [[nodiscard]] hardware_queue present_queue(command_id id) const;
  [[nodiscard]] hardware_queue next_queue(stream_id stream, queue_class queue) const;
  // Commands in this queue of the stream that take an entry and have not begun (entry_of).
  [[nodiscard]] std::uint32_t pending_entries(stream_id stream, queue_class queue) const;
  // The best priority among kernels that are ready and wait for room on the device, for all or for
  // some of their blocks; the largest int when none does.
  [[nodiscard]] int waiting_priority(device_id device) const;

  // Asks for a `release` action when the target is complete. Released at once when it already is.
  waiter_id wait(const wait_target& target);
  // Released when fewer than `limit` entries are pending in the stream's queue (limit 1021).
  // Nothing is reserved: of several waiters that are released, each looks again before it submits.
  waiter_id wait_for_room(stream_id stream, queue_class queue, std::uint32_t limit);

  // Actions since the last call, in the order in which they became possible.
  [[nodiscard]] const std::vector<action>& actions() const;
  void clear_actions();

  [[nodiscard]] std::size_t memory_bytes() const;  // held for commands, streams and waits

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace sb::sched
