"""The `streambed` command: what it answers, and with which exit status."""

import fcntl
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

STREAMBED = sys.argv.pop()


def streambed(*arguments, **options):
    return subprocess.run([STREAMBED, *arguments], text=True, capture_output=True, timeout=60,
                          **options)


class Command(unittest.TestCase):
    def test_version_names_the_runtime_api(self):
        answer = streambed("--version")
        self.assertEqual(answer.returncode, 0)
        self.assertRegex(answer.stdout, r"^streambed \d+\.\d+\.\d+ \(CUDA 13\.0 runtime API\)$")

    def test_help_lists_every_subcommand(self):
        answer = streambed("--help")
        self.assertEqual(answer.returncode, 0)
        for name in ("run", "device", "doctor", "explain", "export", "timeline"):
            self.assertRegex(answer.stdout, rf"(?m)^  {name} ")

    def test_an_answer_that_cannot_be_written_is_told(self):
        for command in (["--help"], ["--version"], ["run", "--help"], ["device", "list"], ["device", "show"],
                        ["device", "show", "h200", "--text"], ["doctor"]):
            with self.subTest(command), open("/dev/full", "w") as full:
                if command == ["doctor"] and streambed("doctor").returncode != 0:
                    continue  # something is missing here, and that is its answer
                answer = subprocess.run([STREAMBED, *command], stdout=full, stderr=subprocess.PIPE, text=True,
                                        timeout=60)
                self.assertEqual(answer.returncode, 1)
                self.assertRegex(answer.stderr, "^streambed: .*writ.*No space left on device\n$")

    def test_an_unknown_subcommand_is_named(self):
        answer = streambed("fly")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("no subcommand 'fly'", answer.stderr)

    def test_an_unknown_option_is_named(self):
        answer = streambed("run", "--fly", "/bin/true")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--fly", answer.stderr)


class Run(unittest.TestCase):
    def test_passes_arguments_after_two_dashes(self):
        answer = streambed("run", "/bin/echo", "--", "a", "--b", "--", "c d")
        self.assertEqual((answer.returncode, answer.stdout), (0, "a --b -- c d\n"))

    def test_passes_the_exit_status_through(self):
        self.assertEqual(streambed("run", "/bin/sh", "--", "-c", "exit 37").returncode, 37)

    def test_a_signal_becomes_words_and_128_plus_its_number(self):
        answer = streambed("run", "/bin/sh", "--", "-c", "kill -SEGV $$")
        self.assertEqual(answer.returncode, 128 + signal.SIGSEGV)
        self.assertIn("signal 11", answer.stderr)

    def test_a_status_above_128_that_the_program_returned_is_no_signal(self):
        for status in (129, 137, 188, 255):
            answer = streambed("run", "/bin/sh", "--", "-c", f"exit {status}")
            self.assertEqual((answer.returncode, answer.stderr), (status, ""))

    def test_options_become_the_environment_of_the_program(self):
        answer = streambed("run", "--devices", "3", "--connections=1", "--launch-blocking",
                           "/usr/bin/env")
        for line in ("STREAMBED_DEVICES=3", "CUDA_DEVICE_MAX_CONNECTIONS=1",
                     "CUDA_LAUNCH_BLOCKING=1"):
            self.assertIn(line, answer.stdout.splitlines())

    def test_without_options_the_environment_stays(self):
        environment = {**os.environ, "STREAMBED_DEVICES": "5"}
        environment.pop("CUDA_LAUNCH_BLOCKING", None)
        lines = streambed("run", "/usr/bin/env", env=environment).stdout.splitlines()
        self.assertIn("STREAMBED_DEVICES=5", lines)
        self.assertFalse([line for line in lines if line.startswith("CUDA_LAUNCH_BLOCKING=")])

    def test_an_unknown_device_is_told_before_anything_is_compiled_or_run(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "wrong.cu"
            source.write_text("this does not compile")
            answer = streambed("run", str(source), "--device", "abacus", cwd=folder)
            self.assertEqual(answer.returncode, 2)
            self.assertIn("abacus", answer.stderr)
            self.assertNotIn("compile", answer.stderr)
            self.assertNotIn("called nothing of CUDA", answer.stderr)

    def test_a_missing_file_is_named(self):
        answer = streambed("run", "nowhere.cu")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("there is no file 'nowhere.cu'", answer.stderr)

    def test_a_second_executable_is_explained(self):
        answer = streambed("run", "/bin/echo", "5")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("-- 5", answer.stderr)

    def test_numbers_of_devices_that_there_cannot_be_are_refused(self):
        for number in ("0", "65", "100000"):
            answer = streambed("run", "--devices", number, "/bin/echo", "--", "it ran")
            self.assertEqual((answer.returncode, answer.stdout), (2, ""))
            self.assertIn(f"--devices: must be 1 to 64, not {number}", answer.stderr)
        answer = streambed("run", "--devices", "64", "/usr/bin/env")
        self.assertIn("STREAMBED_DEVICES=64", answer.stdout.splitlines())

    def test_options_that_would_change_nothing_are_refused(self):
        for option, words in (("--host-time", "--host-time is for modelled time"),
                              ("--nvcc=-O0", "--nvcc is for sources, and '/bin/echo' is compiled")):
            answer = streambed("run", option, "/bin/echo", "--", "it ran")
            self.assertEqual((answer.returncode, answer.stdout), (2, ""))
            self.assertIn(words, answer.stderr)

    def test_more_connections_than_there_are_in_hardware_are_refused(self):
        for number in ("33", "99", "0", "-1", "99999999999"):
            answer = streambed("run", f"--connections={number}", "/bin/echo", "--", "it ran")
            self.assertEqual((answer.returncode, answer.stdout), (2, ""))
            self.assertIn(f"--connections: must be 1 to 32, not {number}", answer.stderr)
        self.assertEqual(streambed("run", "--connections", "32", "/bin/true").returncode, 0)

    def test_an_empty_device_is_refused(self):
        answer = streambed("run", "--device", "", "/bin/echo", "--", "it ran")
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertIn("--device: must not be empty", answer.stderr)

    def test_a_folder_is_no_device(self):
        with tempfile.TemporaryDirectory() as folder:
            for command in (("run", "--device", folder, "/bin/echo", "--", "it ran"),
                            ("device", "show", folder)):
                answer = streambed(*command, cwd=folder)
                self.assertEqual((answer.returncode, answer.stdout), (2, ""))
                self.assertIn(f"{folder}: it is a folder, not a profile", answer.stderr)
                self.assertEqual(os.listdir(folder), [])

    def test_a_request_to_end_reaches_the_program(self):
        program = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"
        with subprocess.Popen([STREAMBED, "run", "/bin/sh", "--", "-c", program], text=True,
                              stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.terminate()
            self.assertEqual(process.wait(timeout=30), 9)


    def test_a_number_that_is_too_small_is_told_in_few_words(self):
        answer = streambed("run", "--timeout", "0", "/bin/true")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--timeout: must be 1 or more, not 0", answer.stderr)


class RunOutputs(unittest.TestCase):
    """Files that cannot be written are told before the program runs."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def refused(self, *options, words, program="/bin/echo"):
        answer = streambed("run", *options, program, "--", "it ran", cwd=self.path)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""), answer.stderr)
        self.assertIn(words, answer.stderr)

    def test_a_place_that_is_not_there(self):
        for option in ("--trace", "--timeline"):
            with self.subTest(option):
                self.refused("--quiet", option, "nowhere/x", words="'nowhere/x' cannot be written: No such")
        self.assertEqual(list(self.path.iterdir()), [])

    def test_a_folder_and_a_device_are_no_traces(self):
        self.refused("--quiet", "--force", "--trace", str(self.path), words="it is a folder")
        self.refused("--quiet", "--force", "--timeline", str(self.path), words="it is a folder")
        self.refused("--quiet", "--force", "--trace", "/dev/full", words="no regular file")

    def test_one_file_for_trace_and_timeline(self):
        self.refused("--trace", "x", "--timeline", "./x", words="both be 'x'")
        self.refused("--trace", "x.html", "--device", "h200", "--force", words="both be 'x.html'")
        (self.path / "a").write_text("")
        (self.path / "b").hardlink_to(self.path / "a")
        self.refused("--force", "--trace", "a", "--timeline", "b", words="both be 'a'")

    def test_an_input_is_no_output(self):
        program = self.path / "own.sh"
        program.write_text("#!/bin/sh\necho it ran\n")
        program.chmod(0o755)
        (self.path / "link").symlink_to(program)
        before = program.read_text()
        for option in ("--trace", "--timeline"):
            for name in ("own.sh", "link"):
                with self.subTest(option=option, name=name):
                    self.refused("--force", option, name, words="is read by this run", program=str(program))
                    self.refused(option, name, words="is read by this run", program=str(program))
        self.assertEqual(program.read_text(), before)

    def test_a_file_of_somebody_else_is_not_written_over_even_when_asked(self):
        source = self.path / "kernels.cu"
        source.write_text("__global__ void k() {}\n")
        (self.path / "link").symlink_to(source)
        (self.path / "data.csv").write_text("1,2\n")
        for option, name in (("--trace", "kernels.cu"), ("--timeline", "kernels.cu"), ("--trace", "link"),
                             ("--timeline", "link"), ("--trace", "data.csv")):
            with self.subTest(option=option, name=name):
                words = f"'{name}' is there and was not written by streambed"
                self.refused("--force", option, name, words=words)
                self.refused(option, name, words=words)
        self.assertEqual(source.read_text(), "__global__ void k() {}\n")
        self.assertEqual((self.path / "data.csv").read_text(), "1,2\n")

    def test_a_file_that_its_name_or_its_first_bytes_say_is_ours_is_written_over_when_asked(self):
        (self.path / "old.sbt").write_text("anything")
        (self.path / "old").write_bytes(b"\x89SBTR\r\n\x1a and more")
        (self.path / "empty").write_text("")
        for name in ("old.sbt", "old", "empty"):
            with self.subTest(name):
                answer = streambed("run", "--quiet", "--force", "--trace", name, "/bin/echo", "--", "it ran",
                                   cwd=self.path)
                self.assertEqual(answer.stdout, "it ran\n", answer.stderr)
        self.assertEqual(list(self.path.glob(".*")), [])

    def test_a_trace_that_a_program_is_writing_stays_as_it_is(self):
        with open(self.path / "x.sbt", "w") as written:
            written.write("of another run")
            written.flush()
            fcntl.flock(written, fcntl.LOCK_EX)
            self.refused("--quiet", "--force", "--trace", "x.sbt", words="another program is writing 'x.sbt'")
            self.assertEqual((self.path / "x.sbt").read_text(), "of another run")
        answer = streambed("run", "--quiet", "--force", "--trace", "x.sbt", "/bin/echo", cwd=self.path)
        self.assertIn("there is no trace", answer.stderr)

    def test_an_old_trace_stays_when_the_program_cannot_be_run(self):
        old = self.path / "old.sbt"
        old.write_text("of another run")
        wrong = self.path / "wrong"
        wrong.write_bytes(b"\x7fELF of no machine")
        (self.path / "wrong.cu").write_text("int main() { return there_is_no_such_thing; }")
        for program, words, mode in (("wrong", "cannot run", 0o755), ("wrong", "cannot run", 0o644),
                                     ("none", "there is no file", 0o755), ("wrong.cu", "compile", 0o755)):
            with self.subTest(program=program, mode=mode):
                wrong.chmod(mode)
                answer = streambed("run", "--force", "--trace", "old.sbt", program, cwd=self.path)
                self.assertNotEqual(answer.returncode, 0)
                self.assertIn(words, answer.stderr)
                self.assertEqual(old.read_text(), "of another run")
        self.assertEqual(sorted(file.name for file in self.path.iterdir()), ["old.sbt", "wrong", "wrong.cu"])

    def test_only_traces_of_this_run_are_told_of(self):
        for number in (1, 3):
            (self.path / f"x.{number}.sbt").write_text("of another run")
        answer = streambed("run", "--trace", "x.sbt", "/bin/sh", "--", "-c", "echo other > x.2.sbt; exit 3",
                           cwd=self.path)
        self.assertEqual(answer.returncode, 3, answer.stderr)
        told = [line.split()[1] for line in answer.stderr.splitlines() if "another process" in line]
        self.assertEqual(told, ["x.2.sbt"], answer.stderr)

    def test_a_program_without_cuda_leaves_no_trace_and_that_is_told(self):
        old = self.path / "old.sbt"
        old.write_text("of another run")
        answer = streambed("run", "--quiet", "--force", "--trace", str(old), "/bin/echo", "--", "it ran")
        self.assertEqual((answer.returncode, answer.stdout), (1, "it ran\n"))
        self.assertIn("there is no trace", answer.stderr)
        self.assertFalse(old.exists())
        answer = streambed("run", "--quiet", "--trace", str(old), "/bin/sh", "--", "-c", "exit 37")
        self.assertEqual(answer.returncode, 37)


class Device(unittest.TestCase):
    def test_list_takes_no_more_words(self):
        answer = streambed("device", "list", "x")
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertIn("'x' is one word too many", answer.stderr)

    def test_options_of_another_action_are_refused(self):
        for action, *options in (("list", "-o", "x"), ("list", "--text"), ("list", "--nvcc", "x"), ("list", "--quick"),
                                 ("list", "--force"), ("show", "-o", "x"), ("show", "--force"),
                                 ("calibrate", "--text")):
            answer = streambed("device", action, *options)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""), options)
            self.assertRegex(answer.stderr, f"--[a-z]+ means nothing with {action}\n")

    def test_list_names_the_h200(self):
        answer = streambed("device", "list")
        self.assertEqual(answer.returncode, 0)
        self.assertRegex(answer.stdout, r"(?m)^h200 +NVIDIA H200 ")

    def test_show_gives_what_the_profile_says(self):
        answer = streambed("device", "show", "h200")
        self.assertEqual(answer.returncode, 0)
        self.assertRegex(answer.stdout, r"multiprocessors +132\n")

    def test_an_unknown_device_is_named_with_those_that_exist(self):
        answer = streambed("device", "show", "abacus")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("abacus", answer.stderr)
        self.assertIn("h200", answer.stderr)

    def test_list_has_all_built_in_devices(self):
        answer = streambed("device", "list")
        self.assertEqual([line.split()[0] for line in answer.stdout.splitlines()],
                         ["h200", "fermi", "gtx1050", "no-overlap", "v100"])

    def test_a_small_cache_is_shown_in_kib(self):
        self.assertRegex(streambed("device", "show", "gtx1050").stdout, r"L2 cache +768 KiB")
        self.assertRegex(streambed("device", "show", "h200").stdout, r"L2 cache +60 MiB")

    def test_show_says_where_the_numbers_come_from(self):
        self.assertIn("measured on an NVIDIA H200", streambed("device", "show", "h200").stdout)
        for name in ("v100", "fermi", "gtx1050"):
            shown = streambed("device", "show", name).stdout
            self.assertIn("published figures", shown)
            self.assertIn("what calls cost is the H200's", shown)

    def test_show_text_prints_the_file_itself(self):
        answer = streambed("device", "show", "fermi", "--text")
        self.assertIn("\nbase = h200\n", answer.stdout)
        self.assertIn("\nhardware_queues = 1\n", answer.stdout)

    def test_show_reads_a_file_and_names_the_line_that_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "my.profile"
            path.write_text("base = v100\norigin = a test\nmultiprocessors = 3\n")
            answer = streambed("device", "show", str(path))
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertRegex(answer.stdout, r"multiprocessors +3\n")
            path.write_text("base = v100\norigin = a test\nwheels = 4\n")
            answer = streambed("device", "show", str(path))
            self.assertEqual(answer.returncode, 2)
            self.assertIn(f"{path}:3: wheels: there is no such key", answer.stderr)


class Calibrate(unittest.TestCase):
    """With compilers that only seem to be ones: there is no GPU here."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def compiler(self, program):
        """An nvcc that turns everything into this shell script."""
        nvcc = self.path / "nvcc"
        nvcc.write_text("#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n"
                        f"cat > \"$2\" <<'END'\n#!/bin/sh\n{program}\nEND\nchmod +x \"$2\"\n")
        nvcc.chmod(0o755)
        return dict(os.environ, PATH=f"{self.path}:{os.environ['PATH']}")

    def test_without_a_compiler_it_says_what_is_missing(self):
        answer = streambed("device", "calibrate", env={"PATH": str(self.path)})
        self.assertEqual(answer.returncode, 1)
        self.assertIn("there is no nvcc on PATH", answer.stderr)

    def test_our_own_compiler_is_refused(self):
        own = pathlib.Path(STREAMBED).resolve().parent
        if not (own / "nvcc").exists():
            self.skipTest("this toolkit has no nvcc")
        answer = streambed("device", "calibrate", env=dict(os.environ, PATH=str(own)))
        self.assertEqual(answer.returncode, 1)
        self.assertIn("Streambed's own", answer.stderr)

    def test_a_machine_without_a_gpu_is_told_and_nothing_is_written(self):
        out = self.path / "gpu.profile"
        answer = streambed("device", "calibrate", "-o", str(out), env=self.compiler("exit 4"))
        self.assertEqual(answer.returncode, 1)
        self.assertIn("no GPU", answer.stderr)
        self.assertFalse(out.exists())

    def test_what_was_measured_becomes_a_profile_that_can_be_used(self):
        out = self.path / "gpu.profile"
        env = self.compiler("echo name = My GPU; echo multiprocessors = 42; echo call.cudaMalloc = 7")
        answer = streambed("device", "calibrate", "-o", str(out), env=env)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        shown = streambed("device", "show", str(out)).stdout
        self.assertRegex(shown, r"My GPU\n(.*\n)*.*multiprocessors +42\n")
        self.assertIn("call.cudaMalloc = 7\n", out.read_text())
        self.assertNotIn("clock_khz", out.read_text())

        again = streambed("device", "calibrate", "-o", str(out), env=env)
        self.assertEqual(again.returncode, 2)
        self.assertIn("--force", again.stderr)
        self.assertEqual(streambed("device", "calibrate", "-o", str(out), "--force", env=env).returncode, 0)

    def test_a_profile_stays_when_the_new_one_cannot_be_written(self):
        def nearly_full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        out = self.path / "gpu.profile"
        out.write_text("mine")
        # The profile has its name twice.
        env = self.compiler("echo name = " + "x" * 600)
        answer = streambed("device", "calibrate", "-o", str(out), "--force", env=env, preexec_fn=nearly_full)
        self.assertEqual((answer.returncode, out.read_text()), (1, "mine"), answer.stderr)
        self.assertIn("File too large", answer.stderr)
        self.assertEqual(sorted(os.listdir(self.path)), ["gpu.profile", "nvcc"])

    def test_a_file_that_is_no_profile_is_not_written_over(self):
        env = self.compiler("echo name = My GPU; echo multiprocessors = 42")
        source = self.path / "program.cu"
        source.write_text("int main() {}\n")
        for name in (source, self.path / "nvcc"):
            before = name.read_text()
            answer = streambed("device", "calibrate", "-o", str(name), "--force", env=env)
            self.assertEqual(answer.returncode, 2)
            self.assertIn("is there and was not written by streambed", answer.stderr)
            self.assertEqual(name.read_text(), before)
        unnamed = self.path / "mine"
        for _ in range(2):
            answer = streambed("device", "calibrate", "-o", str(unnamed), "--force", env=env)
            self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_nonsense_from_the_device_is_no_profile(self):
        out = self.path / "gpu.profile"
        env = self.compiler("echo multiprocessors = 0")
        answer = streambed("device", "calibrate", "-o", str(out), env=env)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("multiprocessors", answer.stderr)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
