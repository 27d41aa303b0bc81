#!/usr/bin/env python3
"""Random CUDA programs whose output does not depend on the order in which threads run.

A program has many kernels; main() runs each with blocks of several shapes and prints a sum over what it
left in memory. Every value is defined: indices stay in range, shared memory is written and read on different
sides of a barrier, what others see of atomics is only their sum, and floats hold small whole numbers, which a
fused multiply-add does not change, before they go through maths functions. Other floats: reals.py.

A device prints the same (nvcc -maxrregcount 64: blocks have up to 1024 threads), but for the last bits of powf and its kin.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import drawn  # noqa: E402
import grids  # noqa: E402
import guarded  # noqa: E402
import in_line  # noqa: E402
import linear  # noqa: E402
import lines  # noqa: E402
import own_rows  # noqa: E402
import pieces  # noqa: E402
import reals  # noqa: E402
import spinning  # noqa: E402
import spread  # noqa: E402
import tangled  # noqa: E402
import tiles  # noqa: E402
import whole  # noqa: E402

INPUTS = 1024  # elements of the input, a power of two
SLOTS = 4      # results of a thread

HEAD = f"""// seed {{seed}}
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
typedef unsigned u32;
template <class T> __device__ T largest(T a, T b) {{{{ return a < b ? b : a; }}}}
"""

TAIL = """
static u32 sum_of(const std::vector<u32>& v) {
  u32 h = 2166136261u;
  for (u32 x : v) h = (h ^ x) * 16777619u;
  return h;
}

struct shape { dim3 grid, block; };
// Of depth 1; no larger than the tile; of its shape. Or with warps over several rows.
enum class blocks { any, flat, within, exact, broken };
// `width`: of the blocks that the kernel is written for, or 0; `tile`: of a kernel with one.
struct entry {
  const char* name;
  void (*kernel)(const u32*, u32*, u32*, u32, u32);
  bool warps;
  u32 width;
  dim3 tile;
  blocks which;
  bool cooperative;
  u32 dynamic;  // bytes of shared memory that a launch gives it
};

static std::vector<shape> shapes_of(const entry& e) {
  if (e.which == blocks::broken)
    return {{3, dim3(16, 16)}, {dim3(2, 2), dim3(8, 8)}, {3, dim3(24, 4)}, {2, dim3(5, 7, 3)}, {3, dim3(33, 2)},
            {2, dim3(1, 64)}, {2, dim3(31, 3)}, {2, dim3(32, 8)}, {2, dim3(8, 8, 4)}, {2, dim3(3, 1, 17)}, {3, 70}};
  if (e.tile.x == 1)
    return {{3, 64}, {dim3(2, 2), dim3(32, 3)}, {2, dim3(8, 8)}, {5, 96}, {2, 33}, {1, 1},
            {2, dim3(5, 3, 2)}, {1, 1024}, {40, 32}, {dim3(12, 2), dim3(16, 4)},
            {11, 128}, {7, 256}, {3, 100}, {dim3(2, 2), dim3(7, 9)}, {2, dim3(20, 3, 2)},
            {2, dim3(33, 2)}};
  const u32 w = e.tile.x, h = e.tile.y;
  std::vector<shape> found;
  for (const shape& s : std::initializer_list<shape>{
           {dim3(2, 2), dim3(w, h)}, {3, dim3(w, h)}, {dim3(2, 2), dim3(w, h / 2)}, {2, dim3(w / 2, h)},
           {2, dim3(w, h - 1)}, {dim3(1, 2), dim3(w - 3, h)}, {2, dim3(h, w)}, {2, w}, {2, dim3(1, h)},
           {2, w * h}, {2, dim3(2 * w, h)}, {2, dim3(w, 2 * h)}, {2, dim3(w, h, 2)}, {2, dim3(5, 3, 2)},
           {dim3(2, 2), dim3(7, 9)}, {2, dim3(w / 2, h / 2, 4)}}) {
    const dim3 b = s.block;
    if (b.x * b.y * b.z > 1024 || (b.z > 1 && e.which != blocks::any)) continue;
    if (e.which >= blocks::within && (b.x > w || b.y > h)) continue;
    if (e.which == blocks::exact && (b.x != w || b.y != h)) continue;
    found.push_back(s);
  }
  return found;
}

int main(int argc, char** argv) {
  const entry entries[] = {ENTRIES};
  std::vector<u32> input(INPUTS);
  for (u32 i = 0; i < INPUTS; ++i) input[i] = (i * 2654435761u) ^ (i >> 3);
  u32 *in, *out, *sums;
  const size_t places = 4096 * SLOTS;
  cudaMalloc(&in, INPUTS * 4);
  cudaMalloc(&out, places * 4);
  cudaMalloc(&sums, 64 * 4);
  cudaMemcpy(in, input.data(), INPUTS * 4, cudaMemcpyHostToDevice);
  std::vector<u32> result(places + 64);
  for (const entry& e : entries) {
    if (argc > 1 && std::string(argv[1]) != e.name) continue;
    for (const shape& s : shapes_of(e)) {
      const u32 threads = s.block.x * s.block.y * s.block.z, blocks = s.grid.x * s.grid.y * s.grid.z;
      if (e.warps && threads % 32 != 0) continue;
      if (e.width != 0 && (s.block.x > e.width || s.block.y > 1 || s.block.z > 1)) continue;
      for (u32 n : {0u, 50u, threads * blocks - 1, 1000u}) {
        cudaMemset(out, 0, places * 4);
        cudaMemset(sums, 0, 64 * 4);
        u32 last = blocks * 3 + 1;
        void* arguments[] = {&in, &out, &sums, &n, &last};
        if (e.cooperative)
          cudaLaunchCooperativeKernel((const void*)e.kernel, s.grid, s.block, arguments, e.dynamic, 0);
        else
          e.kernel<<<s.grid, s.block, e.dynamic>>>(in, out, sums, n, last);
        cudaMemcpy(result.data(), out, places * 4, cudaMemcpyDeviceToHost);
        cudaMemcpy(result.data() + places, sums, 64 * 4, cudaMemcpyDeviceToHost);
        if (cudaError_t error = cudaGetLastError()) {
          printf("%s: %s\\n", e.name, cudaGetErrorName(error));
          return 1;
        }
        printf("%s %ux%ux%u %ux%ux%u %u: %08x\\n", e.name, s.grid.x, s.grid.y, s.grid.z, s.block.x, s.block.y,
               s.block.z, n, sum_of(result));
      }
    }
  }
}
"""


class Kernel(lines.Lines, reals.Reals):
    """One kernel. `together` tells whether all threads of a block are at this place, in the same round."""

    def __init__(self, rng, name, free):
        self.rng = rng
        self.name = name
        self.free = free
        self.lines = []
        self.depth = 1
        self.variables = ["a", "b", "c"]  # changing, per thread
        self.counters = []                # of the loops around: read only
        self.uniform = ["n", "s", "blockIdx.x", "gridDim.x", "blockDim.x"]
        self.loops = 0
        self.fresh = 0
        self.budget = rng.randint(6, 22)
        self.has_barriers = rng.random() < 0.55
        self.warps = rng.random() < 0.3
        self.floats = rng.random() < 0.5
        self.array = rng.random() < 0.5
        self.reals = rng.random() < 0.35
        self.spins = rng.random() < 0.06
        self.places = ["t", "g", "threadIdx.x", "threadIdx.y"]
        # Knows only where it is in the grid: neighbouring blocks may run as one.
        self.placed = rng.random() < 0.25
        if self.placed:
            self.has_barriers = self.warps = self.spins = False
            self.places = ["x", "y", "g", "x - 1"]
            self.uniform = ["n", "s", "gridDim.x", "blockDim.x", "blockDim.y"]

    # --- expressions

    def leaf(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.5:
            return rng.choice(self.variables + self.counters)
        if kind < 0.65:
            return f"({rng.choice(self.places)})"
        if kind < 0.8:
            return rng.choice(self.uniform)
        return f"{rng.choice([0, 1, 2, 3, 5, 7, 16, 31, 100, 65537, 0x80000000])}u"

    def value(self, depth=2):
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return self.leaf()
        one, other = self.value(depth - 1), self.value(depth - 1)
        kind = rng.randrange(13)
        if kind < 6:
            return f"({one} {rng.choice(['+', '-', '*', '^', '&', '|'])} {other})"
        if kind == 6:
            return f"({one} {rng.choice(['>>', '<<'])} {rng.randint(1, 15)})"
        if kind == 7:
            return f"({one} {rng.choice(['/', '%'])} {rng.choice([3, 7, 10, 64])}u)"
        if kind == 8:
            return f"({self.condition()} ? {one} : {other})"
        if kind == 9:
            return f"{rng.choice(['min', 'max'])}({one}, {other})"
        if kind == 10:
            return f"in[({one}) & {INPUTS - 1}]"
        if kind == 11:
            return rng.choice([f"__popc({one})", f"(u32)__clz({one})", f"__brev({one})",
                               f"(u32)((int)({one}) >> 3)", f"__umulhi({one}, {other})"])
        return f"p[({one}) & 7]" if self.array else f"in[({other}) & {INPUTS - 1}]"

    def condition(self):
        rng = self.rng
        kind = rng.randrange(5)
        if kind == 0:
            if self.placed:
                return rng.choice(["g < n", "x < s", "x - 1 < n", "x - 3 < s", "g + 1 < n", "y != s", "g == n"])
            return rng.choice(["g < n", "t < s", "threadIdx.x < n", "g + 1 < n", "t != s", "g == n"])
        if kind == 1:
            return f"({self.value(1)} & {rng.choice([1, 3, 12])}) {rng.choice(['==', '!='])} 0"
        if kind == 2:
            return f"(int)({self.value(1)}) {rng.choice(['<', '>=', '>'])} (int)({self.value(1)})"
        return f"{self.value(1)} {rng.choice(['<', '<=', '>', '==', '!='])} {self.value(1)}"

    def uniform_value(self):
        rng = self.rng
        value = rng.choice(self.uniform + [f"in[{rng.randrange(INPUTS)}]", f"in[(n + {self.uniform[2]}) & 1023]"])
        return f"({value} + {rng.randint(0, 5)}u)"

    def uniform_condition(self):
        return f"({self.uniform_value()} & {self.rng.choice([1, 2, 3])}) {self.rng.choice(['==', '!='])} 0"

    # --- statements

    def assign(self):
        target = self.rng.choice(self.variables)
        self.emit(f"{target} {self.rng.choice(['=', '+=', '^=', '='])} {self.value()};")

    def float_step(self):
        if not self.floats:
            return self.assign()
        rng = self.rng
        self.emit(f"f = (float)(({self.value(1)}) & 255u) * {rng.choice(['2.0f', '3.0f', '0.5f'])} + "
                  f"(float)(({self.value(1)}) & 1023u);")
        self.emit(rng.choice(["if (f > 300.0f) f -= 100.0f;", "f = fminf(f, 700.0f);", "f = fabsf(f - 200.0f);",
                              "f = floorf(f * 0.25f);", "f = sqrtf(f * f);", self.maths()]))
        self.emit(f"{rng.choice(self.variables)} += (u32)f;")

    def maths(self):
        """The same to the last bit, whether it is computed for one thread or for several at once."""
        function = self.rng.choice([
            "expf(f * 0.01f)", "logf(f)", "log2f(f + 1.0f)", "sinf(f)", "cosf(f * 700.0f)", "tanf(f)", "powf(f, 1.3f)",
            "powf(f - 300.0f, 3.0f)", "erff(f * 0.01f)", "tanhf(f * 0.01f)", "rsqrtf(f + 1.0f)", "exp2f(f * 0.02f)",
            "(float)sin((double)f)", "(float)exp(f * 0.01)", "(float)log(f + 0.5)"])
        return f"f = fabsf({function}) * 1000.0f; f = f < 1e9f ? f : 5.0f;"

    def store_array(self):
        if not self.array:
            return self.assign()
        self.emit(f"p[({self.value(1)}) & 7] {self.rng.choice(['=', '+='])} {self.value(1)};")

    def inside(self, together, counter=None, jumps=False):
        """The statements of a branch or a loop's body."""
        self.depth += 1
        if counter:
            self.counters.append(counter)
        for _ in range(self.rng.randint(1, 3)):
            self.statement(together)
        if jumps and self.rng.random() < 0.35:
            self.emit(f"if ({self.condition()}) {self.rng.choice(['break', 'continue'])};")
            self.assign()
        if counter:
            self.counters.pop()
        self.depth -= 1

    def branch(self, together):
        same = together and self.rng.random() < 0.4
        self.emit(f"if ({self.uniform_condition() if same else self.condition()}) {{")
        self.inside(together and same)
        if self.rng.random() < 0.5:
            self.emit("} else {")
            self.inside(together and same)
        self.emit("}")

    def choice(self):
        self.emit(f"switch (({self.value(1)}) & 3) {{")
        for case in range(self.rng.randint(1, 3)):
            self.emit(f"case {case}:")
            self.inside(False)
            if self.rng.random() < 0.7:
                self.emit("  break;")
        self.emit("default: c += 3; }")

    def loop(self, together):
        rng = self.rng
        if self.loops >= 2:
            return self.assign()
        self.loops += 1
        i = self.name_of("i")
        same = together and rng.random() < 0.6
        if same:
            limit = rng.choice([f"{rng.randint(1, 6)}u", f"({self.uniform_value()} & 7)"])
            self.emit(f"for (u32 {i} = 0; {i} < {limit}; ++{i}) {{")
            self.inside(True, i)
        elif rng.random() < 0.4:
            # Over data, with the step of the block or the grid.
            own = ("x", "blockDim.x * gridDim.x") if self.placed else ("threadIdx.x", "blockDim.x")
            start, step = rng.choice([("t", "threads"), ("g", "threads * blocks"), own,
                                      ("g", f"{rng.choice([64, 100])}u")])
            self.emit(f"for (u32 {i} = {start}; {i} < (n & 511); {i} += {step}) {{")
            self.inside(False, i, jumps=rng.random() < 0.3)
        else:
            self.emit(f"for (u32 {i} = 0, e{i} = ({self.value(1)}) & 7; {i} < e{i}; ++{i}) {{")
            self.inside(False, i, jumps=True)
        self.emit("}")
        self.loops -= 1

    def exchange(self):
        """Through shared memory."""
        self.emit(f"own[t] = {self.value(1)};")
        self.emit("__syncthreads();")
        self.emit(f"{self.rng.choice(self.variables)} ^= own[({self.value(1)}) % threads];")
        self.emit(self.rng.choice(["__syncthreads();", "a += __syncthreads_count(b & 1);",
                                   "b ^= __syncthreads_or(a == 3);", "c += __syncthreads_and(g < n);"]))

    def shared_sum(self):
        self.emit("for (u32 z = t; z < 16; z += threads) total[z] = 0;")
        self.emit("__syncthreads();")
        self.emit(f"if ({self.condition()}) atomicAdd(&total[({self.value(1)}) & 15], {self.value(1)});")
        self.emit("__syncthreads();")
        self.emit(f"{self.rng.choice(self.variables)} += total[({self.value(1)}) & 15];")
        self.emit("__syncthreads();")

    def tree(self):
        """A reduction as everybody writes it."""
        s = self.name_of("d")
        self.emit(f"own[t] = {self.rng.choice(self.variables)};")
        self.emit("__syncthreads();")
        self.emit(f"for (u32 {s} = 512; {s} > 0; {s} >>= 1) {{")
        self.emit(f"  if (t < {s} && t + {s} < threads) own[t] += own[t + {s}];")
        self.emit("  __syncthreads();")
        self.emit("}")
        self.emit(f"{self.rng.choice(self.variables)} ^= own[0];")
        self.emit("__syncthreads();")

    def shuffle(self, mask):
        """What comes from a lane that is not in the mask is not looked at: on a device it is anything."""
        rng = self.rng
        target, value, by = rng.choice(self.variables), self.value(1), rng.choice([1, 2, 4, 7, 8, 16])
        width, at = rng.choice([32, 32, 16, 8]), rng.choice(["3", "t + 1", "b", "in[5]"])
        lane, last = "(t & 31)", f"{width - 1}u"
        call, given, source = rng.choice([
            ("down", by, f"(t & {last}) + {by} > {last} ? {lane} : {lane} + {by}"),
            ("up", by, f"(t & {last}) < {by} ? {lane} : {lane} - {by}"),
            ("xor", by, f"({lane} ^ {by}) > ({lane} | {last}) ? {lane} : {lane} ^ {by}"),
            ("", at, f"({lane} & ~{last}) | (({at}) & {last})")])
        shuffle = f"__shfl_{call + '_' if call else ''}sync({mask}, {value}, {given}{'' if width == 32 else f', {width}'})"
        by_what = rng.choice(["+=", "^=", "="])
        if mask == "~0u":
            self.emit(f"{target} {by_what} {shuffle};")
        else:
            self.emit(f"{{ const u32 from = {source}, got = {shuffle}; if ({mask} >> from & 1) {target} {by_what} got; }}")

    def warp(self, mask="~0u"):
        rng = self.rng
        if rng.random() < 0.4:
            return self.shuffle(mask)
        target, value = rng.choice(self.variables), self.value(1)
        self.emit(f"{target} " + rng.choice([
            f"+= __ballot_sync({mask}, {self.condition()});",
            f"^= __any_sync({mask}, {self.condition()}) * 5u;",
            f"+= __all_sync({mask}, {self.condition()});",
            f"+= __match_any_sync({mask}, ({value}) & 3u);",
            f"+= __reduce_add_sync({mask}, {value});",
            f"^= __reduce_max_sync({mask}, {value});"]))

    def among(self, mask, depth):
        """What lanes do that are there without the others."""
        self.depth += 1
        for _ in range(self.rng.randint(1, 3)):
            kinds = [self.assign, self.global_sum, lambda: self.warp(mask), lambda: self.warp(mask)]
            if depth > 0:
                kinds.append(lambda: self.parted(mask, depth - 1))
            self.rng.choice(kinds)()
        self.depth -= 1

    def parted(self, mask="~0u", depth=1):
        """Lanes that part by a condition, or leave a loop one after the other."""
        some, flag = self.name_of("m"), self.name_of("q")
        if self.rng.random() < 0.3:
            self.emit(f"for (u32 {some} = {mask}, {flag} = ({self.value(1)}) & 7;; --{flag}) {{")
            self.emit(f"  {some} = __ballot_sync({some}, {flag} > 0);")
            self.emit(f"  if ({flag} == 0) break;")
            self.among(some, depth)
        else:
            self.emit(f"const bool {flag} = {self.condition()};")
            self.emit(f"const u32 {some} = __ballot_sync({mask}, {flag});")
            self.emit(f"if ({flag}) {{")
            self.among(some, depth)
            if self.rng.random() < 0.4:
                self.emit("} else {")
                self.among(f"({mask} & ~{some})", depth)
        self.emit("}")

    def warp_tree(self):
        d = self.name_of("w")
        target = self.rng.choice(self.variables)
        self.emit(f"for (int {d} = 16; {d} > 0; {d} /= 2) {target} += __shfl_down_sync(~0u, {target}, {d});")

    def start(self):
        """Sums over the grid before anything that the threads of a block do together."""
        rng = self.rng
        step = rng.choice(["blockDim.x * gridDim.x", "blockDim.x * gridDim.x", "64u", "1000u"])
        limit = rng.choice(["n", "n * 3 + 7", "s * 100", "5000u"])
        value = rng.choice([f"in[i & {INPUTS - 1}]", f"in[i & {INPUTS - 1}] ^ (i << 3)", "i * i"])
        lines = ["  u32 first = 0, second = 1;",
                 f"  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < {limit}; i += {step}) {{",
                 f"    first += {value};"]
        if rng.random() < 0.4:
            lines.append(f"    if (i & {rng.choice([1, 4, 96])}) second = second * 3 + i;")
        if rng.random() < 0.2:
            lines.append("    if (first == 77) break;")
        return lines + ["  }"]

    def spin(self):
        """Threads of a block one after another."""
        self.emit("for (bool mine = false; !mine;) {")
        self.emit("  if (atomicAdd(&turn, 0) == t) {")
        self.emit("    mine = true;")
        self.emit("    b ^= order * 3 + t; order = b & 0xffff;")
        self.emit("    __threadfence_block();")
        self.emit("    atomicExch(&turn, t + 1);")
        self.emit("  }")
        self.emit("}")

    def global_sum(self):
        kind = self.rng.choice(["atomicAdd", "atomicXor", "atomicMax", "atomicOr"])
        slot = {"atomicAdd": 0, "atomicXor": 16, "atomicMax": 32, "atomicOr": 48}[kind]
        self.emit(f"{kind}(&sums[{slot} + (({self.value(1)}) & 15)], {self.value(1)});")

    def statement(self, together):
        self.budget -= 1
        rng = self.rng
        plain = [self.assign, self.assign, self.float_step, self.store_array, self.global_sum]
        if self.reals:
            plain += [self.real_step, self.half_step]
        if self.budget > 0 and self.depth < 5:
            plain += [lambda: self.branch(together), lambda: self.branch(together), lambda: self.loop(together),
                      lambda: self.loop(together), self.choice]
        if together and self.has_barriers:
            plain += [self.exchange, self.exchange, self.shared_sum, self.tree]
        if together and self.warps:
            plain += [self.warp, self.warp, self.warp, self.warp_tree, self.parted, self.parted]
        rng.choice(plain)()

    def text(self):
        rng = self.rng
        while self.budget > 0:
            self.statement(True)
        if self.spins:
            self.spin()
        head = [f"__global__ void {self.name}(const u32* in, u32* out, u32* sums, u32 n, u32 s) {{",
                "  const u32 threads = blockDim.x * blockDim.y * blockDim.z;",
                "  const u32 blocks = gridDim.x * gridDim.y * gridDim.z;",
                "  const u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);",
                "  const u32 g = t + threads * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));"]
        if self.placed:
            head[3:] = ["  const u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;",
                        "  const u32 z = blockIdx.z * blockDim.z + threadIdx.z;",
                        "  const u32 g = x + gridDim.x * blockDim.x * (y + gridDim.y * blockDim.y * z), t = y;"]
        started = not self.placed and rng.random() < 0.4
        if started:
            head[1:1] = self.start()
        if self.has_barriers:
            head.append("  __shared__ u32 own[1024], total[16];")
        if self.spins:
            head += ["  __shared__ u32 turn, order;", "  if (t == 0) turn = order = 0;", "  __syncthreads();"]
        head.append(f"  u32 a = g * {rng.randint(1, 9)}u, b = in[g & {INPUTS - 1}], c = {rng.randint(0, 99)}u;")
        if started:
            head.append("  a ^= first; c += second;")
        if self.floats:
            head.append("  float f = 0;")
        if self.reals:
            head += reals.VARIABLES
        if self.array:
            head.append("  u32 p[8]; for (u32 i = 0; i < 8; ++i) p[i] = i * t;")
        if not self.has_barriers and not self.warps and not self.spins and rng.random() < 0.3:
            head.append("  if (g >= n) return;")
        end = [f"  out[{SLOTS} * g] = a; out[{SLOTS} * g + 1] = b; out[{SLOTS} * g + 2] = c;"]
        if self.reals:
            end.append(f"  out[{SLOTS} * g + 3] = {reals.RESULT};")
        if self.array:
            end.append(f"  out[{SLOTS} * g + 3] += p[0] + p[3] * 5 + p[7] * 7;")
        return "\n".join(head + self.lines + end + ["}"])


# Programs with an even seed have products and sums of any kind that are not fused, every other one of the rest such that
# are: in the same way in every build of ours, though not always in a device's (docs/compatibility.md).
def flags(seed):
    return ["-fmad=false"] if seed % 2 == 0 else []


def is_free(seed):
    return seed % 4 != 3


def entry(kernel):
    tile = isinstance(kernel, tiles.Tile)
    shape = f"dim3({kernel.columns}, {kernel.rows})" if tile else "1"
    which = "any" if not tile or kernel.deep else "flat" if kernel.blocks == "any" else kernel.blocks
    which = "broken" if isinstance(kernel, linear.Linear) else which
    return (f'{{"{kernel.name}", {kernel.name}, {str(kernel.warps).lower()}, {getattr(kernel, "width", 0)}, {shape}, '
            f'blocks::{which}, {str(getattr(kernel, "cooperative", False)).lower()}, {getattr(kernel, "dynamic", 0)}}}')


# What a device runs as well, with the same results.
KINDS = ("kernel", "guarded", "tangled", "tile", "line", "linear", "grid", "piece", "spread", "row", "whole", "drawn",
         "spinning")
# What fails or waits for ever there.
ONLY_HERE = ("lanes", "unequal")


def program(seed, count, kinds=KINDS):
    rng = random.Random(seed)
    free = is_free(seed)
    make = {"kernel": lambda name: Kernel(rng, name, free), "line": lambda name: in_line.Line(rng, name),
            "guarded": lambda name: guarded.Guarded(rng, name, free), "tangled": lambda name: tangled.Tangled(rng, name),
            "tile": lambda name: tiles.Tile(rng, name, free), "linear": lambda name: linear.Linear(rng, name, free),
            "grid": lambda name: grids.kernel(rng, name, free), "piece": lambda name: pieces.Pieces(rng, name, free),
            "spread": lambda name: spread.Spread(rng, name), "row": lambda name: own_rows.OwnRows(rng, name),
            "whole": lambda name: whole.Whole(rng, name), "drawn": lambda name: drawn.Drawn(rng, name),
            "spinning": lambda name: spinning.Spinning(rng, name),
            "lanes": lambda name: tangled.ByLanes(rng, name), "unequal": lambda name: grids.unequal(rng, name, free)}
    kernels = [make[kinds[i % len(kinds)]](f"k{i}") for i in range(count)]
    texts = [kernel.text() for kernel in kernels]
    entries = ", ".join(entry(kernel) for kernel in kernels)
    tail = TAIL.replace("ENTRIES", entries).replace("INPUTS", str(INPUTS)).replace("SLOTS", str(SLOTS))
    return HEAD.format(seed=seed) + "#include <string>\n#include <utility>\n" + spinning.HEAD + "\n\n".join(texts) + "\n" + tail
