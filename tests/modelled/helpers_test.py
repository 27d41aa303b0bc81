"""Loops whose calls stand in functions or in inner loops, and those whose turns are not all alike: the claim is what is gained."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(__file__).parent / "programs" / "helpers.cu"


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done)
    return done.stdout


class Helpers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        command(TOOLKIT / "bin" / "nvcc", "-o", cls.folder / "helpers", PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def facts(self, device, *words):
        trace = self.folder / "run.sbt"
        command(TOOLKIT / "bin" / "streambed", "run", self.folder / "helpers", "--device", device, "--force", "--quiet", "--trace", trace, "--", *words)
        return json.loads(command(TOOLKIT / "bin" / "streambed", "explain", "--json", trace))

    def test_claims(self):
        for device in ("h200", "gtx1050"):
            for what, rule in (("raii", "allocation-in-loop"), ("ring", "allocation-in-loop"), ("checks", "wait-in-loop"),
                               ("streams", "wait-in-loop"), ("tiles", "wait-in-loop")):
                with self.subTest((device, what)):
                    before, after = (self.facts(device, what, how) for how in ("as_is", "applied"))
                    gained = before["run"]["length"] - after["run"]["length"]
                    found = before["findings"][0]
                    self.assertEqual(found["rule"], rule)
                    self.assertNotIn(rule, [f["rule"] for f in after["findings"]])
                    self.assertLessEqual(abs(found["cost"] - gained) * 100, gained, (found["cost"], gained))

    def test_copies_to_constants_that_the_next_kernel_reads_are_healthy(self):
        self.assertEqual(self.facts("h200", "coefficients", "as_is")["findings"], [])


if __name__ == "__main__":
    unittest.main()
