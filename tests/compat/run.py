#!/usr/bin/env python3
"""Builds and runs public CUDA programs, unchanged, with Streambed, and says which of them work.

  tests/compat/run.py --cuda-samples DIR [--blog DIR] [--procuda DIR] [--nvcc PATH] [--only NAME]

The sources are not part of this repository: give the checkouts (NVIDIA/cuda-samples at v13.0,
NVIDIA-developer-blog/code-samples, deeperlearning/professional-cuda-c-programming). A program counts as
passing when it compiles, exits with 0 and prints what the list below expects; the exit code that the
samples use for "waived" (2) is not a pass. The table goes into docs/compatibility.md.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# name, sources relative to the checkout, text that a right run prints (a regular expression), environment
SAMPLES = [
    ("simpleStreams", ["Samples/0_Introduction/simpleStreams/simpleStreams.cu"], r"non-streamed", {}),
    ("asyncAPI", ["Samples/0_Introduction/asyncAPI/asyncAPI.cu"], r"time spent executing by the GPU", {}),
    ("simpleMultiCopy", ["Samples/0_Introduction/simpleMultiCopy/simpleMultiCopy.cu"], r"Measured throughput", {}),
    ("simpleCallback", ["Samples/0_Introduction/simpleCallback/simpleCallback.cu",
                        "Samples/0_Introduction/simpleCallback/multithreading.cpp"], r"Success", {}),
    ("simpleHyperQ", ["Samples/0_Introduction/simpleHyperQ/simpleHyperQ.cu"], r"Measured time", {}),
    ("StreamPriorities", ["Samples/3_CUDA_Features/StreamPriorities/StreamPriorities.cu"],
     r"elapsed time", {}),
    ("streamOrderedAllocation",
     ["Samples/2_Concepts_and_Techniques/streamOrderedAllocation/streamOrderedAllocation.cu"],
     r"basicStreamOrderedAllocation PASSED|PASSED", {}),
    ("simpleZeroCopy", ["Samples/0_Introduction/simpleZeroCopy/simpleZeroCopy.cu"],
     r"Checking the results", {}),
    ("matrixMul", ["Samples/0_Introduction/matrixMul/matrixMul.cu"], r"Result = PASS", {}),
    ("simpleMultiGPU", ["Samples/0_Introduction/simpleMultiGPU/simpleMultiGPU.cu"], r"Relative difference",
     {"STREAMBED_DEVICES": "2"}),
    ("simpleP2P", ["Samples/0_Introduction/simpleP2P/simpleP2P.cu"], r"Test passed",
     {"STREAMBED_DEVICES": "2"}),
]
BLOG = [("overlap-data-transfers async", ["series/cuda-cpp/overlap-data-transfers/async.cu"],
         r"asynchronous V2", {})]
CHAPTER6 = [(f"Professional CUDA C, {n}", [f"examples/chapter06/{n}.cu"], "", {}) for n in (
    "asyncAPI", "simpleCallback", "simpleHyperqBreadth", "simpleHyperqDependence", "simpleHyperqDepth",
    "simpleHyperqOpenmp", "simpleMultiAddBreadth", "simpleMultiAddDepth")]


def attempt(nvcc, root, sources, expected, env, includes, timeout):
    """Returns (verdict, detail, seconds)."""
    with tempfile.TemporaryDirectory() as tmp:
        exe = os.path.join(tmp, "program")
        flags = [f for d in includes for f in ("-I", str(root / d))]
        if "Openmp" in sources[0]:
            flags += ["-Xcompiler", "-fopenmp"]
        command = [nvcc, "-o", exe, *flags, *[str(root / s) for s in sources]]
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode:
            first = next((l for l in built.stderr.splitlines() if "error" in l), built.stderr[:200])
            return "does not compile", first, 0
        begin = time.monotonic()
        try:
            ran = subprocess.run([exe], capture_output=True, text=True, timeout=timeout, cwd=tmp,
                                 env={**os.environ, **env})
        except subprocess.TimeoutExpired:
            return "hangs", f"no end after {timeout} s", timeout
        seconds = time.monotonic() - begin
        out = ran.stdout + ran.stderr
        if ran.returncode == 2 and re.search("waiv", out, re.I):
            return "waived", out.strip().splitlines()[-1], seconds
        if ran.returncode:
            return "fails", f"exit code {ran.returncode}: {out.strip().splitlines()[-1:]}", seconds
        if expected and not re.search(expected, out):
            return "fails", f"did not print '{expected}'", seconds
        return "passes", "", seconds


def main():
    here = Path(__file__).resolve()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cuda-samples", type=Path)
    parser.add_argument("--blog", type=Path)
    parser.add_argument("--procuda", type=Path)
    parser.add_argument("--nvcc", default=str(here.parents[2] / "build/toolkit/bin/nvcc"))
    parser.add_argument("--only", help="run the programs whose name contains this")
    parser.add_argument("--timeout", type=int, default=300)
    args = parser.parse_args()
    lists = [(args.cuda_samples, SAMPLES, ["Common"]), (args.blog, BLOG, []),
             (args.procuda, CHAPTER6, ["examples/common"])]
    if not any(root for root, _, _ in lists):
        parser.error("give at least one checkout")
    passed = total = 0
    print("| program | result | seconds | why |\n|---|---|---|---|")
    for root, programs, includes in lists:
        for name, sources, expected, env in programs if root else []:
            if args.only and args.only not in name:
                continue
            verdict, why, seconds = attempt(args.nvcc, root, sources, expected, env, includes,
                                            args.timeout)
            total += 1
            passed += verdict == "passes"
            print(f"| {name} | {verdict} | {seconds:.1f} | {why} |", flush=True)
    print(f"\n{passed} of {total} compile unchanged and give the right result")
    return 0 if passed == total else 1


sys.exit(main())
