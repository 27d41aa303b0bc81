// Which lanes of a warp are at a place: in both ways of a branch, in loops that lanes leave one
// after the other, behind a return; in blocks whose rows are warps, parts of warps, and neither.
#include <cooperative_groups.h>

#include <vector>

#include "probe.h"

namespace cg = cooperative_groups;

constexpr unsigned places = 4;

__device__ unsigned rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ void leave(unsigned* out, unsigned place, unsigned value) {
  out[(blockIdx.x * blockDim.x * blockDim.y * blockDim.z + rank()) * places + place] = value;
}

__global__ void whole(unsigned* out, int) { leave(out, 0, __activemask()); }

__global__ void one_way(unsigned* out, int part) {
  if (rank() % part == 0) leave(out, 0, __activemask());
}

__global__ void both_ways(unsigned* out, int part) {
  if (rank() % part == 0)
    leave(out, 0, __activemask());
  else
    leave(out, 1, __activemask());
  __syncwarp();
  leave(out, 2, __activemask());
}

__global__ void nested(unsigned* out, int part) {
  const unsigned r = rank();
  if (r % 2) {
    leave(out, 0, __activemask());
    if (r % part == 1)
      leave(out, 1, __activemask());
    else
      leave(out, 2, __activemask());
  } else {
    leave(out, 3, __activemask());
  }
}

__global__ void loop(unsigned* out, int part) {
  unsigned seen = 0;
  for (unsigned i = 0; i <= rank() % part; ++i) seen = seen * 31 + __activemask();
  leave(out, 0, seen);
}

// Lanes that have nothing to do in a branch, or that leave a loop early, wait for the others.
__global__ void behind_branches(unsigned* out, int part) {
  if (rank() % part == 0) leave(out, 0, __activemask());
  leave(out, 1, __activemask());
  if (rank() % 2) leave(out, 2, cg::coalesced_threads().thread_rank());
  leave(out, 3, __activemask());
}

__global__ void behind_loops(unsigned* out, int part) {
  unsigned seen = 0;
  for (unsigned i = 0; i < 3; ++i) {
    for (unsigned j = 0; j <= (rank() * 7 + i) % part; ++j) seen = seen * 31 + __activemask();
    leave(out, i, __activemask());
  }
  leave(out, 3, seen * 31 + __activemask());
}

__global__ void behind_a_return(unsigned* out, int part) {
  if (rank() % part == 0) return;
  leave(out, 0, __activemask());
}

__global__ void groups(unsigned* out, int part) {
  if (rank() % part) {
    cg::coalesced_group here = cg::coalesced_threads();
    leave(out, 0, here.size() * 100 + here.thread_rank());
    leave(out, 1, here.shfl(rank(), here.size() - 1));
    leave(out, 2, here.ballot(rank() % 3 == 0));
  } else {
    cg::coalesced_group here = cg::coalesced_threads();
    leave(out, 3, here.size() * 100 + here.thread_rank());
  }
}

// One lane takes places for all that are there.
__global__ void aggregated(unsigned* out, int part) {
  __shared__ unsigned count;
  if (rank() == 0) count = 0;
  __syncthreads();
  if (rank() % part) {
    cg::coalesced_group here = cg::coalesced_threads();
    unsigned first = 0;
    if (here.thread_rank() == 0) first = atomicAdd(&count, here.size());
    first = here.shfl(first, 0);
    leave(out, 0, first + here.thread_rank() < blockDim.x * blockDim.y * blockDim.z);
  }
  __syncthreads();
  leave(out, 1, count);
}

int main() {
  const struct {
    const char* name;
    dim3 threads;
  } shapes[] = {{"row", 64},         {"short", 20},      {"broken", 100},   {"square", {16, 16}},
                {"odd", {5, 7}},     {"flat", {32, 4}},  {"deep", {4, 4, 4}}};
  const struct {
    const char* name;
    void (*kernel)(unsigned*, int);
  } kernels[] = {{"whole", whole},         {"one_way", one_way}, {"both_ways", both_ways},
                 {"nested", nested},       {"loop", loop},       {"behind_a_return", behind_a_return},
                 {"behind_branches", behind_branches}, {"behind_loops", behind_loops},
                 {"groups", groups},       {"aggregated", aggregated}};
  unsigned* out;
  constexpr unsigned count = 2 * 256 * places;
  MUST(cudaMalloc(&out, count * sizeof *out));
  std::vector<unsigned> seen(count);
  for (const auto& shape : shapes)
    for (const auto& one : kernels)
      for (const int part : {3, 8}) {
        MUST(cudaMemset(out, 0, count * sizeof *out));
        one.kernel<<<2, shape.threads>>>(out, part);
        MUST(cudaMemcpy(seen.data(), out, count * sizeof *out, cudaMemcpyDeviceToHost));
        unsigned sum = 0;
        for (const unsigned each : seen) sum = sum * 1000003u + each;
        char text[64];
        std::snprintf(text, sizeof text, "%u (%x %x %x %x)", sum, seen[places * 9], seen[places * 9 + 1],
                      seen[places * 10 + 2], seen[places * 10 + 3]);
        say(std::string("active.") + shape.name + "." + one.name + "." + std::to_string(part), text);
      }
}
