// Which lanes of a warp are together again behind what parted them: ways of a branch in a loop, rounds of
// loops that lanes leave and skip in different ones, cases of a switch, returns, ways out of loops,
// functions. Each thread leaves a list of who was there, place by place. Loops that each lane goes round as often
// as it likes are not unrolled: NVIDIA's compiler has a loop of its own for the lanes with four rounds or more.
//   converged            a line for each kernel and shape of blocks
//   converged lists      what each thread of one block saw, too
#include <cooperative_groups.h>

#include <vector>

#include "probe.h"

namespace cg = cooperative_groups;

constexpr unsigned longest = 40;

// What a thread saw, in its order.
struct seen {
  unsigned* to;
  unsigned count = 0;

  __device__ explicit seen(unsigned* out) {
    to = out + (blockIdx.x * blockDim.x * blockDim.y * blockDim.z + rank()) * longest;
  }
  __device__ static unsigned rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  __device__ void add(unsigned value) {
    if (count < longest) to[count] = value;
    ++count;
  }
  __device__ void lanes() { add(__activemask()); }
  __device__ void group() {
    const cg::coalesced_group here = cg::coalesced_threads();
    add(here.size() * 100 + here.thread_rank());
  }
  __device__ void vote(bool yes) { add(__ballot_sync(__activemask(), yes)); }
};

// Two branches after each other, in each round: lanes part by one thing, then by another.
__global__ void branches_of_a_round(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned r = seen::rank(), x = in[r];
  for (unsigned i = 0; i < 3; ++i) {
    if (x % n != 0)
      all.lanes();
    else
      all.group();
    if (r % 32 < 3 * n)
      all.group();
    else
      all.vote(x & 1);
  }
  all.lanes();
}

// Some lanes ask in a branch at the end of a round, the others are in the next one already, or wait.
__global__ void at_the_end_of_a_round(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 4; ++i) {
    all.lanes();
    if ((x + i) % n == 0) all.vote(x & 2);
  }
  all.lanes();
}

__global__ void nested_branches(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 2; ++i) {
    if ((x >> i) % n == 0) {
      all.lanes();
      if (x & 4) {
        all.group();
        if (x & 8) all.lanes();
        all.vote(x & 16);
      } else {
        all.lanes();
      }
      all.group();
    } else if (x & 32) {
      all.lanes();
    }
    all.lanes();
  }
}

__global__ void skipped_rounds(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 6; ++i) {
    if ((x + i) % n == 0) continue;
    all.lanes();
    if ((x >> i) & 1) continue;
    all.group();
  }
  all.lanes();
}

__global__ void left_in_the_middle(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 8; ++i) {
    all.lanes();
    if ((x + 3 * i) % n == 0) break;
    all.group();
    if ((x >> 3) % 7 == i) break;
    all.vote(x & 1);
  }
  all.lanes();
}

__global__ void own_rounds(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
#pragma unroll 1
  for (unsigned i = 0; i < x % n; ++i) all.lanes();
  all.group();
  unsigned left = x % 5;
#pragma unroll 1
  do {
    all.vote(left & 1);
  } while (left-- > 1);
  all.lanes();
}

__global__ void nested_loops(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
#pragma unroll 1
  for (unsigned i = 0; i < 1 + x % 3; ++i) {
#pragma unroll 1
    for (unsigned j = 0; j < (x + i) % n; ++j) {
      all.lanes();
      if ((x >> j) & 1) all.group();
    }
    all.vote(x & 1);
  }
  all.lanes();
}

// The loops in which nobody asks part lanes as well; who comes out of them is together again.
__global__ void behind_silent_loops(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 3; ++i) {
#pragma unroll 1
    for (unsigned j = 0; j < x % n; ++j) x = in[(x + j) % 1024];
    if (x & 1)
      all.lanes();
    else
      all.group();
  }
  all.lanes();
}

__global__ void returns_in_a_loop(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 5; ++i) {
    if (x & 1) {
      all.lanes();
      if ((x >> 1) % n == i) return;
      all.group();
    } else {
      all.vote(x & 2);
      if ((x >> 2) % 6 == i) return;
    }
    all.lanes();
  }
  all.lanes();
}

__global__ void return_of_a_branch(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  if (x % n == 0) {
    all.lanes();
    if (x & 8) return;
    all.group();
  }
  all.lanes();
  if (x & 16) {
    if (x & 32) return;
    all.vote(x & 64);
  }
  all.group();
}

__global__ void cases(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 3; ++i) {
    switch ((x + i) % (n + 1)) {
      case 0:
        all.lanes();
        break;
      case 1:
        all.group();
        if (x & 4) break;
        all.lanes();
        break;
      case 2:
        break;
      default:
        all.vote(x & 1);
    }
    all.lanes();
  }
}

// Those that leave a loop in different rounds ask together behind it.
__global__ void asked_when_leaving(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 6; ++i) {
    if ((x >> 1) % n == i) {
      all.lanes();
      break;
    }
    all.group();
  }
  all.lanes();
}

__global__ void two_ways_out(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 6; ++i) {
    for (unsigned j = 0; j < 3; ++j) {
      if ((x >> 2) % 9 == i * 3 + j) goto found;
      all.lanes();
      if ((x >> 6) % n == j) break;
    }
    all.group();
  }
  all.lanes();
found:
  all.lanes();
}

// A condition of two parts parts lanes twice, and one way is reached from both.
__global__ void conditions_in_parts(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 3; ++i) {
    if (x % n != 0 && in[(x + i) % 1024] % 3 != 0) all.lanes();
    all.group();
    if ((x & 3) == i || in[(x * 5 + i) % 1024] % 2 == 0) all.vote(x & 4);
    all.lanes();
  }
}

__device__ __noinline__ void asking(seen& all, unsigned x) {
  if (x & 1) all.lanes();
  all.group();
}

__global__ void in_functions(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 2; ++i) {
    if (x % n == 0) {
      all.lanes();
      asking(all, x >> i);
    }
    all.lanes();
    asking(all, x >> 3);
    all.lanes();
  }
}

// Functions that are not known where they are called: one for all lanes, then one for each.
using function = void (*)(seen&, unsigned);
__device__ void asking_twice(seen& all, unsigned x) {
  all.lanes();
  if (x & 2) all.vote(x & 4);
}
__device__ function functions[] = {asking, asking_twice};

__global__ void by_pointers(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 2; ++i) {
    if (x % n == 0) all.lanes();
    functions[(n + i) & 1](all, x);
    all.lanes();
  }
  functions[x >> 5 & 1](all, x);
  all.group();
}

__global__ void falling_cases(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 3; ++i) {
    switch ((x + i) % (n + 1)) {
      case 0:
        all.lanes();
      case 1:
        all.group();
        break;
      case 2:
        all.vote(x & 2);
      default:
        all.lanes();
    }
    all.lanes();
  }
}

__global__ void either_or(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  if (x % n != 0 && in[x % 1024] % 3 != 0)
    all.lanes();
  else
    all.group();
  if (x & 1 || in[(x >> 2) % 1024] % 5 < 3) {
    all.vote(x & 4);
  } else {
    all.lanes();
    if (x & 64) all.group();
  }
  all.lanes();
}

// One way runs into the middle of the other.
__global__ void crossing(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  if (x % n == 0) {
    all.lanes();
    if (x & 8) goto middle;
    all.group();
  } else {
    all.vote(x & 4);
  middle:
    all.lanes();
  }
  all.lanes();
}

__global__ void asked_in_the_condition(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  unsigned i = 0;
#pragma unroll 1
  while (all.lanes(), i < x % n) {
    if ((x >> i++) & 1) all.group();
  }
#pragma unroll 1
  while (all.lanes(), i-- > 1) all.vote(i & 1);
}

__global__ void endless_with_returns(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0;; ++i) {
    if (x % n == i) {
      all.lanes();
      return;
    }
    all.group();
    if (x % 7 == i) return;
    if ((x >> i) & 1) all.lanes();
  }
}

// Groups of groups: those that are in a branch part again, and vote.
__global__ void groups_in_rounds(unsigned* out, unsigned n, const unsigned* in) {
  seen all(out);
  const unsigned x = in[seen::rank()];
  for (unsigned i = 0; i < 3; ++i) {
    if ((x + i) % n != 0) {
      const cg::coalesced_group here = cg::coalesced_threads();
      all.add(here.ballot(x & 1));
      all.add(here.shfl(x, here.size() - 1));
      if (here.thread_rank() % 2 == 0) {
        const cg::coalesced_group even = cg::coalesced_threads();
        all.add(even.shfl(x, 0) ^ even.any(x & 16));
      }
    } else {
      all.vote(x & 8);
    }
  }
  all.lanes();
}

int main(int argc, char** argv) {
  const bool lists = argc > 1 && std::string(argv[1]) == "lists";
  const struct {
    const char* name;
    dim3 threads;
  } shapes[] = {{"row", 64}, {"short", 20}, {"broken", 100}, {"square", {16, 16}}, {"odd", {5, 7, 3}}};
#define KERNEL(name) {#name, name}
  const struct {
    const char* name;
    void (*kernel)(unsigned*, unsigned, const unsigned*);
  } kernels[] = {KERNEL(branches_of_a_round), KERNEL(at_the_end_of_a_round), KERNEL(nested_branches),
                 KERNEL(skipped_rounds),      KERNEL(left_in_the_middle),    KERNEL(own_rounds),
                 KERNEL(nested_loops),        KERNEL(behind_silent_loops),   KERNEL(returns_in_a_loop),
                 KERNEL(return_of_a_branch),  KERNEL(cases),                 KERNEL(asked_when_leaving),
                 KERNEL(two_ways_out),        KERNEL(conditions_in_parts),   KERNEL(in_functions),
                 KERNEL(by_pointers),         KERNEL(falling_cases),         KERNEL(either_or),
                 KERNEL(crossing),            KERNEL(asked_in_the_condition), KERNEL(endless_with_returns),
                 KERNEL(groups_in_rounds)};
  constexpr unsigned count = 2 * 256 * longest, inputs = 1024;
  std::vector<unsigned> values(inputs), all(count);
  for (unsigned i = 0; i < inputs; ++i) values[i] = (i * 2654435761u >> 7) ^ (i << 3);
  unsigned *out, *in;
  MUST(cudaMalloc(&out, count * sizeof *out));
  MUST(cudaMalloc(&in, inputs * sizeof *in));
  MUST(cudaMemcpy(in, values.data(), inputs * sizeof *in, cudaMemcpyHostToDevice));
  for (const auto& one : kernels)
    for (const auto& shape : shapes)
      for (const unsigned n : {2u, 3u, 5u}) {
        MUST(cudaMemset(out, 0, count * sizeof *out));
        one.kernel<<<2, shape.threads>>>(out, n, in);
        MUST(cudaMemcpy(all.data(), out, count * sizeof *out, cudaMemcpyDeviceToHost));
        unsigned sum = 0;
        for (const unsigned each : all) sum = sum * 1000003u + each;
        const std::string name = std::string("converged.") + one.name + "." + shape.name + "." + std::to_string(n);
        char text[64];
        std::snprintf(text, sizeof text, "%08x (%x %x %x %x)", sum, all[longest * 3], all[longest * 3 + 1],
                      all[longest * 10], all[longest * 10 + 2]);
        say(name, text);
        if (!lists || shape.threads.x != 64) continue;
        for (unsigned thread = 0; thread < 32; ++thread) {
          std::printf("  %s %2u %08x:", name.c_str(), thread, values[thread]);
          for (unsigned i = 0; i < longest && all[thread * longest + i] != 0; ++i)
            std::printf(" %x", all[thread * longest + i]);
          std::printf("\n");
        }
      }
}
