#!/usr/bin/env bash
# Installs the Debian packages that a goal needs and that are missing.
#
#   scripts/setup.sh build|test|bench|lint|x86 [--print]
#
# node and npm make the timeline page. A build does without them where they cannot be installed, and
# is then without the page; a machine that has both commands from elsewhere keeps those.
#
# With nothing missing it only asks dpkg and returns. Without root (or sudo that asks no password) or
# without apt-get it prints the command that installs what is missing, and fails.
# --print lists the packages of the goal and installs nothing.
set -euo pipefail

compile=(g++ make cmake ninja-build ccache python3 libfmt-dev libcli11-dev)
# nvcc runs clang and lld whenever it compiles a program; libomp is for -Xcompiler -fopenmp.
device_compiler=(clang-19 llvm-19-dev lld-19 libclang-rt-19-dev libomp-19-dev)
# protoc reads what `streambed export` writes for Perfetto.
check=(libgtest-dev libgmock-dev librapidcheck-dev llvm-19-tools clang-format-19 protobuf-compiler)
measure=(libbenchmark-dev pocl-opencl-icd ocl-icd-opencl-dev)
tidy=(clang-format-19 clang-tidy-19)
browser=(chromium)
# Programs for x86-64 on another machine: scripts/x86.sh.
other_processor=(crossbuild-essential-amd64 qemu-user)
page=(nodejs npm)
if command -v node >/dev/null && command -v npm >/dev/null; then
  page=()
fi

goal=${1:-build}
wanted=() # what the goal is better with
case $goal in
  build)
    packages=("${compile[@]}" "${device_compiler[@]}")
    wanted=("${page[@]}")
    ;;
  test) packages=("${compile[@]}" "${device_compiler[@]}" "${check[@]}" "${page[@]}" "${browser[@]}") ;;
  bench) packages=("${compile[@]}" "${device_compiler[@]}" "${measure[@]}") ;;
  lint) packages=("${compile[@]}" "${device_compiler[@]}" "${check[@]}" "${tidy[@]}") ;;
  x86) packages=("${compile[@]}" "${device_compiler[@]}" "${other_processor[@]}") ;;
  *)
    echo "setup: unknown goal '$goal'; use build, test, bench, lint or x86" >&2
    exit 2
    ;;
esac

if [[ ${2:-} == --print ]]; then
  printf '%s\n' "${packages[@]}" "${wanted[@]}"
  exit 0
fi

# Another distribution: the tools cannot be looked up by package, so let CMake say what it misses.
if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is not a Debian system, so nothing is installed. Needed, by Debian's names:" >&2
  echo "  ${packages[*]}" >&2
  exit 0
fi

# One name per line for what is installed; dpkg-query complains about names that it does not know.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" "${wanted[@]}" \
  2>/dev/null | sed -n 's/^installed //p' || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
missing_wanted=()
for package in "${wanted[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing_wanted+=("$package")
done
if [[ ${#missing[@]} -eq 0 && ${#missing_wanted[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
reason=
if ! command -v apt-get >/dev/null; then
  reason="there is no apt-get here"
elif [[ $(id -u) -ne 0 ]]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
  else
    reason="installing needs root"
  fi
fi
if [[ -n $reason && ${#missing[@]} -eq 0 ]]; then
  echo "setup: ${missing_wanted[*]} are missing and $reason: the toolkit is built without the timeline page" >&2
  exit 0
fi
if [[ -n $reason ]]; then
  {
    echo "setup: ${#missing[@]} packages are missing and $reason. Install them with:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
  } >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
# The first try is for machines whose package lists are already there; a fresh one has none, and a
# stale one names versions that are gone.
install() {
  echo "setup: installing $*"
  local command=("${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@")
  if ! "${command[@]}" >/dev/null 2>&1; then
    "${as_root[@]}" apt-get update -qq
    "${command[@]}" >/dev/null
  fi
}
if [[ ${#missing[@]} -gt 0 ]] && ! install "${missing[@]}"; then
  echo "setup: apt-get could not install: ${missing[*]}" >&2
  echo "setup: on Debian 12, clang 19 comes from the main archive (bookworm and its updates)." >&2
  exit 1
fi
if [[ ${#missing_wanted[@]} -gt 0 ]] && ! install "${missing_wanted[@]}"; then
  echo "setup: apt-get could not install ${missing_wanted[*]}: the toolkit is built without the timeline page" >&2
fi
