#!/usr/bin/env python3
"""Makes docs/topics: a page for each topic, with the program, its timeline and its explanation.

  scripts/topics.py [--toolkit DIR]          writes the pages and pictures
  scripts/topics.py --check [--toolkit DIR]  makes them elsewhere and says which pages and pictures that are
                                             kept are not the same; status 1

Every run is in modelled time on the virtual H200, so that the same toolkit makes the same pages every time. Another
architecture compiles kernels to other instructions: there the check runs nothing and compares the programs alone.
"""

import argparse
import concurrent.futures
import difflib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Runs of an example that are shown beside each other: title, options, arguments.
SEVERAL = {
    "03_sleep_streams": [
        ("One stream, pinned memory", [], ["1"]),
        ("Four streams, pinned memory", [], ["4"]),
        ("Four streams, pageable memory", [], ["4", "pageable"]),
    ],
    "18_gradient_hook": [
        ("The hook on the compute stream", [], ["compute"]),
        ("The hook on its own stream", [], ["own"]),
        ("On its own stream, with one connection", ["--connections", "1"], ["own"]),
    ],
}


def comment_of(source):
    lines = []
    for line in source.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return lines


def title_of(name):
    return name[3:].replace("_", " ").capitalize()


class Maker:
    def __init__(self, toolkit, out, work):
        self.toolkit, self.out, self.work = toolkit, out, work

    def run(self, program, options, arguments, trace):
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
        environment.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)
        done = subprocess.run(
            [self.toolkit / "bin/streambed", "run", program, "--device", "h200", "--trace", trace, "--force",
             "--timeline", trace.with_suffix(".html"), *options, "--", *arguments],
            capture_output=True, text=True, env=environment, cwd=ROOT / "examples", timeout=300)
        if done.returncode != 0:
            sys.exit(f"{program}: status {done.returncode}\n{done.stdout}{done.stderr}")
        explanation = re.split(r"\n\ntrace     ", done.stderr)[0].strip("\n")
        return done.stdout, explanation.replace(str(ROOT) + "/", "")

    def check_replay(self, trace, what):
        """The costs of findings come from a replay: unchanged, it has to be the run."""
        told = json.loads(subprocess.run([self.toolkit / "bin/streambed", "explain", "--json", trace], check=True,
                                         capture_output=True, text=True, timeout=300).stdout)
        run, overlap = told["run"], told["overlap"]
        span = overlap["end"] - overlap["begin"]
        if abs(run["modelled"] - run["length"]) > span / 100:
            sys.exit(f"{what}: the run took {run['length']} ns, its replay {run['modelled']}")
        if not overlap["possible"] <= overlap["busy"] <= span <= run["length"]:
            sys.exit(f"{what}: at best {overlap['possible']} ns, busy {overlap['busy']} of {span}, run {run['length']}")

    def page(self, source):
        name = source.stem
        program = self.work / name
        subprocess.run([self.toolkit / "bin/nvcc", "-o", program, source.name], check=True, timeout=300,
                       cwd=ROOT / "examples")
        text = source.read_text()
        words = [f"# {title_of(name)}", "", *comment_of(text), ""]
        runs = SEVERAL.get(name, [("", [], [])])
        for i, (title, options, arguments) in enumerate(runs):
            picture = name + (f"-{i + 1}" if len(runs) > 1 else "") + ".svg"
            trace = self.work / f"{name}.sbt"
            printed, explanation = self.run(program, options, arguments, trace)
            self.check_replay(trace, f"{name} {title}")
            subprocess.run([self.toolkit / "bin/streambed", "timeline", trace, "-o", self.out / picture, "--force"],
                           check=True, timeout=300)
            shown = " ".join(["streambed run --device h200", *options, f"examples/{name}.cu",
                              *(["--", *arguments] if arguments else [])])
            if title:
                words += [f"## {title}", ""]
            words += [f"    $ {shown}", *("    " + line for line in printed.splitlines()), "",
                      f"![Timeline of {name}]({picture})", "", "```text", explanation, "```", ""]
        words += ["## The program", "", f"[examples/{name}.cu](../../examples/{name}.cu)", "", "```cuda",
                  text.rstrip("\n"), "```", ""]
        (self.out / f"{name}.md").write_text("\n".join(words))


def index_of(sources):
    lines = ["# Topics", "", "Each page has a program, its timeline on the virtual H200 and its explanation, made by",
             f"`scripts/topics.py` on {platform.machine()}.", ""]
    lines += [f"- [{title_of(s.stem)}]({s.stem}.md)" for s in sources]
    return "\n".join(lines) + "\n"


def make(toolkit, out, sources):
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        maker = Maker(toolkit.resolve(), out, pathlib.Path(folder))
        for source, _ in zip(sources, threads.map(maker.page, sources)):
            print(source.stem, flush=True)
    (out / "README.md").write_text(index_of(sources))


def files_of(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def check_all(toolkit, kept, sources):
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder)
        make(toolkit, made, sources)
        new, old = files_of(made), files_of(kept)
    stale = sorted(name for name in {*new, *old} if new.get(name) != old.get(name))
    for name in stale:
        print(f"docs/topics/{name} is not what scripts/topics.py makes now: run it, and look at what has changed")
        if name.endswith(".md") and name in new and name in old:
            lines = difflib.unified_diff(old[name].decode().splitlines(), new[name].decode().splitlines(), "kept", "made",
                                         n=0, lineterm="")
            print("\n".join(list(lines)[:20]))
    return 1 if stale else 0


def check_programs(kept, sources):
    stale = []
    for source in sources:
        page = kept / f"{source.stem}.md"
        if not page.is_file() or source.read_text().rstrip("\n") not in page.read_text():
            stale.append(page.name)
        elif any(not (kept / name).is_file() for name in re.findall(r"\]\(([^)/]+\.svg)\)", page.read_text())):
            stale.append(page.name)
    stale += sorted(p.name for p in kept.glob("[0-9]*.md") if p.stem not in {s.stem for s in sources})
    for name in stale:
        print(f"docs/topics/{name} is not of this program; run scripts/topics.py")
    return 1 if stale else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toolkit", type=pathlib.Path, default=ROOT / "build/toolkit")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    kept = ROOT / "docs/topics"
    sources = sorted((ROOT / "examples").glob("[0-9]*.cu"))
    if given.check:
        index = kept / "README.md"
        here = index.is_file() and f" on {platform.machine()}." in index.read_text()
        return check_all(given.toolkit, kept, sources) if here else check_programs(kept, sources)
    kept.mkdir(parents=True, exist_ok=True)
    make(given.toolkit, kept, sources)
    return 0


if __name__ == "__main__":
    sys.exit(main())
