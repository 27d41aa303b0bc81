#!/usr/bin/env python3
"""scripts/test.py on a small project: what it counts, what it asks again, and what it ends with."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

ONCE = "test -e {name} || {{ touch {name}; {first}; false; }}"  # fails the first time


class Runner(unittest.TestCase):
    def run_tests(self, **commands):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder)
            (project / "scripts").mkdir()
            shutil.copy(ROOT / "scripts/test.py", project / "scripts")
            configure = project / "scripts/configure.sh"
            configure.write_text('#!/bin/sh\ncmake -S . -B "$2" > /dev/null\n')
            configure.chmod(0o755)
            lines = ["cmake_minimum_required(VERSION 3.25)", "project(small NONE)", "enable_testing()"]
            for name, command in commands.items():
                (project / f"{name}.sh").write_text(command)
                lines.append(f"add_test(NAME {name} COMMAND sh ${{CMAKE_SOURCE_DIR}}/{name}.sh)")
                lines.append(f"set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77)")
            (project / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
            done = subprocess.run(["python3", project / "scripts/test.py", "--only", "release"],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_everything_passes(self):
        code, out = self.run_tests(a="true", b="true")
        self.assertEqual(0, code)
        self.assertEqual("2 passed, 0 failed, 0 skipped", out.splitlines()[-1])

    def test_a_failure_stays_one_when_asked_again(self):
        code, out = self.run_tests(a="true", b="echo no; false", c="echo skipped: no GPU; exit 77")
        self.assertEqual(1, code)
        self.assertEqual("1 passed, 1 failed, 1 skipped", out.splitlines()[-1])
        self.assertIn("== Failed\n  release: b\n", out)
        self.assertNotIn("Passed only", out)

    def test_what_passes_when_asked_again_is_named(self):
        code, out = self.run_tests(a=ONCE.format(name="a", first="echo late"), b="true")
        self.assertEqual(0, code)
        self.assertEqual("2 passed, 0 failed, 0 skipped", out.splitlines()[-1])
        self.assertIn("== Passed only when asked again\n  release: a\n", out)

    def test_what_a_sanitizer_reports_stands(self):
        for report in ("WARNING: ThreadSanitizer: data race", "ERROR: AddressSanitizer: heap-use-after-free",
                       "x.cpp:1:2: runtime error: shift exponent 64"):
            code, out = self.run_tests(a=ONCE.format(name="a", first=f"echo '{report}'"),
                                       b=ONCE.format(name="b", first="echo late"))
            self.assertEqual(1, code, report)
            self.assertEqual("1 passed, 1 failed, 0 skipped", out.splitlines()[-1])
            self.assertIn("== Failed\n  release: a\n", out)
            self.assertIn("== Passed only when asked again\n  release: b\n", out)

    def test_many_failures_are_not_asked_again(self):
        late = {f"t{i}": ONCE.format(name=f"t{i}", first="echo late") for i in range(6)}
        code, out = self.run_tests(**late)
        self.assertEqual(1, code)
        self.assertEqual("0 passed, 6 failed, 0 skipped", out.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
