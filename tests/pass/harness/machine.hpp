// A device of one thread for the tests of the pass: loads an image and runs kernels, without any
// engine. All blocks of a kernel that needs fibers are resident at once and take turns.
#pragma once

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/device_abi.hpp"

namespace sb::test {

struct dims {
  std::uint32_t x = 1, y = 1, z = 1;
};

struct lock_step {
  const void* lock;
  abi::lock_event event;
  std::uint64_t loads;  // of the thread, so far
};

struct outcome {
  bool trapped = false;
  std::string failed_assertion;
  std::string printed;
  std::uint64_t cycles = 0;  // the longest logical clock of any thread
  std::uint64_t yields = 0;
  std::uint64_t rounds_in_vain = 0;  // of a block: all of its threads that looked saw nothing new
  std::uint64_t rounds_asleep = 0;   // the same: nobody looked, and some slept
  std::set<std::uint64_t> seen;      // what spinning loops told
  std::uint64_t waits = 0;           // calls of wait_until, wait_until_timer, nanosleep
  std::uint64_t clock_reads = 0;
  std::uint64_t noted_reads = 0;  // of a clock, of those that nobody waits for
  std::uint64_t waits_over = 0;
  abi::kernel_counts counts = {};                  // run_counted
  std::vector<std::uint32_t> touched;              // run_counted: bytes of accesses, in their order
  std::uint64_t issued = 0, steps = 0, loads = 0;  // run_counted: of all threads
  std::uint64_t draws = 0, rounds = 0;             // run_counted: of loops that draw their work
  std::vector<lock_step> lock_steps;               // run_counted
  std::uint64_t grid_syncs = 0;                    // calls, of blocks or of threads
  std::uint64_t private_bytes = 0;                 // that blocks asked for
  bool stuck = false;                              // everybody waits and nobody can go on
  std::uint32_t longest_row = 0;                   // loop mode: of blocks, in one call of the entry
  bool told_row = false;  // the entry said at which block of its row it was
};

class image {
 public:
  explicit image(const std::string& path);
  ~image();
  image(const image&) = delete;
  image& operator=(const image&) = delete;

  // Blocks in a row, where the kernel allows more.
  std::uint32_t most_blocks = ~0u;

  [[nodiscard]] const abi::kernel_info& kernel(const std::string& name) const;
  [[nodiscard]] void* symbol(const std::string& name) const;  // null when there is none

  template <class... Args>
  outcome run(const std::string& name, dims grid, dims block, std::uint32_t dynamic_bytes,
              const Args&... args) {
    std::vector<const void*> pointers = {static_cast<const void*>(&args)...};
    return run_packed(kernel(name), grid, block, dynamic_bytes, pointers);
  }

  // The kernel's counted version.
  template <class... Args>
  outcome run_counted(const std::string& name, dims grid, dims block, std::uint32_t dynamic_bytes,
                      const Args&... args) {
    std::vector<const void*> pointers = {static_cast<const void*>(&args)...};
    return run_packed(*kernel(name).counted, grid, block, dynamic_bytes, pointers);
  }

 private:
  outcome run_packed(const abi::kernel_info& kernel, dims grid, dims block,
                     std::uint32_t dynamic_bytes, const std::vector<const void*>& args);

  void* handle_ = nullptr;
};

}  // namespace sb::test
