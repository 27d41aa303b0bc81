"""Chains of urgent kernels beside large ones: a replay is as long as the run, and a claim is what is gained."""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(__file__).parent / "programs" / "urgent_chains.cu"

# Large kernels of several waves that are bound by their pipes, and such whose blocks take the shared memory.
WAVES = ("blocks=2112", "threads=512", "turns=500")
ROOM = ("blocks=1700", "threads=32", "shared=40", "turns=10000")
SHORT = ("blocks=1320", "threads=32", "shared=40", "turns=3000")


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done)
    return done.stdout


class Urgent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        command(TOOLKIT / "bin" / "nvcc", "-o", cls.folder / "urgent_chains", PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def facts(self, device, *words):
        """What is said of a run, and when its urgent work ended."""
        trace = self.folder / "run.sbt"
        command(TOOLKIT / "bin" / "streambed", "run", self.folder / "urgent_chains", "--device", device, "--force", "--quiet",
                "--trace", trace, "--", *words)
        rows = csv.DictReader(command(TOOLKIT / "bin" / "streambed", "export", trace, "--format", "csv").splitlines())
        end = max(int(row["ended"]) for row in rows if "answer" in row["name"])
        return json.loads(command(TOOLKIT / "bin" / "streambed", "explain", "--json", trace)), end

    def replayed(self, *words):
        for device in ("h200", "v100"):
            run = self.facts(device, *words)[0]["run"]
            self.assertLessEqual(abs(run["modelled"] - run["length"]) * 1000, run["length"], (device, words, run))

    def test_chains_are_replayed_as_they_ran(self):
        for large in (WAVES, ROOM):
            for more in (("chain=2",), ("chain=5", "urgents=2"), ("chain=3", "larges=2", "rounds=2", "sync=1"),
                         ("chain=3", "driven=1"), ("chain=4", "small=660", "small_shared=20", "large=2", "larges=2")):
                self.replayed("chains", "applied=1", *large, *more)

    def test_chains_behind_an_event_are_replayed_as_they_ran(self):
        for large in (WAVES, ROOM):
            for applied in ("applied=0", "applied=1"):
                self.replayed("waits", applied, *large, "chain=4", "larges=2", "rounds=2")

    def check(self, rule, gained_by, what, *words):
        for device in ("h200", "v100"):
            before, after = (self.facts(device, what, applied, *words) for applied in ("applied=0", "applied=1"))
            gained = gained_by(before) - gained_by(after)
            cost, = (f["cost"] for f in before[0]["findings"] if f["rule"] == rule)
            self.assertLessEqual(abs(cost - gained) * 100, 3 * gained, (device, words, cost, gained))
            self.assertNotIn(rule, [f["rule"] for f in after[0]["findings"]])

    def test_a_higher_priority_for_small_kernels(self):
        def length(run):
            return run[0]["run"]["length"]

        for large in (WAVES, SHORT):
            self.check("kernel-fills-device", length, "chains", *large, "chain=4", "small=264", "small_turns=1000")

    def test_priority_for_what_urgent_work_waits_for(self):
        def end(run):
            return run[1]

        for large in (WAVES, ROOM):
            self.check("priority-inversion", end, "waits", *large, "chain=4", "prepared=132")
        # In later turns the urgent stream comes late to its wait, as long as the first one holds it.
        self.check("priority-inversion", end, "waits", *ROOM, "chain=5", "rounds=2", "prepared=264", "small_turns=100")


if __name__ == "__main__":
    unittest.main()
