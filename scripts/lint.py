#!/usr/bin/env python3
"""make lint: the repository's own checks, then clang-tidy over the code of the rooms.

--fix-format reformats in place (make format) and does nothing else.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECK = [sys.executable, ROOT / "tests/structure/check.py"]


def tidy_failures(build, jobs):
    """The sources of src/ that clang-tidy complains about."""
    database = json.loads((build / "compile_commands.json").read_text())
    sources = sorted({entry["file"] for entry in database
                      if entry["file"].startswith(str(ROOT / "src"))})

    def tidy(source):
        done = subprocess.run(["clang-tidy-19", "--quiet", "-p", build, source], cwd=ROOT,
                              capture_output=True, text=True)
        return source, done.returncode, done.stdout

    failed = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for source, status, output in pool.map(tidy, sources):
            if status != 0 or "warning:" in output:
                failed.append(source)
                print(output, flush=True)
    print(f"clang-tidy: {len(sources)} files, {len(failed)} with findings")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix-format", action="store_true")
    parser.add_argument("--no-tidy", action="store_true", help="leave out the slow part")
    options = parser.parse_args()
    if options.fix_format:
        return subprocess.run([*CHECK, "format", "--fix"]).returncode
    status = subprocess.run([*CHECK, "rooms", "text", "docs", "format"]).returncode
    if options.no_tidy:
        return status
    # Tidy reads what clang 19 would compile, so it gets a configuration of its own.
    build = ROOT / "build/tidy"
    configured = subprocess.run(
        ["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DSTREAMBED_TESTS=OFF",
         "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19"],
        capture_output=True, text=True)
    if configured.returncode != 0:
        print(configured.stdout, configured.stderr)
        return 1
    return 1 if tidy_failures(build, os.cpu_count()) or status else 0


if __name__ == "__main__":
    sys.exit(main())
