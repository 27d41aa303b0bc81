#!/usr/bin/env python3
"""Kernels whose threads wait for each other in loops: Streambed, the same with a fiber for each thread
(STREAMBED_KERNELS=fibers), and OpenMP, which does the same work without such waits. Each checks its results; in turns.
"""

import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 3
PROBLEMS = {"hash_table": "524288 keys into a hash table", "scan": "scan of 524288, tiles look back",
            "barrier": "50 barriers of 132 blocks by a counter",
            "sleep": "the same, with __nanosleep between looks", "lanes": "50 of the warps of 32 blocks, one lane waits",
            "lock": "sums of 256 blocks, brought under a lock", "ping_pong": "two blocks in turn, 2000 times each"}


def main():
    toolkit = pathlib.Path(os.environ.get("STREAMBED_TOOLKIT", HERE.parent / "build/toolkit"))
    with tempfile.TemporaryDirectory() as folder:
        programs = {}
        for kind in ("usual", "fibers"):
            programs[kind] = pathlib.Path(folder) / kind
            environment = {**os.environ, **({"STREAMBED_KERNELS": "fibers"} if kind == "fibers" else {})}
            subprocess.run([toolkit / "bin/nvcc", "-O2", "-std=c++20", "-Xcompiler", "-fopenmp", "-o", programs[kind],
                            HERE / "waiting/waiting.cu"], check=True, env=environment)
        print(f"{'milliseconds':48}{'Streambed':>10}{'fibers':>9}{'OpenMP':>9}{'of fibers':>11}{'of OpenMP':>11}")
        for problem, words in PROBLEMS.items():
            took = {"usual": [], "fibers": [], "openmp": []}
            for _ in range(ROUNDS):
                for kind, program in programs.items():
                    text = subprocess.run([program, problem], check=True, capture_output=True, text=True).stdout
                    ours, theirs = (float(word) for word in text.split())
                    took[kind].append(ours)
                    took["openmp"].append(theirs)
            ours, fibers, openmp = (statistics.median(took[name]) for name in ("usual", "fibers", "openmp"))
            print(f"{words:48}{ours:10.2f}{fibers:9.2f}{openmp:9.2f}{fibers / ours:11.1f}{openmp / ours:11.2f}",
                  flush=True)


if __name__ == "__main__":
    main()
