#!/usr/bin/env python3
"""Builds and runs public CUDA programs, unchanged, with Streambed, and says which of them work.

  tests/compat/run.py --cuda-samples DIR [--blog DIR] [--procuda DIR] [--nvcc PATH] [--only NAME]

The sources are not part of this repository: give the checkouts (NVIDIA/cuda-samples at v13.0,
NVIDIA-developer-blog/code-samples, deeperlearning/professional-cuda-c-programming). A program counts as
passing when it compiles, exits with 0 and prints what the list below expects; the exit code that the
samples use for "waived" (2) is not a pass. The table goes into docs/compatibility.md.
"""
import argparse
import sys
from pathlib import Path

from program import attempt

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
            flags = [f for d in includes for f in ("-I", str(root / d))]
            if "Openmp" in name:
                flags += ["-Xcompiler", "-fopenmp"]
            verdict, why, seconds = attempt(args.nvcc, [root / s for s in sources], flags, expected, env,
                                            args.timeout)
            total += 1
            passed += verdict == "passes"
            print(f"| {name} | {verdict} | {seconds:.1f} | {why} |", flush=True)
    print(f"\n{passed} of {total} compile unchanged and give the right result")
    return 0 if passed == total else 1


sys.exit(main())
