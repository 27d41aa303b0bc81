"""Timers in modelled time: whoever they tell hears of it at their time, to the nanosecond and in every run.
A call that sets a timer takes 0.3 us and a look at the clock 0.025."""

import re
import unittest

from runs import HERE, Runs

# What the programs print. Times of the device's calls are a pattern.
EXPECTED = {
    "alarms": """\
        nanosleep -1 Interrupted system call hits 1 at 2000000.325, now 2000000.350
        left 3000000.000
        sleep 7
        alarm 8
        alarm 0
        pause -1 Interrupted system call hits 3 at 8000001.600, now 8000001.625
        usleep -1 Interrupted system call hits 4 at 500.325, now 500.350""",
    "waits": """\
        sem_timedwait -1 Interrupted system call hits 1 at 1000.325, now 1000.350
        sem_wait that goes on 0 ok hits 2 at 1000.325, now 3000.000
        sem_wait -1 Interrupted system call hits 3 at 1000.325, now 1000.350
        poll -1 Interrupted system call hits 4 at 1000.325, now 1000.350
        select -1 Interrupted system call hits 5 at 1000.325, now 1000.350
        endless poll -1 Interrupted system call hits 6 at 1000.325, now 1000.350
        condition 0 ok hits 7 at 1000.325, now 4000.375
        join 0 ok hits 8 at 1000.325, now 2000.325
        cudaDeviceSynchronize 0 ok hits 9 at 1000.325, now 20XX.XXX
        clock reads 0 ok hits 10 at 1000.325, now 1000.350
        stopped 0 ok hits 10 at 1000.325, now 3000.625""",
    "itimers": """\
        1000.325
        1250.325
        1500.325
        1750.325
        2000.325
        left 250 of 250, 250""",
    "masks": """\
        taken by the other 1 at 1000.325
        pending 1 hits 1
        unblocked 0 ok hits 2 at 5000.350, now 5000.375
        hits 2""",
    "posix": """\
        left 999700 500000
        left 499675 500000
        1000.325 overruns 0
        1500.325 overruns 0
        2000.325 overruns 0
        4300.650 overruns 3, 3
        deleted 0
        quiet left 599999400
        quiet left 0""",
    "threads": """\
        called 1 with 42 at 1000.325
        called 2 with 42 at 3000.325
        told 2 at 70XX.XXX""",
    "sigwaits": """\
        timer code -2 value 9 at 1000.325
        alarm code 128 value 0 at 1500.625
        timer code -2 value 9 at 2000.325
        overruns 2, 2
        sigtimedwait -1 Resource temporarily unavailable at 700.325
        sigwait 1 at 5000.325
        sigsuspend -1 Interrupted system call hits 1 at 800.325, now 800.350""",
    "files": """\
        read 1 at 1000.325
        read 4 at 2100.350
        left 149650 of 250000
        poll 1 at 2250.325
        poll 0 at 5250.650
        nonblocking -1 Resource temporarily unavailable
        epoll 1 second at 1000.625
        epoll 1 file at 2000.325
        epoll 0 at 4000.350
        select 1 at 5000.000, 3000 left
        past 8""",
    "loop": """\
        counter at 9XX.XXX
        timer at 1000.325
        signal at 1250.000
        counter at 18XX.XXX
        timer at 2000.325
        counter at 27XX.XXX
        timer at 3000.325""",
    "several": """\
        other 20XX.XXX
        first 21XX.XXX""",
    "sent": """\
        pause -1 Interrupted system call hits 1 at 1000.325, now 1000.350
        pause -1 Interrupted system call hits 2 at 2000.325, now 2000.350
        pause -1 Interrupted system call hits 3 at 3000.325, now 3000.350
        own 0 ok hits 4 at 3000.375, now 3000.400
        its own thread -1 Interrupted system call hits 5 at 1000.325, now 1000.350
        1""",
    "names": """\
        set 0
        read 1 at 1000.325
        closed -1 Bad file descriptor""",
    "alike": """\
        1000.325 overruns 0
        1000.350 overruns 0
        3000.325 overruns 0
        3000.350 overruns 0
        5000.325 overruns 0
        5000.350 overruns 0""",
    "jumps": """\
        out at 1000.325
        out at 2000.650
        400.325
        800.650
        1200.975
        0""",
    "never": """\
        0 0""",
}


FILES = {"files", "loop", "several", "names", "stuck"}


def source(how):
    return "timer_files.cu" if how in FILES else "timers.cu"


class Timers(Runs):
    def says(self, words, expected):
        wanted = [line.strip() for line in expected.splitlines()] + ["end"]
        for said, line in zip(words.splitlines(), wanted):
            self.assertRegex(said, "^" + re.escape(line).replace("X", r"\d") + "$", words)
        self.assertEqual(len(words.splitlines()), len(wanted), words)

    def test_timers_are_over_at_their_modelled_time_in_every_run(self):
        for how, expected in EXPECTED.items():
            with self.subTest(how):
                self.says(self.traces(source(how), (how,)), expected)

    def test_an_alarm_that_nobody_handles_ends_the_program(self):
        for _ in range(2):
            self.assertEqual(self.run_modelled(HERE / "programs/timers.cu", "--quiet", status=142,
                                               arguments=("killed",)).stdout, "waits\n")

    def test_a_timer_that_nobody_looks_at_keeps_no_program_going(self):
        done = self.run_modelled(HERE / "programs/timer_files.cu", "--quiet", status=124,
                                 arguments=("stuck",))
        self.assertIn("the program hangs", done.stderr)

    def test_a_timer_is_not_over_while_the_program_waits_for_something_outside(self):
        done = self.run_modelled(HERE / "programs/timers.cu", "--quiet", arguments=("watched",))
        self.assertEqual(done.stdout, "0\nhits 0\nend\n")

    def test_timers_of_processor_time_and_signals_to_silent_threads_depend_on_the_machine(self):
        for how in ("virtual", "profiled", "processor", "silent"):
            with self.subTest(how):
                done = self.run_modelled(HERE / "programs/timers.cu", arguments=(how,))
                self.assertEqual(done.stdout, "end\n")
                self.assertFalse(self.explained(self.work / "run.sbt")["run"]["deterministic"])
                self.assertIn("another run may come out differently", " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
