"""Kernels whose threads share a tile: an array of rows and columns that they index by threadIdx.y and threadIdx.x.

    tile[y][x] = in[...]; __syncthreads(); for (k...) sum += tile[y][k] * other[k][x]; __syncthreads(); ...

Each thread has its own place between two barriers and reads anywhere behind the next one. How a kernel finds its place
says for which blocks it is written (`Tile.blocks`): of the tile's shape only, within it, or of any shape.
"""

import lines

SLOTS = 4

SHAPES = [(8, 8), (8, 8), (16, 16), (16, 16), (16, 16), (8, 16), (16, 8), (32, 8), (8, 32), (32, 32), (4, 32), (12, 12),
          (6, 20), (16, 64)]

# How many of them a row of 16 bytes holds differs; what they are added up in does too.
TYPES = {"int": "int", "u32": "u32", "short": "int", "unsigned char": "u32", "signed char": "int", "float": "float",
         "double": "double", "__half": "float", "__nv_bfloat16": "float", "long long": "long long",
         "unsigned short": "u32"}


class Tile(lines.Lines):
    warps = False

    def __init__(self, rng, name, free):
        self.rng, self.name, self.free = rng, name, free
        self.rows, self.columns = rng.choice(SHAPES)
        self.pad = rng.choice([0, 0, 1, 1, 2])
        self.type = rng.choice(list(TYPES))
        self.sum = TYPES[self.type]
        self.lines, self.depth, self.fresh = [], 1, 0
        self.read = False  # since the last barrier
        # exact: of the tile's shape; bounded: within it, reads what the block has written; within: reads all of it.
        self.style = rng.choice(["exact", "exact", "bounded", "within", "guarded", "strided", "linear"])
        self.blocks = {"exact": "exact", "bounded": "within", "within": "within"}.get(self.style, "any")
        self.deep = self.blocks == "any" and rng.random() < 0.4  # asks for threadIdx.z
        self.returns = rng.random() < 0.25
        self.votes = rng.random() < 0.45
        self.atomics = rng.random() < 0.2
        self.warps = not self.returns and rng.random() < 0.12
        self.arrays = ["a", "b"] if rng.random() < 0.7 else ["a"]
        self.has_edges = self.blocks != "any" and rng.random() < 0.5
        # Names, so that a kernel asks the same thing again.
        self.x, self.y = ("x", "y") if self.blocks != "any" else ("px", "py")
        self.nx, self.ny = ("nx", "ny") if self.style == "bounded" else (f"{self.columns}u", f"{self.rows}u")
        every = ["gx < n", "gy < s", "gx < n && gy < s", "y == 3", "x > 4", "(v0 & 3) == 1", "(y & 1) == 0", "x == y",
                 "x < y", "gx + gy < n", "t < s", "(v1 & 64) != 0", "t == 0", "y == 0", "x == 0", "y + 1 < blockDim.y"]
        self.conditions = rng.sample(every, 2)

    def condition(self):
        return self.rng.choice(self.conditions)

    def uniform_condition(self):
        return self.rng.choice(["n > 40", "(blockIdx.x & 1) == 0", "(s & 1) == 0", "blockIdx.y == 0", "in[n & 1023] & 1"])

    def array(self):
        self.read = True
        return self.rng.choice(self.arrays)

    # --- values

    def value(self):
        rng = self.rng
        leaf = lambda: rng.choice(["v0", "v1", "v2", "x", "y", "gx", "t", "n", f"{rng.randint(1, 99)}u",
                                   f"in[(gy * 37u + gx + {rng.randint(0, 9)}u) & 1023]"])
        return rng.choice([f"{leaf()} + {leaf()}", f"{leaf()} * 3u", f"({leaf()} ^ {leaf()})", leaf(),
                           f"({self.condition()} ? {leaf()} : {leaf()})", f"({leaf()} >> {rng.randint(1, 9)})"])

    def put(self, value):
        """A number as the tile holds it: small and whole, or any where products are never fused."""
        small = f"(({value}) & 63u)"
        if self.type in ("float", "double"):
            return f"({self.type}){small}" + (self.rng.choice([" * 0.37f", " / 7.0f"]) if self.free else "")
        if self.type == "__half":
            return f"__float2half((float){small})"
        if self.type == "__nv_bfloat16":
            return f"__float2bfloat16((float){small})"
        return f"({self.type}){small}"

    def get(self, cell):
        convert = {"__half": "__half2float", "__nv_bfloat16": "__bfloat162float"}.get(self.type)
        return f"{convert}({cell})" if convert else f"({self.sum}){cell}"

    def to_word(self, value):
        if self.sum in ("float", "double"):
            return f"(u32)(int)({value} * 16)" if self.free else f"(u32)(int)({value})"
        return f"(u32)({value})"

    def cell(self, k=None):
        """Somebody's place, perhaps that of round k."""
        rng, x, y, nx, ny = self.rng, self.x, self.y, self.nx, self.ny
        d = rng.randint(1, 9)
        rows = [y, y, f"({y} + {d}u) % {ny}", f"{ny} - 1 - {y}", "0"]
        columns = [x, x, f"({x} + {d}u) % {nx}", f"{nx} - 1 - {x}", "0"]
        if self.style != "bounded":
            rows.append(f"{rng.randrange(self.rows)}")
            columns.append(f"{rng.randrange(self.columns)}")
        if self.rows == self.columns and self.style == "exact":
            rows, columns = rows + [x, x], columns + [y, y]
        else:
            rows.append(f"{x} % {ny}")
            columns.append(f"{y} % {nx}")
        if k:
            where = rng.choice(["row", "row", "column", "column", "both"])
            if where != "column":
                rows = [f"{k} % {ny}", f"({k} + {y}) % {ny}", k, k, k]
            if where != "row":
                columns = [f"{k} % {nx}", f"({k} + {x}) % {nx}", k, k, k]
        return f"{self.array()}[{rng.choice(rows)}][{rng.choice(columns)}]"

    def beside(self):
        """A neighbour's place, or nothing at the border."""
        rng, x, y = self.rng, self.x, self.y
        zero, d = self.get(self.put("0u")), rng.randint(1, 2)
        there, row, column = rng.choice([(f"{x} >= {d}", y, f"{x} - {d}"), (f"{x} + {d} < {self.nx}", y, f"{x} + {d}"),
                                         (f"{y} >= {d}", f"{y} - {d}", x), (f"{y} + {d} < {self.ny}", f"{y} + {d}", x)])
        return f"({there} ? {self.get(f'{self.array()}[{row}][{column}]')} : {zero})"

    # --- what threads read of the tile

    def variable(self):
        return self.rng.choice(["v0", "v1", "v2"])

    def look(self):
        what = self.get(self.cell()) if self.rng.random() < 0.6 else f"{self.beside()} + {self.beside()}"
        if self.has_edges and self.rng.random() < 0.7:
            what += f" + {self.get(self.rng.choice(['edge[0][y]', 'edge[1][y]', 'edge[2][x]', 'edge[3][x]']))}"
        guard = f"if ({self.condition()}) " if self.rng.random() < 0.3 else ""
        self.emit(f"{guard}{self.variable()} {self.rng.choice(['+=', '^=', '='])} {self.to_word(what)};")

    def least(self):
        return "(nx < ny ? nx : ny)" if self.style == "bounded" else f"{min(self.rows, self.columns)}u"

    def term(self, k):
        rng = self.rng
        x, y = self.x, self.y
        product = f"{self.get(f'{self.array()}[{y}][{k}]')} * {self.get(f'{self.array()}[{k}][{x}]')}"
        return rng.choice([product, product, product, f"{self.get(self.cell(k))} * {self.get(self.cell(k))}",
                           f"{self.get(self.cell(k))} * ({self.sum})(({k} + y) & 7)", self.get(self.cell(k)),
                           f"{self.get(f'{self.array()}[{k}][{x}]')} * ({self.sum})(in[(gy + {k}) & 1023] & 7)"])

    def add_up(self, target=None):
        """Over a line of the tile."""
        rng = self.rng
        k, acc = self.name_of("k"), target or self.name_of("acc")
        if not target:
            self.emit(f"{self.sum} {acc} = 0;")
        limit = rng.choice([self.least()] * 6 + [f"min({self.least()}, n)", f"min({self.least()}, {self.y} + 1)",
                                                 f"min({self.least()}, {self.x})"])
        unroll = rng.choice(["", "", "", "#pragma unroll\n", "#pragma unroll 4\n"])
        if unroll:
            self.lines.append(unroll.rstrip())
        self.emit(f"for (u32 {k} = 0; {k} < {limit}; ++{k}) {{")
        guard = f"if ({rng.choice([self.condition(), f'{self.get(self.cell(k))} > 9'])}) " if rng.random() < 0.15 else ""
        self.emit(f"  {guard}{acc} += {self.term(k)};")
        if rng.random() < 0.15:
            self.emit(f"  {self.variable()} ^= {self.to_word(self.get(self.cell(k)))} + {k};")
        self.emit("}")
        if not target:
            self.emit(f"{self.variable()} {rng.choice(['+=', '^='])} {self.to_word(acc)};")

    def around(self):
        """A small square, as filters do."""
        acc, dy, dx = self.name_of("acc"), self.name_of("j"), self.name_of("i")
        x, y = self.x, self.y
        self.emit(f"{self.sum} {acc} = 0;")
        self.emit(f"for (int {dy} = -1; {dy} <= 1; ++{dy})")
        self.emit(f"  for (int {dx} = -1; {dx} <= 1; ++{dx}) {{")
        self.emit(f"    const int r = (int){y} + {dy}, c = (int){x} + {dx};")
        self.emit(f"    if (r >= 0 && r < (int){self.ny} && c >= 0 && c < (int){self.nx}) "
                  f"{acc} += {self.get(f'{self.array()}[r][c]')};")
        self.emit("  }")
        self.emit(f"{self.variable()} += {self.to_word(acc)};")

    def assign(self):
        guard = f"if ({self.condition()}) " if self.rng.random() < 0.3 else ""
        self.emit(f"{guard}{self.variable()} {self.rng.choice(['=', '+=', '^='])} {self.value()};")

    def global_sum(self):
        guard = f"if ({self.condition()}) " if self.rng.random() < 0.5 else ""
        self.emit(f"{guard}atomicAdd(&sums[({self.value()}) & 63], v1 & 255u);")

    def warp(self):
        v = self.variable()
        self.emit(self.rng.choice([f"{v} += __shfl_down_sync(~0u, {v}, {self.rng.choice([1, 2, 8, 16])});",
                                   f"{v} ^= __shfl_xor_sync(~0u, {v}, {self.rng.choice([1, 4, 16, 31])});",
                                   f"{v} += __popc(__ballot_sync(~0u, {self.condition()}));",
                                   f"{v} += __reduce_add_sync(~0u, {v} & 255u);"]))

    def reads(self):
        for _ in range(self.rng.choice([1, 1, 2])):
            kinds = [self.look, self.look, self.add_up, self.add_up, self.add_up, self.around, self.assign]
            if self.atomics:
                kinds.append(self.global_sum)
            if self.warps:
                kinds.append(self.warp)
            self.rng.choice(kinds)()

    # --- what they write

    def meet(self):
        self.read = False
        self.emit(self.rng.choice([f"v0 += __syncthreads_count({self.condition()});", "v1 ^= __syncthreads_or(v0 & 1u);",
                                   f"v2 += __syncthreads_and({self.condition()}) * 9u;"])
                  if self.votes and self.rng.random() < 0.6 else "__syncthreads();")

    def own(self, array):
        """Statements around a store to a place that is the thread's own, and that place."""
        rng, rows, columns = self.rng, self.rows, self.columns
        if self.style in ("exact", "within", "bounded"):
            places = [f"{array}[y][x]"] * 4
            if rows == columns and self.style != "bounded":
                places.append(f"{array}[x][y]")
            if self.style == "exact":
                places += [f"{array}[{rows} - 1 - y][x]", f"{array}[y][{columns} - 1 - x]", f"{array}[y][x ^ 1]",
                           f"{array}[t / {columns}][t % {columns}]", f"{array}[t % {rows}][t / {rows}]"]
            if self.style == "within":
                places.append(f"{array}[y][{columns} - 1 - x]")
            return rng.choice(["", "", "", f"if ({self.condition()}) "]), rng.choice(places)
        if self.style == "guarded":
            # Names first what the condition is about, or not.
            first = "threadIdx.z == 0 && " if self.deep else ""
            return f"if ({first}x < {columns} && y < {rows}) ", f"{array}[y][x]"
        if self.style == "linear":
            return f"if (t < {rows * columns}) ", f"{array}[t / {columns}][t % {columns}]"
        j, i = self.name_of("j"), self.name_of("i")
        if self.deep:
            return f"for (u32 {j} = t; {j} < {rows * columns}; {j} += threads) ", f"{array}[{j} / {columns}][{j} % {columns}]"
        return (f"for (u32 {j} = y; {j} < {rows}; {j} += blockDim.y) "
                f"for (u32 {i} = x; {i} < {columns}; {i} += blockDim.x) ", f"{array}[{j}][{i}]")

    def store(self, array):
        around, place = self.own(array)
        value = self.value()
        if self.rng.random() < 0.25:
            value = f"gx < n && gy < s ? in[(gy * 64u + gx) & 1023] : 0u"
        self.emit(f"{around}{place} = {self.put(value)};")

    def edge(self):
        """What the threads at one edge of the block store besides, as for the border of a tile."""
        rng = self.rng
        places = [("x == 0", "edge[0][y]"), (f"x == {self.nx} - 1", "edge[1][y]"), ("y == 0", "edge[2][x]"),
                  (f"y + 1 == {self.ny}", "edge[3][x]")]
        if self.style == "bounded":  # else that place may be another thread's
            places += [("x == 2", "a[y][x]"), ("y == 1", "a[y][x]")]
        one, place = rng.choice(places)
        also = rng.choice(["", "", " && gx > 0", " && gy > 0 && gx < n", f" && {self.condition()}"])
        value = rng.choice([self.value(), "in[(gy * 64u + gx - 1u) & 1023]", f"{self.value()} + in[gx & 1023]"])
        self.emit(f"if ({one}{also}) {place} = {self.put(value)};")

    def writes(self):
        if self.read:
            self.meet()
        for array in self.rng.sample(self.arrays, self.rng.randint(1, len(self.arrays))):
            if self.rng.random() < 0.2:
                self.assign()
            self.store(array)
            for _ in range(self.rng.choice([0, 1, 2, 4]) if self.has_edges else 0):
                self.edge()
        if self.atomics and self.type in ("int", "u32") and self.rng.random() < 0.5:
            self.meet()
            k = self.name_of("p")
            self.emit(f"const u32 {k} = {self.value()};")
            self.emit(f"if ({self.condition()}) atomicAdd(&a[{k} % {self.ny}][{k} / 8 % {self.nx}], ({self.type})({k} & 15u));")
        self.meet()

    def columns_of_rows(self):
        """Fewer rows of threads than the tile has, each for several of them."""
        if self.style not in ("within", "exact"):
            return self.writes()
        if self.read:
            self.meet()
        j, array = self.name_of("j"), self.rng.choice(self.arrays)
        self.emit(f"for (u32 {j} = 0; {j} < {self.rows}; {j} += blockDim.y)")
        guard = "" if self.style == "exact" else f"if (y + {j} < {self.rows}) "
        self.emit(f"  {guard}{array}[y + {j}][x] = {self.put(f'in[(gx + (gy + {j}) * 64u) & 1023]')};")
        self.meet()

    # --- the whole

    def tiled(self):
        """Tile by tile, as products of matrices are written."""
        m, acc = self.name_of("m"), self.name_of("acc")
        if self.read:
            self.meet()
        rounds = self.rng.choice([f"(n + {self.columns - 1}u) / {self.columns}u & 3u", "n & 3u", "3u", "s % 4u"])
        self.emit(f"{self.sum} {acc} = 0;")
        self.emit(f"for (u32 {m} = 0; {m} < ({rounds}); ++{m}) {{")
        self.depth += 1
        for array in self.arrays:
            around, place = self.own(array)
            at = self.rng.choice([f"gy * 64u + {m} * {self.columns}u + x", f"({m} * {self.rows}u + y) * 64u + gx"])
            partial = self.rng.choice(["", "", f"{m} * {self.columns}u + x < n ? ", "gx < n && gy < s ? "])
            value = f"in[({at}) & 1023]"
            self.emit(f"{around}{place} = {self.put(f'{partial}{value} : 0u' if partial else value)};")
        self.meet()
        self.add_up(acc)
        if self.rng.random() < 0.3:
            self.reads()
        self.meet()
        self.depth -= 1
        self.emit("}")
        self.emit(f"{self.variable()} += {self.to_word(acc)};")

    def leave(self):
        if self.rng.random() < 0.5 and self.read:
            self.meet()
        self.emit(f"if ({self.condition()}) {{ RESULT return; }}")

    def step(self):
        self.rng.choice([self.tiled, self.tiled, self.columns_of_rows, self.writes, self.writes, self.writes])()
        self.reads()

    def part(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.6:
            return self.step()
        if kind < 0.85:
            r = self.name_of("r")
            self.emit(f"for (u32 {r} = 0; {r} < ({rng.choice(['n & 3', 's % 5', '3', 'blockIdx.x & 1'])}); ++{r}) {{")
        else:
            self.emit(f"if ({self.uniform_condition()}) {{")
        self.depth += 1
        self.read = True  # in the round before
        for _ in range(rng.choice([1, 1, 2])):
            self.step()
        self.depth -= 1
        self.emit("}")
        self.read = True

    def text(self):
        rng, rows, columns = self.rng, self.rows, self.columns
        first = []
        if self.style == "exact" and rng.random() < 0.7:
            for array in self.arrays:
                first.append(f"  {array}[y][x] = {self.put('gx * 5u + y')};")
        elif self.style == "bounded":
            for array in self.arrays:
                first.append(f"  {array}[y][x] = {self.put('x + y * 9u')};")
        else:
            for array in self.arrays:
                first += [f"  for (u32 j = y; j < {rows}; j += blockDim.y)",
                          f"    for (u32 i = x; i < {columns}; i += blockDim.x)"
                          f"{' if (threadIdx.z == 0)' if self.deep else ''} {array}[j][i] = {self.put('i * 3u + j')};"]
        if self.has_edges:
            first.append(f"  for (u32 i = t; i < 256; i += blockDim.x * blockDim.y) edge[i / 64][i % 64] = {self.put('i * 7u')};")
        first.append("  __syncthreads();")
        parts = rng.choice([1, 1, 1, 2, 2, 3])
        leaves = rng.randrange(parts) if self.returns else -1
        for part in range(parts):
            if part == leaves:
                self.leave()
            self.part()
        bounds = rng.choice(["", "", f"__launch_bounds__({rows * columns}) "]) if self.blocks != "any" else ""
        restrict = rng.choice(["", " __restrict__"])
        wide, high = (f"{columns}u", f"{rows}u") if self.blocks != "any" and rng.random() < 0.5 else ("blockDim.x", "blockDim.y")
        head = [f"__global__ void {bounds}{self.name}(const u32*{restrict} in, u32*{restrict} out, u32* sums, u32 n, u32 s) {{",
                *[f"  __shared__ {self.type} {array}[{rows}][{columns + self.pad}];" for array in self.arrays],
                *([f"  __shared__ {self.type} edge[4][64];"] if self.has_edges else []),
                "  const u32 x = threadIdx.x, y = threadIdx.y;",
                f"  const u32 gx = blockIdx.x * {wide} + x, gy = blockIdx.y * {high} + y;"]
        if self.style == "bounded":
            head.append("  const u32 nx = blockDim.x, ny = blockDim.y;")
        if self.blocks == "any":
            head.append(f"  const u32 px = x % {columns}u, py = y % {rows}u;")
        if self.deep:
            head += ["  const u32 threads = blockDim.x * blockDim.y * blockDim.z;",
                     "  const u32 t = x + blockDim.x * (y + blockDim.y * threadIdx.z);",
                     "  const u32 at = t + threads * (blockIdx.x + gridDim.x * blockIdx.y);"]
        elif rng.random() < 0.5 or self.rows * self.columns > 512:
            head += ["  const u32 t = x + blockDim.x * y;",
                     "  const u32 at = t + blockDim.x * blockDim.y * (blockIdx.x + gridDim.x * blockIdx.y);"]
        else:
            head += ["  const u32 t = x + blockDim.x * y;", f"  const u32 at = gy * (gridDim.x * {wide}) + gx;"]
        head.append(f"  u32 v0 = gx * {rng.randint(1, 9)}u + gy, v1 = in[at & 1023], v2 = {rng.randint(0, 99)}u;")
        result = f"out[{SLOTS} * at] = v0; out[{SLOTS} * at + 1] = v1; out[{SLOTS} * at + 2] = v2;"
        body = [line.replace("RESULT", result) for line in self.lines]
        end = [f"  {result}"]
        if self.read or rng.random() < 0.5:
            end.append(f"  out[{SLOTS} * at + 3] = {self.to_word(self.get(f'{self.arrays[0]}[{self.y}][{self.x}]'))};")
        return "\n".join(head + first + body + end + ["}"])
