"""Pinning the memory of copies gains what `streambed explain` says, with a call for each piece of it."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(__file__).parent / "programs" / "pageable_streams.cu"


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done)
    return done.stdout


class Pinning(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        command(TOOLKIT / "bin" / "nvcc", "-o", cls.folder / "program", PROGRAM)

    device = "h200"

    def explained(self, *words):
        trace = self.folder / "run.sbt"
        command(TOOLKIT / "bin" / "streambed", "run", self.folder / "program", "--device", self.device, "--force", "--quiet",
                "--trace", trace, "--", *words)
        return json.loads(command(TOOLKIT / "bin" / "streambed", "explain", "--json", trace))

    def check(self, within, *words):
        """The change that is told, when its cost is within so many percent of what it gains."""
        before, after = (self.explained(how, *words) for how in ("as_is", "applied"))
        gained = before["run"]["length"] - after["run"]["length"]
        found = before["findings"][0]
        self.assertEqual(found["rule"], "pageable-async-copy")
        self.assertNotIn(found["rule"], [f["rule"] for f in after["findings"]])
        self.assertLessEqual(abs(found["cost"] - gained) * 100, within * gained, (self.device, words, found["cost"], gained))
        return found["change"]

    def test_parts_of_one_piece_of_memory(self):
        """A copy engine that was idle looks at all streams that have copies for it."""
        for self.device in ("h200", "no-overlap"):
            for words in ((2, 8, 4000), (4, 8, 4000), (4, 16, 20000)):
                self.assertIn("in 2 pieces of memory", self.check(1, *words))

    def test_each_part_in_a_piece_of_its_own(self):
        for self.device in ("h200", "v100", "no-overlap"):
            for streams, parts, rounds in ((2, 8, 3), (4, 16, 4)):
                change = self.check(5, streams, parts, 4000, "own", rounds)
                self.assertIn(f"in {2 * parts} pieces of memory", change)

    def test_calls_that_take_longer_than_pinned_memory_gains(self):
        before, after = (self.explained(how, 2, 16, 4000, "own") for how in ("as_is", "applied"))
        self.assertGreater(after["run"]["length"], before["run"]["length"])
        found = next(f for f in before["findings"] if f["rule"] == "pageable-async-copy")
        self.assertEqual((found["severity"], found["cost"]), ("warning", 0))
        self.assertIn("in 32 pieces of memory", found["change"])


if __name__ == "__main__":
    unittest.main()
