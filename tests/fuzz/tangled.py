"""Kernels whose warps come to barriers by any way: in both ways of a branch, in the cases of a switch, in loops that
some leave earlier, behind returns, and in functions that are not to be inlined.

A barrier opens when every thread that has not returned is at one, whichever. So all have passed equally many at any time,
and what a thread leaves in one of two halves of shared memory before a barrier is read between it and the next.

Lanes of one warp go the same way to barriers, by what is the same for all of them (d, e, w), or return: on a device those
that are at barriers on both ways of a branch wait for each other for ever. And all barriers of a kernel are of one kind: one
that counts is an illegal instruction there while others are at a plain one. Here both meet: ByLanes.
"""

import lines

SLOTS = 4
HALF = 1024
BARRIERS = ["__syncthreads();", "a += __syncthreads_count(b & 1u);", "d += __syncthreads_count(a & 1u);",
            "b ^= __syncthreads_or((a & 7u) == 3);", "c += __syncthreads_and(a != 5u) * 9u;"]


class Tangled(lines.Lines):
    warps = False  # for blocks of any shape

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.lines, self.helpers = [], []
        self.depth, self.fresh, self.loops = 1, 0, 0
        self.budget = rng.randint(6, 16)
        self.returns = rng.random() < 0.6
        self.barriers = self.some_barriers()

    def some_barriers(self):
        return self.rng.choice([["__syncthreads();"], ["__syncthreads();"], BARRIERS[1:3], BARRIERS[3:4], BARRIERS[4:5]])

    def leaf(self):
        rng = self.rng
        return rng.choice(["a", "b", "c", "g", "t", "n", "s", f"{rng.randint(1, 99)}u", f"in[({rng.choice('abg')}) & 1023]"])

    def value(self):
        one, other = self.leaf(), self.leaf()
        return self.rng.choice([one, f"({one} + {other})", f"({one} ^ {other})", f"({one} * 5u)", f"({one} >> 2)"])

    def condition(self):
        rng = self.rng
        return rng.choice(["g < n", "t < s", "t > 2", "(t & 31) < 7", "(t >> 5 & 1) == 0", f"({self.value()} & 3) == 1",
                           f"({self.value()} & 6) != 0", "(n & 1) == 0", f"{self.value()} < {self.value()}"])

    # --- what is the same for a warp

    def way_value(self):
        rng = self.rng
        leaf = lambda: rng.choice(["d", "e", "w", "n", "s", "blockIdx.x", f"{rng.randint(1, 99)}u",
                                   f"in[({rng.choice('dew')}) & 1023]"])
        one, other = leaf(), leaf()
        return rng.choice([one, f"({one} + {other})", f"({one} ^ {other})", f"({one} * 5u)", f"({one} >> 2)"])

    def way(self):
        rng = self.rng
        return rng.choice(["w < s", "w > 0", "(w & 1) == 0", f"({self.way_value()} & 3) == 1", f"({self.way_value()} & 6) != 0",
                           "(n & 1) == 0", f"{self.way_value()} < {self.way_value()}"])

    def first_round(self):
        """Of a loop over the numbers of threads."""
        return "(t & ~31u)"

    # --- statements

    def assign(self):
        if self.rng.random() < 0.3:
            self.emit(f"{self.rng.choice('de')} {self.rng.choice(['=', '+=', '^='])} {self.way_value()};")
        else:
            self.emit(f"{self.rng.choice('abc')} {self.rng.choice(['=', '+=', '^='])} {self.value()};")

    def meet(self):
        rng = self.rng
        if rng.random() < 0.6:
            self.emit(f"own[r & 1][t] = {self.value()};")
        self.emit(rng.choice(self.barriers))
        self.emit("++r;")
        if rng.random() < 0.7:
            self.emit(f"{rng.choice('abc')} += own[~r & 1][({self.value()}) % threads];")
        if rng.random() < 0.2:
            self.emit(f"{rng.choice('de')} ^= own[~r & 1][({self.way_value()}) % threads];")

    def call(self):
        """A function of its own, which may call the one before."""
        name, kept = f"{self.name}f{len(self.helpers)}", (self.lines, self.depth, self.budget, self.loops)
        self.lines, self.depth, self.budget, self.loops = [], 1, self.rng.randint(1, 4), 1
        head = (f"__device__ __noinline__ u32 {name}(u32 (*own)[{HALF}], const u32* in, u32& r, u32 t, u32 g, u32 threads, "
                "u32 n, u32 s, u32 w, u32 d, u32 e, u32 a, u32 b) {")
        self.emit("u32 c = a;")
        self.meet()
        while self.budget > 0:
            self.statement(False)
        self.emit("return a + b * 3 + c * 5;")
        self.helpers.append("\n".join([head] + self.lines + ["}"]))
        self.lines, self.depth, self.budget, self.loops = kept
        self.emit(f"{self.rng.choice('abc')} ^= {name}(own, in, r, t, g, threads, n, s, w, {self.way_value()}, e, "
                  f"{self.leaf()}, {self.leaf()});")

    def inside(self, leaves=True):
        self.depth += 1
        for _ in range(self.rng.randint(1, 2)):
            self.statement(leaves)
        self.depth -= 1

    def branch(self, leaves):
        self.emit(f"if ({self.way()}) {{")
        self.inside(leaves)
        if self.rng.random() < 0.5:
            self.emit("} else {")
            self.inside(leaves)
        self.emit("}")

    def choice(self, leaves):
        rng = self.rng
        self.emit(f"switch ({self.way_value()} {rng.choice(['& 3', '% 5', '& 7'])}) {{")
        for case in range(rng.randint(2, 5)):
            self.emit(f"case {case}:")
            if rng.random() < 0.15:
                continue
            self.inside(leaves)
            if leaves and self.returns and rng.random() < 0.15:
                self.emit("  RESULT return;")
            elif rng.random() < 0.7:
                self.emit("  break;")
        self.emit(rng.choice(["default: c += 3; }", "default: break; }"]))

    def loop(self, leaves):
        if self.loops >= 2:
            return self.assign()
        self.loops += 1
        rng, i = self.rng, self.name_of("i")
        head = rng.choice([f"for (u32 {i} = 0; {i} < ({self.way_value()} & 3); ++{i}) {{",
                           f"for (u32 {i} = {self.first_round()}; {i} < (n & 255); {i} += threads + 64) {{",
                           f"for (u32 {i} = 0; {i} < (s & 3); ++{i}) {{", f"{{ u32 {i} = {self.way_value()} & 3; do {{"])
        self.emit(head)
        self.inside(leaves)
        if rng.random() < 0.4:
            jump = rng.choice(["break", "break", "continue"])
            self.emit(f"  if ({self.way()}) {'{ ' + f'{i} = 0; ' + jump + '; }' if 'do' in head else jump + ';'}")
            self.inside(leaves)
        self.emit(f"}} while ({i}-- != 0 && {i} < 4); }}" if "do" in head else "}")
        self.loops -= 1

    def leave(self):
        if self.rng.random() < 0.4:
            self.emit(f"if ({self.condition()}) {{")
        else:
            self.emit(f"if ({self.way()}) {{")
            self.inside(False)
        if self.rng.random() < 0.5:
            self.emit(f"  own[r & 1][t] = {self.value()};")
        self.emit("  RESULT return;")
        self.emit("}")

    def statement(self, leaves=True):
        self.budget -= 1
        kinds = [self.assign, self.assign, self.meet, self.meet, self.meet]
        if self.budget > 0 and self.depth < 5:
            kinds += [lambda: self.branch(leaves)] * 3 + [lambda: self.choice(leaves), lambda: self.loop(leaves)]
            if leaves and len(self.helpers) < 2:
                kinds.append(self.call)
        if leaves and self.returns:
            kinds.append(self.leave)
        self.rng.choice(kinds)()

    def text(self):
        self.meet()
        while self.budget > 0:
            self.statement()
        result = f"out[{SLOTS} * g] = a; out[{SLOTS} * g + 1] = b; out[{SLOTS} * g + 2] = c; out[{SLOTS} * g + 3] = r;"
        head = [f"__global__ void {self.name}(const u32* in, u32* out, u32* sums, u32 n, u32 s) {{",
                "  const u32 threads = blockDim.x * blockDim.y * blockDim.z;",
                "  const u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);",
                "  const u32 g = t + threads * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));",
                f"  __shared__ u32 own[2][{HALF}];", "  own[0][t] = own[1][t] = 0;",
                "  const u32 w = t >> 5; u32 d = w * 7u + blockIdx.x, e = in[(w * 9u + blockIdx.x) & 1023];",
                "  u32 a = g * 5u, b = in[g & 1023], c = 11u, r = 0;"]
        body = [line.replace("RESULT", result) for line in self.lines]
        return "\n".join(self.helpers + head + body + [f"  {result}", "}"])


class ByLanes(Tangled):
    """Lanes of one warp go ways of their own, to barriers of all kinds: not for a device."""

    def some_barriers(self):
        return ["__syncthreads();", *BARRIERS]

    def way_value(self):
        return self.value()

    def way(self):
        return self.condition()

    def first_round(self):
        return "t"
