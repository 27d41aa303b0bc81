#!/usr/bin/env python3
"""Builds and runs groups of ROCm/hip-tests with Streambed, through HIP's NVIDIA header.

  tests/compat/hip_tests.py --hip-tests DIR --hip DIR --hipother DIR --build DIR [--nvcc PATH]
                            [--groups stream,event,...] [--only NAME] [--timeout S] [--results FILE]

The checkouts are ROCm/hip-tests, ROCm/HIP and ROCm/hipother; nothing in them is changed. HIP's header is cut
down to what our toolkit provides (hip_header.py), so a test source that needs the driver API, textures, arrays
or hiprtc does not compile, and its cases count as "not there". Sources are those that hip-tests builds for
NVIDIA; cases that its own list disables on NVIDIA (hipTestMain/config) are left out. Several sources are
compiled as one, each in a name space of its own, because reading Catch2 and HIP costs more than the tests.
Every case runs in a process of its own: exit code 0 is a pass, a message of Catch2 is the reason otherwise.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import hip_header

GROUPS = ["stream", "event", "streamperthread", "multiThread", "graph", "memory"]
ERROR = re.compile(r"^(\S+?):(\d+):\d+: (?:fatal )?error: (.*)$", re.M)
CASE = re.compile(r'^\s*(?:HIP_)?(?:TEMPLATE_)?TEST_CASE(?:_METHOD|_SIG)?\s*\(\s*(?:\w+,\s*)?"([^"]+)"', re.M)


def sources_of(folder):
    """What the group's CMakeLists.txt builds for NVIDIA on Unix: (tests, shared)."""
    tests, shared, stack = [], [], [True]
    for line in (folder / "CMakeLists.txt").read_text().splitlines():
        text = line.split("#")[0].strip()
        if re.match(r"if\s*\(", text):
            stack.append('"nvidia"' in text or "(UNIX" in text)
        elif re.match(r"(else|elseif)\s*\(", text):
            stack[-1] = not stack[-1] and text.startswith("else(")
        elif text.startswith("endif"):
            stack.pop()
        elif all(stack):
            names = re.findall(r"\b[\w.]+\.cc\b", text)
            (shared if "COMMON_SHARED_SRC" in text else tests).extend(names)
    exists = lambda names: [folder / n for n in dict.fromkeys(names) if (folder / n).exists()]
    return exists(tests), exists(shared)


def chunks(tests, size):
    """Sources to compile as one. The framework's two headers of kernels exclude each other."""
    with_kernels = [t for t in tests if "<kernels.hh>" in t.read_text(errors="replace")]
    for kind in ([t for t in tests if t not in with_kernels], with_kernels):
        yield from (kind[begin:begin + size] for begin in range(0, len(kind), size))


class Builder:
    def __init__(self, args):
        self.args = args
        self.catch = args.hip_tests / "catch"
        self.folder = args.build
        self.include = self.folder / "include"
        self.folder.mkdir(parents=True, exist_ok=True)
        toolkit = Path(args.nvcc).resolve().parents[1] / "include"
        names = self.folder / "left_out.json"
        if not names.exists():
            names.write_text(json.dumps(hip_header.make(self.include, args.hip, args.hipother, toolkit)))
        self.gone = set(json.loads(names.read_text()))
        self.flags = ["-std=c++17", "-O1", "-x", "cu", "--extended-lambda", "-w", "-Xcompiler",
                      "-ferror-limit=0", "-D__HIP_PLATFORM_NVIDIA__"]
        for path in (self.include, self.catch / "include", self.catch / "external/Catch2",
                     self.catch / "external/picojson", self.catch / "kernels"):
            self.flags += ["-I", str(path)]

    def compile(self, source, output, extra=()):
        """The errors as (file, message); none when the object is there."""
        done = subprocess.run([self.args.nvcc, *self.flags, *extra, "-c", str(source), "-o", str(output)],
                              capture_output=True, text=True, errors="replace")
        if done.returncode == 0:
            return []
        found = [(Path(f).name, m) for f, _, m in ERROR.findall(done.stderr)]
        # An error in a header belongs to the source that the notes below it name.
        if not found or not any(f.endswith(".cc") for f, _ in found):
            where = re.findall(r"([\w.]+\.cc):\d+", done.stderr)
            found = [(w, found[0][1] if found else "no message") for w in where[:1]] or \
                    [("?", done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no message")]
        return found

    def framework(self):
        objects = []
        for name in ("main.cc", "hip_test_context.cc", "hip_test_features.cc"):
            output = self.folder / (name + ".o")
            if not output.exists():
                problems = self.compile(self.catch / "hipTestMain" / name, output)
                if problems:
                    sys.exit(f"the tests' framework does not compile: {problems[0]}")
            objects.append(output)
        return objects

    def together(self, sources, output, group):
        """Compiles sources as one; returns {source name: reason} of those that had to be left out."""
        left_out, sources = {}, list(sources)
        unit = self.folder / f"{output.stem}.cu"
        while sources:
            includes = dict.fromkeys(
                line.strip() for s in sources for line in s.read_text(errors="replace").splitlines()
                if re.match(r"\s*#\s*include", line) and "indows.h" not in line) if len(sources) > 1 else {}
            text = "\n".join(includes) + "\n"
            for i, source in enumerate(sources):
                space = "" if len(sources) == 1 else f"namespace unit_{i} {{\n"
                text += f'{space}#include "{source}"\n' + ("}\n" if space else "")
            unit.write_text(text)
            problems = self.compile(unit, output, ["-I", str(group)])
            if not problems:
                break
            names = {s.name for s in sources}
            guilty = {f: m for f, m in reversed(problems) if f in names}
            if not guilty and len(sources) > 1:  # nobody is named: one by one
                guilty = {s.name: "" for s in sources[1:]}
            elif not guilty:
                guilty = {sources[0].name: problems[0][1]}
            for source in [s for s in sources if s.name in guilty]:
                sources.remove(source)
                missing = [n for n in re.findall(r"'(\w+)", guilty[source.name]) if n.startswith("hip")]
                if missing or len(names) == 1:
                    left_out[source.name] = guilty[source.name]
                else:  # perhaps only for being compiled with others
                    alone = output.with_name(f"{output.stem}_{source.stem}.o")
                    left_out.update(self.together([source], alone, group))
        return left_out


def reason(output):
    """The first thing that went wrong, in one line."""
    asked = re.search(r"FAILED:\n\s*(.*)\n(?:with expansion:\n\s*(.*)\n)?", output)
    message = re.search(r"Error: (.*)\n\s*Code: (\d+)\n\s*Str: (.*)\n", output)
    expected = re.search(r"Expected Error: (.*)\n.*\n\s*Actual Error:\s*(.*)\n.*\n\s*Str: (.*)\n", output)
    if expected:
        return f"{expected.group(3)}: {expected.group(2)}, expected {expected.group(1)}"
    if message:
        return f"{message.group(3)}: {message.group(1)}"
    if asked:
        return f"{asked.group(1)} ({asked.group(2)})" if asked.group(2) else asked.group(1)
    lines = output.strip().splitlines()
    return lines[-1] if lines else "no message"


def run_case(program, name, timeout):
    escaped = re.sub(r"([\\,\[\]*~])", r"\\\1", name)
    try:
        done = subprocess.run([str(program), escaped], capture_output=True, text=True, errors="replace",
                              timeout=timeout, cwd=program.parent)
    except subprocess.TimeoutExpired:
        return "timeout", f"no end after {timeout} s"
    output = done.stdout + done.stderr
    if done.returncode < 0:
        return "fail", f"signal {-done.returncode}: {reason(output)}"
    if done.returncode:
        return "fail", reason(output)
    if "HIP_SKIP_THIS_TEST" in output or "No tests ran" in output:
        return "skip", "skips itself"
    return "pass", ""


def main():
    here = Path(__file__).resolve()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("--hip-tests", "--hip", "--hipother", "--build"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--nvcc", default=str(here.parents[2] / "build/toolkit/bin/nvcc"))
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--together", type=int, default=8, help="sources compiled as one")
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--results", type=Path, help="one line per case: group, case, result, reason")
    args = parser.parse_args()
    for name in ("hip_tests", "hip", "hipother", "build"):
        setattr(args, name, getattr(args, name).resolve())
    builder = Builder(args)
    framework = builder.framework()
    config = json.loads((builder.catch / "hipTestMain/config/config_nvidia_linux.json").read_text())
    disabled = set(config["DisabledTests"])
    results = open(args.results, "a") if args.results else None

    def report(group, name, verdict, why):
        line = f"{group}\t{name}\t{verdict}\t{why}"
        if results:
            print(line, file=results, flush=True)
        if verdict != "pass":
            print(line, flush=True)

    for group in args.groups.split(","):
        folder = builder.catch / "unit" / group
        tests, shared = sources_of(folder)
        count = Counter()
        objects = []
        for source in shared:
            output = args.build / f"{group}_{source.stem}.o"
            if not output.exists() and builder.compile(source, output, ["-I", str(folder)]):
                continue
            objects.append(output)
        for number, chunk in enumerate(chunks(tests, args.together)):
            stem = f"{group}_{number}"
            done = args.build / f"{stem}.json"
            if not done.exists():
                left_out = builder.together(chunk, args.build / f"{stem}.o", folder)
                done.write_text(json.dumps(left_out))
            left_out = json.loads(done.read_text())
            for source in chunk:
                for name in CASE.findall(source.read_text(errors="replace")) if source.name in left_out else []:
                    count["not there"] += 1
                    report(group, name, "not there", f"{source.name}: {left_out[source.name]}")
            for unit in sorted(args.build.glob(f"{stem}.o")) + sorted(args.build.glob(f"{stem}_*.o")):
                program = unit.with_suffix("")
                linked = subprocess.run([args.nvcc, "-o", str(program), str(unit), *map(str, framework),
                                         *map(str, objects), "-lpthread"], capture_output=True, text=True)
                if linked.returncode:
                    print(f"{program.name} does not link: {linked.stderr.strip()[-300:]}", flush=True)
                    count["does not link"] += 1
                    continue
                listed = subprocess.run([str(program), "--list-test-names-only"], capture_output=True,
                                        text=True, timeout=120).stdout.splitlines()
                for name in (n.strip() for n in listed):
                    if not name or args.only not in name:
                        continue
                    if name in disabled:
                        verdict, why = "disabled", "hip-tests disables it on NVIDIA"
                    else:
                        verdict, why = run_case(program, name, args.timeout)
                    count[verdict] += 1
                    report(group, name, verdict, why)
        print(f"== {group}: " + ", ".join(f"{n} {what}" for what, n in sorted(count.items())), flush=True)
    return 0


sys.exit(main())
