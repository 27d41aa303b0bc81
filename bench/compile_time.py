#!/usr/bin/env python3
"""A warm nvcc compile of a 100-line program against clang compiling the same text as plain C++, once.

The plain C++ stands for the same amount of parsing: the same standard headers and host code. The goal is 2.5
times its time; compiling a .cu is two passes of clang and a link of the device image.
"""

import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 5
GOAL = 2.5  # times one clang


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def medians(command, **environment):
    """Wall and processor time; the first run warms what can be warmed."""
    wall, processor = [], []
    for _ in range(RUNS + 1):
        start, used = time.perf_counter(), processor_seconds()
        subprocess.run(command, check=True, env={**os.environ, **environment})
        wall.append(time.perf_counter() - start)
        processor.append(processor_seconds() - used)
    return statistics.median(wall[1:]), statistics.median(processor[1:])


def as_plain_cpp(text):
    """The same program with launches and device keywords taken out, for a clang without CUDA."""
    text = re.sub(r"<<<[^;]*?>>>", "", text)
    return ("#include <cuda_runtime.h>\n"
            "extern dim3 blockDim, gridDim;\nextern uint3 blockIdx, threadIdx;\n"
            "#include <cstring>\ninline long long clock64() { return 0; }\n" + text)


def main():
    toolkit = pathlib.Path(os.environ.get("STREAMBED_TOOLKIT", ROOT / "build/toolkit"))
    source = ROOT / "examples/11_callback_pipeline.cu"
    with tempfile.TemporaryDirectory() as folder:
        plain = pathlib.Path(folder, "plain.cpp")
        text = source.read_text().replace('#include "common.h"',
                                          (ROOT / "examples/common.h").read_text())
        plain.write_text(as_plain_cpp(text.replace("#pragma once", "")
                                      .replace("#include <cuda_runtime.h>", "")))
        output = str(pathlib.Path(folder, "out.o"))
        plain_command = ["clang++-19", "-std=c++17", "-w", "-isystem", f"{toolkit / 'include'}", "-c",
                         str(plain), "-o", output]
        plain_took = medians([*plain_command, "-O2"])
        command = [str(toolkit / "bin/nvcc"), "-std=c++17", "-O2", "-c", str(source), "-o", output]
        ours = medians(command)
        uncached = medians(command, STREAMBED_CACHE_DIR="off")
    lines = len(source.read_text().splitlines())
    print(f"{source.name}, {lines} lines, median of {RUNS} warm runs        wall     processor")
    print(f"  {'clang++ -O2 -c, plain C++':48}  {plain_took[0]:7.3f} s   {plain_took[1]:7.3f} s")
    for name, took in (("nvcc -O2 -c", ours), ("nvcc -O2 -c, no cache of headers", uncached)):
        wall, processor = took[0] / plain_took[0], took[1] / plain_took[1]
        met = "met" if wall <= GOAL else "NOT MET"
        print(f"  {name:48}  {took[0]:7.3f} s   {took[1]:7.3f} s"
              f"   {wall:.2f} and {processor:.2f} times: {met} (<= {GOAL})")


if __name__ == "__main__":
    main()
