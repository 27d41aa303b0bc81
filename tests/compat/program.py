"""Builds one public program with Streambed's nvcc, runs it and says how it went."""
import os
import re
import subprocess
import tempfile
import time

WAIVED = 2  # the samples' exit code for "this device cannot"


def first_error(text):
    lines = [l.strip() for l in text.splitlines() if l.strip()]
    return next((l for l in lines if "error" in l), lines[0] if lines else "no message")


def attempt(nvcc, sources, flags, expected="", env=None, timeout=300, directory=None, arguments=()):
    """Returns (verdict, detail, seconds); directory is where the program runs, a scratch one if None."""
    with tempfile.TemporaryDirectory() as tmp:
        exe = os.path.join(tmp, "program")
        try:
            built = subprocess.run([nvcc, "-o", exe, *flags, *map(str, sources)], capture_output=True,
                                   text=True, errors="replace", timeout=timeout)
        except subprocess.TimeoutExpired:
            return "does not compile", f"no end after {timeout} s", timeout
        if built.returncode:
            return "does not compile", first_error(built.stderr), 0
        begin = time.monotonic()
        try:
            ran = subprocess.run([exe, *arguments], capture_output=True, text=True, errors="replace",
                                 timeout=timeout, cwd=directory or tmp, env={**os.environ, **(env or {})})
        except subprocess.TimeoutExpired:
            return "hangs", f"no end after {timeout} s", timeout
        seconds = time.monotonic() - begin
        out = ran.stdout + ran.stderr
        last = (out.strip().splitlines() or [""])[-1]
        if ran.returncode == WAIVED and re.search("waiv|not support", out, re.I):
            return "waived", last, seconds
        if ran.returncode:
            return "fails", f"exit code {ran.returncode}: {last}", seconds
        if expected and not re.search(expected, out):
            return "fails", f"did not print '{expected}'", seconds
        return "passes", "", seconds
