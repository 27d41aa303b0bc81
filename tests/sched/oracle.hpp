// The rules of streams once more, written as a judge: nothing is scheduled here. It keeps the whole
// history of a program, looks at pairs of commands instead of last ones, and says of every action
// whether the rules allow it and of everything that does not run why it may not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/command.hpp"
#include "sched/scheduler.hpp"

namespace sb::sched {

using command_set = std::uint64_t;  // bit i: the i-th command

class oracle {
 public:
  oracle(const machine& m) : machine_(m) {}

  struct stream {
    device_id device;
    stream_kind kind;
    std::optional<std::uint32_t> connection;
    std::array<std::optional<std::uint32_t>, 2> copies;  // queues: to the device, from it
    stream_id id;
    bool destroyed = false;
  };
  std::size_t add_stream(device_id device, stream_kind kind, stream_id id);
  [[nodiscard]] std::vector<stream>& streams() { return streams_; }

  // A command is about to be submitted to the stream; `record` and `after` are earlier commands.
  // Answers its number.
  std::size_t submit(const command& c, std::size_t stream, std::optional<std::size_t> record,
                     command_set after);
  void named(std::size_t command, command_id id) { commands_[command].id = id; }

  // What the scheduler did. Empty when the rules allow it.
  [[nodiscard]] std::string start(std::size_t command);
  [[nodiscard]] std::string grant(std::size_t command, std::uint64_t blocks);
  [[nodiscard]] std::string reached(std::size_t command);
  // What ran is over.
  void complete(std::size_t command);
  void blocks_done(std::size_t command, std::uint64_t blocks);
  // Blocks that could have run meanwhile in the places of finished ones, without a grant.
  [[nodiscard]] std::uint64_t could_pass(std::size_t command) const;
  void passed(std::size_t i, std::uint64_t n) {
    commands_[i].granted += n;
    blocks_done(i, n);
  }

  // The commands that a wait called now has to wait for.
  [[nodiscard]] command_set waited_for(wait_scope scope, std::size_t stream, device_id device,
                                       std::size_t command) const;
  [[nodiscard]] bool all_done(command_set set) const { return (set & ~done_) == 0; }

  // Nothing more happens by itself: is everything that does not run held by a rule? And do the
  // scheduler's answers agree with the history?
  [[nodiscard]] std::string judge_rest(const scheduler& s);

  [[nodiscard]] std::size_t size() const { return commands_.size(); }
  [[nodiscard]] command_set done() const { return done_; }
  [[nodiscard]] command_set running() const { return started_ & ~done_; }
  [[nodiscard]] std::uint64_t running_blocks(std::size_t i) const {
    return commands_[i].granted - commands_[i].finished;
  }
  [[nodiscard]] bool is_kernel(std::size_t i) const {
    return commands_[i].what.kind == command_kind::kernel;
  }
  [[nodiscard]] bool is_record(std::size_t i) const {
    return commands_[i].what.kind == command_kind::event_record;
  }
  [[nodiscard]] std::string describe(std::size_t i) const;

 private:
  enum class place : std::uint8_t { compute, big_upload, download, none };

  struct entry {
    command what;
    command_id id;
    std::size_t stream = 0;
    device_id device;
    command_set needs = 0;  // everything that has to be complete before it starts
    bool absent = false;    // a wait that enqueued nothing
    bool fresh = true;      // everything before it in its stream was complete when it came
    place queue = place::none;
    std::optional<std::uint32_t> connection;  // of what stands in a queue
    bool depends_on_crowd = false;            // when it came there
    bool behind_crowd = false;  // it or something that it needs found no connection at the call
    std::uint64_t granted = 0, finished = 0;
    std::uint64_t started_at = 0;
  };

  [[nodiscard]] bool in(command_set set, std::size_t i) const { return (set >> i & 1) != 0; }
  [[nodiscard]] bool same_entries(std::size_t a, std::size_t b) const;
  [[nodiscard]] bool stands_in_queue(const entry& e) const;
  // With a grace, what holds what in the queues is not foretold: the rest of the rules is.
  [[nodiscard]] bool streams_move() const { return machine_.grace != 0; }
  std::uint32_t copy_queue(std::size_t stream, place queue);
  void give_connections_back();
  [[nodiscard]] std::optional<std::uint32_t> free_connection(std::size_t command) const;
  void enter_crowd(std::optional<std::size_t> until = std::nullopt);
  [[nodiscard]] bool same_queue(const entry& a, const entry& b) const;
  [[nodiscard]] bool is_behind(std::size_t i, command_set left) const;
  // Commands that no longer stand in their hardware queue.
  [[nodiscard]] command_set left_queue() const;
  [[nodiscard]] const char* engine_is_full(const entry& e) const;
  [[nodiscard]] bool uses_engine(const entry& e) const;
  [[nodiscard]] bool may_wait_for_a_turn(const entry& e) const;
  // Why it may not start; null when nothing holds it.
  [[nodiscard]] const char* held_by(std::size_t i, command_set left) const;
  [[nodiscard]] std::uint64_t room_for(const entry& e) const;
  [[nodiscard]] std::optional<std::size_t> goes_before(std::size_t i) const;

  machine machine_;
  std::vector<stream> streams_;
  std::vector<std::uint32_t> turn_ = std::vector<std::uint32_t>(8, 0);  // by device: connections
  std::array<std::array<std::uint32_t, 2>, 8> copy_turn_{};             // by device and direction
  std::vector<std::size_t> entered_;  // commands in the order in which they came to their queues
  std::vector<std::size_t> crowd_;    // commands that have come to no queue yet
  std::vector<entry> commands_;
  command_set started_ = 0, done_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace sb::sched
