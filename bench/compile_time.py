#!/usr/bin/env python3
"""Warm nvcc compiles of programs of 100 lines against clang compiling the same text as plain C++, in turns.

The plain C++ stands for the same work: the same standard headers, host code, and kernels as functions that one thread
would call; shared memory is static, and what threads do together is a call of a function somewhere else. The goal is 2.5
times its time; compiling a .cu is two passes of clang and a link of the device image.

  compile_time.py [file...]
"""

import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Host code, mostly; kernels, mostly; some of both.
FILES = ["examples/11_callback_pipeline.cu", "bench/compile/dense.cu", "bench/compile/images.cu",
         "bench/compile/sample.cu"]
RUNS = 5
GOAL = 2.5  # times one clang
PLAIN = "clang++ -O2 -c, plain C++"


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def medians(commands):
    """Wall and processor time of each, which take turns; the first round warms what can be warmed."""
    took = {name: ([], []) for name in commands}
    for turn in range(RUNS + 1):
        for name, (command, environment) in commands.items():
            start, used = time.perf_counter(), processor_seconds()
            subprocess.run(command, check=True, env={**os.environ, **environment})
            if turn > 0:
                took[name][0].append(time.perf_counter() - start)
                took[name][1].append(processor_seconds() - used)
    return {name: tuple(statistics.median(times) for times in both) for name, both in took.items()}


# What kernels call, as functions that are somewhere else.
DEVICE = """
extern dim3 blockDim, gridDim;
extern uint3 blockIdx, threadIdx;
#include <algorithm>
#include <cstring>
using std::max, std::min;
long long clock64();
void __syncthreads();
int __popc(unsigned);
unsigned __ballot_sync(unsigned, int);
template <class T> T atomicAdd(T*, T);
template <class T> T __shfl_sync(unsigned, T, int);
template <class T> T __shfl_down_sync(unsigned, T, int);
"""


def as_plain_cpp(source):
    """The same program with launches and device keywords taken out, for a clang without CUDA."""
    text = source.read_text().replace('#include "common.h"', (ROOT / "examples/common.h").read_text())
    text = text.replace("#pragma once", "").replace("#include <cuda_runtime.h>", "")
    text = re.sub(r"<<<[^;]*?>>>", "", text)
    text = text.replace("extern __shared__", "extern").replace("__shared__", "static")
    return "#include <cuda_runtime.h>\n" + DEVICE + text


def compare(toolkit, source, folder):
    """Prints what the file takes to compile; whether nvcc, as it is used, is within the goal."""
    plain, output = pathlib.Path(folder, "plain.cpp"), str(pathlib.Path(folder, "out.o"))
    plain.write_text(as_plain_cpp(source))
    plain_command = ["clang++-19", "-std=c++17", "-w", "-isystem", f"{toolkit / 'include'}", "-O2", "-c", str(plain),
                     "-o", output]
    command = [str(toolkit / "bin/nvcc"), "-std=c++17", "-O2", "-c", str(source), "-o", output]
    took = medians({PLAIN: (plain_command, {}), "nvcc -O2 -c": (command, {}),
                    "nvcc -O2 -c, no cache of headers": (command, {"STREAMBED_CACHE_DIR": "off"})})
    plain_took = took.pop(PLAIN)
    text = source.read_text()
    kernels = len(re.findall(r"^\s*__global__", text, re.MULTILINE))
    title = f"{source.name}: {len(text.splitlines())} lines, {kernels} kernels; medians of {RUNS}"
    print(f"{title:62}  wall     processor")
    print(f"  {PLAIN:48}  {plain_took[0]:7.3f} s   {plain_took[1]:7.3f} s")
    for name, own in took.items():
        wall, processor = own[0] / plain_took[0], own[1] / plain_took[1]
        met = "met" if wall <= GOAL else "NOT MET"
        print(f"  {name:48}  {own[0]:7.3f} s   {own[1]:7.3f} s"
              f"   {wall:.2f} and {processor:.2f} times: {met} (<= {GOAL})", flush=True)


def main():
    toolkit = pathlib.Path(os.environ.get("STREAMBED_TOOLKIT", ROOT / "build/toolkit"))
    for name in sys.argv[1:] or FILES:
        with tempfile.TemporaryDirectory() as folder:
            compare(toolkit, ROOT / name, folder)


if __name__ == "__main__":
    main()
