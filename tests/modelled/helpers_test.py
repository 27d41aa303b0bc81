"""Loops whose calls stand in functions or in inner loops, and those whose turns are not all alike: the claim is what is gained."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAMS = pathlib.Path(__file__).parent / "programs"


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done)
    return done.stdout


class Helpers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        for name in ("helpers", "several_waits", "turns"):
            command(TOOLKIT / "bin" / "nvcc", "-o", cls.folder / name, PROGRAMS / f"{name}.cu")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def facts(self, program, device, *words):
        trace = self.folder / "run.sbt"
        command(TOOLKIT / "bin" / "streambed", "run", self.folder / program, "--device", device, "--force", "--quiet", "--trace", trace, "--", *words)
        return json.loads(command(TOOLKIT / "bin" / "streambed", "explain", "--json", trace))

    def check(self, program, within, lines, what, rule, *more):
        """The first finding, of so many lines, with its cost within so many percent of what is gained."""
        for device in ("h200", "gtx1050"):
            with self.subTest((device, what)):
                before, after = (self.facts(program, device, what, *more, how) for how in ("as_is", "applied"))
                gained = before["run"]["length"] - after["run"]["length"]
                found = before["findings"][0]
                self.assertEqual(found["rule"], rule)
                self.assertEqual(len(found["lines"]), lines)
                self.assertNotIn(rule, [f["rule"] for f in after["findings"]])
                self.assertLessEqual(abs(found["cost"] - gained) * 100, within * gained, (found["cost"], gained))

    def test_claims(self):
        for what, lines, rule in (("raii", 2, "allocation-in-loop"), ("ring", 2, "allocation-in-loop"), ("checks", 1, "wait-in-loop"),
                                  ("streams", 1, "wait-in-loop"), ("tiles", 1, "wait-in-loop")):
            self.check("helpers", 1, lines, what, rule)

    def test_lines_of_a_loop_that_gain_only_together(self):
        for what, lines, rule in (("steps", 3, "wait-in-loop"), ("again", 2, "wait-in-loop"), ("streams", 4, "wait-in-loop"),
                                  ("helpers", 2, "synchronous-copy-in-loop"), ("textbook", 3, "synchronous-copy-in-loop")):
            self.check("several_waits", 6, lines, what, rule)

    def test_streams_that_need_each_other_take_events_instead_of_waits(self):
        self.check("turns", 2, 1, "need", "wait-in-loop")

    def test_one_graph_for_many_streams_needs_one_wait(self):
        for streams in (8, 64):
            self.check("turns", 5, 3, "small", "launch-bound-kernels", streams)

    def test_a_wait_that_the_host_times_by_its_clock_is_healthy(self):
        self.assertEqual(self.facts("turns", "h200", "timed", "by_clock")["findings"], [])
        self.assertEqual([f["rule"] for f in self.facts("turns", "h200", "timed", "by_nothing")["findings"]], ["wait-in-loop"])

    def test_giving_nothing_back_takes_next_to_no_time_and_waits_for_nothing(self):
        facts = self.facts("turns", "h200", "nothing")
        self.assertEqual(facts["findings"], [])
        # Freeing something takes 33 and 250 us; the kernel takes some milliseconds, for which the last wait is left.
        self.assertLess(facts["run"]["length"], 50_000_000)
        self.assertGreater(2 * facts["run"]["host_blocked"], facts["run"]["length"])

    def test_copies_to_constants_that_the_next_kernel_reads_are_healthy(self):
        self.assertEqual(self.facts("helpers", "h200", "coefficients", "as_is")["findings"], [])


if __name__ == "__main__":
    unittest.main()
