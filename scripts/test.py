#!/usr/bin/env python3
"""Builds and runs every test, and ends with one line: `N passed, N failed, N skipped`.

The release build runs everything; the sanitized builds run the groups of tests/CMakeLists.txt that
execute our own code in the test's process. A build that does not come about counts as one failed test.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent

SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped = [], [], []

    def add_junit(self, build_name, path):
        for case in xml.parse(path).getroot().iter("testcase"):
            name = f"{build_name}: {case.get('name')}"
            status = case.get("status")
            if status == "run":
                self.passed.append(name)
            elif status == "disabled" or is_skip(case):
                self.skipped.append(f"{name}{reason(case)}")
            else:
                self.failed.append(name)


def is_skip(case):
    """ctest also says "notrun" of missing executables and failed fixtures: those are failures."""
    skipped = case.find("skipped")
    return skipped is not None and skipped.get("message", "").startswith("SKIP_")


def reason(case):
    """What a test that skipped itself gave as its reason."""
    lines = (case.findtext("system-out") or "").splitlines()
    said = [line.strip() for line in lines if "skip" in line.lower() and "[" not in line]
    return f" ({said[-1]})" if said else ""


def step(text):
    print(f"\n== {text}", flush=True)


def run_build(tally, name, directory, options, jobs, environment, selection):
    start = time.monotonic()
    step(f"{name}: build")
    commands = [
        [ROOT / "scripts/configure.sh", name, directory, *options],
        ["cmake", "--build", directory, "-j", str(jobs)],
    ]
    for command in commands:
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            tally.failed.append(f"{name}: {' '.join(map(str, command))}")
            return
    built = time.monotonic()
    step(f"{name}: test (built in {built - start:.0f} s)")
    report = ROOT / directory / "test-report.xml"
    report.unlink(missing_ok=True)
    subprocess.run(
        ["ctest", "--test-dir", directory, "-j", str(jobs), "--output-on-failure",
         "--no-tests=error", "--timeout", "300", "--output-junit", report, *selection],
        cwd=ROOT, env={**os.environ, **environment})
    if report.exists():
        tally.add_junit(name, report)
    else:
        tally.failed.append(f"{name}: ctest")
    print(f"{name}: tests took {time.monotonic() - built:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--werror", default="OFF", choices=["ON", "OFF"])
    parser.add_argument("--only", action="append", choices=["release", "asan-ubsan", "tsan"],
                        help="run this build alone; may be repeated")
    parser.add_argument("ctest", nargs="*", help="passed on to ctest, after --")
    options = parser.parse_args()

    os.environ.setdefault("CLICOLOR_FORCE", "0")
    tally = Tally()
    builds = {
        "release": ("build", ["-DSTREAMBED_TESTS=ON", "-DSTREAMBED_BENCH=OFF",
                              f"-DCMAKE_COMPILE_WARNING_AS_ERROR={options.werror}"], {}),
        "asan-ubsan": ("build/asan-ubsan", [], SANITIZER_ENVIRONMENT),
        "tsan": ("build/tsan", [], SANITIZER_ENVIRONMENT),
    }
    for name, (directory, cmake_options, environment) in builds.items():
        if not options.only or name in options.only:
            run_build(tally, name, directory, cmake_options, options.jobs, environment,
                      options.ctest)

    for title, names in (("Skipped", tally.skipped), ("Failed", tally.failed)):
        if names:
            step(title)
            print("\n".join(f"  {name}" for name in names))
    print()
    print(f"{len(tally.passed)} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped",
          flush=True)
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
