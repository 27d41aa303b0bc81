"""Kernels whose blocks look at memory until others have written it: what they do besides takes its
time, in every launch and in every run."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAMS = pathlib.Path(__file__).parent / "programs"


class Meetings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        for name in ("meetings", "noted_times"):
            subprocess.run([TOOLKIT / "bin/nvcc", "-std=c++17", "-o", cls.folder / name, PROGRAMS / f"{name}.cu"],
                           check=True, timeout=120)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def printed(self, program, *arguments):
        """The same in two runs."""
        runs = []
        for name in ("first.sbt", "second.sbt"):
            done = subprocess.run([TOOLKIT / "bin/streambed", "run", self.folder / program, "--device", "h200", "--quiet",
                                   "--force", "--trace", self.folder / name, "--", *arguments],
                                  capture_output=True, text=True, timeout=200, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            runs.append((done.stdout, (self.folder / name).read_bytes()))
        self.assertEqual(runs[0][0], runs[1][0])
        self.assertTrue(runs[0][1] == runs[1][1], "the traces differ")
        return runs[0][0]

    def took(self, *arguments):
        """By name."""
        found = {}
        for line in self.printed("meetings", *arguments).splitlines():
            name, us = line.split()
            found.setdefault(name, []).append(float(us))
        return found

    def test_work_between_meetings_takes_as_long_as_with_those_of_cooperative_groups(self):
        took = self.took()
        for grid, hand in zip(took["grid"], took["hand"], strict=True):
            self.assertGreater(grid, 60, took)
            self.assertLess(abs(hand - grid), 0.15 * grid, took)
        self.assertLess(max(took["hand"]) - min(took["hand"]), 3, took)
        each = (took["meet110"][0] - took["meet10"][0]) / 100
        self.assertTrue(1.5 < each < 2.5, took)  # 1.9 to 2.1 us on the device
        # What is waited for takes its time before what waits, and that afterwards.
        (nothing,), (before,), (after,), (both,) = (took[f"flag.{a}.{b}"] for a, b in
                                                    ((0, 0), (50000, 0), (0, 50000), (50000, 50000)))
        self.assertGreater(before, nothing + 100, took)
        self.assertGreater(after, nothing + 100, took)
        self.assertLess(abs(both - before - after + nothing), 5, took)

    def test_times_that_are_written_down_do_not_grow_with_how_often_they_were(self):
        for how in ("warps", "blocks", "ring", "alone"):
            with self.subTest(how):
                first, last = map(int, self.printed("noted_times", how).split())
                self.assertLess(abs(last - first), 0.1 * first)

    def test_threads_that_launch_them_at_the_same_time_are_the_same_twice(self):
        took = self.took("3")
        self.assertEqual(len(took["hand"]), 12)
        self.assertGreater(min(took["hand"]), 60, took)


if __name__ == "__main__":
    unittest.main()
