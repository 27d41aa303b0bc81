#!/usr/bin/env python3
"""Checks of the repository's own shape.

  check.py rooms     no include, link or line of docs/design.md breaks the table in rooms.json
  check.py headers   each header under src/ compiles alone (--compiler, --include)
  check.py text      words that must not be here, files that are too long, spaces at line ends
  check.py docs      every recording that docs/semantics.md names exists
  check.py format    clang-format 19 would change nothing
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
LLVM_ROOMS = ("src/compiler/pass/", "src/compiler/host_pass/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
CODE = (".cpp", ".hpp", ".h", ".cu", ".cuh", ".c", ".inc")

# The scheduler is a pure state machine: no thread, no lock, no clock.
FORBIDDEN_IN_ROOM = {
    "src/sched": {"thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic",
                  "chrono", "ctime", "pthread.h", "semaphore", "latch", "barrier"},
}
# Heavy headers that every includer of ours would pay for.
FORBIDDEN_IN_HEADERS = re.compile(r"^(iostream|regex|CLI/|nlohmann/|simdjson)")


def repository_files():
    """Files that git knows or would take up; everything but build folders without git."""
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
            capture_output=True, text=True, check=True).stdout.split("\0")
        names = [name for name in listing if name]
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
        names = [n for n in names if not re.match(r"(build[^/]*|\.git|node_modules|\.cache)/", n)]
    return sorted(name for name in names if (ROOT / name).is_file())


def room_of(name, rooms):
    return next((room for room in rooms if name.startswith(room + "/")), None)


def resolve(name, quote, target):
    """The repository path of an included file, or None when it is not ours."""
    candidates = []
    if quote == '"':
        candidates.append(os.path.normpath(os.path.join(os.path.dirname(name), target)))
    candidates += [f"src/{target}", f"include/cuda/{target}", f"include/{target}"]
    return next((c for c in candidates if (ROOT / c).is_file()), None)


def design_table():
    """The rooms of docs/design.md, as the check's own data has them."""
    rooms = {}
    text = (ROOT / "docs/design.md").read_text()
    for row in re.findall(r"^\| `([^`]+)` \|.*\| ([^|]*) \|$", text, re.MULTILINE):
        rooms[row[0]] = set(re.findall(r"`([^`]+)`", row[1]))
    return rooms


def check_rooms(_):
    rooms = json.loads((HERE / "rooms.json").read_text())
    problems = []
    table = design_table()
    if table != {room: set(allowed) for room, allowed in rooms.items()}:
        for room in sorted(set(table) | set(rooms)):
            if table.get(room) != (set(rooms[room]) if room in rooms else None):
                problems.append(f"docs/design.md and rooms.json differ about {room}")

    cli11_users = set()
    for name in repository_files():
        room = room_of(name, rooms)
        if room is None or not name.endswith(CODE):
            continue
        text = (ROOT / name).read_text(errors="replace")
        for match in INCLUDE.finditer(text):
            quote, target = match.groups()
            line = text.count("\n", 0, match.start(1)) + 1
            where = f"{name}:{line}: includes {target}"
            if target.startswith("CLI/"):
                cli11_users.add(name)
            if target in FORBIDDEN_IN_ROOM.get(room, ()):
                problems.append(f"{where}: {room} has no threads, locks or clocks")
            if name.endswith((".hpp", ".h")) and FORBIDDEN_IN_HEADERS.match(target):
                problems.append(f"{where}: too heavy for a header; include it in a .cpp")
            if target.startswith("llvm/") and room != "src/compiler":
                problems.append(f"{where}: only src/compiler may use LLVM")
            included = resolve(name, quote, target)
            other = room_of(included, rooms) if included else None
            if other and other != room and other not in rooms[room]:
                problems.append(f"{where}: {room} may depend on "
                                f"{', '.join(rooms[room]) or 'no other room'}, not on {other}")
    if len(cli11_users) > 1:
        problems.append(f"CLI11 is included by more than one file: {', '.join(sorted(cli11_users))}")

    for room in rooms:
        lists = ROOT / room / "CMakeLists.txt"
        if not lists.is_file() or not room.startswith("src/"):
            continue
        text = lists.read_text()
        links = " ".join(re.findall(r"target_link_libraries\(([^)]*)\)", text)).replace("sb_", "")
        links += " " + " ".join(re.findall(r"streambed_room\([^)]*\bDEPENDS\b([^)]*)\)", text))
        for linked in sorted(set(links.split())):
            other = f"src/{linked}"
            if other in rooms and other != room and other not in rooms[room]:
                problems.append(f"{room}/CMakeLists.txt links {linked}: not in the table")
    return problems


def is_proven_by_its_source(name):
    """Its own .cpp includes it before anything else, and is compiled by itself: not in one unit with others."""
    source = pathlib.Path(name).with_suffix(".cpp")
    build = ROOT.joinpath(*source.parts[:2], "CMakeLists.txt")
    if not (ROOT / source).is_file() or not build.is_file() or "UNITY_BUILD" in build.read_text():
        return False
    first = INCLUDE.search((ROOT / source).read_text())
    return (first is not None and resolve(str(source), *first.groups()) == name
            and "#pragma once" in (ROOT / name).read_text())


def check_headers(options):
    headers = [n for n in repository_files() if n.startswith("src/") and n.endswith(".hpp")]
    all_headers = len(headers)
    headers = [n for n in headers if not is_proven_by_its_source(n)]
    if not options.llvm_include:
        headers = [n for n in headers if not n.startswith(LLVM_ROOMS)]
    base = [options.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
            f"-I{ROOT}/src", f"-I{ROOT}/include/cuda"]

    def compile_alone(name):
        flags = []
        if name.startswith(LLVM_ROOMS):
            flags = ["-Wno-unused-parameter"]
            for folder in options.llvm_include:
                flags += ["-isystem", folder]
        # Twice: a header without an include guard fails too.
        source = f'#include "{ROOT / name}"\n' * 2
        done = subprocess.run([*base, *flags, "-x", "c++", "-"], input=source, text=True,
                              capture_output=True)
        return None if done.returncode == 0 else f"{name} does not compile alone:\n{done.stderr}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [p for p in pool.map(compile_alone, headers) if p]
    print(f"{len(headers)} of {all_headers} headers compiled alone, the others by their sources")
    return problems


def read_table(path):
    rows = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return [row.split("\t", 1) for row in rows]


def check_text(_):
    problems = []
    words = [(re.compile(pattern, re.MULTILINE), why)
             for pattern, why in read_table(HERE / "words.txt")]
    long_files = dict(read_table(HERE / "long_files.txt"))
    for name in repository_files():
        data = (ROOT / name).read_bytes()
        if b"\0" in data[:4096]:
            continue
        text = data.decode("utf-8", errors="replace")
        for pattern, why in words:
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{name}:{line}: '{match.group().strip()}': {why}")
        lines = text.count("\n")
        if name.endswith((*CODE, ".py", ".ts", ".cmake")):
            if lines > 600 and name not in long_files:
                problems.append(f"{name}: {lines} lines; split it, or list it in long_files.txt")
            # The programs of the conformance suite stay as they were when they were recorded.
            recorded = name.startswith("tests/conformance/") and name.endswith(".cu")
            for number, line in enumerate(text.split("\n"), 1):
                if line != line.rstrip() and not recorded:
                    problems.append(f"{name}:{number}: spaces at the end of the line")
        if re.match(r"examples/\d+_\w+\.cu$", name) and lines >= 100:
            problems.append(f"{name}: {lines} lines; an example has fewer than 100")
    problems += [f"long_files.txt lists {name}, which is not there"
                 for name in long_files if not (ROOT / name).is_file()]
    return problems


def check_docs(_):
    """`NAME.tsv KEY` in a rule must match a line of that recording; every rule must name one."""
    problems, recordings = [], {}
    for number, line in enumerate((ROOT / "docs/semantics.md").read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 2 or cells[0] in ("rule", "---"):
            continue
        proofs = re.findall(r"`(\w+\.tsv) ([^`]+)`", cells[1])
        if not proofs and cells[1] != "documented, not recorded":
            problems.append(f"docs/semantics.md:{number}: a rule without a recording")
        for file, key in proofs:
            path = ROOT / "tests/conformance/h200" / file
            if file not in recordings:
                lines = path.read_text().splitlines() if path.is_file() else []
                recordings[file] = [row.split("\t")[0] for row in lines]
            if not fnmatch.filter(recordings[file], key):
                problems.append(f"docs/semantics.md:{number}: {file} has no line {key}")
    return problems


def formatted_files():
    return [n for n in repository_files()
            if n.endswith((".cpp", ".hpp", ".h", ".cu")) and not n.startswith("tests/conformance/")]


def check_format(options):
    tool = shutil.which(options.clang_format)
    if not tool:
        return [f"{options.clang_format} is not installed (Debian: clang-format-19)"]
    files = formatted_files()
    if options.fix:
        subprocess.run([tool, "-i", *files], cwd=ROOT, check=True)
        return []
    done = subprocess.run([tool, "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True,
                          text=True)
    wrong = sorted(set(re.findall(r"^([^:\s]+):\d+:\d+: error", done.stderr, re.MULTILINE)))
    if done.returncode != 0 and not wrong:
        return [done.stderr]
    return [f"{name} is not formatted: run `make format`" for name in wrong]


def main():
    checks = {"rooms": check_rooms, "headers": check_headers, "text": check_text,
              "docs": check_docs, "format": check_format}
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="+", choices=checks)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--llvm-include", action="append", default=[])
    parser.add_argument("--clang-format", default="clang-format-19")
    parser.add_argument("--fix", action="store_true", help="format: change the files")
    options = parser.parse_args()
    problems = [p for check in options.checks for p in checks[check](options)]
    for problem in problems:
        print(problem)
    print(f"{' '.join(options.checks)}: {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
