#!/usr/bin/env python3
"""Builds and runs every test, and ends with one line: `N passed, N failed, N skipped`.

The release build runs everything; the sanitized builds run the groups of tests/CMakeLists.txt that
execute our own code in the test's process, and random kernels, which are sanitized too. A build that does not come about counts as one failed test.

A few tests that fail without a sanitizer's report are asked once more, one at a time: a machine that does
other work is no fault of theirs. They are named at the end. What a sanitizer reports stands.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE_PLUGIN = ROOT / "build/toolkit/lib64/streambed/sb_pass.so"

SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


ASKED_AGAIN_AT_MOST = 5
SANITIZER_REPORT = re.compile(r"(Address|Thread|Leak|UndefinedBehavior)Sanitizer|runtime error:")


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.second = [], [], [], []

    def add_junit(self, build_name, first, again):
        """What was asked again counts by its second answer, unless a sanitizer had spoken."""
        second = {case.get("name"): case for case in again}
        for case in first:
            name = f"{build_name}: {case.get('name')}"
            if has_failed(case) and not is_reported(case):
                case = second.get(case.get("name"), case)
                if not has_failed(case):
                    self.second.append(name)
            if has_failed(case):
                self.failed.append(name)
            elif case.get("status") == "run":
                self.passed.append(name)
            else:
                self.skipped.append(f"{name}{reason(case)}")


def cases(path):
    return list(xml.parse(path).getroot().iter("testcase")) if path.exists() else []


def has_failed(case):
    return case.get("status") not in ("run", "disabled") and not is_skip(case)


def is_reported(case):
    return SANITIZER_REPORT.search(case.findtext("system-out") or "") is not None


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

    def ask(report, *arguments):
        report.unlink(missing_ok=True)
        subprocess.run(["ctest", "--test-dir", directory, "--output-on-failure", "--timeout", "300",
                        "--output-junit", report, *arguments],
                       cwd=ROOT, env={**os.environ, **environment})
        return cases(report)

    first = ask(ROOT / directory / "test-report.xml", "-j", str(jobs), "--no-tests=error", *selection)
    if not first:
        tally.failed.append(f"{name}: ctest")
    failed = [case for case in first if has_failed(case)]
    again = []
    if 0 < len(failed) <= ASKED_AGAIN_AT_MOST and not all(map(is_reported, failed)):
        step(f"{name}: {len(failed)} failed, asked again")
        again = ask(ROOT / directory / "test-report-again.xml", "-j", "1", *selection, "--rerun-failed")
    tally.add_junit(name, first, again)
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
    chosen = [name for name in builds if not options.only or name in options.only]
    for name in chosen:
        directory, cmake_options, environment = builds[name]
        if name != "release" and "release" in chosen and RELEASE_PLUGIN.exists():
            cmake_options = [*cmake_options, f"-DSTREAMBED_PLUGINS_OF={ROOT / 'build/toolkit'}"]
        run_build(tally, name, directory, cmake_options, options.jobs, environment,
                  options.ctest)

    for title, names in (("Skipped", tally.skipped),
                         ("Passed only when asked again", tally.second),
                         ("Failed", tally.failed)):
        if names:
            step(title)
            print("\n".join(f"  {name}" for name in names))
    print()
    print(f"{len(tally.passed)} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped",
          flush=True)
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
