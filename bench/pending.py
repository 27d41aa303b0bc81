#!/usr/bin/env python3
"""Memory of operations that wait for their turn: 1,000,000 of a kind over 10,000 streams, bytes each.

The second time the same million is enqueued again after the first has run: what it needs beyond the first.
"""

import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 3
KINDS = ["kernel", "kernel, 264 bytes of parameters", "copy", "record", "wait", "host function"]


def main():
    toolkit = pathlib.Path(os.environ.get("STREAMBED_TOOLKIT", HERE.parent / "build/toolkit"))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "pending"
        subprocess.run([toolkit / "bin/nvcc", "-O2", "-o", program, HERE / "launches/pending.cu"], check=True)
        print(f"{'a million pending over 10,000 streams':40}{'bytes each':>12}{'again':>8}{'ns to enqueue':>15}")
        for kind in KINDS:
            rounds = []
            for _ in range(ROUNDS):
                done = subprocess.run([program, kind], capture_output=True, text=True)
                if done.returncode != 0:
                    raise SystemExit(f"{kind}: status {done.returncode}: {done.stdout}{done.stderr}")
                rounds.append([float(value) for value in done.stdout.strip().split("\t")[1:]])
            first, again, took = (statistics.median(column) for column in zip(*rounds))
            print(f"{kind:40}{first:12.0f}{again:8.0f}{took:15.0f}", flush=True)


if __name__ == "__main__":
    main()
