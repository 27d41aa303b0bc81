"""Programs whose threads meet in many ways: the same trace in every run, on one core and beside other
work, or one that says that it may differ."""

import os
import re
import subprocess
import sys
import unittest

from runs import HERE, Runs, TOOLKIT


class Determinism(Runs):
    def traces(self, source, arguments=(), status=0):
        """What several runs print, and whether the trace says that it is deterministic. All are the same."""
        program, first = self.program(HERE / "programs" / source), None
        one_core = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
        try:
            for before in ([], one_core, ["nice"], [*one_core, "nice"]):
                trace = self.work / "run.sbt"
                done = subprocess.run([*before, TOOLKIT / "bin/streambed", "run", program, "--device", "h200", "--quiet",
                                       "--trace", trace, "--force", "--", *arguments],
                                      capture_output=True, text=True, timeout=120, cwd=self.work)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                this = done.stdout, trace.read_bytes()
                first = first or this
                self.assertEqual(this[0], first[0])
                self.assertTrue(this[1] == first[1], f"the traces differ with {before}")
        finally:
            for other in others:
                other.kill()
                other.wait()
        run = self.explained(self.work / "run.sbt")["run"]
        self.assertTrue(run["deterministic"])
        self.assertEqual(run["ending"], "complete")
        return first[0]

    def test_threads_are_cancelled_where_they_wait_and_clean_up(self):
        words = self.traces("cancels.cu")
        cancelled = re.findall(r"(\d) cancelled 1 cleaned 1 destroyed 1 free 1 at", words)
        self.assertEqual(cancelled, [str(i) for i in range(9)], words)
        until, = re.findall(r"refused until (\S+)", words)
        before, = re.findall(r"8 cancelled .* at (\S+)", words)
        self.assertGreaterEqual(float(until), float(before) + 2000)
        self.assertIn("refuses, cancelled 1", words)
        self.assertIn("first cancelled 1", words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
