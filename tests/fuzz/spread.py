"""Kernels for blocks of one row, in which the threads that have something to do, or their places, lie apart.

    if (t % (2 * d) == 0) own[t] += own[t + d];
    u32 j = 2 * d * t; if (j < threads) own[j] += own[j + d];
    if (t < d) own[(2 * t + 2) * o - 1] += own[(2 * t + 1) * o - 1];        and back, and with a place more after every 16

and what they read and write may end at n. A round reads no place that another thread writes in it. A kernel is for
blocks of its width only, with an array twice as long, of which it fills all, or its guards keep to the block's own part.
"""

import lines

SLOTS = 4


class Spread(lines.Lines):
    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.width = rng.choice([64, 128, 256])
        self.dynamic = 0
        self.type = rng.choice(["u32", "u32", "int", "float", "short", "double", "unsigned char", "unsigned long long"])
        self.lines, self.depth, self.fresh = [], 1, 0
        self.pad = rng.choice(["", "", " + ({} >> 4)", " + ({} >> 5)"])
        if rng.random() < 0.4:
            self.width = rng.choice([256, 256, self.width])
            self.dynamic = self.places() * lines.SIZES[self.type]
        self.index = rng.choice(["u32", "int"])
        self.warps = rng.random() < 0.5
        self.exact = rng.random() < 0.6
        self.conditions = rng.sample(["g < n", "g < n", "(int)g < (int)n", "g + 1 < n", "g < s", "t < s", "g >= n", "t >= 3"], 2)

    def places(self):
        return 2 * self.width + self.width // 8

    def condition(self):
        return self.rng.choice(self.conditions)

    def at(self, place):
        return f"own[({place}){self.pad.format(f'({place})')}]"

    def value(self):
        return self.rng.choice(["v", "w", "v + 1", "(T)(t & 7)", "(T)(in[g & 1023] & 63)",
                                f"({self.condition()} ? (T)(in[(g + 5) & 1023] & 31) : (T)1)"])

    def fill(self):
        guard = f"if ({self.condition()}) " if self.rng.random() < 0.3 else ""
        self.emit(f"{self.at('t')} = (T)2; {self.at(f't + {self.width}')} = {self.rng.choice(['(T)0', 'v', '(T)(t & 3)'])};")
        self.emit(f"{guard}{self.at('t')} = {self.value()};")
        self.emit("__syncthreads();")

    def read(self):
        place = self.rng.choice(["t", "t", "0", "threads - 1", "threads - 1 - t", "(t * 3) % threads"])
        guard = f"if ({self.condition()}) " if self.rng.random() < 0.3 else ""
        self.emit(f"{guard}{self.rng.choice('vw')} += {self.at(place)};")
        self.emit("__syncthreads();")

    def rounds(self, head, body):
        self.emit(f"for ({self.index} {head}) {{")
        self.depth += 1
        for line in body:
            self.emit(line)
        self.emit("__syncthreads();")
        self.depth -= 1
        self.emit("}")

    def add(self, one, other):
        return self.rng.choice([f"{self.at(one)} += {self.at(other)};", f"{self.at(one)} += {self.at(other)};",
                                f"{self.at(one)} = max({self.at(one)}, {self.at(other)});"])

    def tree(self):
        """Upwards: threads, or places, of every second, fourth ... number."""
        d = self.name_of("d")
        most = self.rng.choice(["threads", f"{self.width}", f"{self.width}", "16"])
        inside = "" if self.exact and self.rng.random() < 0.8 else f" && t + {d} < threads"
        self.rounds(f"{d} = 1; {d} < {most}; {d} *= 2", [self.rng.choice([
            f"if (t % (2 * {d}) == 0{inside}) {self.add('t', f't + {d}')}",
            f"if ((t & (2 * {d} - 1)) == 0{inside}) {self.add('t', f't + {d}')}",
            f"{{ {self.index} j = 2 * {d} * t; if (j{'' if self.exact else f' + {d}'} < threads) {self.add('j', f'j + {d}')} }}",
            f"if (t < {d}{inside}) {self.add('t', f't + {d}')}"])])

    def sweep(self):
        """A tree over the block's own part of the array, up and down again."""
        d, o = self.name_of("d"), self.name_of("o")
        inside = "" if self.exact else f" && {o} * (2 * t + 2) - 1 < threads"
        self.emit(f"{self.index} {o} = 1;")
        self.rounds(f"{d} = {self.width // 2}; {d} > 0; {d} >>= 1",
                    [f"if (t < {d}{inside}) {self.add(f'{o} * (2 * t + 2) - 1', f'{o} * (2 * t + 1) - 1')}", f"{o} *= 2;"])
        if self.rng.random() < 0.6:
            self.emit(f"if (t == 0) {self.at('threads - 1')} = 0;")
            self.emit("__syncthreads();")
            self.rounds(f"{d} = 1; {d} < {self.width}; {d} *= 2",
                        [f"{o} >>= 1;", f"if (t < {d}{inside}) {{",
                         f"  T x = {self.at(f'{o} * (2 * t + 1) - 1')};",
                         f"  {self.at(f'{o} * (2 * t + 1) - 1')} = {self.at(f'{o} * (2 * t + 2) - 1')};",
                         f"  {self.at(f'{o} * (2 * t + 2) - 1')} += x;", "}"])

    def lanes(self):
        """A warp that stays together, as code before Volta has it: no meeting but volatile memory."""
        first = self.rng.choice([32, 16, 8])
        self.emit("if (t < 32 && threads >= 64) {")
        self.emit(f"  volatile {self.type}* lanes = own;")
        while first:
            self.emit(f"  lanes[t] = lanes[t] {self.rng.choice('++-')} lanes[t + {first}];")
            first //= 2
        self.emit("}")
        self.emit("__syncthreads();")

    def warp_scan(self):
        d, x, u = self.name_of("d"), self.name_of("x"), self.rng.choice("vw")
        self.emit(f"for (int {d} = 1; {d} {self.rng.choice(['< 32', '<= 16', '< 8'])}; {d} *= 2) {{")
        self.emit(f"  S {x} = __shfl_up_sync(~0u, (S){u}, {d});")
        self.emit(f"  if ((t & 31) >= {d}) {u} += (T){x};")
        self.emit("}")

    def block_sum(self):
        """Warps add up, and the first of them adds up what they have."""
        d, u = self.name_of("d"), self.rng.choice("vw")
        how = self.rng.choice(["__shfl_down_sync", "__shfl_xor_sync"])
        self.emit(f"for (int {d} = 16; {d} > 0; {d} /= 2) {u} += (T){how}(~0u, (S){u}, {d});")
        self.emit(f"if (t % 32 == 0) of_warps[t / 32] = {u};")
        self.emit("__syncthreads();")
        self.emit(f"{u} = t < threads / 32 ? of_warps[t % 32] : (T)0;")
        self.emit("if (t / 32 == 0) {")
        self.emit(f"  for (int {d} = 16; {d} > 0; {d} /= 2) {u} += (T){how}(~0u, (S){u}, {d});")
        self.emit("}")
        self.emit("__syncthreads();")

    def text(self):
        rng = self.rng
        for _ in range(rng.randint(1, 2)):
            self.fill()
            rng.choice([self.tree, self.tree, self.sweep])()
            if not self.pad and rng.random() < 0.4:
                self.lanes()
            self.read()
            if self.warps:
                rng.choice([self.warp_scan, self.block_sum])()
        small = "int" if self.type in ("short", "unsigned char") else self.type
        body = "\n".join(self.lines).replace("(T)", f"({self.type})").replace("T x", f"{self.type} x")
        body = body.replace("(S)", f"({small})").replace("  S x", f"  {small} x").replace("max(", f"largest<{self.type}>(")
        end = f"if ({self.condition()}) " if rng.random() < 0.5 else ""
        bounds = rng.choice(["", f"__launch_bounds__({self.width}) "])
        return "\n".join([
            f"__global__ void {bounds}{self.name}(const u32* in, u32* out, u32* sums, u32 n, u32 s) {{",
            *lines.shared(self.type, self.name, self.places(), dynamic=self.dynamic),
            f"  __shared__ {self.type} of_warps[32];" if self.warps else "",
            "  const u32 threads = blockDim.x, t = threadIdx.x, g = blockDim.x * blockIdx.x + threadIdx.x;",
            f"  if (threads != {self.width}) return;" if self.exact else "",
            f"  {self.type} v = ({self.type})(in[g & 1023] & 15), w = 1;", body,
            f"  {end}out[{SLOTS} * g] = (u32)(long long)v;", f"  out[{SLOTS} * g + 1] = (u32)(long long)w;",
            f"  if (t == 0) sums[blockIdx.x & 63] = (u32)(long long)own[0];", "}"])
