#!/usr/bin/env python3
"""Builds and runs every sample of NVIDIA/cuda-samples (v13.0) that needs no other library.

  tests/compat/cuda_samples.py DIR [--nvcc PATH] [--only NAME] [--timeout S] [--list]

DIR is a checkout. A sample's sources are those of its CMakeLists.txt; it counts as passing when it compiles
unchanged, exits with 0 and is not waived. Samples that name graphics, the driver API, nvrtc, MPI, other
libraries or dynamic parallelism are left out, with that reason.
"""
import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

from program import attempt

GROUPS = ("0_Introduction", "2_Concepts_and_Techniques", "3_CUDA_Features", "6_Performance")
ALSO = ("5_Domain_Specific/HSOpticalFlow",)
LEFT_OUT = (  # what its CMakeLists.txt or sources name, and the reason
    (r"find_package\((OpenGL|GLUT|EGL)", "graphics"), (r"CUDA::nvrtc", "nvrtc"),
    (r"CUDA::cuda_driver", "driver API"), (r"CUDA::(cublas|curand|cufft|npp\w*)", "other library"),
    (r"find_package\(MPI", "MPI"), (r"project\(cdp", "dynamic parallelism"))
TWO_DEVICES = {"simpleMultiGPU", "simpleP2P", "streamOrderedAllocationP2P"}


def sources_of(sample):
    text = (sample / "CMakeLists.txt").read_text()
    found = re.search(r"add_executable\(\s*\S+\s+([^)]*)\)", text)
    return text, [sample / name for name in found.group(1).split()] if found else []


def why_left_out(text, sources):
    for pattern, reason in LEFT_OUT:
        if re.search(pattern, text):
            return reason
    code = "".join(s.read_text(errors="replace") for s in sources if s.exists())
    if re.search(r"#include\s*<curand", code):
        return "other library"
    if re.search(r"#include\s*<(thrust|cub)/", code):
        return "other library (Thrust)"
    return None


def main():
    here = Path(__file__).resolve()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("samples", type=Path)
    parser.add_argument("--nvcc", default=str(here.parents[2] / "build/toolkit/bin/nvcc"))
    parser.add_argument("--only", help="run the samples whose name contains this")
    parser.add_argument("--timeout", type=int, default=100)
    parser.add_argument("--list", action="store_true", help="only say what would be run")
    args = parser.parse_args()
    passed = total = 0
    print("| sample | result | seconds | why |\n|---|---|---|---|")
    root = args.samples / "Samples"
    samples = [s for g in GROUPS for s in sorted((root / g).iterdir())] + [root / s for s in ALSO]
    for sample in samples:
        if not (sample / "CMakeLists.txt").exists() or args.only and args.only not in sample.name:
            continue
        text, sources = sources_of(sample)
        reason = why_left_out(text, sources)
        if reason or args.list:
            print(f"| {sample.name} | {'left out' if reason else ''} | | {reason or ''} |", flush=True)
            continue
        flags = ["-I", str(args.samples / "Common"), "--extended-lambda", "-std=c++17"]
        if "SEPARABLE_COMPILATION ON" in text:
            flags.append("-rdc=true")
        if "OpenMP" in text:
            flags += ["-Xcompiler", "-fopenmp"]
        with tempfile.TemporaryDirectory() as scratch:  # a copy: some samples write beside their data
            directory = Path(scratch) / sample.name
            shutil.copytree(sample, directory)
            for data in (p for p in directory.glob("data/*") if not (directory / p.name).exists()):
                shutil.copy(data, directory)
            verdict, why, seconds = attempt(
                args.nvcc, sources, flags, timeout=args.timeout, directory=directory,
                env={"STREAMBED_DEVICES": "2"} if sample.name in TWO_DEVICES else {})
        total += 1
        passed += verdict == "passes"
        print(f"| {sample.name} | {verdict} | {seconds:.1f} | {why} |", flush=True)
    print(f"\n{passed} of {total} compile unchanged and give the right result")
    return 0 if passed == total else 1


sys.exit(main())
