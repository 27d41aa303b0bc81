#!/usr/bin/env python3
"""What launching costs: Streambed, plain C++ with threads, and PoCL, in turns; medians and ratios."""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "launches"
ROUNDS = 5
GOALS = {"enqueue": 100, "end to end": 150, "launch and synchronize": 1000, "record and wait": 250,
         "graph of 20": 20 * 60, "4 x 4 x 20 ms": 85e6}


def build(work):
    toolkit = pathlib.Path(os.environ.get("STREAMBED_TOOLKIT", HERE.parent.parent / "build/toolkit"))
    programs = {}
    subprocess.run([toolkit / "bin/nvcc", "-O2", "-o", work / "streambed", HERE / "streambed.cu"], check=True)
    programs["Streambed"] = work / "streambed"
    subprocess.run(["c++", "-O3", "-std=c++20", "-pthread", "-o", work / "plain", HERE / "queue.cpp"], check=True)
    programs["plain C++"] = work / "plain"
    made = subprocess.run(["c++", "-O2", "-std=c++20", "-o", work / "opencl", HERE / "opencl.cpp", "-lOpenCL"],
                          capture_output=True, text=True)
    if made.returncode == 0 and subprocess.run([work / "opencl"], capture_output=True).returncode == 0:
        programs["PoCL"] = work / "opencl"
    else:
        print("PoCL is left out: pocl-opencl-icd or ocl-icd-opencl-dev is missing")
    return programs


def main():
    if shutil.which("c++") is None:
        sys.exit("bench/launches.py needs a C++ compiler")
    with tempfile.TemporaryDirectory() as folder:
        programs = build(pathlib.Path(folder))
        measured = {name: {} for name in programs}
        for _ in range(ROUNDS):
            for name, program in programs.items():
                done = subprocess.run([program], capture_output=True, text=True)
                if done.returncode != 0:
                    sys.exit(f"{name}: status {done.returncode}\n{done.stdout}{done.stderr}")
                for line in done.stdout.splitlines():
                    key, value = line.split("\t")
                    measured[name].setdefault(key, []).append(float(value))
    print(f"{'':38}" + "".join(f"{name:>{14 if name == 'Streambed' else 17}}" for name in programs) + f"{'goal':>14}   (ns, and Streambed's times it; medians of {ROUNDS})")
    for key, values in measured["Streambed"].items():
        own = statistics.median(values)
        row = f"{key:38}{own:14.0f}"
        for name in list(programs)[1:]:
            other = measured[name].get(key)
            if other is None:
                row += f"{'':>17}"
            else:
                row += f"{statistics.median(other):10.0f} {own / statistics.median(other):5.2f}x"
        goal = GOALS.get(key)
        if goal is not None:
            row += f"{goal:14.0f}" + ("" if own <= goal else f"   missed by {own / goal:.1f}x")
        print(row)


if __name__ == "__main__":
    main()
