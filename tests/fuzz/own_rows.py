"""Kernels whose threads each go through a row of their own, all equally often, perhaps behind a guard.

    if (g >= n) return;
    for (u32 k = 0; k < s; ++k) a += (float)(in[(g * 37 + k) & 1023] & 15);

A thread may store on its way, and read again what it stored. All values are small multiples of a power of two, so that
no order of rounding matters.
"""

import lines

SLOTS = 4


class OwnRows(lines.Lines):
    warps = False

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.width = 1024
        self.type = rng.choice(["float", "float", "double", "int", "u32"])
        self.lines, self.depth, self.fresh = [], 1, 0
        self.guard = rng.choice(["", "g < n", "g < n", "g + 1 < n", "g >= 3", "(int)g < (int)n - 2"])

    def element(self, k):
        place = self.rng.choice([f"g * 37 + {k}", f"g * s + {k}", f"{k} * 5 + g * 3", f"{k} * 64 + g", f"{k}", f"1023 - g * 8 - {k}"])
        return f"(T)(in[({place}) & 1023] & {self.rng.choice([1, 7, 15])})"

    def statement(self, k):
        x, y = self.rng.sample("abc", 2)
        return self.rng.choice([
            f"{x} += {self.element(k)};", f"{x} += {self.element(k)};", f"{x} += {self.element(k)} * {self.element(k)};",
            f"{x} = largest<T>({x}, {self.element(k)});", f"{x} = {y} + {self.element(k)};",
            f"{x} += g % 3 == 0 ? {self.element(k)} : (T)1;", f"{x} = {self.element(k)} - {x};",
            f"out[{SLOTS} * g + 3] = (u32)(int){x};", f"{y} += (T)(out[{SLOTS} * g + 3] & 3);",
            f"if ({k} & 1) {x} += {self.element(k)};"])

    def loop(self, nested):
        k = self.name_of("k")
        end = self.rng.choice(["s", "s & 15", "n & 7", "70", "5", "(s + 3) / 2"])
        self.emit(f"for (u32 {k} = {self.rng.choice('012')}; {k} < {end}; {self.rng.choice([f'++{k}', f'{k} += 2'])}) {{")
        self.depth += 1
        for _ in range(self.rng.randint(1, 3)):
            self.emit(self.statement(k))
        if nested:
            self.loop(False)
        self.depth -= 1
        self.emit("}")

    def text(self):
        rng = self.rng
        returns = self.guard and rng.random() < 0.5
        if returns:
            self.emit(f"if (!({self.guard})) return;")
        elif self.guard:
            self.emit(f"if ({self.guard}) {{")
        for _ in range(rng.randint(1, 2)):
            self.loop(rng.random() < 0.2)
            if rng.random() < 0.4:
                self.emit(self.statement("s"))
        self.emit(f"out[{SLOTS} * g] = (u32)(int)a; out[{SLOTS} * g + 1] = (u32)(int)b; out[{SLOTS} * g + 2] = (u32)(int)c;")
        if self.guard and not returns:
            self.emit("}")
        body = "\n".join(self.lines).replace("(T)", f"({self.type})").replace("<T>", f"<{self.type}>")
        return "\n".join([f"__global__ void {self.name}(const u32* in, u32* out, u32* sums, u32 n, u32 s) {{",
                          "  const u32 g = blockIdx.x * blockDim.x + threadIdx.x;",
                          f"  {self.type} a = 0, b = 1, c = 2;", body, "}"])
