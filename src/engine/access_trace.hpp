// What a counted block did to memory, as the warps of a device would have done it.
//
// Threads run one after the other. The k-th time that the lanes of a warp come to a place in the
// code is one request: of shared memory it takes as many turns as words lie in the same bank, of
// global memory as many lines and sectors as its addresses lie in. The first few times at each
// place are looked at and stand for the others.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/device_abi.hpp"
#include "engine/draw_trace.hpp"
#include "engine/lock_trace.hpp"

namespace sb::engine {

// Of one block. Bytes of memory are in sectors of 32; a sector that a request writes a part of
// counts twice, because it has to be read as well.
struct access_summary {
  double lines = 0;         // of 128 bytes, by requests of global memory
  double shared_turns = 0;  // of shared memory
  double l2_requests = 0;   // lines that the first cache does not have
  double l2_bytes = 0;
  double written_bytes = 0;     // of these
  double missed_loads = 0;      // requests of what the block had not loaded before
  double issued = 0;            // by the longest lane of each warp, times the lanes
  double longest_issued = 0;    // of these, by the warp that has the most
  double steps = 0, loads = 0;  // of the longest thread
  double warp_loads = 0;        // of the longest lane of each warp
  // Of the host's memory that is mapped, which the device's caches do not keep.
  double host_read = 0, host_written = 0, host_requests = 0;
  double missed_host_loads = 0;  // of the missed loads
  // In global memory: as many as there are threads of a warp at one address, for each sector; and
  // those of them that add floats.
  double atomics = 0, float_atomics = 0;
  // Times that atomics of shared memory are tried again for which there is no instruction, one
  // after the other.
  double shared_retries = 0;

  // Sectors that a place of the code was the first to come to, sorted.
  struct place {
    std::uint32_t id = 0;
    std::vector<std::uint64_t> sectors;
    double lines = 0;           // that they lie in
    double weight = 1;          // how many each of them stands for
    double bytes = 0;           // that memory has to move for each of them
    bool counts_again = false;  // written after it was read: moves, but takes no new room
  };
  std::vector<place> places;
  std::vector<std::uint64_t> atomic_addresses;  // sorted
  drawn_items drawn;
  taken_locks locks;
};

class access_trace {
 public:
  void begin(std::uint32_t threads);
  void touch(std::uint32_t thread, std::uint64_t address, std::uint32_t bytes,
             abi::access_kind kind, bool shared, std::uint32_t place);
  void spent(std::uint32_t thread, std::uint64_t issued, std::uint64_t steps, std::uint64_t loads);
  // A loop that draws: what the thread has spent so far, in this function.
  void went_round(std::uint32_t thread, const thread_spent& so_far);
  // The same, as it does something to a lock.
  void lock_step(std::uint32_t thread, std::uint64_t lock, abi::lock_event event,
                 const thread_spent& so_far);
  [[nodiscard]] draw_trace& draws() { return draws_; }
  // Whether rounds were counted that say nothing of the block if they were in vain.
  [[nodiscard]] bool is_vague() const { return is_vague_; }
  // Whether an address is in the host's memory, and where what holds it ends.
  struct memory_range {
    bool host = false;
    std::uint64_t begin = 0, end = 0;
  };
  using range_of = memory_range (*)(std::uint64_t address);
  [[nodiscard]] access_summary summary(range_of memory = nullptr) const;

 private:
  struct site {
    abi::access_kind kind;
    bool shared;
    std::uint32_t bytes, place;
    std::uint64_t total = 0;               // by all threads
    std::vector<std::uint32_t> times;      // by thread
    std::vector<std::uint64_t> addresses;  // by time and thread
  };
  class reader;

  std::uint32_t threads_ = 0;
  bool is_vague_ = false;
  std::uint32_t looked_at_ = 0;       // times at each place, by each thread
  std::vector<std::uint32_t> known_;  // by place: its site and one; 0 for none
  std::vector<site> sites_;
  std::vector<thread_spent> spent_;
  [[nodiscard]] thread_spent in_all(std::uint32_t thread, const thread_spent& here) const;

  draw_trace draws_;
  lock_trace locks_;
};

}  // namespace sb::engine
