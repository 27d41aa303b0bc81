// What submitters need to know of a stream, by its id. Places never move, so that they are read
// without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "model/ids.hpp"
#include "model/stream_rules.hpp"
#include "trace/trace.hpp"

namespace sb::engine {

struct stream_state {
  device_id device;
  std::atomic<std::int8_t> priority{0};
  std::uint64_t number = 0;          // for messages; 0: the default stream
  std::uint64_t last_record_ns = 0;  // modelled time
  // Entries that are taken: `begun`, by submitters, less `over`, by the engine.
  // Each on a line of its own, so that one side does not slow the other; `seen` is what submitters
  // saw of `over` last.
  struct entries {
    alignas(64) std::atomic<std::uint32_t> begun{0};
    std::atomic<std::uint32_t> seen{0};
    // In the upper half, for a trace: the operation that had ended last then.
    alignas(64) std::atomic<std::uint64_t> over{0};
    static std::uint32_t count(std::uint64_t over) { return static_cast<std::uint32_t>(over); }
    static trace::number ended(std::uint64_t over) {
      return static_cast<trace::number>(over >> 32);
    }
  };
  using connection = std::array<entries, queues_per_connection>;  // by queue_class
  connection own;
  connection* shared = nullptr;           // with other streams
  std::atomic<std::uint32_t> blocked{0};  // calls that wait for room in it
  // Its newest operation is a host function; work that is behind one and has not begun.
  std::atomic<bool> host_function_last{false};
  std::atomic<std::uint32_t> turns{0};

  [[nodiscard]] entries& in(queue_class queue) {
    return (shared != nullptr ? *shared : own)[static_cast<std::size_t>(queue)];
  }
};

class stream_list {
 public:
  ~stream_list() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }

  [[nodiscard]] stream_state& operator[](stream_id id) {
    return chunks_[id.value / per_chunk].load(std::memory_order_acquire)[id.value % per_chunk];
  }

  // One caller at a time. The id may have belonged to a stream that is gone.
  void add(stream_id id, device_id device, int priority, std::uint64_t number,
           stream_state::connection* shared) {
    if (id.value >= per_chunk * chunks_.size()) throw std::bad_alloc();
    auto& chunk = chunks_[id.value / per_chunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr)
      chunk.store(new stream_state[per_chunk], std::memory_order_release);
    stream_state& s = (*this)[id];
    s.device = device;
    s.priority = static_cast<std::int8_t>(priority);
    s.number = number;
    s.last_record_ns = 0;
    s.shared = shared;
    s.host_function_last = false;
  }

 private:
  static constexpr std::size_t per_chunk = 1024;
  std::array<std::atomic<stream_state*>, 2048> chunks_{};
};

}  // namespace sb::engine
