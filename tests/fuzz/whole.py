"""Kernels whose warps come to barriers by any way (tangled.py), and whose lanes shuffle, vote and part in between.

Lanes may return one by one: `alive` are those that have not. What a lane gets from one that is not there is not looked at.
"""

import tangled

PARAMETERS = "u32 lane, u32 below, u32 alive, u32 gw, "


class Whole(tangled.Tangled):
    def __init__(self, rng, name):
        super().__init__(rng, name)
        self.keeps = rng.random() < 0.25
        self.full = rng.random() < 0.35  # ways that are the same for a warp where each has 32 lanes
        self.budget += rng.randint(2, 8)

    def mask(self):
        return self.rng.choice(["~0u", "alive", "alive"])

    def way(self):
        """The warp's number in other words, with and without a sign."""
        if self.full and self.rng.random() < 0.3:
            return self.rng.choice(["gw % 3 == 1", "gw < s", "gw == 0", "gw / 2 == 1", "(gw & 1) != 0", "gw > 2"])
        if self.rng.random() < 0.6:
            return super().way()
        return self.rng.choice(["(int)t / 32 == 0", "(int)t / 32 == 1", "(int)t / 32 != 2", "(int)t / 32 < 2", "(int)t >> 5 == 0",
                                "(int)t / 32 % 3 == 1", "w % 3 == 0", "t < 64", "(int)t < 32", "(t & 32) != 0",
                                "(long long)t / 64 == 0", "t / 32 % 3 == 2"])

    # --- what the lanes of a warp do together

    def shuffle(self):
        rng, to, at, got = self.rng, self.rng.choice("abc"), self.name_of("l"), self.name_of("v")
        by = rng.choice([1, 2, 4, 7, 16])
        call, source = rng.choice([("down_", f"lane + {by}"), ("up_", f"lane - {by}"), ("xor_", f"lane ^ {by}"),
                                   ("", f"({self.value()}) & 31")])
        self.emit(f"const u32 {at} = {source}, {got} = __shfl_{call}sync({self.mask()}, {self.value()}, {by if call else at});")
        self.emit(f"if ({at} < 32 && (alive >> {at} & 1)) {to} {rng.choice(['+=', '^=', '='])} {got};")

    def tree(self):
        d, got = self.name_of("d"), self.name_of("v")
        self.emit(f"for (u32 {d} = 16; {d} > 0; {d} /= 2) {{")
        self.emit(f"  const u32 {got} = __shfl_down_sync({self.mask()}, a, {d});")
        self.emit(f"  if (lane + {d} < 32 && (alive >> (lane + {d}) & 1)) a += {got};")
        self.emit("}")

    def agree(self):
        mask = self.mask()
        self.emit(f"{self.rng.choice('abc')} " + self.rng.choice([
            f"+= __ballot_sync({mask}, {self.condition()});", f"^= __any_sync({mask}, {self.condition()}) * 5u;",
            f"+= __all_sync({mask}, {self.condition()});", f"+= __match_any_sync(alive, {self.value()} & 3u);",
            f"^= __reduce_add_sync(alive, {self.value()});", f"+= __reduce_max_sync(alive, {self.value()});"]))

    def decide(self):
        """What says which way the warp goes comes from its lanes."""
        known = [f"+= __popc(__ballot_sync(alive, {self.condition()}));", f"^= __any_sync(~0u, {self.condition()});",
                 f"+= __reduce_add_sync(alive, {self.value()} & 255u);", f"= __reduce_max_sync(alive, {self.value()});",
                 f"^= __shfl_sync(alive, {self.way_value()}, __ffs(alive) - 1);"]
        if self.full and self.rng.random() < 0.4:
            return self.follow()
        first = [f"= __shfl_sync(~0u, {self.value()}, 0);"] if not self.returns else []
        some = [f"= __shfl_sync(alive, {self.value()}, __ffs(alive) - 1);"] if self.rng.random() < 0.2 else []
        self.emit(f"{self.rng.choice('de')} {self.rng.choice(known + first + some)}")

    def follow(self):
        """What any lane says counts where it is there."""
        got, to = self.name_of("v"), self.rng.choice("de")
        if self.returns or self.rng.random() < 0.3:
            self.emit(f"int {got}; {to} += __match_all_sync(alive, {self.value()} & 1u, &{got}) != 0 ? 3u : 5u; {to} ^= {got};")
            return
        lane = self.rng.choice(["5", "31", "(w + 3) & 31", "(d & 31)", "__ffs(__ballot_sync(~0u, a & 4u)) & 31"])
        self.emit(f"const u32 {got} = __shfl_sync(~0u, {self.value()}, {lane});")
        self.emit(f"{to} = threads % 32 == 0 ? {got} : 3u;")

    def among(self):
        """Only the lanes of a condition meet."""
        rng, flag, some = self.rng, self.name_of("q"), self.name_of("m")
        self.emit(f"const bool {flag} = {self.condition()};")
        self.emit(f"const u32 {some} = __ballot_sync({self.mask()}, {flag});")
        self.emit(f"if ({flag}) {{")
        self.emit("  " + rng.choice([
            f"a += __shfl_sync({some}, b, __ffs({some}) - 1);", f"b ^= __ballot_sync({some}, a & 2u);",
            f"c += __reduce_add_sync({some}, a & 255u);", f"__syncwarp({some}); a += 1;",
            "const u32 here = __activemask(); a += __popc(here & below) * 3u + __popc(here);",
            "const cg::coalesced_group here = cg::coalesced_threads(); b += here.shfl(a, 0) ^ here.size();"]))
        if rng.random() < 0.4:
            self.emit("} else {")
            self.emit("  " + rng.choice([f"a ^= __reduce_add_sync(alive & ~{some}, c);", f"{self.rng.choice('abc')} += 7u;"]))
        self.emit("}")

    def rounds(self):
        """Lanes leave a loop one after the other, and ask who is left."""
        some, k = self.name_of("m"), self.name_of("k")
        self.emit(f"for (u32 {some} = alive, {k} = {self.value()} & 7;; --{k}) {{")
        self.emit(f"  {some} = __ballot_sync({some}, {k} > 0);")
        self.emit(f"  if ({k} == 0) break;")
        self.emit(f"  {self.rng.choice('abc')} += __popc({some}) + {k};")
        self.emit("}")

    def tile(self):
        """What a tile says counts if all of its threads are there."""
        rng, size = self.rng, self.rng.choice([8, 16, 32])
        tile, got = self.name_of("p"), self.name_of("v")
        threads = f"{(1 << size) - 1:#x}u"
        self.emit(f"const auto {tile} = cg::tiled_partition<{size}>(cg::this_thread_block());")
        what = rng.choice([f"cg::reduce({tile}, {self.value()}, cg::plus<u32>())", f"{tile}.shfl_xor({self.value()}, 1)",
                           f"{tile}.ballot({self.condition()})", f"{tile}.any({self.condition()})"])
        self.emit(f"const u32 {got} = {what};")
        self.emit(f"if ((alive >> (lane & ~{size - 1}u) & {threads}) == {threads}) a += {got};")
        self.emit("__syncwarp(alive);")

    def keep(self):
        self.emit(f"{self.rng.choice('abc')} ^= p[{self.value()} & 7]; p[{self.value()} & 7] += {self.value()};")

    def lanes_leave(self):
        condition = self.condition()
        self.emit(f"alive &= __ballot_sync(alive, !({condition}));")
        self.emit(f"if ({condition}) {{")
        if self.rng.random() < 0.5:
            self.emit(f"  own[r & 1][t] = {self.value()};")
        self.emit("  RESULT return;")
        self.emit("}")

    def leave(self):
        if self.rng.random() < 0.5:
            return self.lanes_leave()
        self.emit(f"if ({self.way()}) {{")
        self.inside(False)
        self.emit("  RESULT return;")
        self.emit("}")

    def statement(self, leaves=True):
        if self.rng.random() < 0.45:
            self.budget -= 1
            own = [self.keep] if self.keeps and leaves else []
            self.emit("{")
            self.rng.choice([self.shuffle, self.shuffle, self.tree, self.agree, self.agree, self.decide, self.among,
                             self.rounds, self.tile, *own])()
            self.emit("}")
        else:
            super().statement(leaves)

    def text(self):
        text = super().text()
        # Functions know their warp, too.
        text = text.replace("u32 t, u32 g, ", "u32 t, u32 g, " + PARAMETERS)
        text = text.replace("(own, in, r, t, g, ", "(own, in, r, t, g, lane, below, alive, gw, ")
        at = text.index("\n  u32 a = ", text.rindex("__global__"))
        known = ("\n  const u32 lane = t & 31, there = threads - (t & ~31u), below = (1u << lane) - 1;"
                 "\n  u32 alive = there >= 32 ? ~0u : (1u << there) - 1;"
                 "\n  const u32 gw = threads % 32 == 0 ? g / 32 : w;")
        if self.keeps:
            known += "\n  u32 p[8]; for (u32 z = 0; z < 8; ++z) p[z] = z * 7u + t;"
        return text[:at] + known + text[at:]
