#!/usr/bin/env bash
# Runs conformance programs as x86-64 ones on another machine: builds the runtime and the streambed command for
# x86-64 in build-x86, the programs with STREAMBED_TARGET, and runs them by qemu.
#
#   scripts/x86.sh                  the cases that depend on the processor: faults, and what is near to them; examples
#   scripts/x86.sh ordering queues  these cases (tests/conformance/run.py --list)
#
# Emulated programs are slow: cases that wait for other work during a tenth of a second may differ by that alone.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $(uname -m) == x86_64 ]]; then
  echo "x86: this machine is one; its own tests say the same and more (make test)" >&2
  exit 2
fi
scripts/setup.sh x86
make --no-print-directory build

dir=$PWD/build-x86
test -f "$dir/build.ninja" || cmake -S . -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_TOOLCHAIN_FILE=cmake/x86_64-linux-gnu.cmake -DSTREAMBED_TESTS=OFF -DSTREAMBED_COMPILER=OFF
cmake --build "$dir" --target toolkit
x86_64-linux-gnu-gcc -Wall -Wextra -O2 -shared -fPIC -o "$dir/hardware_faults.so" tests/x86/hardware_faults.c

export STREAMBED_TARGET=x86_64-linux-gnu STREAMBED_TARGET_LIBRARY_DIR=$dir/toolkit/lib64
# A program may start itself by its name: its name starts the emulator. qemu keeps a record of every page: without a
# limit the runtime would reserve a terabyte of addresses.
cat >"$dir/emulate" <<END
#!/bin/sh
unset LD_PRELOAD
exec prlimit --as=$((8 << 30)) --core=0 qemu-x86_64 -L /usr/x86_64-linux-gnu \\
  -E LD_PRELOAD="$dir/hardware_faults.so" -0 "\$0 \$1" "\$@"
END
chmod +x "$dir/emulate"

# LEVELS CASES...: see tests/x86/hardware_faults.c
status=0
conform() {
  local levels=$1 only=()
  shift
  for name in "$@"; do only+=(--only "$name"); done
  STREAMBED_TEST_LEVELS=$levels tests/conformance/run.py --nvcc build/toolkit/bin/nvcc --work "$dir/conformance" \
    --floors tests/conformance/floors.tsv --emulator "$dir/emulate" "${only[@]}" || status=1
}

if [[ $# -gt 0 ]]; then
  conform 4 "$@"
else
  echo "as with page tables of four levels:"
  conform 4 accesses faults asserts errors capture ordering thresholds
  echo "as with five:"
  conform 5 accesses
  # Each checks its own results.
  mkdir -p "$dir/examples"
  for source in examples/*.cu; do
    program=$dir/examples/$(basename "$source" .cu)
    build/toolkit/bin/nvcc -o "$program" "$source"
    if timeout 300 "$dir/emulate" "$program" >"$program.txt" 2>&1; then
      echo "$source: right"
    else
      echo "$source: status $?; see $program.txt"
      status=1
    fi
  done
fi
exit "$status"
