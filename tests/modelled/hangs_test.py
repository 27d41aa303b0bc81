"""Programs that hang or run out of time, through the shipped command: what stopped them is told."""

import subprocess
import unittest

from runs import HERE, TOOLKIT, Runs


class Hangs(Runs):
    def test_a_hang_is_told_and_ends(self):
        done = self.run_modelled(HERE / "programs/hangs.cu", status=124)
        self.assertEqual(done.stdout, "waiting\n")
        self.assertIn("the program hangs", done.stderr)
        self.assertIn("nobody writes memory that would end it", done.stderr)
        self.assertNotIn("CUDA_MODULE_LOADING", done.stderr)

    def test_kernels_that_sleep_between_looks_hang_only_if_nothing_can_end_them(self):
        source = HERE / "programs/naps.cu"
        done = self.run_modelled(source, status=124, arguments=("never",))
        self.assertEqual(done.stdout, "waiting\n")
        self.assertIn("kernel naps(int volatile*) stays in a loop: nobody writes memory that would end it", done.stderr)
        self.assertIn("1. The program hangs", done.stderr)
        for how in ("deadline", "tries", "host"):
            done = self.run_modelled(source, arguments=(how,))
            self.assertEqual(done.stdout, "waiting\nover\n", done.stderr)
            self.assertNotIn("hangs", done.stderr)

    def test_threads_that_look_at_what_a_sleeper_of_their_block_will_write_do_not_hang(self):
        source = HERE / "programs/sleepers.cu"
        # How many see it, and the microseconds that they wait at least.
        for how, saw, waited in (("sleep", 1, 40), ("warps", 63, 100_000), ("clock", 69, 505), ("timer", 62, 500),
                                 ("blocks", 98, 40), ("tries", 63, None), ("naps", 127, None), ("on", 38, 50),
                                 ("counts", 63, None), ("stopped", 64, None)):
            done = self.run_modelled(source, arguments=(how,))
            self.assertNotIn("hangs", done.stderr)
            self.assertRegex(done.stdout, f"^waiting\n{how}: {saw} saw it, 0 gave up, after [0-9]+ us\n$")
            if waited:
                self.assertRegex(done.stdout, f"after {waited} us")
        self.same_twice(source, arguments=("on",))

    def test_threads_that_look_together_let_blocks_begin_that_write(self):
        done = self.run_modelled(HERE / "programs/looking_together.cu")
        self.assertEqual(done.stdout, "cudaSuccess: 192 saw it\n" * 4)
        self.assertNotIn("hangs", done.stderr)

    def test_a_kernel_that_looks_so_many_times_at_most_is_no_hang(self):
        done = self.run_modelled(HERE / "programs/gives_up.cu")
        self.assertEqual(done.stdout, "cudaSuccess, 20000 looks\ncudaSuccess, 200000 looks\n10 times as long\n")
        self.assertNotIn("hangs", done.stderr)

    def test_threads_that_look_and_that_nap_hang_only_if_nobody_gives_up(self):
        source = HERE / "programs/sleepers.cu"
        done = self.run_modelled(source, status=124, arguments=("never",))
        self.assertIn("kernel never(outcome*) stays in a loop: nobody writes memory that would end it", done.stderr)
        done = self.run_modelled(source, arguments=("for_all",))
        self.assertIn("for_all: 31 saw it, 1 gave up", done.stdout)
        self.assertNotIn("hangs", done.stderr)

    def test_a_hang_inside_of_a_block_is_not_put_down_to_the_host_alone(self):
        words = " ".join(self.run_modelled(HERE / "programs/barrier.cu", status=124).stderr.split())
        self.assertIn("perhaps until memory is written by threads of its own that cannot go on, or by host thread 0", words)
        self.assertIn("as at __syncthreads() or in the same warp", words)

    def test_a_hang_names_the_ring_of_waits(self):
        done = self.run_modelled(HERE / "programs/ring.cu", "--connections", "1", status=124)
        words = " ".join(done.stderr.split())
        self.assertRegex(words, r'waits for each other in a ring, if what is guessed \("perhaps"\) is right: - ')
        for part in ("kernel after(int*) on stream 0 comes behind kernel gate() on stream 0 in its stream",
                     "host thread 0 waits for kernel opens() on stream 1 in cudaStreamSynchronize (ring.cu:31)",
                     "kernel opens() on stream 1 is used for the first time and is loaded only behind kernel after",
                     "kernel gate() on stream 0 does not end, perhaps until memory is written by kernel opens()",
                     "Load the kernel that waits to be loaded before", "CUDA_MODULE_LOADING=EAGER"):
            self.assertIn(part, words)
        table = subprocess.run([TOOLKIT / "bin/streambed", "export", self.work / "run.sbt", "--format", "csv"],
                               capture_output=True, text=True, timeout=60).stdout
        self.assertRegex(table, r"opens\(\).*loading:1: queue_head:1:")

    def test_a_program_that_runs_out_of_time_is_ended(self):
        done = subprocess.run(
            [TOOLKIT / "bin/streambed", "run", "/bin/sleep", "--timeout", "1", "--", "100"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 124)
        self.assertIn("--timeout", done.stderr)

    def stopped(self, program, there, *options, argument="aloud", told=()):
        """What a run says whose time is over after the program has said that it is there, and all of it is
        told: a busy machine gets more time."""
        for seconds in (2, 8, 32):
            done = subprocess.run([TOOLKIT / "bin/streambed", "run", program, *options, "--force",
                                   "--timeout", str(seconds), "--", argument],
                                  capture_output=True, text=True, timeout=120, cwd=self.work)
            self.assertEqual(done.returncode, 124, done.stderr)
            words = " ".join(done.stderr.split())
            if there in done.stdout and (seconds == 32 or all(part in words for part in told)):
                return done, seconds
        self.fail("the program came to nothing in 32 s")

    def test_a_program_that_runs_out_of_time_tells_what_was_pending(self):
        # By the real clock nobody sees that it hangs: the trace has who waits for whom all the same.
        trace = self.work / "stopped.sbt"
        done, seconds = self.stopped(self.program(HERE / "programs/ring.cu"), "all is pending", "--trace", trace,
                                     "--connections", "1")
        words = " ".join(done.stderr.split())
        for part in (f"the program was ended after {seconds} s (--timeout)", "ended by --timeout",
                     "Work was pending when the program's time was over",
                     "kernel gate() on stream 0 had run for",
                     "kernel after(int*) on stream 0 comes behind kernel gate() on stream 0 in its stream",
                     "kernel opens() on stream 1 is used for the first time and is loaded only behind kernel after"):
            self.assertIn(part, words)
        table = self.exported(trace)
        self.assertRegex(table, r"after\(int\*\).*stream_order:0:,")
        self.assertRegex(table, r"opens\(\).*loading:1: queue_head:1:")

    def test_a_program_that_has_closed_its_files_tells_it_too(self):
        told = ("ended by --timeout", "Work was pending when the program's time was over",
                "kernel waits(int volatile*) on stream 1 had run for")
        done, _ = self.stopped(self.program(HERE / "programs/stuck.cu"), "all is pending", "--trace",
                               self.work / "closes.sbt", argument="closes", told=told)
        for part in told:
            self.assertIn(part, " ".join(done.stderr.split()))

    def test_a_kernel_that_never_ends_is_told_with_the_call_that_the_host_is_in(self):
        source, lines = HERE / "programs/endless.cu", {}
        for number, line in enumerate(source.read_text().splitlines(), 1):
            lines.update({word: number for word in ("kernel<<<", "cudaStreamSynchronize") if word in line})
        for which in ("turns", "stays", "hides", "works"):
            kernel = f"kernel {which}(unsigned int*) on stream 1"
            waits = (f"host thread 0 waits for {kernel} in cudaStreamSynchronize "
                     f"(endless.cu:{lines['cudaStreamSynchronize']}) - {kernel}")
            with self.subTest(which):
                done, _ = self.stopped(self.program(source), "all is pending", "--trace", self.work / "endless.sbt",
                                       argument=which, told=(waits,))
                self.assertNotIn("wrong", done.stdout)
                self.assertIn(waits, " ".join(done.stderr.split()))
                if which != "works":
                    hung = self.run_modelled(source, status=124, arguments=(which,))
                    self.assertIn(f"{waits} does not end", " ".join(hung.stderr.split()))
        in_call = (f"host thread 0 is in cudaLaunchKernel (endless.cu:{lines['kernel<<<']}); modelled time goes on when "
                   f"{kernel} has run - {kernel} had run for")
        done, _ = self.stopped(self.program(source), "all is pending", "--trace", self.work / "endless.sbt", "--device",
                               "h200", argument="works", told=(in_call,))
        self.assertIn(in_call, " ".join(done.stderr.split()))

    def stuck(self, how, *options, root="kernel waits(int volatile*) on stream 1 had run for"):
        """What is said of the program that stops in this way: in modelled time it is seen to hang, by the
        real clock its time is over."""
        source = HERE / "programs/stuck.cu"
        hung = self.run_modelled(source, *options, status=124, arguments=(how,)).stderr
        stopped, _ = self.stopped(self.program(source), "all is pending", "--trace",
                                  self.work / "stuck.sbt", *options, argument=how,
                                  told=("host thread 0 waits for", root))
        hung, stopped = (" ".join(words.split()) for words in (hung, stopped.stderr))
        self.assertIn("1. The program hangs", hung)
        self.assertIn("1. Work was pending when the program's time was over", stopped)
        self.assertNotIn("4294967295", hung + stopped)
        self.assertIn("From what the host waited for, back to what had not ended: - host thread 0 waits for",
                      stopped)
        return hung, stopped

    def assert_in_order(self, parts, words):
        at = 0
        for part in parts:
            self.assertIn(part, words[at:])
            at = words.index(part, at) + len(part)

    def test_a_hang_by_kernels_that_wait_for_each_others_flags(self):
        hung, stopped = self.stuck("cross")
        chain = ("kernel sets(int volatile*) on stream 1 in cudaStreamSynchronize",
                 "comes behind kernel waits(int volatile*) on stream 1 in its stream")
        self.assert_in_order((*chain, "stream 1 does not end, perhaps until memory that it reads is written by", "on stream 2",
                              "comes behind kernel waits(int volatile*) on stream 2"), hung)
        self.assert_in_order((*chain, "on stream 1 had run for", "on stream 2 had run for"), stopped)

    def test_a_hang_by_the_head_of_a_queue(self):
        hung, stopped = self.stuck("queue", "--connections", "1")
        held = "stream 9 is in hardware queue 0 behind kernel works(int*) on stream 1"
        self.assertIn(held, hung)
        self.assert_in_order(("waits for kernel sets(int volatile*) on stream 9 in", held,
                              "kernel works(int*) on stream 1 comes behind kernel waits(int volatile*)",
                              "kernel waits(int volatile*) on stream 1 had run for"), stopped)

    def test_a_hang_by_connections_that_are_all_held(self):
        hung, stopped = self.stuck("crowd", "--connections", "8")
        held = "stream 9 waits for a hardware connection; all 8 are held, one of them by kernel works"
        self.assertIn(held, hung)
        self.assert_in_order((held, "comes behind kernel waits(int volatile*)", "had run for",
                              "more operations were not over"), stopped)

    def test_a_hang_by_a_host_function_that_waits(self):
        hung, stopped = self.stuck("function", root="host function on stream 1 had run for")
        self.assertIn("stream 1 waits for a semaphore, perhaps until something is done by host thread 0", hung)
        self.assert_in_order(("waits for kernel works(int*) on stream 1 in cudaStreamSynchronize (stuck.cu:",
                              "comes behind host function on stream 1",
                              "host function on stream 1 had run for"), stopped)
        self.assertIn("and had not returned", stopped)

    def hang_by_locks(self, how):
        return " ".join(self.run_modelled(HERE / "programs/locks.cu", status=124, arguments=(how,)).stderr.split())

    def test_a_hang_names_who_holds_the_lock_that_a_host_function_wants(self):
        self.assert_in_order(("These wait for each other in a ring:",
                              "host thread 0 waits for kernel nothing() on stream 0 in cudaStreamSynchronize (locks.cu:",
                              "kernel nothing() on stream 0 comes behind host function on stream 0 in its stream",
                              "host function on stream 0 waits for a lock, which is held by host thread 0",
                              "Change: Break the ring at one of these places: release a lock before"),
                             self.hang_by_locks("function"))

    def test_a_hang_by_two_locks_in_opposite_order_names_both_holders(self):
        self.assert_in_order(("These wait for each other in a ring:",
                              "host thread 0 waits for lock 0 (its last call was cudaStreamSynchronize, locks.cu:",
                              "which is held by host thread 1",
                              "thread 1 waits for lock 1, which is held by host thread 0"), self.hang_by_locks("order"))

    def test_a_hang_through_a_thread_that_is_joined_names_the_lock(self):
        self.assert_in_order(("thread 0 waits for the end of host thread 1", "thread 1 waits for a lock, which is held by",
                              "host thread 0"), self.hang_by_locks("joined"))

    def test_a_thread_that_takes_its_own_lock_is_told(self):
        self.assertRegex(self.hang_by_locks("own"), r"host thread 0 waits for a lock \(.*\), which it holds itself")

    def test_a_hang_by_a_lock_whose_holder_has_ended_says_so(self):
        for how, holder in (("ended", "host thread 1"), ("unknown", "a thread")):
            self.assert_in_order(("host thread 0 waits for a lock (its last call was cudaStreamSynchronize, locks.cu:",
                                  f"which is held by {holder} that has ended",
                                  "Change: Let a thread release its locks before it ends"), self.hang_by_locks(how))

    def test_a_hang_after_the_first_thread_has_left_is_seen(self):
        self.assertIn("host thread 1 waits for the signal of a condition", self.hang_by_locks("left"))
        self.same_twice(HERE / "programs/locks.cu", status=124, arguments=("left",))

    def test_a_hang_through_a_lock_a_stream_and_a_condition_is_one_ring(self):
        self.assert_in_order(("wait for each other in a ring, if what is guessed (\"perhaps\") is right:",
                              "host thread 1 waits for a lock, which is held by host thread 0",
                              "host thread 0 waits for host function on stream 0 in cudaStreamSynchronize",
                              "host function on stream 0 waits for the signal of a condition, perhaps until "
                              "something is done by host thread 1", "Change:"),
                             self.hang_by_locks("chain"))
        self.same_twice(HERE / "programs/locks.cu", status=124, arguments=("chain",))

    def test_a_hang_by_a_host_function_that_waits_for_another_names_both(self):
        self.assert_in_order(("perhaps until something is done by host function on stream 2, or by host thread 0",
                              "host function on stream 2 needs the engine that is held by host function on stream 0",
                              "Let no host function wait for what another does"), self.hang_by_locks("functions"))

    def test_a_hang_by_a_flag_that_nobody_sets(self):
        hung, stopped = self.stuck("flag")
        chain = ("kernel works(int*) on stream 2 comes behind wait for event 0 on stream 2 in its stream",
                 "waits for event 0, which is recorded by record of event 0 on stream 1",
                 "with 5 between them", "kernel waits(int volatile*) on stream 1 had run for")
        self.assert_in_order(chain[:2], hung)
        self.assert_in_order((*chain, "and 7 more operations were not over"), stopped)

    def test_a_host_that_asks_or_looks_for_ever_is_named(self):
        program = self.program(HERE / "programs/asking.cu")
        for how, chain in {
            "event": ("host thread 0 asks cudaEventQuery (asking.cu:40) again and again,",
                      "and waits for record of event 0 on stream 0",
                      "record of event 0 on stream 0 comes behind kernel waits(int volatile*) on stream 0",
                      "kernel waits(int volatile*) on stream 0 had run for"),
            "flag": ("host thread 0 is in none of the runtime's calls (its last call was cudaLaunchKernel, asking.cu:43)",
                     "looks at memory that is perhaps written by kernel sets(int volatile*) on stream 0",
                     "kernel sets(int volatile*) on stream 0 comes behind kernel waits(int volatile*) on stream 0"),
            "function": ("host thread 0 waits for kernel sets(int volatile*) on stream 1 in cudaStreamSynchronize",
                         "host function on stream 1 had run for",
                         "kernel sets(int volatile*) on stream 1, which comes behind it, writes memory that the host sees"),
            "asking_function": ("host thread 0 waits for host function on stream 1 in cudaStreamSynchronize",
                                "host function on stream 1, as it seems on host thread 1, asks cudaEventQuery "
                                "(asking.cu:18) again and again", "and waits for record of event 0 on stream 0"),
        }.items():
            for clock in (("--trace", self.work / "asking.sbt"), ("--device", "h200")):
                done, _ = self.stopped(program, "all is pending", *clock, argument=how, told=chain)
                words = " ".join(done.stderr.split())
                self.assertIn("From what the host waited for, back to what had not ended: - host thread 0", words)
                self.assert_in_order(chain, words)

    def test_a_flag_that_is_set_hangs_nobody(self):
        done = self.run_modelled(HERE / "programs/stuck.cu", arguments=("not",))
        self.assertTrue(done.stdout.endswith("ok\n"))
        self.assertNotIn("hangs", done.stderr)
        self.assertNotIn("pending when", done.stderr)

    def test_a_program_that_does_not_answer_when_its_time_is_over_is_killed(self):
        stands = self.work / "stands.cu"
        stands.write_text("#include <csignal>\n#include <cstdio>\n#include <cuda_runtime.h>\n"
                          "__global__ void once() {}\n"
                          "int main() {\n  once<<<1, 1>>>();\n  cudaDeviceSynchronize();\n"
                          "  std::puts(\"it ran\");\n  std::fflush(stdout);\n  raise(SIGSTOP);\n}\n")
        trace = self.work / "stands.sbt"
        done, _ = self.stopped(self.program(stands), "it ran", "--trace", trace)
        self.assertIn("once()", self.exported(trace, status=3))
        self.assertIn("The trace stops before the program's end", done.stderr)

    def test_a_program_without_cuda_that_runs_out_of_time_is_killed(self):
        done = subprocess.run(
            [TOOLKIT / "bin/streambed", "run", "/bin/sleep", "--timeout", "1", "--device", "h200", "--", "100"],
            capture_output=True, text=True, timeout=60, cwd=self.work)
        self.assertEqual(done.returncode, 124)
        self.assertIn("--timeout", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
