// The run of a replay, for the files that implement it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "analysis/driver_costs.hpp"
#include "analysis/first_uses.hpp"
#include "analysis/replay.hpp"
#include "analysis/transfers.hpp"
#include "analysis/wait_recorder.hpp"
#include "analysis/waiting_copies.hpp"

namespace sb::analysis {

class replay_run {
 public:
  replay_run(const program& p, record_waits waits, record_pieces pieces);
  timing go();

 private:
  // At one moment, what ends comes before what the host does next.
  enum class event_kind : std::uint8_t { operation_ends, blocks_end, piece_begins, thread_goes_on };

  struct event {
    nanoseconds time = 0;
    event_kind kind = event_kind::operation_ends;
    std::uint64_t order = 0;  // threads: their number; others: the order in which they came up
    number what = none;       // operation, thread or device
    std::uint64_t blocks = 0;
    shared_device::piece_id piece = shared_device::none;  // blocks that share the device

    bool operator>(const event& b) const {
      const bool host = kind == event_kind::thread_goes_on;
      const bool b_host = b.kind == event_kind::thread_goes_on;
      if (time != b.time) return time > b.time;
      if (host != b_host) return host;
      return order > b.order;
    }
    bool ends_with(const event& b) const {  // blocks of one kernel
      return kind == event_kind::blocks_end && kind == b.kind && what == b.what && time == b.time;
    }
  };

  // Where a thread is within its step.
  enum class stage : std::uint8_t { pauses, begins, first_wait, issuing, room, last_wait, returns };

  struct thread_state {
    std::size_t step = 0;
    stage at = stage::pauses;
    std::size_t pause = 0;  // of its step's
    bool pauses = false;    // its own code before that is done
    std::size_t issued = 0;
    enum class price : std::uint8_t { others, stream, none } due = price::others;  // of the next
    nanoseconds base = 0;        // issues are counted from here
    nanoseconds waiting = 0;     // since
    bool is_asleep = false;      // it waited, and has not gone on yet
    number awaited_last = none;  // what ended its wait
  };

  void at(nanoseconds time, event_kind kind, number what, std::uint64_t blocks = 0,
          shared_device::piece_id piece = shared_device::none);
  void advance(number thread);
  bool pause(number thread);
  void let_on(number thread);
  bool take(number thread, number lock);
  void let_go(number thread, number lock);
  [[nodiscard]] nanoseconds reached(const thread_point& p) const;
  bool begin_wait(number thread, const host_wait& w);
  bool wakes(number thread, const host_wait& w);
  void end_wait(number thread, const host_wait& w);
  bool pay(number thread, const issue& next);
  bool give(number thread, number operation);
  void submit(number operation);
  void follow();
  void started(number operation);
  [[nodiscard]] nanoseconds lag_to_start(number operation);
  nanoseconds begin_of_blocks(number operation);
  void granted(number operation, std::uint64_t blocks);
  void ended(number operation);
  void piece_ends(number device, shared_device::piece_id id, number operation, nanoseconds time);
  [[nodiscard]] bool outdated(const event& e) const;
  [[nodiscard]] std::uint64_t blocks_of(const event& e) const;  // that end
  [[nodiscard]] bool is_nearly_over(const event& e, number device) const;
  void make_room_before_next(number device);
  [[nodiscard]] bool is_of_host(const event& e) const;
  std::uint64_t end_piece(const event& e);
  void blocks_ended(const event& first);
  void tell_blocks(number operation, std::uint64_t count);
  void share();
  void transfer(number device);
  [[nodiscard]] std::optional<sched::wait_target> target_of(const host_wait& w) const;

  // What is on a device together.
  struct sharing {
    shared_device device;
    std::vector<std::uint64_t> ends;  // by piece: the event that ends it, by its order
    std::vector<number> operations;   // by piece
    nanoseconds look = never;         // when a piece begins
  };

  const program& program_;
  timing result_;
  std::vector<sharing> shares_;
  std::vector<device_link> links_;            // by device
  std::vector<std::uint64_t> transfer_ends_;  // by operation: the event that ends it, by its order
  waiting_copies copies_;
  first_uses loads_;
  driver_costs driver_;
  sched::scheduler scheduler_;
  std::optional<wait_recorder> recorder_;
  std::vector<stream_id> streams_;
  std::vector<command_id> commands_;                  // of operations
  std::vector<number> operations_;                    // of commands, where waits are recorded
  std::vector<std::uint32_t> grants_;                 // of kernels
  std::vector<std::uint64_t> blocks_left_, running_;  // of kernels
  std::vector<nanoseconds> begins_;                   // kernels, if their blocks find room
  std::vector<thread_state> threads_;
  std::vector<std::vector<number>> pausing_;  // by thread: those that wait until it is further
  // By thread and step: when its pauses ended, or will.
  std::vector<std::map<std::size_t, std::vector<nanoseconds>>> paused_;
  std::map<number, std::vector<number>> awaiting_functions_;  // threads, by the operation
  struct lock_state {
    number holder = none;
    std::deque<number> waiting;  // threads, in the order in which they came
    number woken = none;         // of these: the first, which goes on once it finds the lock free
  };
  std::map<number, lock_state> locks_;
  std::vector<std::pair<waiter_id, number>> waiters_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::vector<sched::action> actions_;
  std::uint64_t order_ = 0;
  nanoseconds now_ = 0;
  number last_ended_ = none;
  nanoseconds functions_over_ = 0;  // where the last host function ended
  number ending_ = none;            // what ends at this moment and may let others start
  std::vector<number> last_in_stream_;
};

}  // namespace sb::analysis
