"""Blocks that wait for blocks which find no room: a hang, in modelled time and by the real clock."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(__file__).parent / "programs" / "grid_barrier.cu"
WAITING = ("kernel {}(unsigned int*) on stream 1 has 264 of its 300 blocks on the device; they look at memory in vain, "
           "perhaps until it is written by the 36 others, which find no room beside them")


class GridBarrier(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        subprocess.run([TOOLKIT / "bin/nvcc", "-o", cls.folder / "program", PROGRAM], check=True, timeout=120)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def words(self, status, arguments, *options):
        done = subprocess.run([TOOLKIT / "bin/streambed", "run", self.folder / "program", "--force", "--trace",
                               self.folder / "run.sbt", *options, "--", *arguments],
                              capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return " ".join(done.stderr.split())

    def check(self, title, kernel, words):
        self.assertIn(f"1. {title}", words)
        self.assertIn(WAITING.format(kernel), words)
        self.assertIn("in a ring, if what is guessed", words)
        self.assertIn("cudaLaunchCooperativeKernel", words)

    def test_in_modelled_time_the_hang_is_seen(self):
        for kernel in ("meet", "nap"):
            words = self.words(124, (kernel, "300"), "--device", "h200")
            self.check("The program hangs", kernel, words)
            self.assertIn("with 264 of its 300 blocks on the device and 36 that find no room there", words)

    def test_when_its_time_is_over_the_blocks_are_told(self):
        for kernel in ("meet", "nap"):
            for seconds in ("2", "8", "32"):  # a busy machine gets more time
                words = self.words(124, (kernel, "300"), "--timeout", seconds)
                if WAITING.format(kernel) in words:
                    break
            self.check("Nothing moved any more when the program's time was over", kernel, words)

    def test_a_kernel_without_room_that_would_set_a_flag(self):
        words = self.words(124, ("flag", "264"), "--device", "h200")
        self.assertIn("kernel sets(unsigned int volatile*) on stream 2 finds no room on the device beside kernel "
                      "waits(unsigned int volatile*) on stream 1, of which 264 blocks are there", words)

    def test_blocks_that_all_have_room_meet(self):
        for arguments in (("meet", "264"), ("nap", "264"), ("flag", "263")):
            self.assertNotIn("hangs", self.words(0, arguments, "--device", "h200"))


if __name__ == "__main__":
    unittest.main()
