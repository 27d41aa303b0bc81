#!/usr/bin/env python3
"""reported_test.py NVCC SANITIZERS: kernels with a mistake, built like the random ones, are reported."""

import pathlib
import subprocess
import sys
import tempfile

MISTAKES = {"address": ("array", "AddressSanitizer: stack-buffer-overflow", "past_the_end_of_an_array"),
            "undefined": ("overflow", "runtime error: signed integer overflow", "a_sum_that_is_too_large"),
            "thread": ("race", "ThreadSanitizer: data race", "a_write_beside_the_host")}


def main():
    nvcc, sanitizers = sys.argv[1], sys.argv[2].split(",")
    source = pathlib.Path(__file__).resolve().parent / "mistakes.cu"
    flags = [flag for sanitizer in sanitizers for flag in ("-Xcompiler", f"-fsanitize={sanitizer}")]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "mistakes"
        subprocess.run([nvcc, "-w", "-g", *flags, "-o", program, source], check=True)

        def run(*arguments):
            return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120)

        plain = run()
        if plain.returncode != 0:
            print(f"without a mistake: exit status {plain.returncode}\n{plain.stderr}")
            bad += 1
        for sanitizer in sanitizers:
            mistake, report, kernel = MISTAKES[sanitizer]
            said = run(mistake)
            if said.returncode == 0 or report not in said.stderr or kernel not in said.stderr:
                print(f"{mistake}: exit status {said.returncode}, no `{report}` in `{kernel}`:\n{said.stderr}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
