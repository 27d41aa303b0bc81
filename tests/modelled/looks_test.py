"""Threads that look for the end of a wait by themselves and let others go first: they wait for these."""

import unittest

from runs import Runs

SOURCE = "looks.cu"


class Looks(Runs):
    def findings(self, *arguments):
        self.traces(SOURCE, arguments)
        return {found["rule"]: found for found in self.explained(self.work / "run.sbt")["findings"]}

    def own_code(self):
        """The part of the run in which the program's own code is what counts, in percent."""
        bound = self.explained(self.work / "run.sbt")["bound"]
        return sum(cause["percent"] for cause in bound["causes"] if cause["work"] == "host_code")

    def test_short_waits_are_no_code_of_the_program(self):
        for how in ("semaphore", "atomic", "yields", "barrier", "latch", "timed_semaphore", "timed_condition",
                    "timed_future", "sleeps"):
            with self.subTest(how):
                self.assertEqual(self.findings(how), {})
                self.assertLess(self.own_code(), 10)

    def test_what_a_thread_does_itself_is(self):
        for how in ("semaphore", "barrier", "timed_condition"):
            with self.subTest(how):
                self.assertIn("host-gaps", self.findings(how, "30"))
                self.assertGreater(self.own_code(), 30)

    def test_a_loop_for_a_lock_waits_for_who_has_it(self):
        found = self.findings("try_lock")
        self.assertNotIn("host-gaps", found)
        self.assertGreater(found["lock-held-while-waiting"]["percent"], 30)

    def test_who_gives_a_lock_up_does_not_wait_for_who_has_it(self):
        found = self.findings("gives_up")
        self.assertNotIn("lock-held-while-waiting", found)
        self.assertGreater(found["host-gaps"]["percent"], 30)

    def test_who_looks_while_nobody_else_is_there_does_not_wait(self):
        self.assertGreater(self.findings("alone")["host-gaps"]["percent"], 30)


if __name__ == "__main__":
    unittest.main(verbosity=2)
