"""cmake --install, then the whole prefix is moved: the toolkit must work from there alone."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD, EXAMPLES = sys.argv[1:4]
del sys.argv[1:]


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        first = pathlib.Path(folder.name, "first")
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", first], check=True,
                       stdout=subprocess.DEVNULL)
        cls.work = pathlib.Path(folder.name, "work")
        cls.work.mkdir()
        cls.prefix = pathlib.Path(folder.name, "a second place")
        shutil.move(first, cls.prefix)

    def run_there(self, *command, status=0):
        environment = {**os.environ, "PATH": f"{self.prefix / 'bin'}:/usr/bin:/bin"}
        environment.pop("LD_LIBRARY_PATH", None)
        done = subprocess.run(command, cwd=self.work, env=environment, capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_it_has_the_shape_of_a_toolkit(self):
        for name in ("bin/nvcc", "bin/streambed", "include/cuda_runtime.h", "lib64/libcudart.so",
                     "lib64/libcudart.so.13"):
            self.assertTrue((self.prefix / name).exists(), name)

    def test_nothing_in_it_names_the_build_folder(self):
        for path in self.prefix.rglob("*"):
            if path.is_file() and not path.is_symlink():
                self.assertNotIn(os.fsencode(BUILD), path.read_bytes(), path)

    def test_a_program_compiles_and_runs(self):
        self.run_there("nvcc", "-o", "basics", f"{EXAMPLES}/01_stream_basics.cu")
        self.assertTrue(self.run_there("./basics").endswith("ok\n"))
        libraries = self.run_there("ldd", "./basics")
        if "libcudart" in libraries:
            self.assertIn(str(self.prefix / "lib64"), libraries)

    def test_streambed_runs_a_program_from_there(self):
        output = self.run_there("streambed", "run", f"{EXAMPLES}/01_stream_basics.cu")
        self.assertTrue(output.endswith("ok\n"))

    def test_doctor_finds_everything(self):
        self.assertIn("Everything is here.", self.run_there("streambed", "doctor"))

    def test_a_program_that_does_not_parse_gets_the_compilers_message(self):
        (self.work / "bad.cu").write_text("int main() { return 0 }\n")
        done = subprocess.run([self.prefix / "bin/streambed", "run", "bad.cu"], cwd=self.work,
                              capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("bad.cu:1:", done.stderr)
        self.assertIn("expected ';'", done.stderr)


if __name__ == "__main__":
    unittest.main()
