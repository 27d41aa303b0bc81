"""Modelled time through the shipped command: the same in every run, and programs that poll or wait for
each other come to an end."""

import csv
import io
import json
import os
import re
import subprocess
import unittest

from runs import HERE, THREAD_STARTS, TOOLKIT, Runs

EXAMPLES = HERE.parent.parent / "examples"


class Modelled(Runs):
    def waits(self, trace):
        """What each operation waited for."""
        return [row["waits"] for row in csv.DictReader(io.StringIO(self.exported(trace)))]

    def replayed(self, source, **how):
        """By how much of the device's time the replay behind an explanation, unchanged, is off."""
        self.run_modelled(source, "--quiet", name="replayed", **how)
        done = subprocess.run([TOOLKIT / "bin/streambed", "explain", "--json", self.work / "replayed.sbt"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        run, overlap = told["run"], told["overlap"]
        span = overlap["end"] - overlap["begin"]
        self.assertLessEqual(overlap["possible"], overlap["busy"], (source, how))
        self.assertLessEqual(overlap["busy"], span, (source, how))
        self.assertLessEqual(span, run["length"], (source, how))
        return abs(run["modelled"] - run["length"]) / span

    def test_the_replay_behind_an_explanation_is_as_long_as_the_run(self):
        off = [self.replayed(HERE / "programs/mixes.cu", arguments=[str(seed)]) for seed in range(1, 13)]
        off.append(self.replayed(HERE / "programs/sharing.cu"))
        self.assertLess(sorted(off)[len(off) // 2], 0.001, off)
        self.assertLess(max(off), 0.05, off)

    def test_kernels_side_by_side_share_arithmetic_and_memory_and_waits_share_nothing(self):
        told = self.same_twice(HERE / "programs/sharing.cu")
        took = {}
        for line in told.splitlines():
            what, streams, us = line.split()
            took.setdefault(what, {})[int(streams)] = float(us)
        gain = {what: us[1] / us[4] for what, us in took.items()}
        self.assertLess(gain["compute"], 1.15, took)  # each fills the pipes
        self.assertGreater(gain["compute"], 0.95, took)
        self.assertGreater(gain["few"], 3, took)  # each has a quarter of the multiprocessors
        self.assertLess(gain["move"], 1.3, took)
        self.assertGreater(gain["move"], 0.95, took)
        self.assertGreater(gain["wait"], 3.5, took)

    def test_kernels_round_as_they_do_by_the_real_clock(self):
        """The blocks that are counted are of another version."""
        source = HERE.parent / "conformance/fused.cu"
        plain = subprocess.run([self.program(source)], capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertIn("fused.float.sum\tfused\n", plain)
        self.assertEqual(self.run_modelled(source, "--quiet").stdout, plain)

    def test_every_example_is_the_same_twice(self):
        for source in sorted(EXAMPLES.glob("[0-9]*.cu")):
            with self.subTest(source.name):
                self.assertTrue(self.same_twice(source).endswith("\nok\n"))

    def test_programs_that_poll_end(self):
        words = self.same_twice(HERE / "programs/polls.cu")
        self.assertRegex(words, r"event polled \d{3,} times in 10\d\d\.\d+ us")
        self.assertIn("the other kernel waits", words)
        self.assertRegex(words, r"it saw 7 after \d+\.\d+ us\nok\n$")

    def test_asking_through_a_second_is_thousands_of_calls_and_late_by_a_thousandth(self):
        for arguments, most_late_us in ([], 1100), (["late"], 5):
            words = self.same_twice(HERE / "programs/asks.cu", arguments=arguments)
            self.assertRegex(words, r"^asked \d+ times, late by \d+\.\d us\nok\n$")
            asked, late_us = (float(number) for number in re.findall(r"[\d.]+", words))
            self.assertTrue(asked < 20_000 and late_us < most_late_us, words)

    def test_a_question_takes_no_longer_than_a_millisecond_however_many_came_before_it(self):
        words = self.same_twice(HERE / "programs/asks.cu", arguments=["often"])
        self.assertLess(float(re.fullmatch(r"asked for (\d+\.\d) s\n", words).group(1)), 40)

    def test_threads_take_turns_in_modelled_time(self):
        words = self.same_twice(HERE / "programs/threads.cu")
        times = [float(t) for t in re.findall(r"at (\d+\.\d+) us", words)]
        self.assertEqual(len(times), 20)
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[-1], 20 * 30)

    def test_every_way_to_wait_for_a_thread_takes_modelled_time(self):
        words = self.same_twice(HERE / "programs/waits.cu")
        self.assertTrue(words.endswith("\nok\n"), words)
        self.assertEqual(len(re.findall(r"\d us\n", words)), 13)
        self.assertTrue(self.explained(self.work / "first.sbt")["run"]["deterministic"])

    def test_the_threads_locks_and_conditions_of_c_take_modelled_time(self):
        words = self.same_twice(HERE / "programs/c11_threads.cu")
        found = [line.split() for line in words.splitlines()]
        self.assertEqual([(what, result) for what, result, _ in found],
                         [("begin", "0"), ("joined", "7"), ("condition", "1"), ("lock", "1"), ("taken", "1")])
        begin, joined, condition, lock, taken = (float(ms) for _, _, ms in found)
        self.assertGreater(joined, 1)
        self.assertLess(joined, 2)
        for at, before, ms in ((condition, joined, 100_000), (lock, condition, 3000), (taken, condition, 5000)):
            self.assertAlmostEqual(at - before, ms, delta=1)
        self.assertTrue(self.explained(self.work / "first.sbt")["run"]["deterministic"])

    def test_threads_that_wait_at_the_end_and_forks_hold_nobody(self):
        for how in ("pool", "word", "detached", "fork", "barrier", "own", "left"):
            for options in ([], ["--host-time"]):
                with self.subTest(how, options=options):
                    done = self.run_modelled(HERE / "programs/ends.cu", "--quiet", *options, arguments=[how])
                    self.assertEqual(done.stdout, "ok\n" + ("joined\n" if how in ("pool", "word") else ""))
                    self.assertNotIn("hangs", done.stderr)

    def test_threads_wait_for_each_other_with_the_hosts_time_too(self):
        done = self.run_modelled(HERE / "programs/maker.cu", "--quiet", "--host-time")
        self.assertEqual(done.stdout, "ok\n")
        done = self.run_modelled(HERE / "programs/threads.cu", "--quiet", "--host-time")
        self.assertTrue(done.stdout.endswith("\nok\n"))

    def test_a_run_that_depends_on_this_machine_says_so(self):
        done = self.run_modelled(HERE / "programs/silent.cu", name="silent")
        self.assertEqual(done.stdout, "ok\n")
        self.assertIn("another run may come out differently", " ".join(done.stderr.split()))
        self.assertFalse(self.explained(self.work / "silent.sbt")["run"]["deterministic"])
        self.run_modelled(HERE / "programs/own_code.cu", "--quiet", "--host-time", name="measured")
        self.assertFalse(self.explained(self.work / "measured.sbt")["run"]["deterministic"])

    def test_every_clock_and_every_sleep_is_modelled(self):
        self.assertEqual(self.same_twice(HERE / "programs/clocks.cu"), "ok\n")

    def test_processor_time_is_modelled_too(self):
        self.assertEqual(self.same_twice(HERE / "programs/processor_time.cu"), "ok\n")

    def test_a_flag_is_seen_when_the_kernel_has_written_it(self):
        done = self.run_modelled(HERE / "programs/flag.cu", "--quiet")
        self.assertTrue(done.stdout.endswith("\nok\n"), done.stdout)

    def test_host_and_kernel_answer_each_other_by_memory_alone(self):
        for arguments in ((), ("beside",)):
            done = self.run_modelled(HERE / "programs/mailbox.cu", "--quiet", arguments=arguments)
            self.assertEqual(done.stdout, "ok\n")

    def test_a_kernel_without_room_waits_and_its_cost_is_what_a_priority_gains(self):
        # Small ones that are shorter than a wave, and longer: then their room is free again as the next one ends.
        for us in ("40", "70"):
            self.run_modelled(HERE / "programs/full.cu", "--quiet", name="full", arguments=["plain", us])
            facts = self.explained(self.work / "full.sbt")
            found = {f["rule"]: f for f in facts["findings"]}["kernel-fills-device"]
            waits = self.waits(self.work / "full.sbt")
            self.assertRegex(waits[1], r"device_full:0:\d+")
            self.run_modelled(HERE / "programs/full.cu", "--quiet", name="urgent", arguments=["urgent", us])
            urgent = self.explained(self.work / "urgent.sbt")
            self.assertEqual(urgent["findings"], [])
            gained = facts["run"]["length"] - urgent["run"]["length"]
            self.assertGreater(gained, 300_000)
            self.assertLess(abs(found["cost"] - gained), gained / 20, us)

    def test_the_programs_own_code_takes_its_time_only_when_asked_to(self):
        self.assertEqual(self.same_twice(HERE / "programs/own_code.cu"), "none\n")
        done = self.run_modelled(HERE / "programs/own_code.cu", "--quiet", "--host-time")
        self.assertEqual(done.stdout, "some\n")

    def test_every_process_of_a_program_has_its_own_trace(self):
        kernels = lambda name: self.exported(self.work / name).count(",kernel,")
        done = self.run_modelled(HERE / "programs/children.cu", name="self", arguments=["self"])
        self.assertEqual((kernels("self.sbt"), kernels("self.1.sbt")), (10, 3))
        self.assertIn("self.1.sbt (of another process that the program started)", done.stderr)
        done = self.run_modelled(HERE / "programs/children.cu", name="fork", arguments=["fork"])
        self.assertEqual((kernels("fork.sbt"), kernels("fork.1.sbt")), (3, 3))
        self.assertFalse((self.work / "fork.2.sbt").exists())

    def test_a_program_that_closes_its_files_is_recorded_to_its_end(self):
        self.run_modelled(HERE / "programs/children.cu", "--quiet", name="close", arguments=["close"])
        self.assertEqual(self.exported(self.work / "close.sbt").count(",kernel,"), 20_001)

    def test_a_program_without_a_call_of_cuda_is_told(self):
        source = self.work / "nothing.cu"
        source.write_text("int main() {}\n")
        done = subprocess.run([TOOLKIT / "bin/streambed", "run", source, "--device", "h200"],
                              capture_output=True, text=True, timeout=120, cwd=self.work)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("the program called nothing of CUDA", done.stderr)

    def test_calls_with_typed_pointers_have_their_lines(self):
        source = self.work / "typed.cu"
        source.write_text("int main() {\n  float* p;\n  cudaMalloc(&p, 4);\n  int* q;\n  cudaMallocHost(&q, 4);\n"
                          "  cudaMallocAsync(&p, 4, 0);\n  cudaMallocManaged(&q, 4);\n}\n")
        for options in ([], ["--nvcc=-O0"], ["--nvcc=-O2"]):
            subprocess.run([TOOLKIT / "bin/streambed", "run", source, *options, "--device", "h200", "--quiet",
                            "--force", "--trace", "typed.sbt"], check=True, timeout=120, cwd=self.work)
            told = json.loads(subprocess.run([TOOLKIT / "bin/streambed", "export", "-f", "chrome", "typed.sbt"],
                                             check=True, capture_output=True, cwd=self.work).stdout)
            events = told["traceEvents"] if isinstance(told, dict) else told
            lines = {e["name"]: e["args"].get("line", "") for e in events if e.get("cat") == "call"}
            for name, line in (("cudaMalloc", 3), ("cudaHostAlloc", 5), ("cudaMallocAsync", 6),
                               ("cudaMallocManaged", 7)):
                self.assertTrue(lines[name].endswith(f"typed.cu:{line}"), lines)

    def test_it_does_not_matter_when_the_system_lets_a_thread_begin(self):
        self.assertTrue(THREAD_STARTS.is_file())
        # The first has a kernel that looks at memory all the while: it must not look once more.
        for source in (EXAMPLES / "08_per_thread_default_stream.cu", HERE / "programs/threads.cu",
                       HERE / "programs/maker.cu", EXAMPLES / "11_callback_pipeline.cu"):
            with self.subTest(source.name):
                traces = set()
                for starts in ("early", "late"):
                    self.run_modelled(source, "--quiet", name=starts, starts=starts)
                    traces.add((self.work / f"{starts}.sbt").read_bytes())
                self.assertEqual(len(traces), 1)

    def test_the_runtimes_own_lock_is_none_that_a_reader_of_the_clock_waits_for(self):
        done = self.run_modelled(HERE / "programs/clock_reads.cu", "--quiet", starts="holding")
        self.assertEqual(done.stdout, "ok\n")

    def test_the_critical_path_follows_a_join(self):
        # `all` joins the thread with the long kernel, `early` only one that is over by then.
        kernels = {}
        for how in ("all", "early"):
            self.run_modelled(HERE / "programs/joins.cu", "--quiet", name=how, arguments=(how,))
            facts = self.explained(self.work / f"{how}.sbt")
            # The replay, in which the threads wait for each other again, takes as long as the run.
            self.assertEqual(facts["run"]["modelled"], facts["run"]["length"])
            path = facts["bound"]["path"]
            kernels[how] = sum(s["end"] - s["begin"] for s in path if s["work"] == "kernel")
            self.assertEqual(any(s["link"] == "other_thread" for s in path), how == "all")
        self.assertGreater(kernels["all"], 1_000_000)
        self.assertLess(kernels["early"], 500_000)

    def test_a_wait_for_a_connection_is_told_as_one(self):
        program = HERE / "programs/crowd.cu"
        self.assertTrue(self.same_twice(program, arguments=("depth",)).endswith("ok\n"))
        facts = self.explained(self.work / "first.sbt")
        # The ninth stream's first kernel waits until the first stream's last one leaves its queue.
        waits = self.waits(self.work / "first.sbt")
        self.assertEqual(len(waits), 1 + 16 * 4)
        self.assertRegex(waits[1 + 8 * 4], r"^queue_head:4:\d+$")
        self.assertEqual(sum("queue_head" in w for w in waits), 8)
        self.assertFalse(any("device_full" in w for w in waits))
        self.assertTrue(any(c["link"] == "queue_head" and c["percent"] > 5
                            for c in facts["bound"]["causes"]))
        found = {f["rule"]: f for f in facts["findings"]}["few-hardware-queues"]
        self.assertIn("CUDA_DEVICE_MAX_CONNECTIONS=32", found["change"])
        self.run_modelled(program, "--quiet", "--connections", "32", name="more",
                          arguments=("depth",))
        more = self.explained(self.work / "more.sbt")
        gained = facts["run"]["length"] - more["run"]["length"]
        self.assertLess(abs(found["cost"] - gained), gained / 50)
        self.assertEqual(more["findings"], [])

    def test_streams_that_find_a_connection_are_healthy(self):
        self.run_modelled(HERE / "programs/crowd.cu", "--quiet", arguments=("breadth",))
        self.assertEqual(self.explained(self.work / "run.sbt")["findings"], [])
        self.assertNotIn("queue_head", self.exported(self.work / "run.sbt"))

    def test_a_device_that_overlaps_nothing_is_told_as_such(self):
        turns = "this device does not overlap copies with kernels"
        for device, told in (("no-overlap", True), ("h200", False)):
            done = subprocess.run([TOOLKIT / "bin/streambed", "run", self.program(EXAMPLES / "16_image_batch.cu"),
                                   "--device", device, "--trace", self.work / "turns.sbt", "--force"],
                                  capture_output=True, text=True, timeout=120, cwd=self.work)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(turns in " ".join(done.stderr.split()), told, done.stderr)

    def test_the_table_of_overlap_has_straight_columns_with_two_devices(self):
        done = self.run_modelled(EXAMPLES / "17_two_devices.cu", "--devices", "2")
        table = done.stderr.split("Overlap\n")[1].splitlines()
        rows = [line for line in table if "device 0" in line or "device 1" in line]
        self.assertGreater(len(rows), 3, done.stderr)
        self.assertEqual({len(line) for line in [table[0], *rows]}, {len(table[0])}, done.stderr)

    def test_the_gradient_hook_takes_what_it_takes_on_the_device(self):
        # With one connection the hook on its own stream blocks backward again.
        def milliseconds(*options):
            words = self.run_modelled(EXAMPLES / "18_gradient_hook.cu", "--quiet", *options).stdout
            return [float(t) for t in re.findall(r" ([\d.]+) ms for 8 layers", words)]
        same, own = milliseconds()
        self.assertAlmostEqual(same / own, 8134 / 4585, delta=0.05)
        same, own = milliseconds("--connections", "1")
        self.assertAlmostEqual(own / same, 7791 / 8144, delta=0.05)

    def test_the_run_is_explained(self):
        done = self.run_modelled(EXAMPLES / "06_default_stream_barrier.cu")
        self.assertIn("What bounded the run", done.stderr)
        self.assertIn("in modelled time (h200)", done.stderr)
        self.assertTrue((self.work / "run.sbt").is_file())
        self.assertIn("run.sbt", done.stderr)

    def test_nothing_is_overwritten_without_being_asked(self):
        program = self.program(EXAMPLES / "01_stream_basics.cu")
        kept = self.work / "kept.sbt"
        kept.write_text("mine")
        done = subprocess.run([TOOLKIT / "bin/streambed", "run", program, "--device", "h200", "--trace", kept],
                              capture_output=True, text=True, timeout=120, cwd=self.work)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--force", done.stderr)
        self.assertEqual(kept.read_text(), "mine")
        for expected in ("01_stream_basics.sbt", "01_stream_basics-2.sbt"):
            done = subprocess.run([TOOLKIT / "bin/streambed", "run", program, "--device", "h200"],
                                  capture_output=True, text=True, timeout=120, cwd=self.work)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.work / expected).is_file())

    def test_a_quiet_run_writes_its_files(self):
        example = EXAMPLES / "01_stream_basics.cu"
        self.run_modelled(example, name="aloud")
        for options in (("--timeline", self.work / "quiet.html"), ()):
            done = self.run_modelled(example, "--quiet", *options, name="quiet")
            self.assertEqual(done.stderr, "")
            if (TOOLKIT / "share/streambed/timeline.html").exists():
                self.assertEqual((self.work / "quiet.html").read_bytes(), (self.work / "aloud.html").read_bytes())
                (self.work / "quiet.html").unlink()

    def test_a_file_that_cannot_be_written_is_an_error_also_in_quiet(self):
        example = EXAMPLES / "01_stream_basics.cu"
        done = self.run_modelled(example, "--quiet", "--timeline", "/dev/full", status=1)
        self.assertIn("'/dev/full' cannot be written", done.stderr)
        done = self.run_modelled(example, "--timeline", self.work / "picture.png", status=2)
        self.assertIn("`streambed timeline` draws .svg, .png and .txt", done.stderr)

    def test_a_program_that_is_killed_leaves_its_trace(self):
        trace = self.work / "killed.sbt"
        program = subprocess.Popen([self.program(HERE / "programs/hangs.cu")], stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "STREAMBED_TRACE": str(trace)})
        self.assertEqual(program.stdout.readline(), "waiting\n")
        program.kill()
        program.wait()
        program.stdout.close()
        done = subprocess.run([TOOLKIT / "bin/streambed", "export", trace, "--format", "csv"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("wait_for(int volatile*)", done.stdout)
        self.assertIn("hangs.cu:", done.stdout)

    def test_edges_say_why_operations_waited(self):
        self.run_modelled(EXAMPLES / "18_gradient_hook.cu", "--quiet", "--connections", "1", arguments=("own",))
        done = subprocess.run([TOOLKIT / "bin/streambed", "export", self.work / "run.sbt", "--format", "csv"],
                              capture_output=True, text=True, timeout=60)
        for cause in ("stream_order", "event", "queue_head"):
            self.assertIn(f"{cause}:", done.stdout)

    def test_host_code_takes_no_time_unless_asked(self):
        spends = self.work / "spends.cu"
        spends.write_text("#include <cstdio>\n#include <cuda_runtime.h>\n"
                          "int main() {\n  cudaEvent_t a, b;\n  cudaEventCreate(&a);\n"
                          "  cudaEventCreate(&b);\n  cudaEventRecord(a);\n  volatile double x = 0;\n"
                          "  for (int i = 0; i < 20000000; ++i) x = x + i;\n  cudaEventRecord(b);\n"
                          "  cudaEventSynchronize(b);\n  float ms;\n"
                          "  cudaEventElapsedTime(&ms, a, b);\n  printf(\"%f\\n\", ms);\n}\n")
        self.assertLess(float(self.run_modelled(spends, "--quiet").stdout), 0.1)
        self.assertGreater(float(self.run_modelled(spends, "--quiet", "--host-time").stdout), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
