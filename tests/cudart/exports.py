"""Every function that cuda_runtime_api.h declares is exported by libcudart.so, by its plain name and by
its per-thread one, and nothing else is exported."""

import argparse
import re
import subprocess
import sys


def declared(compiler, include, *defines):
    text = subprocess.run(
        [compiler, "-E", "-P", "-x", "c", "-I", include, *defines, "-"],
        input="#include <cuda_runtime_api.h>\n", capture_output=True, text=True, check=True).stdout
    # Without what is refused when compiling.
    text = re.sub(r"__attribute__\s*\(\(\s*(unavailable|error)\b[^;]*;", "", text)
    return set(re.findall(r"\b(cuda[A-Z]\w*)\s*\([^;{]*\)\s*;", text))


def exported(nm, library):
    text = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True,
                          check=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines()}


def main():
    parser = argparse.ArgumentParser()
    for name in ("nm", "compiler", "include", "library"):
        parser.add_argument("--" + name, required=True)
    arguments = parser.parse_args()
    names = declared(arguments.compiler, arguments.include)
    names |= declared(arguments.compiler, arguments.include, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM")
    found = exported(arguments.nm, arguments.library)
    if len(names) < 150:
        sys.exit(f"only {len(names)} declarations found: this test no longer reads the header")
    missing = sorted(names - found)
    # src/cudart/signals.cpp
    own = {"sigaction", "signal", "sysv_signal", "__sysv_signal"}
    foreign = sorted(name for name in found - own if not re.match(r"(__)?cuda", name))
    for name in missing:
        print(f"declared, not exported: {name}")
    for name in foreign:
        print(f"exported, not CUDA's: {name}")
    sys.exit(1 if missing or foreign else 0)


main()
