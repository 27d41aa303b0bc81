#!/usr/bin/env python3
"""Kernels against plain OpenMP loops and against PoCL, problem by problem (bench/kernels).

The three programs take turns; a number is the median over the rounds of each program's own median. Outputs are cleared
before each run, and every element of every run is compared with what is right; a wrong one fails the script.
Without PoCL (Debian: pocl-opencl-icd, ocl-icd-opencl-dev) its column stays empty.

  kernels.py [--rounds N] [--processor-time] [problem...]
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "bench/kernels"

# How much of OpenMP's speed, and how many times PoCL's, each should have.
STREAM, STRIDE, OTHER = (0.95, None), (0.7, None), (0.8, 1.5)
GOALS = {
    "saxpy": STREAM, "copy": STREAM, "triad": STREAM,
    "stride_saxpy": STRIDE, "stride_copy": STRIDE, "stride_triad": STRIDE,
    "matmul": (1 / 1.3, 10),
    "reduce_shared": OTHER, "reduce_shuffle": OTHER, "block_sums_halves": OTHER, "block_sums_spread": OTHER,
    "block_sums_places": OTHER, "block_sums_extern": OTHER, "block_sums_shuffles": OTHER,
    "scan": OTHER, "transpose": OTHER, "histogram": OTHER,
    "stencil": OTHER, "columns": OTHER, "spmv": OTHER, "nbody": OTHER, "black_scholes": OTHER,
    "expf": OTHER, "logf": OTHER, "sinf": OTHER, "powf": OTHER, "erff": OTHER, "tanhf": OTHER,
    "memcpy": (0.95, None),
}


# What PoCL 3.1 computes something else for: every second, fourth ... work item adds. And it has no shuffles.
NOT_IN_POCL = {"block_sums_spread", "block_sums_shuffles"}


def this_machine(toolkit):
    """All instructions that this machine has. For clang, -mcpu=native is what others of the model have."""
    if os.uname().machine != "aarch64":
        return ["-march=native"]
    shown = subprocess.run([toolkit / "bin/nvcc", "--dryrun", HERE / "streambed.cu"], capture_output=True, text=True)
    return [re.search(r"-march=\S+", shown.stdout + shown.stderr)[0], "-mtune=native"]


def build(folder):
    """The programs that could be built: name -> command."""
    toolkit = pathlib.Path(os.environ.get("STREAMBED_TOOLKIT", ROOT / "build/toolkit"))
    fast = ["-O3", "-std=c++17"]
    cpp = ["clang++-19", *fast, *this_machine(toolkit)]
    subprocess.run([toolkit / "bin/nvcc", *fast, HERE / "streambed.cu", "-o", folder / "streambed"], check=True)
    # The C library's vector functions, on machines where it has them; they need not set errno.
    vectors = ["-fveclib=libmvec", "-lmvec"] if os.uname().machine == "x86_64" else []
    subprocess.run([*cpp, "-fopenmp", "-fno-math-errno", "-Wno-pass-failed",
                    HERE / "openmp.cpp", *vectors, "-o", folder / "openmp"],
                   check=True)
    commands = {"streambed": [folder / "streambed"], "openmp": [folder / "openmp"]}
    opencl = subprocess.run([*cpp, HERE / "opencl.cpp", "-lOpenCL", "-o", folder / "opencl"], capture_output=True)
    if opencl.returncode == 0:
        commands["pocl"] = [folder / "opencl", HERE / "kernels.cl"]
    return commands


ONE_CORE = {"BENCH_PROCESSOR_TIME": "1", "OMP_NUM_THREADS": "1", "STREAMBED_WORKERS": "1",
            "POCL_MAX_PTHREAD_COUNT": "1"}


def measure(command, problem, environment):
    done = subprocess.run([*command, problem], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **environment})
    name, _, value = done.stdout.strip().partition("\t")
    if done.returncode != 0 or name != problem or value.startswith("wrong"):
        raise SystemExit(f"{command[0].name} {problem}: {value or done.stderr.strip() or 'no answer'}")
    return float(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processor-time", action="store_true",
                        help="one core's time for each: for a machine that has other work, too")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("problems", nargs="*")
    options = parser.parse_args()
    chosen = options.problems or GOALS
    environment = {}
    if options.processor_time:
        environment = ONE_CORE
    with tempfile.TemporaryDirectory() as folder:
        commands = build(pathlib.Path(folder))
        cores = "processor time of one core" if environment else f"{os.cpu_count()} cores"
        print(f"{cores}, median of {options.rounds} rounds; "
              f"milliseconds, and how many times as fast Streambed is")
        print(f"{'':18} {'Streambed':>10} {'OpenMP':>10} {'PoCL':>10} {'/OpenMP':>9} {'/PoCL':>8}  goal")
        for problem in chosen:
            took = {name: [] for name in commands if name != "pocl" or problem not in NOT_IN_POCL}
            for _ in range(options.rounds):
                for name, times in took.items():
                    times.append(measure(commands[name], problem, environment))
            ms = {name: statistics.median(times) for name, times in took.items()}
            ratios = {name: ms[name] / ms["streambed"] for name in ms}
            of_openmp, of_pocl = GOALS[problem]
            met = ratios["openmp"] >= of_openmp and ("pocl" not in ms or ratios["pocl"] >= (of_pocl or 0))
            goal = f"{of_openmp:.2f}" + (f", {of_pocl}" if of_pocl else "")
            pocl = (f"{ms['pocl']:10.2f}", f"{ratios['pocl']:8.2f}") if "pocl" in ms else (f"{'-':>10}", f"{'-':>8}")
            print(f"{problem:18} {ms['streambed']:10.2f} {ms['openmp']:10.2f} {pocl[0]} {ratios['openmp']:9.2f} "
                  f"{pocl[1]}  {'met' if met else 'NOT MET'} ({goal})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
