"""Kernels of cooperative launches, whose blocks meet: in what guarded.py and linear.py do together, and wherever
tangled.py has its barriers.

All threads that have not returned have passed equally many meetings of the grid at any time: what one leaves in one of
two halves of memory before a meeting, any other reads between it and the next.
"""

import guarded
import linear
import tangled

THREADS = 2048  # of a grid, at most
SYNCS = ["cg::this_grid().sync();", "cg::sync(cg::this_grid());", "{ const cg::grid_group all = cg::this_grid(); all.sync(); }",
         "{ auto all = cg::this_grid(); auto token = all.barrier_arrive(); all.barrier_wait(std::move(token)); }"]


def kernel(rng, name, free):
    return rng.choice([lambda: Guarded(rng, name, free), lambda: Linear(rng, name, free), lambda: Tangled(rng, name)])()


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

    def meet(self):
        return "cg::this_grid().sync(); ++met;" if self.rng.random() < 0.2 else super().meet()

    def step(self):
        if self.rng.random() < 0.3:
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


class Tangled(Far, tangled.Tangled):
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
