#!/usr/bin/env python3
"""Runs every case of races.cu: check.py PROGRAM. Those named race_* must be reported, the others must not."""
import subprocess
import sys

program = sys.argv[1]
failed = 0
for name in subprocess.run([program], capture_output=True, text=True, check=True).stdout.split():
    ran = subprocess.run([program, name], capture_output=True, text=True, timeout=120)
    out = ran.stdout + ran.stderr
    raced, wanted = "data race" in out, name.startswith("race_")
    right = raced == wanted and ran.returncode == (66 if wanted else 0) and "wrong result" not in out
    print(f"{'ok  ' if right else 'FAIL'} {name}")
    if not right:
        failed += 1
        print(f"exit code {ran.returncode}\n{out[-6000:]}")
sys.exit(1 if failed else 0)
