#!/usr/bin/env python3
"""Builds CuSan's runtime programs (tudasc/cusan, test/runtime) with `-fsanitize=thread` and compares reports.

  tests/compat/cusan.py DIR [--nvcc PATH] [--only NAME] [--timeout S]

DIR is a checkout. A program's plain build misses a synchronisation and must report a data race, unless its own
checks say that there is none; the build with -DCUSAN_SYNC must not. Programs that need MPI, or CuSan's own
runtime, are left out.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def wanted(text):
    """[(defines, whether a race must be reported)] as the program's RUN and CHECK lines have it."""
    runs = []
    for prefix, defines in (("CHECK", []), ("CHECK-SYNC", ["-DCUSAN_SYNC"])):
        if defines and "CUSAN_SYNC" not in "".join(re.findall(r"// RUN:.*", text)):
            continue
        if re.search(rf"// {prefix}-NOT:.*data race", text):
            runs.append((defines, False))
        elif re.search(rf"// {prefix}(-DAG)?:.*data race", text):
            runs.append((defines, True))
    return runs


def run_one(nvcc, source, defines, timeout):
    """(raced, what went wrong or empty)"""
    with tempfile.TemporaryDirectory() as tmp:
        exe = os.path.join(tmp, "program")
        built = subprocess.run([nvcc, "-x", "cu", "-g", "-Xcompiler", "-fsanitize=thread", *defines, "-o", exe,
                                str(source)], capture_output=True, text=True)
        if built.returncode:
            errors = [l for l in built.stderr.splitlines() if "error" in l]
            return False, "does not compile: " + (errors or [built.stderr.strip()[-200:]])[0]
        try:
            ran = subprocess.run([exe], capture_output=True, text=True, errors="replace", timeout=timeout)
        except subprocess.TimeoutExpired:
            return False, f"no end after {timeout} s"
    out = ran.stdout + ran.stderr
    if ran.returncode not in (0, 66):  # 66: something was reported
        return False, f"exit code {ran.returncode}: {out.strip()[-200:]}"
    return "data race" in out, ""


def main():
    here = Path(__file__).resolve()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cusan", type=Path)
    parser.add_argument("--nvcc", default=str(here.parents[2] / "build/toolkit/bin/nvcc"))
    parser.add_argument("--only", default="")
    parser.add_argument("--timeout", type=int, default=120)
    args = parser.parse_args()
    passed = total = left_out = 0
    for source in sorted((args.cusan / "test/runtime").glob("*.c")):
        text = source.read_text()
        if args.only not in source.name:
            continue
        if "mpi.h" in text or "TSan_External.h" in text:
            left_out += 1
            print(f"{source.name}\tleft out\tneeds MPI", flush=True)
            continue
        problems = []
        for defines, race in wanted(text):
            raced, wrong = run_one(args.nvcc, source, defines, args.timeout)
            build = "synchronised" if defines else "plain"
            if wrong:
                problems.append(f"{build}: {wrong}")
            elif raced != race:
                problems.append(f"{build}: {'a race' if raced else 'no race'} reported")
        total += 1
        passed += not problems
        print(f"{source.name}\t{'right' if not problems else 'wrong'}\t{'; '.join(problems)}", flush=True)
    print(f"{passed} of {total} report as they should, {left_out} left out")
    return 0 if passed == total else 1


sys.exit(main())
