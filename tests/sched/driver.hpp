// Drives a scheduler the way an engine does, without running anything: what it starts is complete
// at once, except what a test holds.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "sched/scheduler.hpp"

namespace sb::sched {

class driver {
 public:
  explicit driver(std::uint32_t connections = 8, device_limits limits = {}, int devices = 1)
      : scheduler_(
            {.devices = std::vector<device_limits>(devices, limits), .connections = connections}) {}

  scheduler& get() { return scheduler_; }

  stream_id legacy(std::uint32_t device = 0) {
    return scheduler_.create_stream({device}, stream_kind::legacy, 0);
  }
  stream_id blocking(std::uint32_t device = 0) {
    return scheduler_.create_stream({device}, stream_kind::blocking, 0);
  }
  stream_id non_blocking(std::uint32_t device = 0) {
    return scheduler_.create_stream({device}, stream_kind::non_blocking, 0);
  }

  command_id submit(command c, std::span<const command_id> after = {}) {
    const command_id id = scheduler_.submit(c, after);
    if (c.kind == command_kind::kernel) {
      kernels_.insert(id.value);
    }
    run();
    return id;
  }
  // As submit, but the command stays running until it is opened.
  command_id hold(command c, std::span<const command_id> after = {}) {
    c.payload = held_mark;
    return submit(c, after);
  }
  void open(command_id id) {
    open_.insert(id.value);
    if (const auto running = running_.find(id.value); running != running_.end()) {
      const std::uint64_t blocks = running->second;
      running_.erase(running);
      end(id, blocks);
      run();
    }
  }

  [[nodiscard]] bool done(command_id id) const { return scheduler_.done(id); }
  // Started and not complete.
  [[nodiscard]] bool running(command_id id) const { return running_.contains(id.value); }
  [[nodiscard]] std::uint64_t running_blocks(command_id id) const {
    const auto found = running_.find(id.value);
    return found == running_.end() ? 0 : found->second;
  }
  [[nodiscard]] bool released(waiter_id w) const { return released_.contains(w.value); }
  [[nodiscard]] const std::vector<action>& history() const { return history_; }

  // Reports n blocks of a held kernel as done.
  void blocks_done(command_id id, std::uint64_t n, std::uint64_t passed = 0) {
    running_[id.value] -= n;
    scheduler_.blocks_done(id, n, passed);
    if (scheduler_.done(id)) {
      running_.erase(id.value);
    }
    run();
  }

  waiter_id wait(const wait_target& target) {
    const waiter_id w = scheduler_.wait(target);
    run();
    return w;
  }
  void run() {
    while (!scheduler_.actions().empty()) {
      const std::vector<action> actions = scheduler_.actions();
      scheduler_.clear_actions();
      for (const action& a : actions) {
        perform(a);
      }
    }
  }

 private:
  static constexpr std::uint64_t held_mark = 0x4e1d;

  void perform(const action& a) {
    history_.push_back(a);
    switch (a.kind) {
      case action_kind::start:
      case action_kind::grant:
        if (a.payload == held_mark && !open_.contains(a.id.value)) {
          running_[a.id.value] += a.count;
        } else {
          end(a.id, a.count);
        }
        break;
      case action_kind::reached:
      case action_kind::entered:
      case action_kind::admitted:
      case action_kind::left:
        break;
      case action_kind::release:
        released_.insert(a.waiter.value);
        break;
    }
  }
  // A kernel ends by its blocks: one without any granted goes on when they are.
  void end(command_id id, std::uint64_t blocks) {
    if (!kernels_.contains(id.value)) {
      scheduler_.complete(id);
    } else if (blocks != 0) {
      scheduler_.blocks_done(id, blocks);
    }
  }

  scheduler scheduler_;
  std::set<std::uint64_t> kernels_;
  std::set<std::uint64_t> open_;
  std::map<std::uint64_t, std::uint64_t> running_;
  std::set<std::uint64_t> released_;
  std::vector<action> history_;
};

}  // namespace sb::sched
