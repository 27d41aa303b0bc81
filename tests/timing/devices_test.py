"""Profiles as a program meets them: through STREAMBED_DEVICE, by name and by file.

Called as: devices_test.py TOOLKIT
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOOLKIT = pathlib.Path(sys.argv.pop(1))


def run(program, device, **more):
    environment = dict(os.environ, STREAMBED_DEVICE=str(device), **more)
    environment["LD_PRELOAD"] = str(TOOLKIT / "lib64/streambed/libstreambed_interpose.so")
    return subprocess.run([str(program)], env=environment, capture_output=True, text=True, timeout=300)


class Devices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = pathlib.Path(cls.folder.name) / "devices"
        cls.compile(cls.program)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def compile(cls, program, *flags):
        subprocess.run([str(TOOLKIT / "bin/nvcc"), "-std=c++17", *flags, "-o", str(program),
                        str(HERE / "devices.cu")], check=True)

    def values(self, device, **more):
        done = run(self.program, device, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return dict(line.split("\t") for line in done.stdout.splitlines())

    def times(self, device, **more):
        words = ("name", "main", "end")
        return {k: float(v) for k, v in self.values(device, **more).items() if k not in words}

    def profile(self, text, name="own.profile"):
        path = pathlib.Path(self.folder.name) / name
        path.write_text("base = h200\norigin = a test\n" + text)
        return path

    def near(self, value, wanted):
        self.assertLess(abs(value - wanted), 0.1 * wanted + 30, f"{value} instead of about {wanted}")

    def test_on_an_h200_everything_overlaps(self):
        t = self.times("h200")
        self.near(t["in_and_kernel"], max(t["in"], t["kernel"]))
        self.near(t["in_and_out"], t["in"] / 0.91)
        self.near(t["two_kernels"], 1000)
        self.near(t["depth_first"], 2000)

    def test_without_overlap_everything_takes_turns(self):
        t = self.times("no-overlap")
        self.assertEqual((t["overlap"], t["async_engines"]), (0, 0))
        self.near(t["in_and_kernel"], t["in"] + t["kernel"])
        self.near(t["in_and_out"], t["in"] + t["out"])
        self.near(t["two_kernels"], 2000)
        self.near(t["depth_first"], 8000)

    def test_one_engine_is_shared_by_both_directions(self):
        t = self.times(self.profile("copy_engines = 1\n"))
        self.assertEqual((t["overlap"], t["async_engines"]), (1, 1))
        self.near(t["in_and_out"], t["in"] + t["out"])
        self.near(t["in_and_kernel"], max(t["in"], t["kernel"]))

    def test_a_fermi_has_one_queue_whatever_one_sets(self):
        t = self.times("fermi", CUDA_DEVICE_MAX_CONNECTIONS="8")
        self.near(t["depth_first"], 5000)
        self.near(t["two_kernels"], 1000)
        self.assertEqual(t["greatest"], 0)

    def test_a_program_sees_the_properties_of_its_device(self):
        v = self.values("v100")
        self.assertEqual((v["name"], v["multiprocessors"]), ("Tesla V100-SXM2-16GB", "80"))
        v = self.values("gtx1050")
        self.assertEqual((v["name"], v["multiprocessors"]), ("NVIDIA GeForce GTX 1050", "6"))

    def test_slower_links_and_the_same_program(self):
        fast, slow = self.times("h200"), self.times("gtx1050")
        self.near(slow["in"], fast["in"] * 55.52 / 12)
        self.near(slow["kernel"], 1000)

    def test_a_static_program_knows_the_profiles_too(self):
        program = pathlib.Path(self.folder.name) / "static"
        self.compile(program, "-cudart", "static")
        done = run(program, "v100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("multiprocessors\t80", done.stdout)

    def refused(self, device, *words):
        done = run(self.program, device)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "", "main has begun")
        for word in words:
            self.assertIn(word, done.stderr)

    def test_an_unknown_device_ends_the_program_before_main(self):
        self.refused("h2000", "STREAMBED_DEVICE", "'h2000'", "gtx1050", "no-overlap")

    def test_a_broken_profile_is_named_with_line_and_key(self):
        path = self.profile("multiprocessors = many\n")
        self.refused(path, f"{path}:3: multiprocessors: 'many' is not a number")
        path = self.profile("clock_khz = 1000\nmultiprocesors = 3\n")
        self.refused(path, f"{path}:4: multiprocesors: there is no such key")
        self.refused("/nowhere/at.profile", "/nowhere/at.profile: the profile cannot be read")


class Variants(unittest.TestCase):
    def test_programs_that_nothing_was_fitted_on_stay_within_their_bounds(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "variants"
            subprocess.run([str(TOOLKIT / "bin/nvcc"), "-std=c++17", "-o", str(program),
                            str(HERE / "variants.cu")], check=True)
            for device in ("h200", "v100", "gtx1050"):
                done = run(program, device)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                rows = [line.split("\t") for line in done.stdout.splitlines()[:-1]]
                self.assertGreater(len(rows), 20)
                outside = [row for row in rows
                           if not float(row[2]) <= float(row[1]) <= float(row[3])]
                self.assertEqual(outside, [], device)


class Counting(unittest.TestCase):
    def test_a_kernel_takes_as_long_when_its_blocks_are_counted(self):
        """The second launch is counted, the fourth is not; counting takes the host long here."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "counted"
            subprocess.run([str(TOOLKIT / "bin/nvcc"), "-std=c++17", "-o", str(program),
                            str(HERE / "counted.cu")], check=True)
            done = run(program, "h200")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        times = done.stdout.split()
        self.assertEqual(len(times), 3, times)
        self.assertEqual(len(set(times)), 1, times)


class Captures(unittest.TestCase):
    def test_what_is_captured_costs_less_and_what_is_beside_it_does_not(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "captures"
            subprocess.run([str(TOOLKIT / "bin/nvcc"), "-std=c++17", "-o", str(program),
                            str(HERE / "captures.cu")], check=True)
            done = run(program, "h200")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        t = {what: int(ns) for what, ns in (line.split() for line in done.stdout.splitlines())}
        for what in ("kernel", "copy"):
            self.assertLess(t[f"captured.{what}"], 600)
        for what in ("kernel", "copy", "malloc"):
            self.assertGreater(t[f"beside.{what}"], 2000)
            self.assertEqual(t[f"beside.{what}"], t[f"after.{what}"])
        self.assertGreater(t["instantiate"], t["launch.again"])
        self.assertGreater(t["launch.first"], t["launch.again"] + 1000)
        self.assertGreater(t["upload"], t["upload.again"] + 1000)
        self.assertEqual(t["launch.uploaded"], t["launch.again"])


class Calibration(unittest.TestCase):
    """Measuring the virtual H200 gives back the profile that it runs by."""

    # Measured through other work than their own: kernels count their loops, graphs their ends.
    WIDE = {"fp32_per_ns", "fp64_per_ns", "shared_bytes_per_ns", "memory_bytes_per_ns",
            "special_per_ns", "blocks_per_ns", "block_turn_ns"}
    # Answered without asking the runtime, which takes no modelled time.
    # A copy inside the device begins and ends before the host is through with the record after it.
    FREE = {"call.cudaGetLastError", "call.cudaPeekAtLastError", "copy_inside_ns"}

    @staticmethod
    def numbers(text):
        found = {}
        for line in text.splitlines():
            key, separator, value = line.split("#")[0].partition("=")
            try:
                if separator:
                    found[key.strip()] = float(value)
            except ValueError:
                pass  # a word, or several numbers
        return found

    def test_the_virtual_h200_is_measured_as_its_profile_says(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "measured.profile"
            environment = dict(os.environ, STREAMBED_DEVICE="h200")
            environment["LD_PRELOAD"] = str(TOOLKIT / "lib64/streambed/libstreambed_interpose.so")
            done = subprocess.run([str(TOOLKIT / "bin/streambed"), "device", "calibrate", "--quick", "--nvcc",
                                   str(TOOLKIT / "bin/nvcc"), "-o", str(out)], env=environment,
                                  capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            measured = self.numbers(out.read_text())  # only what differs at all
        profile = self.numbers((TOOLKIT / "share/streambed/devices/h200.profile").read_text())
        self.assertGreater(len(measured), 20)
        wrong = []
        for key, value in measured.items():
            if key in self.FREE:
                continue
            wanted = profile[key]
            allowed = (0.3 if key in self.WIDE else 0.08) * abs(wanted)
            if key.endswith("_ns") and not key.endswith("_per_ns") or key.startswith("call."):
                allowed += 50
            if abs(value - wanted) > allowed:
                wrong.append(f"{key}: {value} instead of {wanted}")
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
