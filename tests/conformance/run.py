#!/usr/bin/env python3
"""Runs the conformance suite: every program with every setting, held against its recording.

  run.py                          with the nvcc on the PATH (Streambed's, if that is first)
  run.py --nvcc PATH              with this nvcc
  run.py --gpu                    on a real GPU: NVIDIA's nvcc, the recordings' device or another
  run.py --gpu --record           write what the GPU printed as the recording
  run.py --only ordering          one case; may be given several times
  run.py --emulator 'qemu-x86_64 -L /usr/x86_64-linux-gnu'    runs the programs by this command

Prints agree/total for each case and the first differences. The exit status is 0 when all agree,
1 when some do not, 2 when a program could not be built or run.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import compare  # noqa: E402
import suite  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NVIDIA_NVCC = "/usr/local/cuda/bin/nvcc"


class Broken(Exception):
    """A program that does not build, or does not come to its end."""


def newest_of_toolkit(nvcc):
    """When what makes programs changed last: the compiler, its passes and headers. Not the
    libraries that programs load when they run."""
    toolkit = pathlib.Path(nvcc).resolve().parent.parent
    places = [toolkit / "bin", toolkit / "include", toolkit / "lib64", toolkit / "lib"]
    files = (p for place in places if place.is_dir() for p in place.rglob("*") if p.is_file())
    times = (p.stat().st_mtime for p in files if not p.name.startswith("libcudart"))
    return max(times, default=pathlib.Path(nvcc).stat().st_mtime)


def build(nvcc, program, work, flags, units=()):
    """Compiles once; a second case with the same program finds it, until the source, the command
    or the toolkit changes."""
    source = HERE / program
    target = work / source.stem
    command = [nvcc, "-std=c++17", *flags]
    note = work / f"{source.stem}.command"
    wanted = "\n".join([*command, *(" ".join(u) for u in units)])
    newest = max([newest_of_toolkit(nvcc)] +
                 [p.stat().st_mtime for p in (source, *HERE.glob("*.h"))])
    if target.exists() and target.stat().st_mtime >= newest and read(note) == wanted:
        return target
    objects = []
    for number, unit in enumerate(((), *units) if units else ()):
        objects.append(str(work / f"{source.stem}.{number}.o"))
        run_compiler([*command, *unit, "-c", "-o", objects[-1], str(source)])
    run_compiler([*command, "-o", str(target), *(objects or [str(source)]), "-lpthread"])
    note.write_text(wanted)
    return target


def run_compiler(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken(f"{' '.join(command)}\n{done.stdout}{done.stderr}".rstrip())


def run_once(command, run, env, timeout):
    """What one process printed. A process that ends badly counts with what it printed so far."""
    full = {**os.environ, **dict(env), **dict(run.env)}
    if not any(k == suite.CONNECTIONS for k, _ in (*env, *run.env)):
        full.pop(suite.CONNECTIONS, None)
    # Its own folder: a fault may leave a core file.
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([*command, *run.args], env=full, cwd=folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=timeout)
            note = "" if process.returncode == 0 else f"exit status {process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            note = f"did not end within {timeout} s"
    if note:
        last = err.strip().splitlines()[-1:] or [""]
        print(f"  {pathlib.Path(command[-1]).name} {run}: {note} {last[0]}".rstrip())
    return out


def faults_of(command, recorded):
    """The names that the program lists and the recording knows; all, when there is none."""
    names = subprocess.run([*command, "list"], capture_output=True, text=True).stdout.split()
    # "fault.NAME.what"
    keys = [line.split("\t")[0].partition(".")[2] for line in recorded.splitlines()]
    known = [n for n in names if any(k.startswith(f"{n}.") for k in keys)]
    return [suite.Run(args=(n,)) for n in (known or names)]


def output_of(case, command, recorded, timeout):
    runs = faults_of(command, recorded) if case.listed else case.runs
    return "".join(run_once(command, r, case.env, timeout) for r in runs)


def ask_again(case, command, differences, settle, timeout):
    """The lines of these random programs, each in a process of its own with this time to settle."""
    seeds = [d.key.split(".")[1] for d in differences if d.printed is not None]
    env = case.runs[0].env
    runs = [suite.Run(env, (seed, "1", settle)) for seed in seeds]
    return "".join(run_once(command, r, case.env, timeout) for r in runs)


def device_is(name):
    """Whether the first GPU is of this model."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
                              capture_output=True, text=True)
    except FileNotFoundError:
        return True
    return name.lower() in done.stdout.lower() if done.returncode == 0 else True


def read(path):
    return path.read_text() if path.exists() else ""


def floors(path):
    """How many lines have to agree while the suite is not complete: "case<TAB>number"."""
    pairs = (line.split("\t") for line in read(path).splitlines() if line and line[0] != "#")
    return {name: int(number) for name, number in pairs}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", help="the compiler to use")
    parser.add_argument("--emulator", type=shlex.split, default=[], metavar="COMMAND",
                        help="runs the programs, for those of another processor")
    parser.add_argument("--gpu", action="store_true", help="a real GPU and NVIDIA's nvcc")
    parser.add_argument("--record", action="store_true", help="write the recordings")
    parser.add_argument("--only", action="append", default=[], metavar="CASE")
    parser.add_argument("--profile", default="h200", help="the folder of recordings (h200)")
    parser.add_argument("--outputs", type=pathlib.Path,
                        help="compare CASE.out files of this folder instead of running anything")
    parser.add_argument("--work", type=pathlib.Path, help="where programs are built and kept")
    parser.add_argument("--save", type=pathlib.Path, help="keep what was printed, as CASE.out")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one process")
    parser.add_argument("--show", type=int, default=5, help="differences to print for each case")
    parser.add_argument("--floors", type=pathlib.Path,
                        help="a file of numbers of lines that are enough, for what is not complete")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args(argv)
    if options.list:
        print("\n".join(c.name for c in suite.CASES))
        return 0
    cases = suite.find(options.only)
    recordings = HERE / options.profile
    recordings.mkdir(exist_ok=True)
    enough = floors(options.floors) if options.floors else {}

    nvcc, flags = options.nvcc, []
    if options.gpu:
        nvcc = nvcc or (NVIDIA_NVCC if os.path.exists(NVIDIA_NVCC) else None)
        flags = ["-arch=native"]
    nvcc = nvcc or shutil.which("nvcc")
    if not options.outputs and not (nvcc and os.path.exists(nvcc)):
        print("no nvcc: put one on the PATH or name it with --nvcc", file=sys.stderr)
        return 2
    other_device = options.gpu and not options.record and not device_is(options.profile)
    if other_device:
        print(f"the GPU is no {options.profile}: lines that belong to the device are left out")

    worst = 0
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or pathlib.Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for case in cases:
            path = recordings / f"{case.name}.tsv"
            recorded = read(path)
            try:
                if options.outputs:
                    printed = read(options.outputs / f"{case.name}.out")
                else:
                    binary = build(nvcc, case.program, work, [*flags, *case.flags], case.units)
                    command = [*options.emulator, str(binary)]
                    printed = output_of(case, command, recorded, options.timeout)
            except Broken as why:
                print(f"{case.name}: not built\n{why}")
                worst = 2
                continue
            if options.save:
                options.save.mkdir(parents=True, exist_ok=True)
                (options.save / f"{case.name}.out").write_text(printed)
            left_out = suite.OF_THE_DEVICE if other_device else None

            def judge(text, case=case, recorded=recorded, left_out=left_out):
                return compare.compare(recorded, text, case.variable, case.only_finished, left_out)

            result = judge(printed)
            lines = compare.parse(printed)
            for settle in suite.SETTLE_LONGER if case.ask_again else ():
                few = 0 < len(result.differences) <= result.total // 4
                if not few or options.outputs or options.record:
                    break
                again = compare.parse(
                    ask_again(case, command, result.differences, settle, options.timeout))
                print(f"  {case.name}: asked again for {', '.join(again)}")
                lines |= again
                result = judge("".join(f"{k}\t{v}\n" for k, v in lines.items()))
            print(f"{case.name}: {result.agree}/{result.total} agree")
            for difference in result.differences[:options.show]:
                print(f"  {difference}")
            if len(result.differences) > options.show:
                print(f"  and {len(result.differences) - options.show} more")
            if options.record:
                path.write_text(printed)
                print(f"  recorded in {path}")
                continue
            if not result.good and result.agree < enough.get(case.name, result.total + 1):
                worst = max(worst, 1)
            sys.stdout.flush()
    return worst


if __name__ == "__main__":
    sys.exit(main())
