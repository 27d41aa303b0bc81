"""`make demo` after its build: scripts/demo.sh over a toolkit shows the device, right results, and a run explained."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
TOOLKIT = pathlib.Path(sys.argv[2])


class Demo(unittest.TestCase):
    def setUp(self):
        # The script looks for build/toolkit beside itself.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="demo-test-"))
        for name in ("scripts", "examples"):
            (self.folder / name).symlink_to(SOURCE / name)
        (self.folder / "build").mkdir()
        (self.folder / "build/toolkit").symlink_to(TOOLKIT)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def demo(self):
        return subprocess.run(["scripts/demo.sh"], cwd=self.folder, text=True, timeout=500,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
                              stdin=subprocess.DEVNULL, capture_output=True)

    def test_it_shows_the_device_and_three_right_results(self):
        done = self.demo()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        text = done.stdout
        self.assertIn("H200", text.split("──")[0])
        shown = text.split("── ")[1:]
        self.assertEqual([part.split("\n")[0] for part in shown],
                         ["examples/01_stream_basics.cu", "examples/03_sleep_streams.cu",
                          "examples/04_overlap_orders.cu",
                          "The gradient hook on a virtual H200, in modelled time: timeline, explanation, "
                          "trace and page"])
        hook = shown.pop()
        for words in ("8 layers of 0.5 ms", "Kernels", "What bounded the run", "What to change", "timeline  "):
            self.assertIn(words, hook)
        for part in shown:
            name = part.split("\n")[0]
            self.assertIn(f"   $ streambed run {name}\n", part)
            # What it teaches comes before the command, its result behind it.
            before, after = part.split("   $ streambed run")
            self.assertGreater(len(before.strip().splitlines()), 1, name)
            self.assertIn("\n     ok\n", after)
        self.assertIn("All gave the right result.", hook)

    def test_it_fails_when_an_example_does(self):
        (self.folder / "examples").unlink()
        shutil.copytree(SOURCE / "examples", self.folder / "examples")
        (self.folder / "examples/03_sleep_streams.cu").write_text("int main() { return 1; }\n")
        done = self.demo()
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("All gave", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
