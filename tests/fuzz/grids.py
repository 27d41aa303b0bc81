"""Kernels of cooperative launches, whose blocks meet: in what guarded.py and linear.py do together, and wherever
tangled.py and whole.py have their barriers.

All threads have passed equally many meetings of the grid at any time: what one leaves in one of two halves of memory before
a meeting, any other reads between it and the next. So all come to every meeting, each on its way; threads return behind the
last one. On a device a grid waits for ever for a block whose first thread is gone. Here it does not: unequal().
"""

import guarded
import linear
import tangled
import whole

THREADS = 2048  # of a grid, at most
SYNCS = ["cg::this_grid().sync();", "cg::sync(cg::this_grid());", "{ const cg::grid_group all = cg::this_grid(); all.sync(); }",
         "{ auto all = cg::this_grid(); auto token = all.barrier_arrive(); all.barrier_wait(std::move(token)); }"]


def kernel(rng, name, free):
    return rng.choice([lambda: Guarded(rng, name, free), lambda: Linear(rng, name, free), lambda: Tangled(rng, name),
                       lambda: Whole(rng, name)])()


def unequal(rng, name, free):
    """Threads that have returned, and blocks that have, count as arrived: not for a device."""
    return rng.choice([lambda: UnequalGuarded(rng, name, free), lambda: UnequalLinear(rng, name, free),
                       lambda: UnequalTangled(rng, name)])()


class Far:
    """Memory of the grid. Wants rng, name, value and emit."""

    cooperative = True

    def meet_all(self, passed):
        rng, half = self.rng, f"{self.name}far[{passed} & 1]"
        if rng.random() < 0.7:
            self.emit(f"{half}[g] = {self.value()};")
        self.emit(rng.choice(SYNCS))
        self.emit(f"++{passed};")
        if rng.random() < 0.7:
            self.emit(f"{rng.choice('abc')} += {self.name}far[~{passed} & 1][({self.value()}) % every];")

    def with_memory(self, text):
        """Nobody comes to a meeting before all have cleared their places."""
        at = text.rindex("__global__")
        start = text.index("\n  u32 a = ", at)
        clear = (f"\n  const u32 every = threads * gridDim.x * gridDim.y * gridDim.z;"
                 f"\n  {self.name}far[0][g] = {self.name}far[1][g] = 0; cg::this_grid().sync();")
        return f"__device__ u32 {self.name}far[2][{THREADS}];\n" + text[:start] + clear + text[start:]


class InSteps(Far):
    """The blocks meet in one of the steps, and at some of the barriers."""

    rounds_together = ["n & 3", "s % 5", "3"]
    some_left = False

    def may_meet_all(self):
        return not self.some_left

    def leave(self):
        super().leave()
        self.some_left = True

    def leave_by_case(self):
        super().leave_by_case()
        self.some_left = True

    def meet(self):
        if self.may_meet_all() and self.rng.random() < 0.2:
            return "cg::this_grid().sync(); ++met;"
        return super().meet()

    def step(self):
        if self.may_meet_all() and self.rng.random() < 0.3:
            self.meet_all("met")
        else:
            super().step()

    def text(self):
        self.emit("u32 met = 0;")
        self.meet_all("met")
        return self.with_memory(super().text())


class Guarded(InSteps, guarded.Guarded):
    pass


class Linear(InSteps, linear.Linear):
    pass


class AtBarriers(Far):
    """The blocks meet wherever tangled.py has a barrier."""

    def meet(self):
        if self.rng.random() < 0.5:
            self.emit(f"own[r & 1][t] = {self.value()};")
        self.meet_all("r")
        if self.rng.random() < 0.5:
            self.emit(f"{self.rng.choice('abc')} += own[~r & 1][({self.value()}) % threads];")

    def text(self):
        # Functions have no name for all threads of the grid.
        every = "(threads * gridDim.x * gridDim.y * gridDim.z)"
        return self.with_memory(super().text().replace("% every]", f"% {every}]"))


class Tangled(AtBarriers, tangled.Tangled):
    """All go the same way, but for branches with one meeting on each side."""

    def __init__(self, rng, name):
        super().__init__(rng, name)
        self.returns = False

    def way_value(self):
        rng = self.rng
        return rng.choice(["n", "s", f"{rng.randint(1, 99)}u", f"in[{rng.randrange(1024)}]", f"(n + {rng.randint(1, 9)}u)",
                           "(s >> 1)", "gridDim.x"])

    def way(self):
        return self.rng.choice([f"({self.way_value()} & 3) == 1", f"({self.way_value()} & 6) != 0", "(n & 1) == 0",
                                f"{self.way_value()} < {self.way_value()}"])

    def first_round(self):
        return "(s & 7)"

    def branch(self, leaves):
        if self.rng.random() < 0.5:
            return super().branch(leaves)
        self.emit(f"if ({self.rng.choice(['(w & 1) == 0', 'd < e', '(d & 3) == 1', 'w + blockIdx.x < s'])}) {{")
        self.one_meeting()
        self.emit("} else {")
        self.one_meeting()
        self.emit("}")

    def one_meeting(self):
        self.depth += 1
        self.assign()
        self.meet()
        self.depth -= 1


class Whole(Tangled, whole.Whole):
    """Lanes do something together on their way."""


class Unequal:
    """Threads return before meetings, and blocks go to some without the others."""

    rounds_together = guarded.Guarded.rounds_together

    def may_meet_all(self):
        return True


class UnequalGuarded(Unequal, Guarded):
    pass


class UnequalLinear(Unequal, Linear):
    own_warp = linear.WARP_ID


class UnequalTangled(AtBarriers, tangled.ByLanes):
    pass
