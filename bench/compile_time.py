#!/usr/bin/env python3
"""A warm nvcc compile of a 100-line program against clang compiling the same text as plain C++, in turns.

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
        command = [str(toolkit / "bin/nvcc"), "-std=c++17", "-O2", "-c", str(source), "-o", output]
        took = medians({PLAIN: ([*plain_command, "-O2"], {}), "nvcc -O2 -c": (command, {}),
                        "nvcc -O2 -c, no cache of headers": (command, {"STREAMBED_CACHE_DIR": "off"})})
    plain_took = took.pop(PLAIN)
    lines = len(source.read_text().splitlines())
    print(f"{source.name}, {lines} lines, median of {RUNS} warm turns       wall     processor")
    print(f"  {PLAIN:48}  {plain_took[0]:7.3f} s   {plain_took[1]:7.3f} s")
    for name, own in took.items():
        wall, processor = own[0] / plain_took[0], own[1] / plain_took[1]
        met = "met" if wall <= GOAL else "NOT MET"
        print(f"  {name:48}  {own[0]:7.3f} s   {own[1]:7.3f} s"
              f"   {wall:.2f} and {processor:.2f} times: {met} (<= {GOAL})")


if __name__ == "__main__":
    main()
