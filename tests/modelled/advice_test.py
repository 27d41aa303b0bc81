"""What a finding of `streambed explain` says it costs is what the program gains when it is changed so."""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(__file__).parent / "programs" / "advice.cu"


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done)
    return done.stdout


class Advice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        for name in ("advice", "allocations", "buffers", "copy_queues", "divided", "event_waits", "first_uses", "frees", "hand_over", "held_lock", "host_code",
                     "joined_streams", "launches", "many_streams", "pools", "other_ways", "results", "shared_graph", "urgent"):
            command(TOOLKIT / "bin" / "nvcc", "-o", cls.folder / name, PROGRAM.with_name(f"{name}.cu"))
        for name in ("host_functions", "signals"):
            command(TOOLKIT / "bin" / "nvcc", "-std=c++20", "-o", cls.folder / name, PROGRAM.with_name(f"{name}.cu"))
        command(TOOLKIT / "bin" / "nvcc", "--default-stream", "per-thread", "-o", cls.folder / "default_streams",
                PROGRAM.with_name("default_streams.cu"))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    device = "h200"

    def explained(self, what, how, *more):
        trace = self.folder / "advice.sbtrace"
        command(TOOLKIT / "bin" / "streambed", "run", self.folder / "advice", "--device", self.device, "--force",
                "--trace", trace, "--", what, how, *more)
        return json.loads(command(TOOLKIT / "bin" / "streambed", "explain", "--json", trace))

    def check(self, rule, within, what, *more):
        """The first finding, with its cost within so many percent of what is gained."""
        before = self.explained(what, "as_is", *more)
        after = self.explained(what, "applied", *more)
        self.assertEqual([finding["rule"] for finding in before["findings"]][:1], [rule])
        self.assertNotIn(rule, [finding["rule"] for finding in after["findings"]])
        gained = before["run"]["length"] - after["run"]["length"]
        cost = before["findings"][0]["cost"]
        self.assertLessEqual(abs(cost - gained) * 100, within * gained, (what, cost, gained))

    def test_a_wait_behind_the_loop(self):
        self.check("wait-in-loop", 10, "parts_in")
        self.check("wait-in-loop", 2, "kernels")
        self.check("wait-in-loop", 10, "polled")

    def test_a_wait_in_the_loop_of_each_thread_of_a_pool(self):
        self.check("wait-in-loop", 5, "pool", 4, 60)

    def test_a_lock_that_is_held_only_while_work_is_issued(self):
        self.check("lock-held-while-waiting", 5, "locked", 4, 0)
        self.check("lock-held-while-waiting", 5, "locked", 2, 0)

    def test_a_lock_that_memory_of_the_host_needs(self):
        self.assertEqual(self.explained("locked", "as_is", 4, 1)["findings"], [])

    def test_a_lock_that_threads_take_anew_while_others_issue(self):
        """Calls that bring work together with other threads take longer, and threads wait for the lock then, too."""
        for self.device in ("h200", "v100", "gtx1050"):
            for how in ((), ("timed",), ("again",), ("nested",)):
                before, after = (self.facts("held_lock", what, *how)[0] for what in ("as_is", "applied"))
                gained = before["run"]["length"] - after["run"]["length"]
                self.assertEqual([f["rule"] for f in before["findings"]], ["lock-held-while-waiting"])
                self.assertEqual(after["findings"], [])
                cost = before["findings"][0]["cost"]
                self.assertLessEqual(abs(cost - gained) * 100, 5 * gained, (self.device, how, cost, gained))

    def test_a_lock_that_gives_threads_their_turns(self):
        """Who does not wait takes it several times in a row, and others have nothing on the device meanwhile."""
        for self.device in ("h200", "v100", "gtx1050"):
            before, after = (self.facts("held_lock", what, "kernels")[0] for what in ("applied", "unwaited"))
            gained = before["run"]["length"] - after["run"]["length"]
            self.assertEqual([f["rule"] for f in before["findings"]], ["wait-in-loop"] if gained > 0 else [])
            for cost in (f["cost"] for f in before["findings"]):
                self.assertLessEqual(abs(cost - gained) * 100, 10 * gained, (self.device, cost, gained))

    def test_a_lock_without_which_threads_are_in_each_others_way(self):
        self.device = "no-overlap"
        before, after = (self.facts("held_lock", what)[0] for what in ("as_is", "applied"))
        self.assertGreater(after["run"]["length"], before["run"]["length"])
        self.assertEqual(before["findings"], [])

    def test_threads_that_bring_work_at_the_same_time_are_replayed_as_they_ran(self):
        """What a call pays for others depends on when each of them came to pay."""
        for what, threads in (("waits", 3), ("waits", 6), ("copies", 3), ("copies", 8)):
            run = self.facts("default_streams", what, threads)[0]["run"]
            self.assertLess(abs(run["modelled"] - run["length"]), 100, (what, threads))

    def test_a_thread_that_host_functions_wake(self):
        """It waits for what comes before them: what keeps that from beginning keeps the thread, too."""
        for how in ("condition", "semaphore", "atomic", "sleeps"):
            before, after = (self.facts("signals", how, what)[0] for what in ("as_is", "applied"))
            gained = before["run"]["length"] - after["run"]["length"]
            self.assertEqual([f["rule"] for f in before["findings"]], ["default-stream-barrier"])
            self.assertEqual(after["findings"], [])
            cost = before["findings"][0]["cost"]
            self.assertLessEqual(abs(cost - gained) * 100, 3 * gained, (how, cost, gained))
            shares = {(share["work"], share["link"]): share["time"] for share in after["bound"]["causes"]}
            self.assertIn("thread_waits", [link for _, link in shares], how)
            own = sum(time for (work, _), time in shares.items() if work == "host_code")
            self.assertLess(own * 20, after["run"]["length"], (how, shares))

    def test_a_thread_that_came_too_late_to_wait_for_what_another_one_hands_over(self):
        """Without its own waits it would come sooner, and then has to: that is no gain."""
        for self.device in ("h200", "v100"):
            for how in ((), ("late",)):
                before, after = (self.facts("hand_over", what, *how)[0] for what in ("as_is", "applied"))
                self.assertEqual([f["rule"] for f in before["findings"]], ["wait-in-loop"])
                self.assertEqual(after["findings"], [])
                gained = before["run"]["length"] - after["run"]["length"]
                cost = before["findings"][0]["cost"]
                self.assertLessEqual(abs(cost - gained) * 100, 6 * gained, (self.device, how, cost, gained))

    def test_calls_that_wait_only_when_others_do_not_wake_up_then(self):
        """A synchronisation behind copies that are done costs its call alone."""
        for self.device in ("h200", "v100", "gtx1050"):
            before, after = (self.facts("default_streams", what, 3)[0] for what in ("copies", "waits"))
            gained = before["run"]["length"] - after["run"]["length"]
            cost, = (f["cost"] for f in before["findings"] if f["rule"] == "synchronous-copy-in-loop")
            self.assertNotIn("synchronous-copy-in-loop", [f["rule"] for f in after["findings"]])
            self.assertLessEqual(abs(cost - gained) * 100, 3 * gained, (self.device, cost, gained))

    def lengths_of_first_uses(self, what):
        """What is said of a run, and how long it is when kernels are loaded before it."""
        said = self.facts("first_uses", what)[0]
        self.assertLess(abs(said["run"]["modelled"] - said["run"]["length"]), 10)
        os.environ["CUDA_MODULE_LOADING"] = "EAGER"
        try:
            return said, self.facts("first_uses", what)[0]["run"]["length"]
        finally:
            del os.environ["CUDA_MODULE_LOADING"]

    def test_kernels_that_are_loaded_before_the_threads_that_use_them(self):
        for self.device in ("h200", "v100", "gtx1050"):
            for what in ("threads", "breadth"):
                said, loaded = self.lengths_of_first_uses(what)
                gained = said["run"]["length"] - loaded
                cost = [f["cost"] for f in said["findings"] if f["rule"] == "first-use"]
                self.assertEqual(len(cost), 1)
                self.assertLessEqual(abs(cost[0] - gained) * 100, gained, (self.device, what, cost, gained))

    def test_kernels_whose_loading_holds_nothing(self):
        self.device = "no-overlap"
        said, loaded = self.lengths_of_first_uses("threads")
        self.assertEqual(said["run"]["length"], loaded)
        self.assertEqual(said["findings"], [])

    def test_an_order_in_which_kernels_are_loaded_behind_other_work(self):
        """A kernel is loaded at the launch that comes first in the other order."""
        depth = self.facts("first_uses", "depth")[0]
        breadth, breadth_loaded = self.lengths_of_first_uses("breadth")
        lost = breadth["run"]["length"] - depth["run"]["length"]
        self.assertGreater(lost, 0)
        back = [f["cost"] for f in breadth["findings"] if f["rule"] == "issue-order"]
        self.assertEqual(len(back), 1)
        self.assertLessEqual(abs(back[0] - lost) * 100, 5 * lost, (back, lost))
        # Breadth first gains where they are loaded before, and that is said with it.
        found = depth["findings"]
        self.assertEqual([f["rule"] for f in found], ["issue-order"])
        self.assertIn("Use each kernel once before, too", found[0]["change"])
        gained = depth["run"]["length"] - breadth_loaded
        self.assertLessEqual(abs(found[0]["cost"] - gained) * 100, 5 * gained, (found[0]["cost"], gained))

    def test_an_order_that_gains_though_kernels_are_loaded(self):
        self.device = "no-overlap"
        depth, breadth = (self.facts("first_uses", what)[0] for what in ("depth", "breadth"))
        gained = depth["run"]["length"] - breadth["run"]["length"]
        self.assertEqual([f["rule"] for f in depth["findings"]], ["issue-order"])
        self.assertNotIn("Use each kernel once", depth["findings"][0]["change"])
        cost = depth["findings"][0]["cost"]
        self.assertLessEqual(abs(cost - gained) * 100, 5 * gained, (cost, gained))

    def test_a_wait_between_kernels_that_use_parts_of_one_allocation(self):
        self.check("wait-in-loop", 5, "slices")

    def test_an_event_behind_several_parts(self):
        self.check("event-recorded-late", 5, "brought")

    def test_an_event_behind_each_of_two_results(self):
        self.check("event-recorded-late", 5, "two_results", 10, 20000)
        self.check("event-recorded-late", 10, "two_results", 10, 3000)
        self.assertEqual(self.explained("two_results", "as_is", 5, 200)["findings"], [])

    def test_a_wait_one_turn_later(self):
        self.check("wait-in-loop", 2, "parts_out")

    def test_a_graph(self):
        self.check("launch-bound-kernels", 5, "sequence", 5, 20)
        self.check("launch-bound-kernels", 2, "sequence", 50, 20)
        self.check("launch-bound-kernels", 2, "copy_sequence", 100, 6)
        self.check("launch-bound-kernels", 2, "sequences", 20, 15)

    def test_a_graph_that_is_made_executable_once(self):
        self.check("graph-made-in-loop", 2, "graph_anew")

    def test_an_executable_graph_for_each_stream(self):
        before, after, writes, one = (
            self.facts("shared_graph", how)[0] for how in ("as_is", "applied", "writes", "one_stream"))
        found, = before["findings"]
        self.assertEqual(found["rule"], "graph-waits-for-itself")
        gained = before["run"]["length"] - after["run"]["length"]
        self.assertLessEqual(abs(found["cost"] - gained) * 100, gained, (found["cost"], gained))
        self.assertIn("same_graph", [cause["link"] for cause in before["bound"]["causes"]])
        for other in (after, writes, one):
            self.assertEqual(other["findings"], [])

    def test_what_launches_of_one_executable_graph_wait_for(self):
        for how, cause in (("as_is", "graph_edge"), ("one_stream", "stream_order")):
            trace = self.facts("shared_graph", how)[1]
            lines = command(TOOLKIT / "bin" / "streambed", "export", trace, "--format", "csv").splitlines()
            waits = [row["waits"] for row in csv.DictReader(lines) if row["kind"] == "graph_begin"]
            self.assertEqual(len(waits), 12)
            for one in waits[1:]:
                self.assertEqual(one.split()[-1].split(":")[0], cause)
                self.assertNotIn("event", one)
            if how == "one_stream":
                self.assertEqual([len(one.split()) for one in waits[1:]], 11 * [1])

    def test_a_graph_of_several_streams(self):
        self.check("launch-bound-kernels", 2, "streams_in_turn", 20, 7)

    def test_a_graph_of_several_streams_that_events_order(self):
        for self.device in ("h200", "v100", "gtx1050"):
            for what, within in (("fork", 2), ("pairs", 3), ("halves", 2), ("copies", 3)):
                before, after = (self.facts("joined_streams", what, how)[0] for how in ("as_is", "applied"))
                gained = before["run"]["length"] - after["run"]["length"]
                found = before["findings"][0]
                self.assertEqual(found["rule"], "launch-bound-kernels", (self.device, what))
                self.assertIn("it follows their events", found["change"])
                self.assertNotIn("launch-bound-kernels", [f["rule"] for f in after["findings"]])
                self.assertLessEqual(abs(found["cost"] - gained) * 100, within * gained, (self.device, what, found["cost"], gained))

    def test_streams_that_wait_for_events_of_the_turn_before(self):
        """A capture cannot have a wait for what was recorded outside of it."""
        changes = [f["change"] for f in self.facts("joined_streams", "across", "as_is")[0]["findings"]]
        self.assertEqual([change for change in changes if "it follows their events" in change], [])

    def test_a_sequence_that_comes_too_seldom_for_a_graph(self):
        self.assertEqual(self.explained("sequence", "as_is", 1, 30)["findings"], [])
        self.assertEqual(self.explained("streams_in_turn", "as_is", 1, 10)["findings"], [])

    def test_copies_in_the_streams_of_their_data(self):
        self.check("synchronous-copy-in-loop", 12, "copies_back")

    def test_pinning_takes_time_too(self):
        self.check("pageable-async-copy", 5, "pageable", 16, 0)
        self.check("pageable-async-copy", 5, "pageable", 16, 1)

    def test_pinning_that_takes_longer_than_it_gains_has_no_cost(self):
        before = self.explained("pageable", "as_is", 1, 1)
        self.assertGreaterEqual(self.explained("pageable", "applied", 1, 1)["run"]["length"],
                                before["run"]["length"])
        found = before["findings"]
        self.assertEqual([(f["rule"], f["severity"], f["cost"]) for f in found],
                         [("pageable-async-copy", "warning", 0)])
        self.assertIn("it pays, from", found[0]["change"])

    def test_synchronous_copies_of_memory_that_has_to_be_pinned(self):
        """The lines of both directions are one finding."""
        before, after = (self.explained("synchronous", how, 32, 0) for how in ("as_is", "applied"))
        self.assertEqual([f["rule"] for f in before["findings"]], ["synchronous-copy-in-loop"])
        self.assertEqual(after["findings"], [])
        finding = before["findings"][0]
        self.assertEqual(len(finding["lines"]), 2)
        gained = before["run"]["length"] - after["run"]["length"]
        self.assertLessEqual(abs(finding["cost"] - gained) * 100, 10 * gained, (finding["cost"], gained))
        self.assertIn("cudaHostRegister", finding["change"])

    def test_buffers_that_the_host_fills_and_reads_again_need_their_waits(self):
        for buffers in (1, 2):
            self.assertEqual(self.explained("pipeline", "as_is", buffers, 0)["findings"], [])

    def test_buffers_in_turn_and_waits_that_make_nothing_of_them(self):
        for self.device in ("h200", "v100"):
            for n, rounds in ((1 << 14, 500), (1 << 16, 4000)):
                before, after = (self.facts("buffers", how, 2, n, rounds)[0] for how in ("as_is", "applied"))
                self.assertEqual([f["rule"] for f in before["findings"]], ["wait-in-loop"])
                self.assertEqual(after["findings"], [])
                gained = before["run"]["length"] - after["run"]["length"]
                cost = before["findings"][0]["cost"]
                self.assertLessEqual(abs(cost - gained) * 100, 3 * gained, (self.device, n, cost, gained))

    def test_one_buffer_that_needs_its_waits(self):
        for how in ("as_is", "applied"):
            self.assertEqual(self.facts("buffers", how, 1, 1 << 14, 500)[0]["findings"], [])

    def test_a_wait_for_an_event_that_the_data_does_not_need(self):
        self.check("needless-event-wait", 5, "send_back", 8, 0)

    def test_a_wait_for_an_event_that_the_data_needs(self):
        rules = [finding["rule"] for finding in self.explained("send_back", "as_is", 1, 0)["findings"]]
        self.assertNotIn("needless-event-wait", rules)

    def check_waits(self, rule, what, *more):
        """The only finding, with its cost within 5 % of what is gained; none where the data needs the waits."""
        before, after, needed = (self.facts("event_waits", what, how, *more)[0] for how in ("as_is", "applied", "needs"))
        self.assertEqual([finding["rule"] for finding in before["findings"]], [rule])
        self.assertEqual((after["findings"], needed["findings"]), ([], []))
        gained = before["run"]["length"] - after["run"]["length"]
        cost = before["findings"][0]["cost"]
        self.assertLessEqual(abs(cost - gained) * 100, 5 * gained, (what, cost, gained))
        return before["findings"][0]

    def test_a_wait_for_an_event_behind_work_that_does_not_need_it(self):
        for self.device in ("h200", "v100"):
            self.check_waits("early-event-wait", "early")

    def test_an_event_behind_a_wait_for_work_of_another_stream(self):
        self.assertEqual(self.check_waits("event-recorded-late", "late")["count"], 6)

    def test_some_waits_of_a_line_that_the_data_does_not_need(self):
        for what, which in (("back", "where stream 0 waits for record of event 1 on stream 1"),
                            ("second", "of each 2 turns, number 1")):
            found = self.check_waits("needless-event-wait", what)
            self.assertEqual(found["count"], 6)
            self.assertIn("6 of 12 waits of a line", found["evidence"][-1])
            self.assertIn(which, found["evidence"][-1])

    def test_waits_of_a_program_that_reads_the_time_of_it_all(self):
        for rule, what in (("early-event-wait", "early"), ("event-recorded-late", "late"),
                           ("needless-event-wait", "back"), ("needless-event-wait", "second")):
            for how in ("timed", "timed_by_host"):
                found = self.check_waits(rule, what, how)
                self.assertIn("events that no stream waits for", found["evidence"][-1])

    def test_waits_of_a_program_that_may_read_the_time_of_an_event_that_is_waited_for(self):
        for what in ("early", "back", "second"):
            self.assertEqual(self.facts("event_waits", what, "as_is", "timed_loosely")[0]["findings"], [])

    def facts(self, program, *words, options=()):
        """What is said of a run, and its trace."""
        trace = self.folder / f"{program}.sbt"
        command(TOOLKIT / "bin" / "streambed", "run", self.folder / program, "--device", self.device, "--force", "--quiet",
                "--trace", trace, *options, "--", *words)
        return json.loads(command(TOOLKIT / "bin" / "streambed", "explain", "--json", trace)), trace

    def test_the_number_of_streams_that_is_named_is_the_best(self):
        for turns, n in ((2000, 1 << 14), (20000, 1 << 14), (40000, 1 << 12)):
            facts, _ = self.facts("many_streams", 64, turns, n)
            found = facts["findings"][0]
            self.assertEqual(found["rule"], "many-streams")
            named = int(re.search(r"Use (\d+) streams", found["change"])[1])
            lengths = {}
            for streams in (named // 2, named, 2 * named):
                then, _ = self.facts("many_streams", streams, turns, n)
                lengths[streams] = then["run"]["length"]
                if streams == named:
                    self.assertEqual(then["findings"], [])
            self.assertEqual(min(lengths, key=lengths.get), named, lengths)
            gained = facts["run"]["length"] - lengths[named]
            self.assertLessEqual(abs(found["cost"] - gained) * 100, gained, (named, found["cost"], gained))

    def test_queues_for_copies_that_another_streams_copy_holds(self):
        few, many = (self.facts("copy_queues", options=("--connections", n))[0] for n in (1, 32))
        found, = (finding for finding in few["findings"] if finding["rule"] == "few-hardware-queues")
        self.assertNotIn("few-hardware-queues", [finding["rule"] for finding in many["findings"]])
        gained = few["run"]["length"] - many["run"]["length"]
        self.assertLessEqual(abs(found["cost"] - gained) * 100, 2 * gained, (found["cost"], gained))

    def test_launches_that_wait_for_their_kernels(self):
        for what in ("kernels", "graph"):
            before, after = (self.facts("launches", what, options=options)[0] for options in (("--launch-blocking",), ()))
            self.assertEqual([finding["rule"] for finding in before["findings"]], ["launch-blocking"])
            self.assertEqual(after["findings"], [])
            gained = before["run"]["length"] - after["run"]["length"]
            cost = before["findings"][0]["cost"]
            self.assertLessEqual(abs(cost - gained) * 100, 5 * gained, (what, cost, gained))

    def test_a_pool_that_keeps_its_memory(self):
        for pieces in (2, 20):  # of 4 MiB, in chunks of 32
            before, after = (self.facts("pools", how, pieces)[0] for how in ("as_is", "applied"))
            self.assertEqual([finding["rule"] for finding in before["findings"]], ["pool-gives-memory-back"])
            self.assertEqual(after["findings"], [])
            gained = before["run"]["length"] - after["run"]["length"]
            cost = before["findings"][0]["cost"]
            self.assertLessEqual(abs(cost - gained) * 100, 2 * gained, (pieces, cost, gained))

    def test_a_wait_in_which_a_pool_gives_its_memory_back(self):
        """Without the wait the pool has the memory still; one that keeps its memory gains by less waiting alone."""
        for how, otherwise, pieces in (("as_is", "once", 2), ("as_is", "once", 20), ("applied", "kept_once", 2)):
            before, after = (self.facts("pools", word, pieces, "alone")[0] for word in (how, otherwise))
            cost, = (f["cost"] for f in before["findings"] if f["rule"] == "wait-in-loop")
            gained = before["run"]["length"] - after["run"]["length"]
            self.assertLessEqual(abs(cost - gained) * 100, 2 * gained, (how, pieces, cost, gained))
        self.assertEqual(self.facts("pools", "applied", 20, "alone")[0]["findings"], [])

    def test_a_result_that_is_looked_at_in_every_few_turns(self):
        for self.device in ("v100", "h200"):
            for what, rule in (("copied", "synchronous-copy-in-loop"), ("waited", "wait-in-loop"), ("recorded", "wait-in-loop")):
                each, fourth, eighth, last = (self.facts("results", what, turns)[0] for turns in (1, 4, 8, 32))
                # Who launches it four times may do so in each turn.
                for before, after in ((each, eighth), (fourth, last)):
                    found, = (f for f in before["findings"] if f["rule"] == rule)
                    self.assertIn("every few turns only (the cost is that of every 8th)", found["change"])
                    gained = before["run"]["length"] - after["run"]["length"]
                    self.assertLessEqual(abs(found["cost"] - gained) * 100, 5 * gained, (what, found["cost"], gained))
                    self.assertNotIn(rule, [f["rule"] for f in after["findings"]])
        for what, call in (("symbol", "cudaMemcpyToSymbolAsync"), ("rows", "cudaMemcpy2DAsync")):
            found, = (f for f in self.facts("results", what, 1)[0]["findings"] if f["rule"] == "synchronous-copy-in-loop")
            self.assertTrue(found["change"].startswith(f"Use {call} with"), found["change"])

    def test_memory_that_is_freed_in_a_loop(self):
        before, after = (self.facts("frees", how)[0] for how in ("as_is", "applied"))
        found, = before["findings"]
        self.assertEqual(found["rule"], "allocation-in-loop")
        self.assertIn("Free the memory behind the loop", found["change"])
        self.assertNotIn("allocation-in-loop", [f["rule"] for f in after["findings"]])
        gained = before["run"]["length"] - after["run"]["length"]
        self.assertLessEqual(abs(found["cost"] - gained) * 100, 10 * gained, (found["cost"], gained))
        # Memory that each turn takes and frees is to be kept, and then no turn's calls are made.
        both = self.facts("frees", "takes_too")[0]["findings"]
        self.assertEqual([f["rule"] for f in both], ["allocation-in-loop"])
        self.assertIn("Allocate before the loop", both[0]["change"])

    def allocating(self, what, place, times):
        as_is, *others = (self.facts("allocations", what, place, how, times)[0] for how in ("as_is", "before", "once"))
        for other in others:
            self.assertNotIn("allocation-in-loop", [f["rule"] for f in other["findings"]])
        gained = [as_is["run"]["length"] - other["run"]["length"] for other in others]
        return [f for f in as_is["findings"] if f["rule"] == "allocation-in-loop"], *gained

    def test_memory_that_is_taken_in_a_loop(self):
        for self.device in ("v100", "h200"):
            for what, place, times, once_is_best in (
                    ("host", "front", 400000, False), ("device", "front", 20000, False), ("host", "behind", 20000, False),
                    ("host", "behind", 400000, True), ("device", "behind", 20000, True)):
                (found,), before, once = self.allocating(what, place, times)
                gained = once if once_is_best else before
                self.assertLessEqual(abs(found["cost"] - gained) * 100, gained, (what, place, found["cost"], gained))
                self.assertTrue(found["change"].startswith(
                    "Allocate in the first turn only" if once_is_best else "Allocate before the loop,"), found["change"])
        found, before, _ = self.allocating("device", "behind", 400000)
        self.assertLess(before, 0)
        self.assertEqual(found, [])

    def test_host_functions_that_leave_their_work_to_threads(self):
        for self.device, connections, *what in (("h200", 8, 200), ("h200", 8, 600), ("h200", 1, 600), ("fermi", 1, 600), ("fermi", 1, 600, "one")):
            before, after = (self.facts("host_functions", how, *what, options=("--connections", connections))[0]
                             for how in ("as_is", "applied"))
            gained = before["run"]["length"] - after["run"]["length"]
            found, = (f for f in before["findings"] if f["rule"] == "blocking-host-function")
            self.assertNotIn("blocking-host-function", [f["rule"] for f in after["findings"]])
            self.assertLessEqual(abs(found["cost"] - gained) * 100, 5 * gained, (self.device, what, found["cost"], gained))

    def test_short_host_functions_that_hold_a_hardware_queue(self):
        one, many = (self.facts("host_functions", "as_is", 1, options=("--connections", n))[0] for n in (1, 32))
        found = {f["rule"]: f["cost"] for f in one["findings"]}
        self.assertEqual(sorted(found), ["few-hardware-queues", "issue-order"])
        gained = one["run"]["length"] - many["run"]["length"]
        self.assertLessEqual(abs(found["few-hardware-queues"] - gained) * 100, 2 * gained, (found, gained))
        self.assertEqual(many["findings"], [])

    def test_code_of_the_host_for_which_the_device_waits(self):
        for what, within in (("prepares", 2), ("hands_over", 10)):  # the last one's is before nothing
            (before, _), (after, _) = (self.facts("host_code", what, how) for how in ("as_is", "applied"))
            self.assertEqual([finding["rule"] for finding in before["findings"]], ["host-gaps"])
            self.assertEqual(after["findings"], [])
            gained = before["run"]["length"] - after["run"]["length"]
            cost = before["findings"][0]["cost"]
            self.assertLessEqual(abs(cost - gained) * 100, within * gained, (what, cost, gained))

    def test_code_of_the_host_before_there_is_anything_for_the_device(self):
        self.assertEqual(self.facts("host_code", "prepares_at_once", "as_is")[0]["findings"], [])

    def urgent(self, *words):
        """What is found, and when the urgent kernel ends and the run."""
        facts, trace = self.facts("urgent", *words)
        rows = csv.DictReader(command(TOOLKIT / "bin" / "streambed", "export", trace, "--format", "csv").splitlines())
        ends = [int(row["ended"]) for row in rows if "answer" in row["name"]]
        return facts["findings"], ends[-1], facts["run"]["length"]

    def test_urgent_work_that_waits_for_what_it_does_not_need_though_the_run_ends_as_before(self):
        for how, rule in (("event", "needless-event-wait"), ("default", "default-stream-barrier")):
            found, end, length = self.urgent(how, "as_is")
            none, then, as_before = self.urgent(how, "applied")
            self.assertEqual([finding["rule"] for finding in found], [rule])
            self.assertEqual(none, [])
            self.assertLess(abs(length - as_before), 3000)
            self.assertLessEqual(abs(found[0]["cost"] - (end - then)) * 100, 2 * (end - then))
            self.assertIn("The run as a whole ends no earlier", found[0]["why"])

    def test_urgent_work_that_waits_for_what_it_needs_and_other_work_that_waits(self):
        for how in ("event", "default"):
            for what in ("needs", "equal"):
                self.assertEqual(self.urgent(how, what)[0], [])

    def test_streams_for_kernels_that_leave_room(self):
        for blocks in (33, 132, 264, 600):  # the last in waves of 528
            self.check("independent-work-in-one-stream", 10, "independent", blocks)

    def test_streams_that_gain_only_together(self):
        self.check("independent-work-in-one-stream", 5, "equal_streams")

    def test_streams_for_kernels_with_work_of_the_default_stream_between_them(self):
        """Streams that the default stream holds gain nothing: the finding names it, and what both changes gain."""
        as_is, streams, applied, needed = (
            self.facts("divided", "between", how)[0] for how in ("as_is", "streams", "applied", "needed"))
        self.assertEqual(streams["run"]["length"], as_is["run"]["length"])
        found, = as_is["findings"]
        self.assertEqual(found["rule"], "independent-work-in-one-stream")
        self.assertIn("work of the default stream between them", found["title"])
        self.assertIn("cudaStreamNonBlocking", found["change"])
        gained = as_is["run"]["length"] - applied["run"]["length"]
        self.assertLessEqual(abs(found["cost"] - gained) * 100, gained, (found["cost"], gained))
        self.assertEqual([f["rule"] for f in streams["findings"]], ["default-stream-barrier"])
        self.assertEqual(needed["findings"], [])

    def test_streams_that_have_to_be_made(self):
        before, after = (self.facts("divided", "created", how, 40000)[0] for how in ("as_is", "applied"))
        found, = before["findings"]
        self.assertEqual(found["rule"], "independent-work-in-one-stream")
        gained = before["run"]["length"] - after["run"]["length"]
        self.assertLessEqual(abs(found["cost"] - gained) * 100, gained, (found["cost"], gained))

    def test_streams_for_work_with_records_of_events(self):
        """They move with the work that they stand for."""
        for self.device in ("h200", "v100"):
            for what in ("recorded", "ring"):
                before, after = (self.facts("divided", what, how)[0] for how in ("as_is", "applied"))
                found, = before["findings"]
                self.assertEqual(found["rule"], "independent-work-in-one-stream")
                self.assertEqual(after["findings"], [])
                gained = before["run"]["length"] - after["run"]["length"]
                self.assertLessEqual(abs(found["cost"] - gained) * 100, 2 * gained, (self.device, what, found["cost"], gained))

    def test_streams_whose_making_takes_longer_than_they_gain(self):
        before, after = (self.facts("divided", "created", how, 8000)[0] for how in ("as_is", "applied"))
        self.assertGreater(after["run"]["length"], before["run"]["length"])
        self.assertEqual(before["findings"], [])

    def test_copies_of_both_directions_slow_each_other(self):
        for self.device in ("h200", "v100"):
            self.check("independent-work-in-one-stream", 2, "both_ways")
            run = self.explained("both_ways", "applied")["run"]
            self.assertLessEqual(abs(run["modelled"] - run["length"]), 10)

    def test_a_short_copy_before_the_pieces_of_a_long_one(self):
        self.check("one-copy-engine", 5, "pieces")
        self.assertEqual(len(self.explained("pieces", "as_is")["findings"]), 1)

    def test_streams_gain_nothing_where_each_kernel_uses_all_of_the_pipes(self):
        before = self.explained("independent", "as_is", 528)
        after = self.explained("independent", "applied", 528)
        self.assertGreater(after["run"]["length"], 0.97 * before["run"]["length"])
        self.assertNotIn("independent-work-in-one-stream",
                         [finding["rule"] for finding in before["findings"]])

    def test_chunks_in_turn_on_several_streams_need_no_more_of_them(self):
        self.check("independent-work-in-one-stream", 25, "chunks_in_turn", 24, 1500)
        healthy = self.explained("chunks_in_turn", "applied", 24, 3000)
        self.assertEqual(healthy["findings"], [])
        # Kernels of four streams that share the device are replayed as they ran.
        run = healthy["run"]
        self.assertLess(abs(run["modelled"] - run["length"]) * 100, 2 * run["length"])

    def test_kernels_that_find_room_for_a_part_of_their_blocks(self):
        self.device = "fermi"
        self.check("issue-order", 5, "in_order", 4, 8)
        self.check("issue-order", 5, "in_order", 4, 48)
        self.check("issue-order", 15, "in_order", 8, 100)

    def rules_and_ranges(self, way, order):
        trace = self.folder / "other_ways.sbtrace"
        command(TOOLKIT / "bin" / "streambed", "run", self.folder / "other_ways", "--device", "h200", "--force",
                "--trace", trace, "--", way, order)
        found = json.loads(command(TOOLKIT / "bin" / "streambed", "explain", "--json", trace))["findings"]
        lines = command(TOOLKIT / "bin" / "streambed", "export", trace, "--format", "csv").splitlines()
        kernels = [line for line in lines if ",kernel," in line]
        self.assertEqual(len(kernels), 2)
        return [finding["rule"] for finding in found], kernels[1]

    def test_memory_that_kernels_reach_by_other_ways_than_their_pointers(self):
        for order, rule in (("event", "needless-event-wait"), ("host", "streams-never-overlap")):
            for way in ("structure", "table", "variable", "kept", "number"):
                rules, reads = self.rules_and_ranges(way, order)
                self.assertNotIn(rule, rules, (way, order))
                self.assertIn("anything", reads)
            rules, reads = self.rules_and_ranges("apart", order)
            self.assertIn(rule, rules)
            self.assertNotIn("anything", reads)


if __name__ == "__main__":
    unittest.main()
