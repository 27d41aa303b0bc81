"""Kernels whose threads wait for others in loops of their own, among barriers, in loops and branches.

    for (bool mine = false; !mine;) if (atomicAdd(&turn, 0) == t) { mine = true; ...; atomicExch(&turn, t + 1); }

Who comes first differs; what is left does not: either their order is given, or what they do adds up.
"""

import lines

SLOTS = 4
PLACES = 4096 * SLOTS

# Memory of all blocks: ThreadSanitizer knows neither volatile accesses nor fences.
HEAD = """
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define SPIN_BY_ATOMICS
#endif
#endif
#ifdef SPIN_BY_ATOMICS
static __device__ u32 spin_look(u32* place) { return atomicAdd(place, 0u); }
static __device__ void spin_put(u32* place, u32 value) { atomicExch(place, value); }
#else
static __device__ u32 spin_look(u32* place) { return *(volatile u32*)place; }
static __device__ void spin_put(u32* place, u32 value) { *(volatile u32*)place = value; }
#endif
static __device__ unsigned long long spin_timer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
"""


class Spinning(lines.Lines):
    width = 0

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.warps = rng.random() < 0.3
        self.leaves = not self.warps and rng.random() < 0.3
        self.naps, self.clocks = rng.random() < 0.4, rng.random() < 0.25
        self.asks = rng.random() < 0.3
        self.lines, self.depth, self.fresh = [], 1, 0
        self.shared = []
        self.places = list(range(0, 32))
        self.orders = list(range(48, 64))
        rng.shuffle(self.places)

    # --- what they wait at

    def place(self):
        return f"sums[{self.places.pop()}]"

    def cell(self, first="0"):
        """Of the block, with a value before anybody looks."""
        name = self.name_of("cell")
        self.shared.append(f"u32 {name}")
        self.emit("__syncthreads();")
        self.emit(f"if (t == 0) {name} = {first};")
        self.emit("__syncthreads();")
        return name

    def value(self):
        return self.rng.choice(["in[g & 1023]", "t * 3 + 1", "mine", "(mine ^ s)", "p[t & 3]", "(in[(g * 7) & 1023] & 255)"])

    def nap(self):
        return f"__nanosleep({self.rng.choice(['32', '200', 't & 63', '(g * 37) & 1023', '1024 - t'])});"

    def rest(self):
        """What a loop may do between two looks, if anything."""
        return self.nap() if self.naps and self.rng.random() < 0.6 else ""

    def time(self):
        return self.rng.choice(["clock64()", "(long long)spin_timer()", "(long long)clock()"])

    def on_the_way(self):
        """Threads that sleep, or ask for the time, between what else they do."""
        if self.naps and (not self.clocks or self.rng.random() < 0.5):
            self.emit(f"if (t % {self.rng.randint(1, 5)} == 0) {self.nap()}")
        else:
            self.emit(f"if ({self.time()} == -1) mine += 1;")

    def timed(self, look):
        """A loop that would end at some time, which never comes."""
        begin = self.name_of("begin")
        now = self.rng.choice(["clock64()", "(long long)spin_timer()"])
        self.emit(f"const long long {begin} = {now};")
        self.emit(f"while ({look} && {now} - {begin} < (1ll << 45)) {{}}")

    def count_together(self):
        """One lane adds for all that are there, whoever that is."""
        here = self.name_of("here")
        self.emit(f"const u32 {here} = {self.rng.choice(['__activemask()', '__match_any_sync(__activemask(), 1u)'])};")
        self.emit(f"if (lane == __ffs({here}) - 1u) atomicAdd(&out[{64 + self.rng.randrange(64)}], (u32)__popc({here}));")

    def work(self):
        if (self.naps or self.clocks) and self.rng.random() < 0.3:
            self.on_the_way()
        if self.asks and self.rng.random() < 0.5:
            self.count_together()
        kind = self.rng.randrange(4)
        if kind == 0:
            self.emit(f"mine = mine * 5 + {self.value()};")
        elif kind == 1:
            self.emit(f"p[(t + {self.rng.randrange(4)}) & 3] += {self.value()};")
        elif kind == 2:
            i = self.name_of("i")
            self.emit(f"for (u32 {i} = 0; {i} < ({self.value()} & 7); ++{i}) mine += {i} ^ p[{i} & 3];")
        else:
            self.emit(f"atomicXor(&sums[{32 + self.rng.randrange(16)}], {self.value()});")

    # --- ways to wait

    def lock(self):
        """One at a time, in any order."""
        of_grid = self.rng.random() < 0.5
        # What one lock guards no other does, unless it is added to at once.
        kept = f"out[{PLACES - 2 - SLOTS * (8 + self.places[-1] if of_grid else self.rng.randrange(8))}]"
        place = self.place() if of_grid else self.cell()
        done = self.name_of("done")
        self.emit(f"for (bool {done} = false; !{done};) {{")
        self.emit(f"  if (atomicCAS(&{place}, 0u, 1u) == 0u) {{")
        self.emit("    __threadfence();")
        self.emit(f"    spin_put(&{kept}, spin_look(&{kept}) + {self.value()});" if of_grid else
                  f"    atomicAdd(&{kept}, {self.value()});")
        self.emit("    __threadfence();")
        self.emit(f"    atomicExch(&{place}, 0u);")
        self.emit(f"    {done} = true;")
        self.emit("  }" + (f" else {self.rest() or ';'}" if self.naps else ""))
        self.emit("}")

    def turns(self):
        """The threads of the block, in their order or against it."""
        back = self.rng.random() < 0.5
        turn = self.cell("live - 1" if back else "0")
        order, mine = self.cell("7"), self.name_of("mine")
        look = self.rng.choice([f"atomicAdd(&{turn}, 0u)", f"*(volatile u32*)&{turn}", f"atomicCAS(&{turn}, ~1u, 0u)"])
        self.emit(f"for (bool {mine} = false; !{mine};) {{")
        self.emit(f"  if ({look} == t) {{")
        self.emit(f"    {mine} = true;")
        self.emit(f"    *(volatile u32*)&{order} = *(volatile u32*)&{order} * 3 + {self.value()};")
        self.emit(f"    mine ^= *(volatile u32*)&{order};")
        self.emit("    __threadfence_block();")
        self.emit(f"    atomicExch(&{turn}, t {'-' if back else '+'} 1u);")
        self.emit("  }")
        if self.rng.random() < 0.3:
            self.emit(f"  p[1] += {mine} ? 1 : 0;")
        self.emit(f"  {self.rest()}")
        self.emit("}")

    def blocks_in_order(self):
        place, kept = self.place(), f"sums[{self.orders.pop()}]"
        first = self.rng.choice(["0", "live - 1"])
        self.emit(f"if (t == {first}) {{")
        self.emit(f"  while (spin_look(&{place}) != block) {{{self.rest()}}}")
        self.emit("  __threadfence();")
        self.emit("}")
        self.emit("__syncthreads();")
        self.emit(f"if (t == {first}) {{")
        self.emit(f"  spin_put(&{kept}, spin_look(&{kept}) * 3 + block);")
        self.emit("  __threadfence();")
        self.emit(f"  atomicExch(&{place}, block + 1);")
        self.emit("}")

    def grid(self):
        """A barrier of all blocks, as programs made it before there was one."""
        place = self.place()
        before = self.rng.random() < 0.5
        self.emit("__syncthreads();")
        self.emit("if (t == 0) {")
        self.emit(f"  atomicAdd(&{place}, 1u);")
        look = self.rng.choice([f"spin_look(&{place})", f"atomicAdd(&{place}, 0u)", f"atomicMax(&{place}, 0u)"])
        self.emit(f"  while ({look} < blocks) {{{' __threadfence();' if before else ''}{self.rest()}}}")
        self.emit("}")
        self.emit("__syncthreads();")

    def all_threads(self):
        place = self.place()
        self.emit(f"atomicAdd(&{place}, 1u);")
        look = self.rng.choice(["atomicAdd({}, 0u)", "spin_look({})"]).format(f"&{place}") + " < live * blocks"
        if self.clocks:
            return self.timed(look)
        self.emit(f"while ({look}) {{{self.rest()}}}")

    def table(self):
        """Places in a table of the block, found one after the other."""
        keys, counts, h = self.name_of("keys"), self.name_of("counts"), self.name_of("h")
        self.shared += [f"u32 {keys}[64]", f"u32 {counts}[64]"]
        self.emit("__syncthreads();")
        self.emit(f"for (u32 i = t; i < 64; i += live) {{ {keys}[i] = ~0u; {counts}[i] = 0; }}")
        self.emit("__syncthreads();")
        key = self.name_of("key")
        self.emit(f"const u32 {key} = ({self.value()}) % 40;")
        self.emit(f"for (u32 {h} = {key} * 7 & 63;; {h} = {self.rng.choice([f'({h} + 1) & 63', f'{h} == 63 ? 0 : {h} + 1'])}) {{")
        self.emit(f"  const u32 old = atomicCAS(&{keys}[{h}], ~0u, {key});")
        self.emit(f"  if (old == ~0u || old == {key}) {{ atomicAdd(&{counts}[{h}], 1u); break; }}")
        self.emit("}")
        self.emit("__syncthreads();")
        self.emit(f"for (u32 i = t; i < 64; i += live) if ({keys}[i] != ~0u) atomicAdd(&out[{keys}[i]], {counts}[i] * 5 + {keys}[i]);")

    def mailboxes(self):
        """The last thread writes to one of them; the others look at one after the other."""
        box, h = self.name_of("box"), self.name_of("h")
        self.shared.append(f"u32 {box}[8]")
        self.emit("__syncthreads();")
        self.emit(f"for (u32 i = t; i < 8; i += live) {box}[i] = 0;")
        self.emit("__syncthreads();")
        self.emit(f"u32 {h} = t & 7;")
        look = self.rng.choice([f"*(volatile u32*)&{box}[{h}]", f"atomicAdd(&{box}[{h}], 0u)", f"atomicCAS(&{box}[{h}], ~1u, 0u)"])
        step = self.rng.choice([f"{h} = ({h} + 3) & 7", f"{h} = {h} == 0 ? 7 : {h} - 1", f"{h} += {h} < 3 ? 5 : 13, {h} &= 7",
                                f"{h} = ({h} * 5 + 1) & 7"])
        place = self.rng.randrange(4)
        self.emit(f"if (t == live - 1) atomicExch(&{box}[{place}], t + 9);")
        self.emit(f"else {{ while ({look} == 0) {{ {step}; {self.rest()} }} mine += {h} * 3 + *(volatile u32*)&{box}[{h}]; }}")

    def hidden(self):
        """Loops that are none at first sight: entered in the middle, or by plain loads."""
        cell = self.cell()
        look = self.rng.choice([f"*(volatile u32*)&{cell}", f"atomicAdd(&{cell}, 0u)"])
        self.emit(f"if (t == live - 1) atomicExch(&{cell}, 3u);")
        if self.rng.random() < 0.5:
            self.emit(f"else while ({cell} == 0) {self.nap()}")
        else:
            self.emit(f"else switch (t % {self.rng.randint(2, 3)}) {{")
            self.emit(f"  case 0: do {{ atomicAdd(&out[{PLACES - 2}], 0u);")
            self.emit(f"  case 1: atomicOr(&out[{PLACES - 2}], 0u);")
            self.emit(f"  default:; }} while ({look} == 0);")
            self.emit("}")
        self.emit(f"mine ^= *(volatile u32*)&{cell};")

    def of_warp(self):
        place, seen = self.place(), self.name_of("seen")
        self.emit(f"if (lane == 0) atomicAdd(&{place}, 1u);")
        kind = self.rng.randrange(3)
        limit = "((threads + 31) / 32 * blocks)"
        if kind == 0:
            self.emit(f"while (__any_sync(~0u, spin_look(&{place}) < {limit})) {{{self.rest()}}}")
        elif kind == 1:
            self.emit("for (;;) {")
            self.emit(f"  u32 {seen} = 0;")
            self.emit(f"  if (lane == 0) {seen} = atomicAdd(&{place}, 0u);")
            self.emit(f"  {seen} = __shfl_sync(~0u, {seen}, 0);")
            self.emit(f"  if ({seen} >= {limit}) break;")
            self.emit(f"  {self.rest()}")
            self.emit("}")
        else:
            self.emit(f"if (lane == 0) while (atomicAdd(&{place}, 0u) < {limit}) {{{self.rest()}}}")
            self.emit("__syncwarp();")
        self.emit("mine += __shfl_xor_sync(~0u, mine, 1);")

    # --- around them

    def meet(self):
        kind = self.rng.randrange(4)
        if kind == 0:
            return self.emit("__syncthreads();")
        how = ["count", "and", "or"][kind - 1]
        self.emit(f"mine += __syncthreads_{how}(({self.value()}) & {self.rng.choice([1, 6])});")

    def around(self, body):
        kind = self.rng.randrange(5)
        if kind > 1:
            return body()
        i = self.name_of("r")
        self.emit(f"if ((s + {self.rng.randrange(3)}) % 3 != 0) {{" if kind == 0 else
                  f"for (u32 {i} = 0; {i} < (n & 1) + 1; ++{i}) {{")
        self.depth += 1
        body(once=kind == 0)
        self.depth -= 1
        self.emit("}")

    def text(self):
        rng = self.rng
        once_only = [self.blocks_in_order, self.grid, self.all_threads] + ([self.of_warp] * 4 if self.warps else [])
        again = [self.lock, self.turns, self.turns, self.table, self.mailboxes, self.hidden]

        def some(once=True):
            for _ in range(rng.randint(1, 2)):
                rng.choice([self.work, self.work, self.meet])()
                rng.choice(again + (once_only if once else []))()
            self.work()

        for _ in range(rng.randint(1, 3)):
            self.around(some)
        live = "(threads > 5 ? threads - threads / 3 : threads)" if self.leaves else "threads"
        head = [f"__global__ void {self.name}(const u32* in, u32* out, u32* sums, u32 n, u32 s) {{",
                "  const u32 threads = blockDim.x * blockDim.y * blockDim.z;",
                "  const u32 blocks = gridDim.x * gridDim.y * gridDim.z;",
                "  const u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), lane = t & 31;",
                "  const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);",
                f"  const u32 g = t + threads * block, live = {live};",
                *(f"  __shared__ {variable};" for variable in self.shared),
                "  u32 mine = in[g & 1023], p[4] = {g, 1, 2, t};"]
        if self.leaves:
            head.append("  if (t >= live) return;")
        return "\n".join(head + self.lines + ["  atomicAdd(&out[64 + t % 64], p[0] + p[1] * 3 + p[2] * 5 + p[3]);",
                                              f"  atomicAdd(&out[{SLOTS} * g + 3], mine + lane);", "}"])
