"""`streambed explain`: what it says about traces, as text and as JSON, and about what is not a trace."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = sys.argv.pop()
STREAMBED = sys.argv.pop()


def explain(*arguments):
    return subprocess.run([STREAMBED, "explain", *map(str, arguments)], text=True,
                          capture_output=True, timeout=60)


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        subprocess.run([EXAMPLES, cls.folder], check=True, timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def facts(self, name):
        answer = explain("--json", self.folder / f"{name}.sbtrace")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        return json.loads(answer.stdout)

    def rules(self, name):
        return [finding["rule"] for finding in self.facts(name)["findings"]]

    def text(self, name):
        answer = explain(self.folder / f"{name}.sbtrace")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        return answer.stdout

    def test_the_same_trace_gives_the_same_bytes(self):
        for option in ((), ("--json",)):
            trace = self.folder / "hook_own_one_connection.sbtrace"
            self.assertEqual(explain(trace, *option).stdout, explain(trace, *option).stdout)

    def test_text_has_every_part(self):
        text = self.text("sleep_4_pageable")
        for part in ("sleep_streams: ", "What bounded the run", "Overlap", "What to change",
                     "Change: ", "program.cu:31", "cudaMallocHost"):
            self.assertIn(part, text)
        self.assertNotIn("\033", text)
        for line in text.splitlines():
            self.assertFalse(line.endswith(" "), line)

    def test_json_has_every_part_and_adds_up(self):
        facts = self.facts("sleep_4_pinned")
        self.assertEqual(facts["version"], 1)
        self.assertEqual(facts["run"]["ending"], "complete")
        bound = facts["bound"]
        self.assertEqual(sum(cause["time"] for cause in bound["causes"]), bound["length"])
        self.assertAlmostEqual(sum(cause["percent"] for cause in bound["causes"]), 100, places=1)
        at = 0
        for stretch in bound["path"]:
            self.assertEqual(stretch["begin"], at)
            at = stretch["end"]
        self.assertEqual(at, facts["run"]["length"])
        for engine in facts["overlap"]["engines"]:
            self.assertEqual(engine["alone"] + engine["together"], engine["busy"])

    def test_the_gradient_hook_is_explained_in_its_three_forms(self):
        compute, own = self.facts("hook_compute"), self.facts("hook_own")
        self.assertEqual([f["rule"] for f in compute["findings"]], ["wait-holds-later-work"])
        self.assertEqual(own["findings"], [])
        one = self.facts("hook_own_one_connection")
        self.assertEqual(one["findings"][0]["rule"], "few-hardware-queues")
        # What each finding costs is what the other form of the program gains.
        gained = compute["run"]["length"] - own["run"]["length"]
        self.assertLess(abs(compute["findings"][0]["cost"] - gained) / gained, 0.02)
        gained = one["run"]["length"] - own["run"]["length"]
        self.assertLess(abs(one["findings"][0]["cost"] - gained) / gained, 0.02)

    def test_pageable_memory_is_found_and_pinned_is_not(self):
        self.assertEqual(self.rules("sleep_4_pageable")[0], "pageable-async-copy")
        self.assertEqual(self.rules("sleep_4_pinned"), [])

    def test_findings_come_with_their_evidence(self):
        for name in ("hook_compute", "hook_own_one_connection", "sleep_4_pageable"):
            findings = self.facts(name)["findings"]
            costs = [finding["cost"] for finding in findings]
            self.assertEqual(costs, sorted(costs, reverse=True))
            for finding in findings:
                self.assertTrue(finding["lines"] and finding["change"] and finding["why"])
                self.assertTrue(finding["operations"] or finding["calls"])


class BadInput(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)

    def refused(self, path):
        for option in ((), ("--json",)):
            answer = explain(path, *option)
            self.assertEqual(answer.returncode, 1, answer)
            self.assertEqual(answer.stdout, "")
            self.assertRegex(answer.stderr, r"^streambed explain: .+\n$")
            self.assertIn(os.path.basename(path), answer.stderr)

    def test_a_file_that_is_not_there(self):
        self.refused(self.folder / "missing.sbtrace")

    def test_a_folder(self):
        self.refused(self.folder)

    def test_an_empty_file(self):
        path = self.folder / "empty.sbtrace"
        path.touch()
        self.refused(path)

    def test_another_kind_of_file(self):
        path = self.folder / "program.cu"
        path.write_text("int main() {}\n" * 100)
        self.refused(path)

    def test_without_a_file_the_usage_is_told(self):
        answer = explain()
        self.assertEqual(answer.returncode, 2)
        self.assertIn("trace", answer.stderr)

    def test_a_trace_that_stops_early_is_explained_up_to_there(self):
        subprocess.run([EXAMPLES, self.folder], check=True, timeout=60)
        whole = (self.folder / "sleep_4_pinned.sbtrace").read_bytes()
        for part in (len(whole) // 2, len(whole) * 9 // 10, len(whole) - 3):
            path = self.folder / "cut.sbtrace"
            path.write_bytes(whole[:part])
            answer = explain(path)
            self.assertEqual(answer.returncode, 3, answer.stderr)
            self.assertRegex(answer.stderr, r"^streambed explain: the trace stops without an end: .+\n$")
            self.assertIn("stops before the program's end", answer.stdout)
            self.assertEqual(json.loads(explain("--json", path).stdout)["run"]["ending"], "unknown")


if __name__ == "__main__":
    unittest.main()
