"""Kernels with warp operations for blocks of several rows that break warps: 16x16, 24x4, 5x7x3, ...

    t = threadIdx.y * blockDim.x + threadIdx.x; sums over the warps of a block, scans, tiles of 4 to 32 threads

on top of what guarded.py does: conditions that part warps by rows, columns and warps, threads that return early. Where a
kernel does not know threadIdx.z, the thread's number comes from its block's group, so that blocks may have layers; where it
only knows threadIdx.x, from its warp and lane.
"""

import guarded

RANKS = ["threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)",
         "threadIdx.z * blockDim.y * blockDim.x + threadIdx.y * blockDim.x + threadIdx.x",
         "(u32)((size_t)threadIdx.x + (size_t)blockDim.x * threadIdx.y + blockDim.x * blockDim.y * threadIdx.z)"]
GROUP_RANK = "cg::this_thread_block().thread_rank()"
LANE = ["  u32 own_lane;", '  asm("mov.u32 %0, %%laneid;" : "=r"(own_lane));']
# On a device %warpid is a place in the multiprocessor, where blocks begin anywhere; here the warp's number in its block.
WARP_OF_RANK = [f"  const u32 own_warp = {GROUP_RANK} / 32;"]
WARP_ID = ["  u32 own_warp;", '  asm("mov.u32 %0, %%warpid;" : "=r"(own_warp));']


class Linear(guarded.Guarded):
    own_warp = WARP_OF_RANK

    def __init__(self, rng, name, free):
        super().__init__(rng, name, free)
        self.lanes = True
        self.knows = rng.choice("xyyzzz")  # and the axes before it
        every = ["t / 32 == (s & 3)", "t < 32", "t >= 32", "at < 32", "at / 32 == 1", "threadIdx.x < 5", "at16 % 32 < 9",
                 "t / 32 < (threads + 31) / 64", "(t & 32) == 0"]
        if self.knows == "x":
            every += ["threadIdx.x / 32 == 0", "threadIdx.x % 32 < 5", "threadIdx.x < 32", "threadIdx.x == 0"]
        else:
            every += ["threadIdx.y < 2", "threadIdx.y == 0 && i < n", "(threadIdx.y & 1) != 0", "threadIdx.x > threadIdx.y",
                      "threadIdx.y * blockDim.x < n"]
        if self.knows == "z":
            every += ["threadIdx.z == 0", "threadIdx.z + threadIdx.y < 3"]
        self.conditions += rng.sample(every, rng.randint(1, 3))

    def indices(self):
        rank = self.rng.choice([*RANKS, GROUP_RANK]) if self.knows == "z" else GROUP_RANK
        row = "0u" if self.knows == "x" else "threadIdx.y"
        number = [*LANE, *self.own_warp, "  const u32 t = own_warp * 32 + own_lane;"]
        return [*(number if self.knows == "x" else [f"  const u32 t = {rank};"]),
                f"  const u32 at = {row} * blockDim.x + threadIdx.x, at16 = {row} * 16 + threadIdx.x;",
                *(["  __shared__ u32 sums_of[32];", "  for (u32 z = t; z < 32; z += threads) sums_of[z] = 0;"]
                  if self.barriers else [])]

    def value(self):
        if self.rng.random() < 0.2:
            y = "threadIdx.x / 32" if self.knows == "x" else "threadIdx.y"
            return self.rng.choice(["threadIdx.x * 3u", f"{y} + a", "at ^ b", "in[(at + i) & 1023]", "t / 32", "at16"])
        return super().value()

    # --- what they do together

    def reduction(self, to, below="16"):
        """The sum of the lanes behind it, as far as they are there."""
        d, o = self.name_of("d"), self.name_of("o")
        self.emit(f"for (u32 {d} = {below}; {d} > 0; {d} /= 2) {{")
        self.emit(f"  const u32 {o} = __shfl_down_sync({self.mask()}, {to}, {d});")
        self.emit(f"  if (lane + {d} < 32 && (alive >> (lane + {d}) & 1)) {to} += {o};")
        self.emit("}")

    def block_sum(self):
        v = self.name_of("v")
        self.emit(f"u32 {v} = {self.condition()} ? {self.value()} : 0u;")
        self.reduction(v)
        if not self.barriers:
            self.emit(f"c += {v};")
            return
        self.emit(f"if (lane == 0) sums_of[t / 32] = {v};")
        self.emit("__syncthreads();")
        self.emit("if (t < 32) {" if self.rng.random() < 0.7 else "if (t / 32 == 0) {")
        self.depth += 1
        self.emit(f"{v} = sums_of[lane];")
        self.reduction(v, self.rng.choice(["16", "8"]))
        self.emit(f"if (lane == 0) sums_of[0] = {v};")
        self.depth -= 1
        self.emit("}")
        self.emit("__syncthreads();")
        self.emit("a += sums_of[0];")
        self.emit("__syncthreads();")

    def scan(self):
        v, d, o = self.name_of("v"), self.name_of("d"), self.name_of("o")
        self.emit(f"u32 {v} = {self.value()};")
        self.emit(f"for (u32 {d} = 1; {d} < 32; {d} *= 2) {{")
        self.emit(f"  const u32 {o} = __shfl_up_sync({self.mask()}, {v}, {d});")
        self.emit(f"  if (lane >= {d} && (alive >> (lane - {d}) & 1)) {v} += {o};")
        self.emit("}")
        self.emit(f"b ^= {v};")

    def tile(self):
        """What a tile says counts if all of its threads are there."""
        rng, size = self.rng, self.rng.choice([4, 8, 16, 32])
        tile, whole = self.name_of("p"), self.name_of("w")
        threads = f"{(1 << size) - 1:#x}u"
        self.emit(f"const auto {tile} = cg::tiled_partition<{size}>(cg::this_thread_block());")
        self.emit(f"const bool {whole} = (alive >> (lane & ~{size - 1}u) & {threads}) == {threads};")
        v = self.name_of("v")
        result = rng.choice([
            f"cg::reduce({tile}, {self.value()}, cg::plus<u32>())", f"cg::reduce({tile}, {self.value()}, cg::greater<u32>())",
            f"{tile}.shfl_down({self.value()}, {rng.choice([1, 2])})", f"{tile}.shfl_xor({self.value()}, 1)",
            f"{tile}.shfl({self.value()}, t & {size - 1})", f"{tile}.ballot({self.condition()})",
            f"{tile}.any({self.condition()})", f"{tile}.all({self.condition()})"])
        self.emit(f"const u32 {v} = {result};")
        self.emit(f"if ({whole}) {rng.choice(['a', 'b'])} += {v} * {tile}.thread_rank() + {tile}.meta_group_rank();")
        if size < 32:  # tiles of a warp may go on one after the other, which __activemask would tell
            self.emit("__syncwarp(alive);")

    def step(self):
        if self.rng.random() < 0.45:
            return self.rng.choice([self.block_sum, self.scan, self.tile, self.tile])()
        super().step()
