// Finds kernels, their launch bounds and managed variables by the annotations that our headers put
// on them.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "compiler/pass/parameter_layout.hpp"

namespace sb::pass {

// The size of the blocks that a kernel is written for; width 0 if there is none.
struct usual_block {
  std::uint32_t width = 0, rows = 1;
  bool dynamic = false;  // it has shared memory whose size is the launch's
  bool guessed = false;  // what most launches have; nothing in the kernel speaks for it
  [[nodiscard]] std::uint32_t size(unsigned axis) const {
    return axis == 0 ? width : axis == 1 ? rows : 1;
  }
};

struct kernel {
  std::string symbol;                // mangled, as the host registers it; other versions add to it
  std::string name;                  // demangled, the same for all versions
  std::string fallback;              // symbol of the same kernel for other blocks, if there is one
  std::string counted;               // symbol of the same kernel with counters
  llvm::Function* source = nullptr;  // what clang emitted; empty once `body` has taken its blocks
  // void(params, self, tid.x, tid.y, tid.z): what one thread does.
  llvm::Function* body = nullptr;
  llvm::Function* entry = nullptr;  // what the engine calls
  unsigned max_threads = 1024;
  unsigned min_blocks = 0;

  std::vector<parameter> parameters;
  std::uint32_t parameter_bytes = 0;

  abi::kernel_mode mode = abi::kernel_mode::fibers;
  bool threads_are_alike = false;  // loop mode: one thread stands for all of its block
  // Loop mode: something looks at self->tid; or it calls another function, which may do anything.
  bool stores_thread_index = false;
  std::uint32_t needs = 0;  // loop mode: abi::block_needs
  bool syncs_grid = false;
  bool draws = false;  // abi::kernel_info, of the counted version
  bool gives_up = false;
  bool spins = false;  // spin_loops.hpp
  // Its threads sleep, or ask for the time, while others of them go on: where they share a fiber,
  // each has a time of its own.
  abi::thread_times times = abi::thread_times::none;
  bool reaches_other_memory = false;   // other_memory.hpp
  std::vector<std::string> constants;  // names of the __constant__ variables that it reads
  bool is_straight = false;            // loop mode: no loop, no call of the engine
  bool has_no_floats = false;          // and no computation with them
  std::uint32_t row_threads = 0;       // abi::kernel_info
  std::uint32_t row_width = 0;
  std::uint32_t most_row_bytes = 32u << 10;  // that the threads of a joined row keep
  usual_block usual;                         // usual_blocks.hpp
  unsigned guesses = 1;                      // how many widths are tried where it is guessed
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;
  std::uint32_t registers = 0;
};

// Reads llvm.global.annotations and removes it, so that it keeps nothing alive. Managed variables
// are marked (see managed_variables.hpp).
std::vector<kernel> discover_kernels(llvm::Module& module);

}  // namespace sb::pass
