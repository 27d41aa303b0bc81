#!/usr/bin/env python3
"""A warm nvcc compile of a 100-line program against clang compiling it as plain C++ twice.

Compiling a .cu is two passes of clang and a link of the device image, so twice plain C++ is the bar.
The plain C++ stands for the same amount of parsing: the same standard headers and host code.
"""

import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 5


def median_seconds(command):
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def as_plain_cpp(text):
    """The same program with launches and device keywords taken out, for a clang without CUDA."""
    text = re.sub(r"<<<[^;]*?>>>", "", text)
    return ("#define __global__\n#define __device__\n#define __host__\n"
            "struct sb_index { int x, y, z; } blockIdx, blockDim, threadIdx, gridDim;\n"
            "#include <cuda_runtime_api.h>\n"
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
        once = median_seconds(["clang++-19", "-std=c++17", "-O2", "-w", "-fPIC", "-c", str(plain),
                               f"-I{toolkit / 'include'}", "-o", output])
        ours = median_seconds([str(toolkit / "bin/nvcc"), "-std=c++17", "-O2", "-c", str(source),
                               "-o", output])
    lines = len(source.read_text().splitlines())
    print(f"{source.name}, {lines} lines, median of {RUNS} warm runs")
    print(f"  clang++ -c, plain C++, twice   {2 * once:6.3f} s")
    print(f"  nvcc -c                        {ours:6.3f} s   ({ours / (2 * once):.2f} times)")


if __name__ == "__main__":
    main()
