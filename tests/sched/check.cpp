// Performs a random program on a scheduler, with the oracle as judge.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "oracle.hpp"
#include "program.hpp"

namespace sb::sched {

namespace {

device_limits small_device(const program& p) {
  device_limits l;
  l.multiprocessors = 2;
  l.threads_per_multiprocessor = 256;
  l.blocks_per_multiprocessor = 4;
  l.shared_per_multiprocessor = 16384;
  l.registers_per_multiprocessor = 16384;
  l.resident_kernels = p.resident_kernels;
  l.copy_engines = p.copy_engines;
  return l;
}

class performance {
 public:
  performance(const program& p, std::string* trace)
      : machine_{.devices = std::vector<device_limits>(p.devices, small_device(p)),
                 .connections = p.connections,
                 .grace = p.grace},
        scheduler_(machine_),
        oracle_(machine_),
        trace_(trace) {
    scheduler_.tell_queues();
    for (std::uint32_t i = 0; i < p.streams; ++i) {
      add_stream(i);
    }
  }

  std::string run(const program& p) {
    for (const step& s : p.steps) {
      perform(s);
      settle();
      if (!error_.empty()) {
        return error_;
      }
    }
    // Everything that runs comes to its end: then everything must have run.
    while (oracle_.running() != 0) {
      finish({.kind = step_kind::finish, .stream = 0, .pick = 0, .shape = 4095});
      settle();
      if (!error_.empty()) {
        return error_;
      }
    }
    if (std::popcount(oracle_.done()) != static_cast<int>(oracle_.size())) {
      return "nothing runs any more, but not everything was complete";
    }
    for (const auto& [id, set] : waits_) {
      (void)set;
      return "a wait was never released: " + std::to_string(id);
    }
    return {};
  }

 private:
  // 0 legacy, then blocking and non-blocking ones in turn, spread over the devices.
  void add_stream(std::uint32_t i) {
    const device_id device{i % static_cast<std::uint32_t>(machine_.devices.size())};
    const bool first = i < machine_.devices.size();
    const stream_kind kind = first        ? stream_kind::legacy
                             : i % 3 == 0 ? stream_kind::non_blocking
                                          : stream_kind::blocking;
    oracle_.add_stream(device, kind, scheduler_.create_stream(device, kind, 0));
  }

  std::size_t stream_of(const step& s) {
    std::vector<std::size_t> alive;
    for (std::size_t i = 0; i < oracle_.streams().size(); ++i) {
      if (!oracle_.streams()[i].destroyed) {
        alive.push_back(i);
      }
    }
    return alive[s.stream % alive.size()];
  }

  void perform(const step& s) {
    switch (s.kind) {
      case step_kind::finish:
        finish(s);
        return;
      case step_kind::abandon:
        abandon(s);
        return;
      case step_kind::wait_host:
        wait(s);
        return;
      case step_kind::destroy_stream: {
        const std::size_t i = stream_of(s);
        oracle::stream& stream = oracle_.streams()[i];
        if (stream.kind != stream_kind::legacy) {
          stream.destroyed = true;
          scheduler_.destroy_stream(stream.id);
          add_stream(static_cast<std::uint32_t>(oracle_.streams().size()));
        }
        return;
      }
      default:
        submit(s);
    }
  }

  void submit(const step& s) {
    if (oracle_.size() == most_commands) {
      return;
    }
    const std::size_t stream = stream_of(s);
    command c;
    c.stream = oracle_.streams()[stream].id;
    c.bytes = 4;
    std::optional<std::size_t> record;
    command_set after = 0;
    const std::size_t before = oracle_.size();
    switch (s.kind) {
      case step_kind::graph_node:
        c.order = command_order::free;
        if (before != 0) {
          after = command_set{1} << s.pick % before;
        }
        if (s.shape % 3 == 0) {
          c.kind = command_kind::copy;
          c.direction = copy_direction::device_to_host;
          break;
        }
        if (s.shape % 13 == 1) {
          c.kind = command_kind::section;
          break;
        }
        [[fallthrough]];
      case step_kind::kernel:
        c.kind = command_kind::kernel;
        c.priority = static_cast<std::int8_t>(-static_cast<int>(s.shape % 3));
        c.kernel.blocks = 1 + s.shape / 3 % 20;
        c.kernel.threads_per_block = 1 + s.shape / 60 % 8 * 32;
        c.kernel.shared_bytes = s.shape % 7 == 0 ? 7000 : 0;
        c.kernel.registers = s.shape % 5 == 0 ? 64 : 16;
        if (s.shape % 11 == 0) {
          c.kernel.cooperative = true;
          c.kernel.blocks = 2;
        }
        break;
      case step_kind::upload:
        c.kind = command_kind::copy;
        break;
      case step_kind::upload_big:
        c.kind = command_kind::copy;
        c.bytes = 32768;
        break;
      case step_kind::download:
        c.kind = command_kind::copy;
        c.direction = copy_direction::device_to_host;
        break;
      case step_kind::device_copy:
        c.kind = command_kind::copy;
        c.direction = copy_direction::device_to_device;
        break;
      case step_kind::peer_copy:
        c.kind = command_kind::copy;
        c.direction = copy_direction::peer;
        break;
      case step_kind::host_copy:
        c.kind = command_kind::copy;
        c.direction = copy_direction::host_to_host;
        break;
      case step_kind::fill:
        c.kind = command_kind::fill;
        break;
      case step_kind::host_function:
        c.kind = command_kind::host_function;
        break;
      case step_kind::record:
        c.kind = command_kind::event_record;
        break;
      case step_kind::wait_event: {
        c.kind = command_kind::event_wait;
        std::vector<std::size_t> records;
        for (std::size_t i = 0; i < before; ++i) {
          if (oracle_.is_record(i)) {
            records.push_back(i);
          }
        }
        if (!records.empty() && s.shape % 8 != 0) {
          record = records[records.size() - 1 - s.pick % records.size()];
          c.record = ids_[*record];
        }
        break;
      }
      case step_kind::join:
        for (std::size_t i = 0; i < before; ++i) {
          if ((s.shape >> i % 12 & 1) != 0 && i % 5 == s.pick % 5) {
            after |= command_set{1} << i;
          }
        }
        [[fallthrough]];
      default:
        c.kind = s.shape % 3 == 0 ? command_kind::graph_head : command_kind::marker;
        if (c.kind == command_kind::graph_head) {
          c.bytes = s.shape % 4 == 0 ? 0 : s.shape % 4 == 1 ? 32768 : 16;
          c.direction = s.shape % 5 == 0   ? copy_direction::host_to_host
                        : s.shape % 5 == 1 ? copy_direction::device_to_host
                        : s.shape % 5 == 2 ? copy_direction::device_to_device
                                           : copy_direction::host_to_device;
        }
    }
    c.payload = before;
    std::vector<command_id> others;
    for (std::size_t i = 0; i < before; ++i) {
      if ((after >> i & 1) != 0) {
        others.push_back(ids_[i]);
      }
    }
    const std::size_t number = oracle_.submit(c, stream, record, after);
    note([&] { return "submit " + oracle_.describe(number); });
    const command_id id = scheduler_.submit(c, others);
    oracle_.named(number, id);
    if (!ids_.empty() && !(ids_.back() < id)) {
      error_ = "ids do not grow";
    }
    ids_.push_back(id);
  }

  [[nodiscard]] std::optional<std::size_t> pick_running(std::uint32_t pick, bool kernels_only) {
    std::vector<std::size_t> running;
    for (std::size_t i = 0; i < oracle_.size(); ++i) {
      const bool idle_kernel = oracle_.is_kernel(i) && oracle_.running_blocks(i) == 0;
      if ((oracle_.running() >> i & 1) != 0 &&
          (kernels_only ? oracle_.is_kernel(i) : !idle_kernel)) {
        running.push_back(i);
      }
    }
    if (running.empty()) {
      return std::nullopt;
    }
    return running[pick % running.size()];
  }

  void finish(const step& s) {
    const auto i = pick_running(s.pick, false);
    if (!i) {
      if (oracle_.running() != 0) {
        error_ = "kernels are resident, but none has a block";
      }
      return;
    }
    if (oracle_.is_kernel(*i)) {
      const std::uint64_t blocks = oracle_.running_blocks(*i);
      const std::uint64_t n = s.shape == 4095 ? blocks : 1 + s.shape % blocks;
      const std::uint64_t more = s.shape % 3 == 0 ? oracle_.could_pass(*i) : 0;
      const std::uint64_t passed = s.shape % 2 == 0 ? more : s.shape % (more + 1);
      note([&] {
        return std::to_string(n) + " blocks done and " + std::to_string(passed) + " passed of " +
               oracle_.describe(*i);
      });
      oracle_.passed(*i, passed);
      oracle_.blocks_done(*i, n);
      scheduler_.blocks_done(ids_[*i], n, passed);
    } else {
      note([&] { return "complete " + oracle_.describe(*i); });
      oracle_.complete(*i);
      scheduler_.complete(ids_[*i]);
    }
  }

  void abandon(const step& s) {
    if (const auto i = pick_running(s.pick, true)) {
      note([&] { return "abandon " + oracle_.describe(*i); });
      oracle_.complete(*i);
      scheduler_.abandon(ids_[*i]);
    }
  }

  void wait(const step& s) {
    wait_target t;
    t.scope = static_cast<wait_scope>(s.shape % 4);
    const std::size_t stream = stream_of(s);
    t.stream = oracle_.streams()[stream].id;
    t.device = oracle_.streams()[stream].device;
    std::size_t command = 0;
    if (t.scope == wait_scope::command) {
      if (oracle_.size() == 0) {
        return;
      }
      command = s.pick % oracle_.size();
      t.command = ids_[command];
    }
    const command_set set = oracle_.waited_for(t.scope, stream, t.device, command);
    const waiter_id w = scheduler_.wait(t);
    waits_[w.value] = set;
    note([&] { return "host waits " + std::to_string(w.value); });
  }

  // Takes the actions until there are none, then asks why the rest does not run.
  void settle() {
    for (const action& a : scheduler_.actions()) {
      std::string wrong;
      const auto i = static_cast<std::size_t>(a.payload);
      switch (a.kind) {
        case action_kind::start:
          note([&] { return "  start " + oracle_.describe(i); });
          wrong = oracle_.start(i);
          break;
        case action_kind::grant:
          note([&] { return "  grant " + std::to_string(a.count) + " to " + oracle_.describe(i); });
          wrong = oracle_.grant(i, a.count);
          break;
        case action_kind::reached:
          note([&] { return "  reached " + oracle_.describe(i); });
          wrong = oracle_.reached(i);
          break;
        case action_kind::entered:
          behind_[i] = a.count;
          break;
        case action_kind::admitted:
          behind_.erase(i);
          break;
        case action_kind::left:
          left_.insert(a.id.value);
          break;
        case action_kind::release: {
          note([&] { return "  release " + std::to_string(a.waiter.value); });
          const auto found = waits_.find(a.waiter.value);
          if (found == waits_.end()) {
            wrong = "a wait was released twice, or was never called";
          } else {
            if (!oracle_.all_done(found->second)) {
              wrong = "a wait was released too early";
            }
            waits_.erase(found);
          }
          break;
        }
      }
      if (const auto other = behind_.find(i);
          (a.kind == action_kind::start || a.kind == action_kind::reached) && wrong.empty() &&
          other != behind_.end() && !left_.contains(other->second)) {
        wrong = "a command starts before what it was told to stand behind";
      }
      if (a.kind != action_kind::release && error_.empty() && ids_[i] != a.id) {
        wrong = "an action names another command than its payload";
      }
      if (error_.empty()) {
        error_ = wrong;
      }
    }
    scheduler_.clear_actions();
    for (const auto& [id, set] : waits_) {
      if (error_.empty() && oracle_.all_done(set)) {
        error_ = "wait " + std::to_string(id) + " is not released, and everything is complete";
      }
    }
    if (error_.empty()) {
      error_ = oracle_.judge_rest(scheduler_);
    }
  }

  template <class Line>
  void note(Line line) {
    if (trace_ != nullptr) {
      *trace_ += line() + "\n";
    }
  }

  machine machine_;
  scheduler scheduler_;
  oracle oracle_;
  std::vector<command_id> ids_;
  std::map<std::uint64_t, command_set> waits_;
  std::map<std::size_t, std::uint64_t> behind_;  // commands, and whom they stand behind
  std::set<std::uint64_t> left_;                 // ids: their queue
  std::string error_;
  std::string* trace_;
};

}  // namespace

std::string check(const program& p, std::string* trace) { return performance(p, trace).run(p); }

}  // namespace sb::sched
