#!/usr/bin/env python3
"""Random kernels, compared with the slow way: every thread a fiber of its own, one after another.

  fuzz.py --nvcc NVCC                      programs with new seeds, for a minute
  fuzz.py --nvcc NVCC --seconds 0          without end
  fuzz.py --nvcc NVCC --seed 5 --programs 1    one program again

Prints each seed before it is tried. A program that differs stays in --keep.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import generate  # noqa: E402

LONGEST = 600  # seconds for one command
SAID = 4000    # characters of what a program says when it stops: a sanitizer's report


def text(options, seed):
    kinds = {"kinds": options.kind} if options.kind else {}
    return generate.program(seed, options.kernels, **kinds)


def output(options, flags, source, program, **environment):
    """What the program prints that nvcc makes of the source."""
    subprocess.run([options.nvcc, "-w", *options.flag, *flags, "-o", program, source], check=True, timeout=LONGEST,
                   env={**os.environ, **environment})
    done = subprocess.run([program], capture_output=True, text=True, errors="replace", timeout=LONGEST)
    lines = done.stdout.splitlines()
    return lines + [f"exit status {done.returncode}: {done.stderr.strip()[-SAID:]}"] if done.returncode else lines


def differences(options, folder, seed):
    """Lines in which the two builds of the program differ."""
    source = folder / f"seed{seed}.cu"
    source.write_text(text(options, seed))
    flags = generate.flags(seed)
    with concurrent.futures.ThreadPoolExecutor() as both:
        fast = both.submit(output, options, flags, source, folder / "fast")
        slow = both.submit(output, options, flags, source, folder / "slow", STREAMBED_KERNELS="fibers")
    got, expected = fast.result(), slow.result()
    stopped = [f"{name} stopped: {lines[-1]}" for name, lines in (("the program", got), ("the reference", expected))
               if not lines or lines[-1].startswith("exit status")]
    if len(expected) < options.kernels or stopped:
        return stopped or ["the reference printed too little"]
    return [f"{a}   expected {b}" for a, b in zip(got, expected) if a != b] + (
        [] if len(got) == len(expected) else [f"{len(got)} lines, expected {len(expected)}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--flag", action="append", default=[], help="for nvcc, also for its link")
    parser.add_argument("--seed", type=int, help="of the first program; the others count up")
    parser.add_argument("--programs", type=int, default=0, help="how many; 0: as many as the time allows")
    parser.add_argument("--seconds", type=float, default=60, help="0: without end")
    parser.add_argument("--kernels", type=int, default=60, help="in each program")
    parser.add_argument("--kind", action="append", choices=[*generate.KINDS, *generate.ONLY_HERE],
                        help="of kernels; may be repeated; without it all that a device could run: not "
                        + ", ".join(generate.ONLY_HERE))
    parser.add_argument("--keep", default="fuzz-failures")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(time.time() * 1000) % 2**31
    begin = time.monotonic()
    tried = bad = 0
    while not (options.programs and tried == options.programs):
        if tried and options.seconds and time.monotonic() - begin > options.seconds:
            break
        print(f"seed {seed}, {options.kernels} kernels", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            found = differences(options, pathlib.Path(folder), seed)
        if found:
            bad += 1
            keep = pathlib.Path(options.keep)
            keep.mkdir(exist_ok=True)
            (keep / f"seed{seed}.cu").write_text(text(options, seed))
            print("\n".join(found[:20]))
            print(f"differs; again: {sys.argv[0]} --nvcc {options.nvcc} --seed {seed} --programs 1 "
                  f"--kernels {options.kernels}"
                  + "".join(f" --kind {kind}" for kind in options.kind or []), flush=True)
        tried += 1
        seed += 1
        if found and not options.programs:
            break
    print(f"{tried} programs, {tried * options.kernels} kernels, {bad} programs differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
