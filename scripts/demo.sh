#!/usr/bin/env bash
# What `make demo` shows: examples, compiled and run on a machine that needs no GPU, and what one of
# them does on a virtual H200.
set -euo pipefail
cd "$(dirname "$0")/.."
streambed=build/toolkit/bin/streambed

show() {
  local example=$1
  shift
  echo
  echo "── examples/$example"
  # The comment on top of an example says what it teaches.
  sed -n '/^\/\/ */!q; s/^\/\/ \{0,1\}/   /p' "examples/$example"
  echo
  echo "   \$ streambed run $* examples/$example" | sed 's/  */ /g; s/^ /   /'
  "$streambed" run "$@" "examples/$example" | sed 's/^/     /'
}

echo "Streambed compiles CUDA programs for this machine and runs them on an embedded device:"
"$streambed" device list | sed 's/^/     /'

show 01_stream_basics.cu
show 03_sleep_streams.cu
show 04_overlap_orders.cu

echo
echo "── The gradient hook on a virtual H200, in modelled time: timeline, explanation, trace and page"
echo
echo "   \$ streambed run --device h200 examples/18_gradient_hook.cu -- compute"
out=$(mktemp -d)
"$streambed" run --device h200 --trace "$out/18_gradient_hook.sbt" examples/18_gradient_hook.cu \
  -- compute 2>&1 | sed 's/^/     /'

echo
echo "All gave the right result. To use the compiler yourself:"
echo "     export PATH=\$PWD/build/toolkit/bin:\$PATH"
echo "     nvcc -o 01 examples/01_stream_basics.cu && ./01"
