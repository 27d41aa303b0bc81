"""Kernels whose threads, warps or blocks draw their work from counters, and some that wait for others in between.

    while ((i = atomicAdd(&sums[3], 1)) < n) atomicAdd(&out[i], in[i & 1023]);

Who draws what differs from run to run; what is done with it adds up to the same. So does a counter in global memory:
everyone draws once too often. Where that is not so the counter is the block's own.
"""

import lines

SLOTS = 4
PLACES = 4096 * SLOTS


class Drawn(lines.Lines):
    width = 0

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.warps = rng.random() < 0.5
        self.waits = rng.random() < 0.25
        self.lines, self.depth, self.fresh = [], 1, 0
        self.shared = []
        self.counters = list(range(0, 32, 2))
        rng.shuffle(self.counters)

    # --- what is drawn from

    def counter(self):
        return f"sums[{self.counters.pop()}]"

    def own_counter(self):
        name = self.name_of("cell")
        self.shared.append(f"u32 {name}")
        self.emit("__syncthreads();")
        self.emit(f"if (t == 0) {name} = 0;")
        self.emit("__syncthreads();")
        return name

    def end(self):
        return self.rng.choice(["n", "(n & 255)", "s", "(n / 2 + 3)", "37u"])

    # --- what is done with it

    def value(self, i):
        return self.rng.choice([f"in[{i} & 1023]", f"{i} * 3 + 1", f"(in[({i} * 7) & 1023] ^ {i})", f"({i} & 5u ? {i} : s)"])

    def work(self, i):
        rng = self.rng
        for _ in range(rng.randint(1, 3)):
            kind = rng.randrange(6)
            if kind == 0:
                k = self.name_of("k")
                self.emit(f"for (u32 {k} = 0; {k} < (in[{i} & 1023] & 7); ++{k}) mine += {self.value(i)} + {k};")
            elif kind == 1:
                self.emit(f"if ({self.value(i)} & {rng.choice([1, 6, 64])}) atomicXor(&sums[{32 + rng.randrange(32)}], {self.value(i)});")
            elif kind == 2:
                self.emit(f"mine += {self.value(i)};")
            else:
                self.emit(f"atomicAdd(&out[({i} * {rng.choice([1, 1, 5])}) & {PLACES - 1}], {self.value(i)});")

    def inside(self, body):
        self.depth += 1
        body()
        self.depth -= 1
        self.emit("}")

    # --- ways to draw

    def each(self):
        """Each thread for itself."""
        rng = self.rng
        i, own = self.name_of("i"), rng.random() < 0.3
        type_name = rng.choice(["int", "u32", "u32", "unsigned long long"])
        place = self.own_counter() if own else self.counter()
        type_name = "u32" if own and type_name != "int" else type_name
        step = rng.choice(["1", "1", "1", "3", "blockDim.x"])
        end = f"({type_name})({self.end()})"
        draw = f"atomicAdd(({type_name}*)&{place}, ({type_name}){step})"
        if type_name == "int" and rng.random() < 0.3:
            step, draw = "1", "-" + rng.choice([f"atomicSub((int*)&{place}, 1)", f"atomicAdd((int*)&{place}, -1)"])
        elif type_name == "u32" and rng.random() < 0.2:
            step, draw = "1", f"atomicInc(&{place}, ~0u)"
        form = rng.randrange(3)
        if form == 0:
            self.emit(f"{type_name} {i};")
            self.emit(f"while (({i} = {draw}) < {end}) {{")
        elif form == 1:
            self.emit(f"for ({type_name} {i} = {draw}; {i} < {end}; {i} = {draw}) {{")
        else:
            self.emit("for (;;) {")
            self.emit(f"  const {type_name} {i} = {draw};")
            self.emit(f"  if ({i} >= {end}) break;")

        def body():
            if step == "1":
                if rng.random() < 0.2:
                    self.emit(f"if (({i} & 7) == 3) {{ atomicAdd(&out[(u32){i}], 9u); continue; }}")
                return self.work(f"(u32){i}")
            k = self.name_of("j")
            self.emit(f"for ({type_name} {k} = {i}; {k} < {i} + ({type_name}){step} && {k} < {end}; ++{k}) {{")
            self.inside(lambda: self.work(f"(u32){k}"))

        self.inside(body)

    def of_warp(self):
        """One lane for all of a warp, or of a part of it."""
        rng, i, end = self.rng, self.name_of("i"), self.end()
        kind = rng.randrange(4)
        if kind == 0:
            place, leader = self.counter(), rng.choice([0, 0, 5])
            step = rng.choice([1, 32, 32])
            self.emit("for (;;) {")
            self.emit(f"  u32 {i} = 0;")
            self.emit(f"  if (lane == {leader}) {i} = atomicAdd(&{place}, {step}u);")
            self.emit(f"  {i} = __shfl_sync(~0u, {i}, {leader}){' * 32' if step == 1 else ''};")
            self.emit(f"  if ({i} >= {end}) break;")
            self.emit(f"  if ({i} + lane < {end}) {{")
        elif kind == 1:
            place, size = self.counter(), rng.choice([8, 16, 32])
            tile = self.name_of("p")
            self.emit(f"const auto {tile} = cg::tiled_partition<{size}>(cg::this_thread_block());")
            self.emit("for (;;) {")
            self.emit(f"  u32 {i} = 0;")
            self.emit(f"  if ({tile}.thread_rank() == 0) {i} = atomicAdd(&{place}, (u32){tile}.size());")
            self.emit(f"  {i} = {tile}.shfl({i}, 0);")
            self.emit(f"  if ({i} >= {end}) break;")
            self.emit(f"  {i} += {tile}.thread_rank() - lane;")
            self.emit(f"  if ({i} + lane < {end}) {{")
        elif kind == 2:
            place, group = self.own_counter(), self.name_of("q")
            self.emit("for (;;) {")
            self.emit(f"  const cg::coalesced_group {group} = cg::coalesced_threads();")
            self.emit(f"  u32 {i} = 0;")
            self.emit(f"  if ({group}.thread_rank() == 0) {i} = atomicAdd(&{place}, (u32){group}.size());")
            self.emit(f"  {i} = {group}.shfl({i}, 0) + {group}.thread_rank();")
            self.emit(f"  if ({i} >= {end}) break;")
            self.emit(f"  {i} -= lane;")
            self.emit("  {")
        else:
            place = self.own_counter()
            ask = rng.choice(["__any_sync(~0u, past)", "__all_sync(~0u, past)", "__ballot_sync(~0u, !past) == 0"])
            self.emit("for (;;) {")
            self.emit(f"  u32 {i} = atomicAdd(&{place}, 1u);")
            self.emit(f"  const bool past = {i} >= {end};")
            self.emit(f"  {i} -= lane;")
            self.emit("  if (!past) {")
        self.depth += 1
        self.inside(lambda: self.work(f"({i} + lane)"))
        self.depth -= 1
        if kind == 3:
            self.emit(f"  if ({ask}) break;")
        self.emit("}")

    def of_block(self):
        """One thread for its block, or all of them until nobody has anything."""
        rng, i, end = self.rng, self.name_of("i"), self.end()
        if rng.random() < 0.25:
            place = self.own_counter()
            self.emit(f"u32 {i};")
            self.emit("do {")
            self.depth += 1
            self.emit(f"{i} = atomicAdd(&{place}, 1u);")
            self.emit(f"if ({i} < {end}) {{")
            self.inside(lambda: self.work(i))
            self.depth -= 1
            return self.emit(f"}} while ({rng.choice(['__syncthreads_or', '__syncthreads_count'])}({i} < {end}));")
        place, tile = self.counter(), self.name_of("tile")
        step, scale = rng.choice([("1u", " * threads"), ("threads", ""), ("blockDim.x * blockDim.y * blockDim.z", "")])
        self.shared.append(f"u32 {tile}")
        before = rng.random() < 0.5
        self.emit("for (;;) {")
        self.depth += 1
        if before:
            self.emit("__syncthreads();")
        self.emit(f"if (t == {rng.choice(['0', '0', 'threads - 1'])}) {tile} = atomicAdd(&{place}, {step});")
        self.emit("__syncthreads();")
        self.emit(f"const u32 {i} = {tile}{scale};")
        self.emit(f"if ({i} >= {end}) break;")
        self.emit(f"if ({i} + t < {end}) {{")
        self.inside(lambda: self.work(f"({i} + t)"))
        if not before:
            self.emit("__syncthreads();")
        self.depth -= 1
        self.emit("}")

    # --- waits

    def wait(self):
        rng, place = self.rng, self.counter()
        kind = rng.randrange(4)
        if kind == 0:
            self.emit(f"atomicAdd(&{place}, 1u);")
            self.emit(f"while (atomicAdd(&{place}, 0u) < threads * blocks) {{}}")
        elif kind == 1:
            seen = self.name_of("seen")
            self.shared.append(f"u32 {seen}")
            self.emit(f"if (t == 0) atomicAdd(&{place}, 1u);")
            self.emit("for (;;) {")
            self.emit("  __syncthreads();")
            self.emit(f"  if (t == 0) {seen} = {rng.choice(['atomicAdd', 'atomicOr', 'atomicMax'])}(&{place}, 0u);")
            self.emit("  __syncthreads();")
            self.emit(f"  if ({seen} >= blocks) break;")
            self.emit("}")
        elif kind == 2:
            mine = self.name_of("locked")
            self.shared.append(f"bool {mine}")
            self.emit("do {")
            self.emit("  __syncthreads();")
            self.emit(f"  if (t == 0) {mine} = atomicCAS(&{place}, 0u, 1u) == 0;")
            self.emit("  __syncthreads();")
            self.emit(f"}} while (!{mine});")
            self.emit(f"atomicAdd(&out[t], {self.value('g')});")
            self.emit("__syncthreads();")
            self.emit(f"if (t == 0) atomicExch(&{place}, 0u);")
        else:
            self.emit(f"atomicAdd(&{place}, 1u);")
            self.emit(f"while (atomicAdd(&{place}, 1u) < threads * blocks) atomicAdd(&{place}, ~0u);")

    def text(self):
        rng = self.rng
        ways = [self.each, self.each, self.of_block] + ([self.of_warp] * 3 if self.warps else [])
        for _ in range(rng.randint(1, 3)):
            rng.choice(ways)()
            if self.waits and rng.random() < 0.6:
                self.wait()
        head = [f"__global__ void {self.name}(const u32* in, u32* out, u32* sums, u32 n, u32 s) {{",
                "  const u32 threads = blockDim.x * blockDim.y * blockDim.z;",
                "  const u32 blocks = gridDim.x * gridDim.y * gridDim.z;",
                "  const u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), lane = t & 31;",
                "  const u32 g = t + threads * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));",
                *(f"  __shared__ {variable};" for variable in self.shared), "  u32 mine = 0;"]
        return "\n".join(head + self.lines + [f"  atomicAdd(&out[{PLACES - 1}], mine);",
                                              f"  atomicAdd(&out[{SLOTS} * g], in[g & 1023] + blocks + lane);", "}"])
