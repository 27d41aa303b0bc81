#!/usr/bin/env python3
"""What a trace costs a running program: each operation with its call, recorded and not; goal 80 ns, and 2 % at 20 us."""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 5
GOAL_NS, GOAL_PERCENT = 80, 2


def run(program, rounds, trace=None):
    environment = {k: v for k, v in os.environ.items() if k != "STREAMBED_TRACE"}
    if trace:
        environment["STREAMBED_TRACE"] = str(trace)
    done = subprocess.run([program, *rounds], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return {name: (float(wall), float(used))
            for name, wall, used in (line.split("\t") for line in done.stdout.splitlines())}


def main():
    toolkit = pathlib.Path(os.environ.get("STREAMBED_TOOLKIT", HERE.parent / "build/toolkit"))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "recording"
        subprocess.run([toolkit / "bin/nvcc", "-O2", "-o", program, HERE / "trace/recording.cu"], check=True)
        rounds = [str(int(run(program, [])["rounds"][0]))]
        plain, recorded = {}, {}
        for _ in range(ROUNDS):
            for into, trace in ((plain, None), (recorded, pathlib.Path(folder) / "run.trace")):
                for name, value in run(program, rounds, trace).items():
                    into.setdefault(name, []).append(value)
    print(f"{'ns an operation':22}{'plain':>10}{'recorded':>10}{'more':>8}{'ratio':>8}{'processor':>11}{'goal':>10}")
    for name in plain:
        if name == "rounds":
            continue
        a, b = (statistics.median(v[0] for v in of[name]) for of in (plain, recorded))
        used = statistics.median(v[1] for v in recorded[name]) - statistics.median(v[1] for v in plain[name])
        long = "us" in name
        missed = (b / a - 1) * 100 > GOAL_PERCENT if long else b - a > GOAL_NS
        goal = f"{GOAL_PERCENT} %" if long else f"{GOAL_NS} ns"
        print(f"{name:22}{a:10.0f}{b:10.0f}{b - a:8.0f}{b / a:8.2f}{used:11.0f}{goal:>10}" + ("   missed" if missed else ""))


if __name__ == "__main__":
    main()
