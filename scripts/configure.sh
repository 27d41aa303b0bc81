#!/usr/bin/env bash
# Configures a preset, unless the last configure had the same presets and options (the build itself notices
# changed CMake files). Called as: scripts/configure.sh PRESET BUILD_DIR [cmake options]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1 dir=$2
shift 2
stamp=$dir/.configured-with
options="$preset $* $(cksum <CMakePresets.json)"
if [[ -f $dir/build.ninja && -f $stamp && $(<"$stamp") == "$options" ]]; then
  exit 0
fi
mkdir -p "$dir"
if ! cmake --preset "$preset" "$@" >"$dir/configure.log" 2>&1; then
  cat "$dir/configure.log" >&2
  exit 1
fi
echo "$options" >"$stamp"
