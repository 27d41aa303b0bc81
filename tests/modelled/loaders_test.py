"""Threads that call nothing, for whose own code a loop with work for the device waits."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(__file__).parent / "programs" / "loaders.cu"


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done)
    return done.stdout


class Loaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        command(TOOLKIT / "bin" / "nvcc", "-std=c++20", "-o", cls.folder / "loaders", PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def explained(self, device, *words):
        trace = self.folder / "loaders.sbtrace"
        command(TOOLKIT / "bin" / "streambed", "run", self.folder / "loaders", "--device", device, "--force", "--quiet",
                "--trace", trace, "--", *words)
        return json.loads(command(TOOLKIT / "bin" / "streambed", "explain", "--json", trace))

    def test_code_of_a_thread_that_calls_nothing_is_found_and_a_wait_that_it_hides_is_not(self):
        for device in ("h200", "v100"):
            for what in ("kept", "made", "async"):
                before, unwaited, after = (self.explained(device, what, how, 200) for how in ("as_is", "unwaited", "applied"))
                self.assertLess(before["run"]["length"] - unwaited["run"]["length"], 1000)
                self.assertLess(abs(before["run"]["modelled"] - before["run"]["length"]), 10)
                found, = before["findings"]
                self.assertEqual(found["rule"], "host-gaps")
                self.assertIn("for another thread's own code, which took 3.2", found["why"])
                self.assertEqual([line.split("/")[-1] for line in found["lines"]], ["loaders.cu:39"])
                gained = before["run"]["length"] - after["run"]["length"]
                self.assertLessEqual(abs(found["cost"] - gained) * 100, 10 * gained, (device, what, found["cost"], gained))
                self.assertNotIn("host-gaps", [f["rule"] for f in after["findings"]])

    def test_code_of_a_thread_in_front_of_a_wait_that_looks_first(self):
        """The C++ library's waits for memory yield before they ask the system: what stands before them is no look."""
        for device in ("h200", "v100"):
            for what in ("semaphore", "atomic", "meeting"):
                before, after = (self.explained(device, what, how, 200) for how in ("as_is", "applied"))
                found, = before["findings"]
                self.assertEqual(found["rule"], "host-gaps")
                gained = before["run"]["length"] - after["run"]["length"]
                self.assertLessEqual(abs(found["cost"] - gained) * 100, 3 * gained, (device, what, found["cost"], gained))
                self.assertNotIn("host-gaps", [f["rule"] for f in after["findings"]])

    def test_code_of_a_thread_that_calls_nothing_beside_which_the_device_is_busy(self):
        for what in ("kept", "made", "async"):
            self.assertEqual(self.explained("v100", what, "as_is", 20)["findings"], [])


if __name__ == "__main__":
    unittest.main()
