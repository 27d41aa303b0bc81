#!/usr/bin/env python3
"""Holds a virtual device's modelled time against what the device took.

Compiles programs with Streambed's nvcc, runs them with STREAMBED_DEVICE=h200, and prints a table:
key, modelled and recorded microseconds, error. A value inside the recorded range has no error;
outside of it, the error is taken from the recorded median, or, where the runs differ by more than a
quarter of it, from the nearest of them. A recording of a single run has no range.

    compare.py                          timing.cu, rates.cu and host.cu, which the profile was fitted on
    compare.py --unseen                 the programs in unseen/, recorded after it was fitted
    compare.py --unseen copies work     some of them
    compare.py --merge DIR [-o DIR]     DIR/NAME.1.tsv, NAME.2.tsv, ... of a device become NAME.tsv

The recordings of PROGRAM.cu are PROGRAM.tsv, and PROGRAM_connN.tsv for CUDA_DEVICE_MAX_CONNECTIONS=N.

Exit status: 0 when every limit holds, 1 when one is broken, 2 when the comparison could not be made.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# Runs that differ by more than this share of their median do not tell where it is.
UNSTEADY = 0.25

FITTED = ("timing", "rates", "host", "atomics", "host_memory", "threads", "meetings", "graphs",
          "idle_warps", "drawn", "locks")
UNSEEN = ("overlap", "kernels", "copies", "work", "methods", "variations", "sharing", "mixed", "orders",
          "shapes", "everyday", "barriers", "assorted", "dags", "draws", "urgent", "guarded")

# A group: keys of the recording, greatest allowed median and greatest allowed error in percent.
# The first group whose pattern a key matches has it. None: shown, not judged. Keys of the programs in
# unseen/ begin with the program's name.
GROUPS = (
    ("unseen: streams, orders, hooks", 5, 15, r"overlap\.(?!conn)"),
    ("unseen: the same, 1 or 32 connections", 5, 15, r"overlap\.conn(1|32)\."),
    ("unseen: the same, 2 connections", None, None, r"overlap\.conn2\."),
    ("unseen: waves, chains, graphs, priorities", 5, 15, r"kernels\.(?!calls)"),
    ("unseen: copies of several streams", 5, 15, r"orders\."),
    ("unseen: memory and arithmetic", 10, 35, r"work\.|methods\."),
    ("unseen: shapes of memory and arithmetic", 10, 35, r"shapes\.(?!fill|pool)"),
    ("unseen: fills, memory of pools", 10, 20, r"shapes\.(fill|pool)"),
    ("unseen: variations of streams and graphs", 5, 15,
     r"variations\.(conn4\.)?(hook|beside|sleep|three|mixed|priority|chain\d+\.us[1-9])"),
    ("unseen: variations with quick functions", 5, 15, r"variations\.fast"),
    ("unseen: blocks that differ", 10, 25, r"variations\.uneven\."),
    ("unseen: variations not in the model", None, None, r"variations\."),
    ("unseen: kernels that share arithmetic", 10, 30, r"sharing\.(fma|double|special)\."),
    ("unseen: kernels and copies that share the memory", 15, 35,
     r"sharing\.(move|both|fill|copy\.64M\.)"),
    ("unseen: different work side by side", None, None, r"sharing\."),
    ("unseen: random programs of waiting kernels, copies, events", 5, 15, r"mixed\.(waits|copies|events)\."),
    ("unseen: random programs with work", 5, 15, r"mixed\.work\."),
    ("unseen: pinned copies", 5, 5, r"copies\.(pinned|rows)"),
    ("unseen: pageable copies", 25, 25, r"copies\.pageable"),
    ("unseen: copies inside the device", 5, 15, r"copies\.inside"),
    ("unseen: counters, sums, histograms", 5, 50, r"everyday\.meet"),
    ("unseen: kernels in the host's memory", 10, 35, r"everyday\.reach\.(?!beside)"),
    ("unseen: other everyday programs", None, None, r"everyday\."),
    ("unseen: steps that meet by grid.sync()", 15, 25, r"barriers\.smooth\.grid\.\d+x\d+\.30000\."),
    ("unseen: other steps that meet", None, None, r"barriers\."),
    ("unseen: a bit of everything", 5, 15, r"assorted\."),
    ("unseen: random graphs", 5, 15, r"dags\."),
    ("unseen: programs that draw their work", 10, 40, r"draws\."),
    ("unseen: urgent kernels beside large ones", 5, 20, r"urgent\."),
    ("unseen: what locks guard", 15, 45, r"guarded\.(?!moves|buckets)"),
    ("unseen: two locks at a time, lanes with locks of their own", None, None, r"guarded\."),
    ("unseen: calls, small copies, fills", None, None, r"kernels\.calls|copies\.(small|fill)"),
    ("overlap, kernels, graphs, priorities", 5, 15,
     r"sleep_us\..*\.pinned\.|smallsleep_us\.|three_us\.|hook_us\.|conn1\.hook_us\.|"
     r"chain20_us\.(stream|graph)$|prio_us\.|busy_us\.|blog_us\."),
    ("pinned copies from 64 KiB", 5, 5,
     r"copy_(wall_)?us\..*\.pinned\.(65536|\d{7,})$|copy_wall_us\.(both|two_h2d)\."),
    ("pageable copies", 25, 25, r"copy_wall_us\..*\.pageable\.|sleep_us\..*\.pageable\."),
    ("loads one by one", None, None, r"rates\.follow\.\d"),
    ("instructions and memory, one kind each", 5, 30, r"rates\."),
    ("atomics of blocks that take turns", None, None, r"atomics\..*\.by_(block|warp)\.(32|256)"),
    ("atomics that meet", 5, 40, r"atomics\."),
    ("host memory that kernels reach", 5, 35, r"host_memory\.mapped"),
    ("threads that launch at the same time", 15, 40, r"threads\.(launch|long|mixed)"),
    ("managed memory, other calls of threads", None, None, r"host_memory\.|threads\."),
    ("barriers of the grid", 5, 20, r"meetings\.(grid|hand|adds)\.\d"),
    ("kernels that wait for others", 10, 20, r"meetings\.(flag|turns)"),
    ("rows of blocks, naps, work between barriers", None, None, r"meetings\."),
    ("shapes of graphs", 5, 15, r"graphs\."),
    ("blocks of which some warps work", 10, 30, r"idle_warps\."),
    ("kernels that draw their work", 5, 40, r"drawn\."),
    ("locks", 10, 45, r"locks\.(?!bare)"),
    ("locks around one atomic", None, None, r"locks\.bare"),
    ("calls of graphs", 5, 50, r"host\.graph"),
    ("host functions behind kernels", 5, 20, r"host\.function"),
    ("calls, short chains, small copies", None, None, r"(?!conn1\.)"),
    ("one connection (a single run)", None, None, r"conn1\."),
)


class Value:
    """A recorded figure: the median, and the range of the runs."""

    def __init__(self, fields):
        self.median = float(fields[0])
        self.least = float(fields[1]) if len(fields) > 1 else None
        self.greatest = float(fields[2]) if len(fields) > 2 else None

    def error(self, modelled):
        if self.least is not None and self.least <= modelled <= self.greatest:
            return 0.0
        near = self.median
        if self.least is not None and self.greatest - self.least > UNSTEADY * self.median:
            near = min(max(modelled, self.least), self.greatest)
        return 100 * (modelled - near) / self.median

    def __str__(self):
        if self.least is None:
            return f"{self.median:.3f}"
        return f"{self.median:.3f} [{self.least:.3f} .. {self.greatest:.3f}]"


def read_lines(text, prefix=""):
    """Lines of the program, or of a recording, without those that say who measured."""
    found = {}
    for line in text.splitlines():
        key, *fields = line.split("\t")
        if fields and not key.startswith("dev.") and key != "end":
            found[prefix + key] = fields
    return found


def group_of(key):
    return next(g for g in GROUPS if re.match(g[3], key))


def median(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def compare(modelled, recorded):
    """Rows of (group, key, modelled, recorded, error), in the recording's order, and what is wrong."""
    rows, wrong = [], []
    for key, fields in recorded.items():
        if key not in modelled:
            wrong.append(f"{key} was recorded, but the program did not print it")
            continue
        value = Value(fields)
        ours = float(modelled[key][0])
        rows.append((group_of(key)[0], key, ours, value, value.error(ours)))
    return rows, wrong


def summary(rows):
    """For each group: its name, limits, number of values, median and greatest error, its key."""
    found = []
    for name, limit_median, limit_most, _ in GROUPS:
        errors = [(abs(r[4]), r[1]) for r in rows if r[0] == name]
        if errors:
            most, where = max(errors)
            found.append((name, limit_median, limit_most, len(errors),
                          median([e for e, _ in errors]), most, where))
    return found


def broken(groups):
    return [f"{name}: median {mid:.2f} % of {limit_median} %, greatest {most:.2f} % of {limit_most} %"
            f" ({where})"
            for name, limit_median, limit_most, _, mid, most, where in groups
            if limit_median is not None and (mid > limit_median or most > limit_most)]


def print_text(rows, groups):
    width = max(len(r[1]) for r in rows)
    for name, *_ in groups:
        print(f"\n{name}")
        print(f"  {'key':<{width}} {'modelled':>11}  {'recorded (µs)':<36} {'error':>7}")
        for _, key, ours, value, error in (r for r in rows if r[0] == name):
            print(f"  {key:<{width}} {ours:>11.3f}  {str(value):<36} {error:>+6.1f} %")
    print(f"\n{'group':<38} {'values':>6} {'median':>8} {'greatest':>9}  limits")
    for name, limit_median, limit_most, count, mid, most, where in groups:
        limits = "-" if limit_median is None else f"{limit_median} %, {limit_most} %"
        print(f"{name:<38} {count:>6} {mid:>6.2f} % {most:>7.2f} %  {limits}   ({where})")


def print_markdown(rows, groups):
    print("| group | values | median error | greatest error | at | limits |")
    print("|---|---:|---:|---:|---|---|")
    for name, limit_median, limit_most, count, mid, most, where in groups:
        limits = "none" if limit_median is None else f"{limit_median} %, {limit_most} %"
        print(f"| {name} | {count} | {mid:.2f} % | {most:.1f} % | `{where}` | {limits} |")
    print("\n| key | modelled µs | recorded µs | error |")
    print("|---|---:|---|---:|")
    for _, key, ours, value, error in rows:
        print(f"| `{key}` | {ours:.1f} | {value} | {error:+.1f} % |")


def run_program(options, program, connections):
    environment = dict(os.environ, STREAMBED_DEVICE=options.device)
    environment["LD_PRELOAD"] = str(options.toolkit / "lib64/streambed/libstreambed_interpose.so")
    environment.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)
    if connections:
        environment["CUDA_DEVICE_MAX_CONNECTIONS"] = str(connections)
    # A virtual device takes the same time again and again: three measurements are enough, and one where
    # kernels do much.
    few = ("sharing", "mixed", "meetings", "barriers", "drawn", "draws", "urgent", "locks",
           "guarded")
    measurements = "1" if program.stem in few else "3"
    done = subprocess.run([str(program), measurements], env=environment, capture_output=True, text=True,
                          timeout=options.timeout)
    if done.returncode != 0 or "end\tok" not in done.stdout:
        sys.exit(f"{program.name}.cu ended with status {done.returncode}:\n"
                 f"{done.stdout[-500:]}{done.stderr}")
    return done.stdout


def recordings(folder, stem):
    """For each recording of a program: its file and the number of connections, 0 for the default."""
    found = []
    for file in folder.glob(f"{stem}*.tsv"):
        named = re.fullmatch(stem + r"(?:_conn(\d+))?\.tsv", file.name)
        if named:
            found.append((int(named.group(1) or 0), file))
    return [(file, connections) for connections, file in sorted(found)]


def prefix_of(stem, connections):
    return ("" if stem == "timing" else f"{stem}.") + (f"conn{connections}." if connections else "")


def gather(options, source):
    """What the virtual device says and what was recorded, for one program in all its recordings."""
    modelled, recorded = {}, {}
    files = recordings(options.recordings, source.stem)
    if not files:
        sys.exit(f"no recording of {source.name} in {options.recordings}")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / source.stem
        if not options.modelled:
            built = subprocess.run([str(options.toolkit / "bin/nvcc"), "-std=c++17", "-O2", "-o",
                                    str(program), str(source)])
            if built.returncode != 0:
                sys.exit(2)
        for file, connections in files:
            prefix = prefix_of(source.stem, connections)
            text = ((options.modelled / file.name).read_text() if options.modelled
                    else run_program(options, program, connections))
            if options.keep:
                (options.keep / file.name).write_text(text)
            modelled.update(read_lines(text, prefix))
            recorded.update(read_lines(file.read_text(), prefix))
    return modelled, recorded


def merge(folder, to):
    """The median of several runs on a device, and their range, for every program in folder."""
    runs = {}
    for file in sorted(folder.glob("*.tsv")):
        named = re.fullmatch(r"(.+)\.\d+\.tsv", file.name)
        if named:
            runs.setdefault(named.group(1), []).append(read_lines(file.read_text()))
    for name, lines in runs.items():
        with open(to / f"{name}.tsv", "w") as out:
            for key in lines[0]:
                values = [float(run[key][0]) for run in lines if key in run]
                out.write(f"{key}\t{median(values):.3f}\t{min(values):.3f}\t{max(values):.3f}\n")
        print(f"{to / name}.tsv: {len(lines)} runs")
    return 0 if runs else 2


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toolkit", type=pathlib.Path, default=HERE.parent.parent / "build/toolkit",
                        help="where Streambed's nvcc and libraries are (default: build/toolkit)")
    parser.add_argument("--device", default="h200", help="a device, or the path of a profile")
    parser.add_argument("--unseen", nargs="*", metavar="PROGRAM", choices=UNSEEN,
                        help="the programs that were recorded after the profile was fitted")
    parser.add_argument("--recordings", type=pathlib.Path, default=HERE / "h200")
    parser.add_argument("--modelled", type=pathlib.Path,
                        help="a folder with files named like the recordings to compare, not to run")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for what the programs print")
    parser.add_argument("--merge", type=pathlib.Path, metavar="DIR", help="make recordings of runs")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="where --merge writes (default: there)")
    parser.add_argument("--markdown", action="store_true", help="the table of docs/devices.md")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for each run")
    options = parser.parse_args()

    if options.merge:
        return merge(options.merge, options.output or options.merge)
    if options.unseen is None:
        sources = [HERE / f"{name}.cu" for name in FITTED]
    else:
        sources = [HERE / "unseen" / f"{name}.cu" for name in options.unseen or UNSEEN]
    modelled, recorded = {}, {}
    for source in sources:
        ours, theirs = gather(options, source)
        modelled.update(ours)
        recorded.update(theirs)
    rows, wrong = compare(modelled, recorded)
    groups = summary(rows)
    (print_markdown if options.markdown else print_text)(rows, groups)
    wrong += broken(groups)
    for line in wrong:
        print(f"broken: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
