#!/usr/bin/env python3
"""make bench: runs every benchmark program of build/bench and every script bench/*.py and bench/*.sh.

Scripts get the toolkit first on their PATH, and its folder in STREAMBED_TOOLKIT.
A name given on the command line selects those whose file name contains it.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    programs = [path for path in sorted((ROOT / "build/bench").glob("*"))
                if path.is_file() and os.access(path, os.X_OK)]
    scripts = sorted([*(ROOT / "bench").glob("*.py"), *(ROOT / "bench").glob("*.sh")])
    chosen = [path for path in programs + scripts
              if not sys.argv[1:] or any(word in path.name for word in sys.argv[1:])]
    if not chosen:
        print("bench: no benchmark" + (f" matches {' '.join(sys.argv[1:])}" if sys.argv[1:] else ""))
        return 1
    toolkit = ROOT / "build/toolkit"
    environment = {**os.environ, "STREAMBED_TOOLKIT": str(toolkit),
                   "PATH": f"{toolkit / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    failed = []
    for path in chosen:
        print(f"\n== {path.relative_to(ROOT)}", flush=True)
        interpreter = {".py": [sys.executable], ".sh": ["bash"]}.get(path.suffix, [])
        if subprocess.run([*interpreter, path], cwd=ROOT, env=environment).returncode != 0:
            failed.append(path.name)
    if failed:
        print(f"\nbench: failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
