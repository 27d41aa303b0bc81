#!/usr/bin/env python3
"""bench/kernels.py ends with what is wrong when a program says so, and with no number for it."""

import importlib.util
import pathlib
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
spec = importlib.util.spec_from_file_location("kernels", ROOT / "bench/kernels.py")
kernels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernels)


def measured(folder, said, status=0):
    """What the script makes of a program that says this."""
    program = pathlib.Path(folder, "program")
    program.write_text(f"#!/bin/sh\nprintf '{said}'\nexit {status}\n")
    program.chmod(0o755)
    try:
        return kernels.measure([program], "saxpy", {})
    except SystemExit as ended:
        return ended.code


with tempfile.TemporaryDirectory() as folder:
    assert measured(folder, r"saxpy\t1.25\n") == 1.25
    for said, status in ((r"saxpy\twrong in run 3\n", 0), (r"saxpy\t1.25\n", 1), (r"copy\t1.25\n", 0), ("", 0)):
        answer = measured(folder, said, status)
        assert isinstance(answer, str) and answer.startswith("program saxpy: "), (said, answer)
