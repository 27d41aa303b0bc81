"""Kernels for blocks of one row, whose threads find each other's values at constant distances."""

import lines

SLOTS = 4


class Line:
    warps = False

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.width = rng.choice([64, 96, 128, 256])
        self.type = rng.choice(["u32", "u32", "u32", "short", "float", "unsigned long long", "unsigned short", "double"])
        self.lines = []
        self.rounds = 0
        self.dynamic = 0
        if rng.random() < 0.4:
            self.width = rng.choice([256, 256, self.width])
            self.dynamic = 2 * self.width * lines.SIZES[self.type]

    def value(self):
        return self.rng.choice(["v", "v + 1", "(T)(t & 7)", "w", "v + w", "(T)(in[g & 1023] & 63)"])

    def other(self):
        """Another thread's place, and when there is one."""
        d = self.rng.choice([1, 1, 2, 3, 4, 7, 8, 16, 31, 32, 64])
        return self.rng.choice([("t", "true"), (f"t + {d}", f"t + {d} < threads"), (f"t - {d}", f"t >= {d}"),
                                ("threads - 1 - t", "true"), (f"{d}", f"threads > {d}"), ("0", "true")])

    def exchange(self, indent):
        half, variable = self.rng.randint(0, 1), self.rng.choice("vw")
        place, there = self.other()
        guard = self.rng.choice(["", "", "if (t < 40) ", "if (t > 2) ", "if (t == 17) "])
        if guard:
            self.lines += [f"{indent}own[{half}][t] = {self.value()};", f"{indent}__syncthreads();"]
        self.lines += [f"{indent}{guard}own[{half}][t] = {self.value()};", f"{indent}__syncthreads();",
                       f"{indent}if ({there}) {variable} += own[{half}][{place}];", f"{indent}__syncthreads();"]

    def scan(self, indent):
        d = f"d{len(self.lines)}"
        if self.rng.random() < 0.5:
            self.lines += [f"{indent}own[0][t] = {self.value()};", f"{indent}__syncthreads();",
                           f"{indent}for (u32 {d} = 1; {d} < threads; {d} *= 2) {{",
                           f"{indent}  T x = 0; if (t >= {d}) x = own[0][t - {d}];", f"{indent}  __syncthreads();",
                           f"{indent}  own[0][t] += x;", f"{indent}  __syncthreads();", f"{indent}}}",
                           f"{indent}w += own[0][t];", f"{indent}__syncthreads();"]
            return
        h = f"h{len(self.lines)}"
        self.lines += [f"{indent}int {h} = 0; own[0][t] = {self.value()};", f"{indent}__syncthreads();",
                       f"{indent}for (u32 {d} = 1; {d} < {self.width}; {d} *= 2) {{",
                       f"{indent}  T x = own[{h}][t]; if (t >= {d}) x += own[{h}][t - {d}];",
                       f"{indent}  own[1 - {h}][t] = x; {h} = 1 - {h};", f"{indent}  __syncthreads();", f"{indent}}}",
                       f"{indent}v += own[{h}][t];", f"{indent}__syncthreads();"]

    def tree(self, indent):
        d = f"d{len(self.lines)}"
        self.lines += [f"{indent}own[1][t] = {self.value()};", f"{indent}__syncthreads();",
                       f"{indent}for (u32 {d} = {self.rng.choice(['256', 'threads / 2'])}; {d} > 0; {d} /= 2) {{",
                       f"{indent}  if (t < {d} && t + {d} < threads) own[1][t] += own[1][t + {d}];",
                       f"{indent}  __syncthreads();", f"{indent}}}",
                       f"{indent}{self.rng.choice(['w += own[1][0];', 'if (t == 0) sums[blockIdx.x & 63] = (u32)(long long)own[1][0];'])}",
                       f"{indent}__syncthreads();"]

    def steps(self, indent):
        for _ in range(self.rng.randint(1, 3)):
            self.rng.choice([self.exchange, self.exchange, self.scan, self.tree])(indent)

    def text(self):
        self.steps("  ")
        if self.rng.random() < 0.3:
            r = self.rng.choice(["n & 3", "3", "s % 5"])
            self.lines.append(f"  for (u32 r = 0; r < ({r}); ++r) {{")
            self.steps("    ")
            self.lines.append("  }")
        bounds = self.rng.choice(["", f"__launch_bounds__({self.width}) "])
        index = self.rng.choice(["blockDim.x * blockIdx.x + threadIdx.x", "threadIdx.x + blockDim.x * blockIdx.x"])
        type_name = self.type
        body = "\n".join(self.lines).replace("T x", f"{type_name} x").replace("(T)", f"({type_name})")
        start = ["  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)",
                 "    v += in[i & 1023] & 15;"] if self.rng.random() < 0.3 else []
        return "\n".join([f"__global__ void {bounds}{self.name}(const u32* in, u32* out, u32* sums, u32 n, u32 s) {{",
                          *lines.shared(type_name, self.name, self.width, rows=2, dynamic=self.dynamic),
                          f"  const u32 threads = blockDim.x, t = threadIdx.x; const u32 g = {index};",
                          f"  {type_name} v = 0, w = 1;", *start, "  v += in[g & 1023] & 15;", body,
                          f"  out[{SLOTS} * g] = (u32)(long long)v; out[{SLOTS} * g + 1] = (u32)(long long)w;", "}"])
