"""Kernels whose threads do one guarded thing after the other, without meeting in between.

    if (i < n) out[i] = ...; i += blockDim.x; if (i < n) out[i] = ...
    if (inside) { tile[y + 1][x + 1] = ...; if (x == 0) tile[y + 1][0] = ...; else if (x == blockDim.x - 1) ... }

Every place belongs to one thread between two barriers: its own of the block's part of `out`, its own of an array, its
own of a tile with a border, and for threads at an edge the place of the border beside it. All read behind the barrier.
"""

import lines

SLOTS = 4

# In blocks of any shape: (1024 + 2) * (1 + 2), (1 + 2) * (16 + 2) * 64, ...
TILE = 4096


class Pieces(lines.Lines):
    warps = False

    def __init__(self, rng, name, free):
        self.rng, self.name = rng, name
        self.lines, self.depth, self.fresh = [], 1, 0
        self.meets = rng.random() < 0.75
        self.type = rng.choice(["u32", "u32", "float"])
        every = ["i < n", "gx < n", "gx < n && y < s", "t < s", "x > 2", "x < 3", "y < 2", "y > 0 && i < n", "x == 5",
                 "x == (s & 15)", "y == blockDim.y - 1", "z == 0", "gx == n - 1", "gx < 1 || gx >= n", "(v & 3) == 1",
                 "x < y", "(int)i < (int)n", "x + 1 < blockDim.x", "i >= 7 && i < n", "(x & 1) == 0", "threadIdx.z == 1"]
        self.conditions = rng.sample(every, 4)

    def condition(self):
        return self.rng.choice(self.conditions)

    def value(self):
        rng = self.rng
        leaf = lambda: rng.choice(["a", "b", "v", "x", "y", "i", "n", f"{rng.randint(1, 99)}u",
                                   f"in[(i + {rng.randint(0, 9)}u) & 1023]", f"in[(gx * 3u + y) & 1023]"])
        return rng.choice([f"{leaf()} + {leaf()}", f"{leaf()} * 3u", f"({leaf()} ^ {leaf()})", leaf(),
                           f"({self.condition()} ? {leaf()} : {leaf()})"])

    def put(self, value):
        return f"(T)(({value}) & 1023u)" if self.type == "float" else value

    # --- stores of one thread

    def own(self, k=None):
        k = self.rng.randrange(3) if k is None else k
        places = [f"out[base + {k} * threads + t]"] * 2
        if self.meets:
            places += [f"extra[{k % 2 if isinstance(k, int) else f'({k}) & 1'}][t]", "tile[at]"]
        place = self.rng.choice(places)
        return f"{place} = {self.value() if place.startswith('out') else self.put(self.value())};"

    def edge(self):
        """A thread at an edge, and the place beside it."""
        return self.rng.choice([("x == 0", "tile[at - 1]"), ("x == blockDim.x - 1", "tile[at + 1]"),
                                ("y == 0", "tile[at - p]"), ("y == blockDim.y - 1", "tile[at + p]"),
                                ("x == 0 && y == 0", "tile[at - p - 1]"), ("x + 1 == blockDim.x", "tile[at + 1]"),
                                ("0 == threadIdx.x", "tile[at - 1]")])

    def at_edge(self):
        where, place = self.edge()
        more = f" && ({self.condition()})" if self.rng.random() < 0.4 else ""
        self.emit(f"if ({where}{more}) {place} = {self.put(self.value())};")
        if self.rng.random() < 0.3:
            other, place = self.edge()
            self.emit(f"else if ({other}) {place} = {self.put(self.value())};")

    def guarded(self):
        self.emit(f"if ({self.condition()}) {{")
        self.some()
        if self.rng.random() < 0.2:
            self.emit("} else {")
            self.some()
        self.emit("}")

    def cases(self):
        self.emit(f"switch ({self.rng.choice(['x', 'x', 'y', 't & 3'])}) {{")
        for case in self.rng.sample(range(9), self.rng.randint(2, 3)):
            self.emit(f"case {case}: {self.own()} {'' if self.rng.random() < 0.2 else 'break;'}")
        self.emit("default: break; }")

    def elements(self):
        """Several elements of a thread, one after the other."""
        k, often = self.name_of("k"), self.rng.choice(["3", "3", "s % 4", "2"])
        if self.rng.random() < 0.4:
            self.emit("#pragma unroll")
        self.emit(f"for (u32 {k} = 0; {k} < {often}; ++{k}) {{")
        limit = self.rng.choice(["n", "n * 5u", "base + n", "1u << 20"])
        guard = self.rng.choice([f"if (base + {k} * threads + t < {limit}) ", f"if ({self.condition()}) ", "",
                                 f"if (t + {k} * threads < {limit}) "])
        self.emit(f"  {guard}{self.own(k) if self.rng.random() < 0.7 else f'out[base + {k} * threads + t] += {self.value()};'}")
        self.emit("}")

    def rows(self):
        """The same without guards, or behind one."""
        self.emit(f"{self.rng.choice(['', f'if ({self.condition()}) '])}{{")
        for k in range(3):
            self.emit(f"  out[base + {k} * threads + t] {self.rng.choice(['=', '+='])} {self.value()};")
        self.emit("}")

    def assign(self):
        self.emit(f"{self.rng.choice('abv')} {self.rng.choice(['=', '+=', '^='])} {self.value()};")

    def some(self):
        self.depth += 1
        for _ in range(self.rng.randint(1, 4)):
            self.piece()
        self.depth -= 1

    def piece(self):
        kinds = [lambda: self.emit(self.own())] * 3 + [self.assign, self.rows]
        if self.meets:
            kinds += [self.at_edge] * 5
        if self.depth < 3:
            kinds += [self.guarded] * 3 + [self.cases, self.elements, self.elements]
        self.rng.choice(kinds)()

    # --- what they do together

    def meet(self):
        rng = self.rng
        self.emit("__syncthreads();")
        for _ in range(rng.randint(1, 3)):
            guard = rng.choice(["", f"if ({self.condition()}) "])
            there = rng.choice(["tile[at]", "tile[at - 1]", "tile[at + 1]", "tile[at - p]", "tile[at + p]", "tile[at - p - 1]",
                                "tile[at - 1] + tile[at + 1]", f"extra[{rng.randrange(2)}][(t + {rng.randint(0, 5)}u) % threads]"])
            self.emit(f"{guard}{rng.choice('abv')} += (u32)({there});")
        self.emit("__syncthreads();")

    def text(self):
        rng = self.rng
        for _ in range(rng.randint(1, 3)):
            loop = rng.random() < 0.25
            if loop:
                r = self.name_of("r")
                self.emit(f"for (u32 {r} = 0; {r} < ({rng.choice(['n & 3', '2', 's % 5'])}); ++{r}) {{")
            self.some()
            if self.meets:
                self.meet()
            if loop:
                self.emit("}")
        flat = rng.random() < 0.4
        head = [f"__global__ void {self.name}(const u32* in, u32* out, u32* sums, u32 n, u32 s) {{",
                f"  using T = {self.type};",
                "  const u32 threads = blockDim.x * blockDim.y * blockDim.z;",
                "  const u32 x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;",
                "  const u32 t = x + blockDim.x * (y + blockDim.y * z);",
                f"  const u32 base = {SLOTS} * threads * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));",
                "  const u32 gx = blockIdx.x * blockDim.x + threadIdx.x;",
                f"  const u32 i = {'gx' if flat else 'base / 4u + t'};",
                "  u32 a = i * 5u, b = 7u, v = in[i & 1023];"]
        if self.meets:
            head += [f"  __shared__ T tile[{TILE}], extra[2][1024];",
                     "  const u32 p = blockDim.x + 2, at = (z * (blockDim.y + 2) + y + 1) * p + x + 1;",
                     f"  for (u32 k = t; k < {TILE}; k += threads) tile[k] = (T)(k & 7);",
                     "  extra[0][t] = 1; extra[1][t] = 2;", "  __syncthreads();"]
        return "\n".join(head + self.lines + [f"  out[base + 3 * threads + t] = a ^ (b * 3u) ^ (v * 7u);", "}"])
