// What it takes to pin the host memory that copies use, which a program that is changed so has to
// do as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

// Each piece of memory once, with a call of its own: what lies side by side is one, and what lies
// apart is not, since that may be memory that the program has from several allocations.
struct pinning {
  std::size_t pieces = 0;
  std::size_t threads = 0;  // that pin it
  std::uint64_t bytes = 0;
  nanoseconds in_place = 0;  // cudaHostRegister
  nanoseconds allocate = 0;  // cudaMallocHost
};
[[nodiscard]] pinning pinning_of(const trace::trace& t, const std::vector<number>& copies);

// Each thread that makes such copies pins their memory where it is, in front of its first call.
void add_pinning(const trace::trace& t, program& p, const std::vector<number>& copies);

// With pinned memory a call returns before its copy is done. Where a copy uses memory that one
// before it used, and the thread does not wait in between, it does so in front of its own code
// there: that may fill the memory again. Not where it brings back what was sent from there.
void wait_before_reuse(const trace::trace& t, program& p, const std::vector<number>& copies);

// "takes about 281 µs for 4 MiB (counted in the cost), …"
[[nodiscard]] std::string words_of(const pinning& pins, nanoseconds cost);

// What is said where pinning takes longer than this run gains by `copies` copies: when it pays.
[[nodiscard]] std::string words_of_use(const pinning& pins, nanoseconds gain, std::size_t copies);

}  // namespace sb::analysis
