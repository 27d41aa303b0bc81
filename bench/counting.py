#!/usr/bin/env python3
"""What counting a kernel costs, where launches are counted: in modelled time (STREAMBED_DEVICE).

There a launch is counted whose parameters are new: four of its blocks run in the version that counts. The same program
runs with parameters that are always new, and with ones that are always the same, in turns. By the real clock (without
STREAMBED_DEVICE) nothing is counted, which is the last column.
"""

import os
import pathlib
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS, FEW, MANY = 3, 10, 210


def main():
    toolkit = pathlib.Path(os.environ.get("STREAMBED_TOOLKIT", HERE.parent / "build/toolkit"))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "counting"
        subprocess.run([toolkit / "bin/nvcc", "-O2", "-o", program, HERE / "counting/counting.cu"], check=True)

        def seconds(kernel, launches, parameters, device):
            environment = {**os.environ, **({"STREAMBED_DEVICE": device} if device else {})}
            begin = time.perf_counter()
            subprocess.run([program, kernel, str(launches), parameters], check=True, env=environment)
            return time.perf_counter() - begin

        def milliseconds(kernel, parameters, device):
            """Of a launch: what many take longer than few."""
            return (seconds(kernel, MANY, parameters, device) - seconds(kernel, FEW, parameters, device)) \
                * 1e3 / (MANY - FEW)

        print(f"{'ms a launch, by the real clock':32}{'counted':>9}{'not':>9}{'ratio':>8}{'more':>9}{'no model':>10}")
        for kernel in ("saxpy", "product", "sum"):
            took = {"different": [], "same": [], "no model": []}
            for _ in range(ROUNDS):
                took["different"].append(milliseconds(kernel, "different", "h200"))
                took["same"].append(milliseconds(kernel, "same", "h200"))
                took["no model"].append(milliseconds(kernel, "different", None))
            counted, plain, free = (statistics.median(took[name]) for name in ("different", "same", "no model"))
            print(f"{kernel:32}{counted:9.3f}{plain:9.3f}{counted / plain:8.2f}{counted - plain:9.3f}{free:10.3f}",
                  flush=True)


if __name__ == "__main__":
    main()
