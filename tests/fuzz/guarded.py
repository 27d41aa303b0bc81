"""Kernels in which one condition comes again and again, before and behind what the threads do together.

    if (i < n) own[t] = in[i]; __syncthreads(); if (i < n) ...
    v = i < n ? in[i] : 0; w = __shfl_down_sync(~0u, v, 1); if (i < n) ...

Threads may return early: from then on barriers and warp operations are without them. Branches may ask which lanes are
in them (__activemask, coalesced groups). Blocks have any shape, so that the last warp may not be full; what a lane gets
from one that is not there is not looked at. Some keep more for each thread than a stack has for all of them.
"""

import lines
import reals

SLOTS = 4
MANY = 1500  # of what a thread keeps to itself; more than 4 KiB


class Guarded(lines.Lines, reals.Reals):
    warps = False  # for blocks of any shape
    rounds_together = ["n & 3", "s % 5", "3", "blockIdx.x & 1"]  # of a loop that all threads of a block go round

    def __init__(self, rng, name, free):
        self.rng, self.name, self.free = rng, name, free
        self.lines, self.depth, self.fresh, self.helpers = [], 1, 0, []
        self.barriers = rng.random() < 0.7
        self.lanes = not self.barriers or rng.random() < 0.6
        self.returns = rng.random() < 0.4
        self.much = rng.random() < 0.15
        every = ["i < n", "g < n", "t < s", "i + 1 < n", "threadIdx.x < n", "lane < 7", "lane >= s", "(x0 & 3) == 1",
                 "(x0 & 64) != 0", "g != n", "t > 0", "threadIdx.x > 2 && i < n", "t == 0", "(x0 ^ g) % 5 != 0",
                 "t % 4 == 1", "i % (s | 1u) == 0", "(threadIdx.x & 7) == 0 && i < n", "t * s < n", "(int)(n - 3u * t) > 5"]
        self.conditions = rng.sample(every, rng.randint(1, 2))

    def indices(self):
        return ["  const u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);"]

    def condition(self):
        return self.rng.choice(self.conditions)

    def value(self):
        rng = self.rng
        leaf = lambda: rng.choice(["a", "b", "c", "x0", "g", "t", "n", f"{rng.randint(1, 99)}u",
                                   f"in[({rng.choice(['a', 'b', 'i', 'g + 1'])}) & 1023]"])
        return rng.choice([f"{leaf()} + {leaf()}", f"{leaf()} * 3u", f"({leaf()} ^ {leaf()})", leaf(),
                           f"({self.condition()} ? {leaf()} : {leaf()})", f"({leaf()} >> {rng.randint(1, 9)})"])

    def mask(self):
        """Lanes that have returned may be named."""
        return self.rng.choice(["~0u", "~0u", "full", "alive"])

    # --- what threads do each for itself

    def assign(self):
        self.emit(f"{self.rng.choice('abc')} {self.rng.choice(['=', '+=', '^='])} {self.value()};")

    def keep(self):
        at = f"many[({self.value()}) % {MANY}]"
        self.emit(self.rng.choice([f"{at} += {self.value()};", f"{self.rng.choice('abc')} ^= {at};"]))

    def plain(self):
        own = [self.keep] * 4 if self.much else []
        self.rng.choice([self.assign, self.assign, self.real_step, self.half_step, *own])()

    def guard(self):
        self.emit(f"if ({self.condition()}) {{")
        self.some()
        if self.rng.random() < 0.4:
            self.emit("} else {")
            self.some()
        self.emit("}")

    def some(self, asks=True):
        self.depth += 1
        for _ in range(self.rng.randint(1, 2)):
            self.plain()
        if asks and self.rng.random() < 0.5:
            self.those_here()
        self.depth -= 1

    def choose(self, ways=None, leaves=False):
        """Cases, some of which go on into the next. The threads of case 5 may leave."""
        asks = not leaves and self.depth == 1 and self.rng.random() < 0.4
        self.emit(f"switch ({ways or f'({self.value()}) & 3'}) {{")
        last = self.rng.randint(1, 3)
        for case in range(last + 1):
            self.emit(f"case {case}: {{")
            self.some(asks)
            falls = not asks and not (leaves and case == last) and self.rng.random() < 0.3
            self.emit("}" if falls else "} break;")
        if leaves:
            self.emit("case 5: RESULT return;")
        self.emit(self.rng.choice(["default: c += 3; }", "default: break; }"]))

    def rounds(self):
        """A loop that each thread goes round as often as it likes."""
        k = self.name_of("k")
        self.emit(f"for (u32 {k} = 0; {k} < (({self.value()}) & 7); ++{k}) {{")
        self.depth += 1
        self.plain()
        self.depth -= 1
        self.emit("}")

    def those_here(self):
        m = self.name_of("m")
        self.emit(self.rng.choice([
            f"const u32 {m} = __activemask(); a += __popc({m} & below) * 3u + __popc({m});",
            f"const u32 {m} = __activemask(); b ^= __shfl_sync({m}, a, __ffs({m}) - 1);",
            f"const u32 {m} = __activemask(); c += __ballot_sync({m}, a & 1u);",
            f"const cg::coalesced_group {m} = cg::coalesced_threads(); a += {m}.size() * 5u + {m}.thread_rank();",
            f"const cg::coalesced_group {m} = cg::coalesced_threads(); b += {m}.shfl(a, 0) ^ {m}.any(c & 1u);",
        ]))

    # --- what they do together

    def meet(self):
        return self.rng.choice(["__syncthreads();", "__syncthreads();",
                                f"a += __syncthreads_count({self.condition()});", "b ^= __syncthreads_or(a & 1u);",
                                f"c += __syncthreads_and({self.condition()}) * 9u;"])

    def through_shared(self):
        rng, c = self.rng, self.condition()
        of = rng.choice(["u32", "float"])
        own, value, target = ("own", self.value(), "a") if of == "u32" else ("real", self.small(), "r")
        if rng.random() < 0.2:
            self.emit(f"{own}[t] = {c} ? {value} : 0;")
        else:
            self.emit(f"if ({c}) {own}[t] = {value};" + (f" else {own}[t] = 5;" if rng.random() < 0.3 else ""))
        if rng.random() < 0.3:
            self.plain()
        self.emit(self.meet())
        if rng.random() < 0.3:
            self.plain()
        from_where = rng.choice(["t ^ 1", "t + 1", f"{self.value()}", "threads - 1 - t", "0"])
        read = f"{own}[({from_where}) % threads]"
        self.emit(rng.choice([f"if ({c}) {target} = {read};", f"if ({c}) {{ {target} = {read}; a += 3; }} else b ^= 7;",
                              f"{target} = {c} ? {read} : {target};", f"if (!({c})) {target} = {read};"]))
        self.emit(self.meet())

    def tree(self):
        d, c = self.name_of("d"), self.condition()
        own, to = self.rng.choice([("own", "a"), ("real", "r")])
        self.emit(f"{own}[t] = {c} ? {'b' if own == 'own' else 'u'} : 0;")
        self.emit("__syncthreads();")
        halves = f"{d} = 512; {d} > 0; {d} /= 2"
        doubles = f"{d} = 1; {d} < threads; {d} *= 2"
        rounds, adds = self.rng.choice([
            (halves, f"if (t < {d} && t + {d} < threads) {own}[t] += {own}[t + {d}];"),
            (doubles, f"if (t % (2 * {d}) == 0 && t + {d} < threads) {own}[t] += {own}[t + {d}];"),
            (doubles, f"const u32 k = 2 * {d} * t; if (k + {d} < threads) {own}[k] += {own}[k + {d}];"),
            (doubles, f"const int k = {d} * (2 * t + 1) - 1; if (k + {d} < threads) {own}[k + {d}] += {own}[k];"),
        ])
        self.emit(f"for (u32 {rounds}) {{")
        self.emit(f"  {adds}")
        self.emit("  __syncthreads();")
        self.emit("}")
        self.emit(f"if ({c}) {to} = {own}[0];")
        if own == "real":
            self.emit("r = fabsf(r) < 1e6f ? r : 1.5f;")
        self.emit("__syncthreads();")

    def shuffle(self):
        rng, c = self.rng, self.condition()
        v, w, at = self.name_of("v"), self.name_of("w"), self.name_of("l")
        of, value, zero = rng.choice([("u32", self.value(), "0u"), ("u32", "in[i & 1023]", "0u"), ("float", "r", "0.0f"),
                                      ("__half", "h", "__float2half(0.5f)")])
        self.emit(f"{of} {v} = {c} ? {value} : {zero};" if rng.random() < 0.7 else
                  f"{of} {v} = {zero}; if ({c}) {v} = {value};")
        by = rng.choice([1, 2, 4, 7, 16])
        call, lane = rng.choice([("down", f"lane + {by}"), ("up", f"lane - {by}"), ("xor", f"lane ^ {by}"),
                                 ("", f"({self.value()}) & 31")])
        self.emit(f"const u32 {at} = {lane};")
        given = at if call == "" else by
        self.emit(f"const {of} {w} = __shfl_{call + '_' if call else ''}sync({self.mask()}, {v}, {given});")
        there = f"{at} < 32 && (alive >> {at} & 1)"
        use = {"u32": f"a += {w};", "float": f"r = {w};", "__half": f"h = {w};"}[of]
        self.emit(rng.choice([f"if ({c}) {{ if ({there}) {use} }}", f"if ({there} && ({c})) {use}",
                              f"if ({c}) b += 3; if ({there}) {use}"]))

    def vote(self):
        c, m = self.condition(), self.name_of("m")
        self.emit(f"const u32 {m} = __ballot_sync({self.mask()}, {self.rng.choice([c, 'a & 1u', 'b > c'])});")
        self.emit(self.rng.choice([f"if ({c}) a += __popc({m} & below);", f"if ({c}) b ^= {m}; else c += 3;",
                                   f"if ({m} >> lane & 1) c += __popc({m});"]))

    def agree(self):
        c, mask, value = self.condition(), self.mask(), self.value()
        v = self.name_of("v")
        self.emit(f"const u32 {v} = {c} ? {value} : 0u;")
        call = self.rng.choice([f"__any_sync({mask}, {v} & 1u)", f"__all_sync({mask}, {v} < 99u)",
                                f"__reduce_add_sync(alive, {v})", f"__reduce_max_sync(alive, {v})",
                                f"__match_any_sync(alive, {v} & 3u)"])
        self.emit(f"const u32 {v}a = {call};")
        self.emit(self.rng.choice([f"if ({c}) a ^= {v}a;", f"if ({c}) {{ b += {v}a; r = r + 0.5f; }}", f"c += {v}a;"]))

    def among(self):
        """Only the lanes of the condition meet."""
        c, m = self.condition(), self.name_of("m")
        self.emit(f"const u32 {m} = __ballot_sync({self.mask()}, {c});")
        self.emit(f"if ({c}) {{")
        self.emit(self.rng.choice([f"  a += __shfl_sync({m}, b, __ffs({m}) - 1);", f"  b ^= __ballot_sync({m}, a & 2u);",
                                   f"  c += __reduce_add_sync({m}, a & 255u);", f"  __syncwarp({m}); a += 1;"]))
        self.emit("}")

    def leave(self):
        c = self.condition()
        self.emit(f"alive &= __ballot_sync(alive, !({c}));")
        self.emit(f"if ({c}) {{")
        if self.barriers and self.rng.random() < 0.5:
            self.emit(f"  own[t] = {self.value()};")
        self.emit("  RESULT")
        self.emit("  return;")
        self.emit("}")

    def leave_by_case(self):
        w = self.name_of("w")
        self.emit(f"const u32 {w} = ({self.value()}) % 9;")
        self.emit(f"alive &= __ballot_sync(alive, {w} != 5);")
        self.choose(w, True)

    def call(self):
        """A function that is not to be inlined, in which threads meet; the second calls the first."""
        own = "own" if self.barriers else "(u32*)0"
        if len(self.helpers) < 2:
            name, rng = f"{self.name}f{len(self.helpers)}", self.rng
            lines = []
            if self.barriers:
                lines += ["own[t] = v;", "__syncthreads();", f"v ^= own[(t {rng.choice(['+ 1', '^ 1', '* 3'])}) % threads];",
                          rng.choice(["__syncthreads();", "v += __syncthreads_count(v & 1u);"])]
            if self.lanes:
                lines.append(rng.choice(["v += __ballot_sync(alive, v & 4u);", "v ^= __shfl_sync(alive, v, __ffs(alive) - 1);",
                                         "v += __reduce_add_sync(alive, v & 255u);"]))
            if self.helpers:
                lines.append(f"v += {self.name}f0(v, own, t, threads, alive);")
            if rng.random() < 0.4:
                lines = ["for (u32 k = 0; k < (threads & 3); ++k) {"] + lines + ["}"]
            self.helpers.append("\n  ".join([f"__device__ __noinline__ u32 {name}(u32 v, u32* own, u32 t, u32 threads, "
                                             "u32 alive) {"] + lines + ["return v * 3 + t;"]) + "\n}")
        name = self.rng.choice([f"{self.name}f{i}" for i in range(len(self.helpers))])
        self.emit(f"{self.rng.choice('abc')} += {name}({self.value()}, {own}, t, threads, alive);")

    def step(self):
        kinds = [self.plain, self.guard, self.guard, self.choose, self.rounds, self.call]
        if self.barriers:
            kinds += [self.through_shared] * 4 + [self.tree]
        if self.lanes:
            kinds += [self.shuffle, self.shuffle, self.vote, self.agree, self.among]
        self.rng.choice(kinds)()

    def text(self):
        rng = self.rng
        parts = rng.randint(2, 5)
        leaves = rng.randrange(parts) if self.returns else -1
        for part in range(parts):
            if part == leaves:
                rng.choice([self.leave, self.leave, self.leave_by_case])()
            if rng.random() < 0.25:
                r = self.name_of("k")
                self.emit(f"for (u32 {r} = 0; {r} < ({rng.choice(self.rounds_together)}); ++{r}) {{")
                self.depth += 1
                for _ in range(rng.randint(1, 2)):
                    self.step()
                self.depth -= 1
                self.emit("}")
            else:
                self.step()
        head = [f"__global__ void {self.name}(const u32* in, u32* out, u32* sums, u32 n, u32 s) {{",
                "  const u32 threads = blockDim.x * blockDim.y * blockDim.z;",
                *self.indices(),
                "  const u32 g = t + threads * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));",
                "  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, x0 = in[g & 1023];",
                "  const u32 lane = t & 31, there = threads - (t & ~31u), below = (1u << lane) - 1;",
                "  const u32 full = there >= 32 ? ~0u : (1u << there) - 1; u32 alive = full;",
                "  u32 a = g * 5u, b = x0, c = 11u;", *reals.VARIABLES]
        if self.much:
            head += [f"  u32 many[{MANY}];", f"  for (u32 z = 0; z < {MANY}; ++z) many[z] = z * 7u + t;"]
        if self.barriers:
            head += ["  __shared__ u32 own[1024]; __shared__ float real[1024];", "  own[t] = g; real[t] = u;",
                     "  __syncthreads();"]
        result = (f"out[{SLOTS} * g] = a; out[{SLOTS} * g + 1] = b; out[{SLOTS} * g + 2] = c; "
                  f"out[{SLOTS} * g + 3] = {reals.RESULT};")
        body = [line.replace("RESULT", result) for line in self.lines]
        return "\n".join(self.helpers + head + body + [f"  {result}", "}"])
