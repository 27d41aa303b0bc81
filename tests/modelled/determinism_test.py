"""Programs whose threads meet in many ways: the same trace in every run, on one core and beside other
work, or one that says that it may differ."""

import re
import unittest

from runs import Runs


class Determinism(Runs):
    def test_threads_are_cancelled_where_they_wait_and_clean_up(self):
        words = self.traces("cancels.cu")
        cancelled = re.findall(r"(\d) cancelled 1 cleaned 1 destroyed 1 free 1 at", words)
        self.assertEqual(cancelled, [str(i) for i in range(9)], words)
        until, = re.findall(r"refused until (\S+)", words)
        before, = re.findall(r"8 cancelled .* at (\S+)", words)
        self.assertGreaterEqual(float(until), float(before) + 2000)
        self.assertIn("refuses, cancelled 1", words)
        self.assertIn("first cancelled 1", words)

    def test_other_threads_are_where_they_are_when_a_thread_ends_the_program(self):
        for how in ("return", "exit", "other", "joined", "naps"):
            with self.subTest(how):
                self.assertEqual(self.traces("at_exit.cu", (how,), 7),
                                 "the last call answers 0\n" if how != "naps" else "")

    def test_threads_wait_for_what_is_done_once_and_for_spin_locks(self):
        words = self.traces("once.cu")
        at = {}
        for what, ns in re.findall(r"(.*) \d+ at (\S+)", words):
            at.setdefault(what, []).append(float(ns))
        for what in ("pthread_once", "call_once"):
            self.assertEqual(len(at[what]), 4, words)
            self.assertEqual(min(at[what]), max(at[what]), words)
        self.assertEqual([len(at[what]) for what in ("failed", "did it or found it done", "spin lock")], [2, 2, 12], words)
        self.assertEqual(at["spin lock"], sorted(at["spin lock"]), words)

    def test_threads_that_compute_for_long_keep_their_turn(self):
        self.assertEqual(len(self.traces("computes.cu").split()), 3)

    def test_memory_that_kernels_take_lies_at_the_same_place_for_the_model(self):
        threads, length = 24 * 128, 7
        whole = length * threads * (threads - 1) // 2 + threads * length * (length - 1) // 2
        self.assertEqual(self.traces("takes_memory.cu"), f"{whole} cudaSuccess\n")

    def test_threads_of_openmp_are_the_same_in_every_run(self):
        for threads in ("4", "8"):
            with self.subTest(threads):
                self.assertEqual(self.traces("openmp.cu", (threads,)), f"{threads}\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
