"""The comparison itself: ranges, groups, limits and exit statuses, without compiling anything."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import compare  # noqa: E402


def as_recorded(name):
    """The recording as if a virtual device had printed its medians."""
    lines = compare.read_lines((HERE / "h200" / name).read_text())
    return {key: float(fields[0]) for key, fields in lines.items()}


def run(plain, one):
    with tempfile.TemporaryDirectory() as folder:
        for recording in (HERE / "h200").glob("*.tsv"):
            shutil.copy(recording, folder)
        for name, values in (("timing.tsv", plain), ("timing_conn1.tsv", one)):
            text = "".join(f"{key}\t{value:.3f}\n" for key, value in values.items())
            (pathlib.Path(folder) / name).write_text(text)
        return subprocess.run([sys.executable, "-B", str(HERE / "compare.py"), "--modelled", folder],
                              capture_output=True, text=True)


class Comparison(unittest.TestCase):
    def setUp(self):
        self.plain, self.one = as_recorded("timing.tsv"), as_recorded("timing_conn1.tsv")

    def test_a_value_inside_the_range_has_no_error(self):
        value = compare.Value(["100", "90", "112"])
        self.assertEqual([value.error(90), value.error(111)], [0, 0])
        self.assertAlmostEqual(value.error(121), 21)
        self.assertAlmostEqual(compare.Value(["100"]).error(99), -1)

    def test_runs_that_differ_much_are_held_by_their_ends(self):
        value = compare.Value(["100", "90", "150"])
        self.assertEqual(value.error(140), 0)
        self.assertAlmostEqual(value.error(151), 1)
        self.assertAlmostEqual(value.error(88), -2)

    def test_the_recording_itself_passes(self):
        done = run(self.plain, self.one)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("three_us.chunks32.streams4", done.stdout)

    def test_one_value_far_off_breaks_its_group(self):
        self.plain["hook_us.own_stream"] *= 1.2
        done = run(self.plain, self.one)
        self.assertEqual(done.returncode, 1)
        self.assertIn("hook_us.own_stream", done.stderr)

    def test_one_connection_is_judged_for_the_gradient_hook(self):
        self.one["hook_us.own_stream"] *= 0.8
        self.assertEqual(run(self.plain, self.one).returncode, 1)

    def test_many_values_a_little_off_break_the_median(self):
        for key in self.plain:
            self.plain[key] *= 1.1
        done = run(self.plain, self.one)
        self.assertEqual(done.returncode, 1)
        self.assertIn("median", done.stderr)

    def test_pinned_copies_have_less_room_than_pageable_ones(self):
        self.plain["copy_wall_us.h2d.pinned.33554432"] *= 1.06
        self.plain["copy_wall_us.h2d.pageable.33554432"] *= 1.24
        done = run(self.plain, self.one)
        self.assertEqual(done.returncode, 1)
        self.assertIn("pinned copies", done.stderr)
        self.assertNotIn("pageable", done.stderr)

    def test_a_missing_value_is_told(self):
        del self.plain["blog_us.v2"]
        done = run(self.plain, self.one)
        self.assertEqual(done.returncode, 1)
        self.assertIn("blog_us.v2", done.stderr)

    def test_runs_of_a_device_become_a_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, value in enumerate((3, 1, 8), 1):
                text = f"dev.name\tthe one\nwork.a\t{value}.5\nend\tok\n"
                (pathlib.Path(folder) / f"work.{number}.tsv").write_text(text)
            done = subprocess.run([sys.executable, "-B", str(HERE / "compare.py"), "--merge", folder],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((pathlib.Path(folder) / "work.tsv").read_text(),
                             "work.a\t3.500\t1.500\t8.500\n")

    def test_unseen_programs_are_held_against_their_own_recordings(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in (HERE / "h200").glob("copies*.tsv"):
                (pathlib.Path(folder) / file.name).write_text(file.read_text())
            command = [sys.executable, "-B", str(HERE / "compare.py"), "--unseen", "copies",
                       "--modelled", folder]
            self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)
            file = pathlib.Path(folder) / "copies.tsv"
            file.write_text(file.read_text().replace("pinned.h2d.48M\t", "pinned.h2d.48M\t1"))
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("copies.pinned.h2d.48M", done.stderr)


if __name__ == "__main__":
    unittest.main()
