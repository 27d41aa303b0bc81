"""Programs that are run in modelled time through the shipped command."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
THREAD_STARTS = pathlib.Path(sys.argv.pop()).resolve()
HERE = pathlib.Path(__file__).resolve().parent


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        cls.programs = {}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def program(self, source):
        if source not in self.programs:
            made = self.work / source.stem
            standard = "c++20" if source.stem in ("ends", "locks", "looks", "waits") else "c++17"
            openmp = ["-Xcompiler", "-fopenmp"] if source.stem == "openmp" else []
            subprocess.run([TOOLKIT / "bin/nvcc", f"-std={standard}", *openmp, "-o", made, source],
                           check=True, timeout=300)
            self.programs[source] = made
        return self.programs[source]

    def run_modelled(self, source, *options, name="run", status=0, arguments=(), starts=None):
        environment = dict(os.environ)
        if starts:
            environment.update(LD_PRELOAD=str(THREAD_STARTS), THREAD_STARTS=starts)
        command = [TOOLKIT / "bin/streambed", "run", self.program(source), "--device", "h200",
                   "--trace", self.work / f"{name}.sbt", "--force", *options, "--", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=self.work,
                              env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def exported(self, trace, status=0):
        done = subprocess.run([TOOLKIT / "bin/streambed", "export", trace, "--format", "csv"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def explained(self, trace):
        return json.loads(subprocess.run(
            [TOOLKIT / "bin/streambed", "explain", "--json", trace],
            capture_output=True, text=True, timeout=60, check=True).stdout)

    def same_twice(self, source, **how):
        first = self.run_modelled(source, "--quiet", name="first", **how)
        second = self.run_modelled(source, "--quiet", name="second", **how)
        self.assertEqual(first.stdout, second.stdout)
        self.assertEqual((self.work / "first.sbt").read_bytes(),
                         (self.work / "second.sbt").read_bytes())
        return first.stdout

    def traces(self, source, arguments=(), status=0):
        """What several runs print, beside other work and on one core. They are the same, as are their traces,
        which say so."""
        program, first = self.program(HERE / "programs" / source), None
        one_core = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
        try:
            for before in ([], one_core, ["nice"], [*one_core, "nice"]):
                trace = self.work / "run.sbt"
                done = subprocess.run([*before, TOOLKIT / "bin/streambed", "run", program, "--device", "h200", "--quiet",
                                       "--trace", trace, "--force", "--", *arguments],
                                      capture_output=True, text=True, timeout=120, cwd=self.work)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                this = done.stdout, trace.read_bytes()
                first = first or this
                self.assertEqual(this[0], first[0])
                self.assertTrue(this[1] == first[1], f"the traces differ with {before}")
        finally:
            for other in others:
                other.kill()
                other.wait()
        run = self.explained(self.work / "run.sbt")["run"]
        self.assertTrue(run["deterministic"])
        self.assertEqual(run["ending"], "complete")
        return first[0]
