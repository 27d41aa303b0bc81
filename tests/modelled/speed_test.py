"""Modelled time does not depend on how fast this machine is.

  speed_test.py TOOLKIT
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()


class Speed(unittest.TestCase):
    def test_what_is_counted_is_the_same_beside_another_program(self):
        with tempfile.TemporaryDirectory() as folder:
            program, trace = pathlib.Path(folder, "long_blocks"), pathlib.Path(folder, "run.sbt")
            subprocess.run([TOOLKIT / "bin/nvcc", "-o", program, HERE / "programs/long_blocks.cu"],
                           check=True, timeout=300)

            def run():
                subprocess.run([TOOLKIT / "bin/streambed", "run", program, "--device", "h200", "--quiet", "--force",
                                "--trace", trace], check=True, timeout=120, cwd=folder, stdout=subprocess.DEVNULL)
                return trace.read_bytes()

            alone, cores = run(), os.sched_getaffinity(0)
            os.sched_setaffinity(0, {min(cores)})  # for the programs that are started from now on, too
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            try:
                for _ in range(4):
                    self.assertEqual(run(), alone)
            finally:
                busy.kill()
                busy.wait()
                os.sched_setaffinity(0, cores)


if __name__ == "__main__":
    unittest.main(verbosity=2)
