#!/usr/bin/env python3
"""The runner of the conformance suite, held against outputs that are known."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import compare  # noqa: E402
import run  # noqa: E402
import suite  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def recorded(name):
    return (HERE / "h200" / f"{name}.tsv").read_text()


class Comparison(unittest.TestCase):
    def test_the_same_lines_agree(self):
        result = compare.compare("a\t1\nb\t2\n", "a\t1\nb\t2\n")
        self.assertEqual((result.agree, result.total, result.good), (2, 2, True))

    def test_the_order_of_lines_does_not_matter_but_their_values_do(self):
        result = compare.compare("a\t1\nb\t2\n", "b\t2\na\t3\n")
        self.assertEqual((result.agree, result.total), (1, 2))
        self.assertEqual(result.differences, (compare.Difference("a", "1", "3"),))

    def test_a_missing_and_an_additional_line_are_differences(self):
        result = compare.compare("a\t1\n", "b\t1\n")
        self.assertEqual([(d.key, d.recorded, d.printed) for d in result.differences],
                         [("a", "1", None), ("b", None, "1")])

    def test_a_key_that_comes_twice_is_compared_twice(self):
        self.assertFalse(compare.compare("a\t1\na\t2\n", "a\t1\na\t1\n").good)
        self.assertTrue(compare.compare("a\t1\na\t2\n", "a\t1\na\t2\n").good)

    def test_text_without_a_key_is_compared_by_its_place(self):
        self.assertTrue(compare.compare("before\nhello\n", "before\nhello\n").good)
        self.assertFalse(compare.compare("before\nhello\n", "hello\nbefore\n").good)

    def test_variable_lines_are_left_out(self):
        result = compare.compare("conn.2.streams.x\t1\na\t1\n", "a\t1\n", [r"conn\.2\.streams\..*"])
        self.assertEqual((result.agree, result.total, result.good), (1, 1, True))

    def test_some_random_programs_are_compared_by_what_finished(self):
        a, b = "r\tK0 -> 1|01|1 o0 1|11|1\n", "r\tK0 -> 1|00|0 o0 1|11|1\n"
        self.assertFalse(compare.compare(a, b).good)
        self.assertTrue(compare.compare(a, b, only_finished=("r",)).good)
        self.assertFalse(compare.compare(a, b.replace("1|00", "0|00"), only_finished=("r",)).good)


class Suite(unittest.TestCase):
    def test_every_case_has_its_program_and_its_recording(self):
        for case in suite.CASES:
            self.assertTrue((HERE / case.program).exists(), case.program)
            self.assertTrue(recorded(case.name), case.name)

    def test_as_many_lines_are_compared_as_were_recorded_less_the_variable_ones(self):
        compared = {}
        for case in suite.CASES:
            text = recorded(case.name)
            compared[case.name] = compare.compare(text, text, case.variable).total
        self.assertEqual(
            {n: compared[n] for n in ("errors", "ordering", "capture", "thresholds",
                                      "thresholds_conn1", "queues", "random", "random_conn1")},
            {"errors": 254, "ordering": 285, "capture": 95, "thresholds": 33,
             "thresholds_conn1": 112, "queues": 98 - 7 - 2, "random": 399, "random_conn1": 199})

    def test_an_unknown_case_is_named(self):
        with self.assertRaisesRegex(SystemExit, "orderings"):
            suite.find(["orderings"])


class Runner(unittest.TestCase):
    def outputs(self, folder, change=lambda name, text: text):
        for case in suite.CASES:
            text = change(case.name, recorded(case.name))
            (pathlib.Path(folder) / f"{case.name}.out").write_text(text)

    def main(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = run.main(list(arguments))
        return status, out.getvalue()

    def test_outputs_equal_to_the_recordings_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            self.outputs(folder)
            status, out = self.main("--outputs", folder)
            self.assertEqual(status, 0, out)
            self.assertIn("ordering: 285/285 agree", out)

    def test_one_changed_line_fails_and_is_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            self.outputs(folder, lambda name, text: text.replace(
                "hold.b1.kernel.b2\tyes", "hold.b1.kernel.b2\tno"))
            status, out = self.main("--outputs", folder)
            self.assertEqual(status, 1)
            self.assertIn("ordering: 284/285 agree\n  hold.b1.kernel.b2\n", out)
            self.assertEqual(self.main("--outputs", folder, "--only", "errors")[0], 0)

    def test_a_floor_is_enough_until_the_suite_is_complete(self):
        with tempfile.TemporaryDirectory() as folder:
            self.outputs(folder, lambda name, text: "".join(text.splitlines(True)[5:]))
            file = pathlib.Path(folder) / "floors"
            arguments = ("--outputs", folder, "--only", "ordering", "--floors", str(file))
            file.write_text("# enough for now\nordering\t280\n")
            self.assertEqual(self.main(*arguments)[0], 0)
            file.write_text("ordering\t281\n")
            self.assertEqual(self.main(*arguments)[0], 1)

    def test_an_empty_output_agrees_in_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            status, out = self.main("--outputs", folder, "--only", "capture")
            self.assertEqual(status, 1)
            self.assertIn("capture: 0/95 agree", out)

    def test_what_was_printed_becomes_the_recording_when_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            self.outputs(folder)
            profile = pathlib.Path(folder) / "another"
            arguments = ("--outputs", folder, "--only", "capture", "--profile", str(profile))
            self.assertEqual(self.main(*arguments)[0], 1)  # nothing is recorded
            self.assertFalse((profile / "capture.tsv").exists())
            self.main(*arguments, "--record")
            self.assertEqual((profile / "capture.tsv").read_text(), recorded("capture"))
            self.assertEqual(self.main(*arguments)[0], 0)

    def slow_machine(self, folder, program):
        """Runs the random programs by `program`: python that sets `late` for a seed and a time to settle."""
        folder = pathlib.Path(folder)
        nvcc = folder / "nvcc"
        nvcc.write_text("#!/bin/sh\nfor last in \"$@\"; do\n"
                        "  test \"$before\" = -o && : >\"$last\"\n  before=$last\ndone\n")
        nvcc.chmod(0o755)
        (folder / "emulator.py").write_text(
            "import sys\n_, _, first, count, settle = sys.argv\n"
            "for line in open(sys.argv[0].replace('emulator.py', 'recorded')):\n"
            "    seed = int(line.split('\\t')[0].split('.')[1])\n"
            "    if not 0 <= seed - int(first) < int(count): continue\n"
            f"    {program}\n"
            "    print(line.split('\\t')[0] + '\\tnothing yet' if late else line.rstrip('\\n'))\n")
        (folder / "recorded").write_text(recorded("random_conn4"))
        return self.main("--only", "random_conn4", "--nvcc", str(nvcc), "--work", str(folder / "work"),
                         "--emulator", f"{sys.executable} {folder / 'emulator.py'}")

    def test_random_programs_that_settle_late_are_asked_again_with_more_and_more_time(self):
        with tempfile.TemporaryDirectory() as folder:
            status, out = self.slow_machine(
                folder, "late = (seed < 20 and settle == '12') or (seed == 7 and settle == '300')")
            self.assertIn("random_conn4: 200/200 agree", out)
            self.assertIn("asked again for random.7\n", out)
            self.assertEqual(status, 0)

    def test_a_random_program_that_differs_whenever_it_is_asked_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            status, out = self.slow_machine(folder, "late = seed == 7")
            self.assertIn("random_conn4: 199/200 agree", out)
            self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
