"""Recording a program by the real clock: everything that it did is there, also what was done within its call."""

import csv
import fcntl
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 100


class Recording(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.program = cls.folder / "recording"
        subprocess.run([TOOLKIT / "bin/nvcc", "-o", cls.program, HERE / "recording.cu"], check=True, timeout=300)
        cls.lines = lines = (HERE / "recording.cu").read_text().splitlines()
        cls.line_of = lambda self, text: 1 + max(i for i, line in enumerate(lines) if text in line)

    def record(self, how, status=0, **variables):
        trace = self.folder / f"{how or 'plain'}.sbt"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STREAMBED_")}
        environment.update(STREAMBED_TRACE=str(trace), STREAMBED_FAULT_REPORT="0", **variables)
        done = subprocess.run([self.program, how], env=environment, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, status, done.stderr)
        return trace

    def command(self, *arguments, status=0):
        done = subprocess.run([TOOLKIT / "bin/streambed", *arguments], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def operations(self, trace, status=0):
        return list(csv.DictReader(io.StringIO(self.command("export", trace, "--format", "csv", status=status))))

    def rules(self, trace):
        return {f["rule"]: f for f in json.loads(self.command("explain", "--json", trace))["findings"]}

    def check(self, operations):
        kernels = [o for o in operations if o["kind"] == "kernel" and o["name"].startswith("small")]
        self.assertEqual(len(kernels), 4 + 2 * ROUNDS + 1)
        self.assertEqual(len([o for o in operations if o["kind"] == "event_record"]), ROUNDS)
        self.assertEqual(len([o for o in operations if o["kind"] == "event_wait"]), ROUNDS)
        self.assertEqual([o["operation"] for o in operations], [str(i) for i in range(len(operations))])
        self.assertEqual(len({o["call"] for o in operations}), len(operations), "each has a call of its own")
        for o in operations:
            times = [int(o[name]) for name in ("called", "queued", "ready", "started", "ended")]
            self.assertEqual(times, sorted(times), o)
        # In the order of the calls, also those that were told of later.
        called = [int(o["called"]) for o in operations]
        self.assertEqual(called, sorted(called))
        other = [o for o in kernels if o["grid"] == "2x1x1"]
        self.assertEqual(len(other), ROUNDS)
        self.assertEqual({(o["block"], o["stream"]) for o in other}, {("16x1x1", other[0]["stream"])})
        self.assertEqual({o["line"].rsplit(":", 1)[1] for o in other}, {str(self.line_of("small<<<2, 16"))})
        self.assertEqual(len({o["event"] for o in operations if o["kind"] == "event_record"}), 1)

    def test_everything_is_there_once_and_in_order(self):
        trace = self.record("")
        self.check(self.operations(trace))
        self.assertIn("205 kernels", self.command("explain", trace))

    def test_a_wait_for_a_record_that_is_over_is_told_from_one_before_its_record(self):
        for device in ({}, {"STREAMBED_DEVICE": "h200"}):
            trace = self.record("over", **device)
            self.assertEqual({o["event"] for o in self.operations(trace) if o["kind"] == "event_record"}, {"0"})
            self.assertNotIn("wait-before-record", self.rules(trace))
            trace = self.record("before", **device)
            events = [o["event"] for o in self.operations(trace) if o["kind"] == "event_record"]
            self.assertEqual(events[-2:], ["1", "2"], "each that is made is another one")
            found = self.rules(trace)["wait-before-record"]
            self.assertEqual(found["count"], 1)
            self.assertEqual([line.rsplit(":", 1)[1] for line in found["lines"]],
                             [str(self.line_of(text)) for text in ("// too early", "// behind it")])

    def test_a_wait_for_an_event_that_nobody_records_is_told(self):
        for device in ({}, {"STREAMBED_DEVICE": "h200"}):
            found = self.rules(self.record("never", **device))["wait-before-record"]
            self.assertEqual(found["title"], "1 wait for an event that is never recorded")
            self.assertEqual([line.rsplit(":", 1)[1] for line in found["lines"]],
                             [str(self.line_of("// nobody records it"))])

    def test_memory_that_is_registered_is_memory_of_the_trace(self):
        for device in ({}, {"STREAMBED_DEVICE": "h200"}):
            trace = self.record("registers", **device)
            copies = [o for o in self.operations(trace) if o["kind"] == "copy"]
            read = [r.split(":")[1:] for o in copies for r in o["ranges"].split() if r.startswith("read:")]
            self.assertEqual(len({allocation for allocation, _, _ in read}), 8, read)
            self.assertEqual({(offset, size) for _, offset, size in read}, {("0", "4096")})
            self.assertNotIn("allocation-in-loop", self.rules(trace))

    def test_pieces_of_pageable_memory_are_told_from_each_other(self):
        for device in ({}, {"STREAMBED_DEVICE": "h200"}):
            copies = [o for o in self.operations(self.record("pageable", **device)) if o["kind"] == "copy"]
            pieces = [next(r.split(":")[1:] for r in o["ranges"].split()
                           if r.startswith("read:" if o["engine"] == "host_to_device" else "write:"))
                      for o in copies]
            first, second, part = pieces[:3]
            self.assertEqual(pieces, [first, second, part] * 3)
            self.assertEqual([size for _, _, size in (first, second, part)], ["4096", "4096", "2048"])
            self.assertNotEqual(first[0], second[0])
            self.assertEqual(part[:2], first[:2])

    def test_pageable_memory_that_lies_side_by_side_is_one_piece(self):
        """What begins in front of it is another one: offsets begin with what was copied first."""
        copies = [o for o in self.operations(self.record("beside", STREAMBED_DEVICE="h200")) if o["kind"] == "copy"]
        pieces = [r.split(":")[1:] for o in copies for r in o["ranges"].split() if r.startswith("read:")]
        whole = pieces[0][0]
        self.assertEqual([(at == whole, offset, size) for at, offset, size in pieces],
                         [(True, "0", "4096"), (True, "4096", "4096"), (True, "6144", "4096"),  # overlaps the last one
                          (False, "0", "4096"),  # a byte is left out in front of it
                          (False, "0", "1024"),  # in front of the first
                          (True, "0", "4096")])

    def ask(self, how):
        """The trace of a program that asks, and how often it did."""
        trace = self.folder / f"{how}.sbt"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STREAMBED_")}
        done = subprocess.run([self.program, how], env={**environment, "STREAMBED_TRACE": str(trace)},
                              capture_output=True, text=True, timeout=200, check=True)
        asked = int(done.stdout)
        self.assertGreater(asked, 1000)
        calls = json.loads(self.command("explain", "--json", trace))["run"]["calls"]
        self.assertIn(calls - asked, range(1, 30))  # those that make and launch
        self.assertLess(trace.stat().st_size, 500_000)
        return trace, asked

    def test_questions_that_are_asked_in_turn_are_a_few_calls_with_each_answer(self):
        trace, _ = self.ask("turns")
        events = json.loads(self.command("export", trace, "--format", "chrome"))["traceEvents"]
        questions = [e for e in events if e.get("name") in ("cudaEventQuery", "cudaStreamQuery")]
        # Of each what it was before and when it was over, more of those where the machine was slow.
        self.assertIn(len(questions), range(6, 200))
        begins = [e["ts"] for e in questions]
        self.assertTrue(all(a["ts"] + a["dur"] <= b for a, b in zip(questions, begins[1:])))

    def test_a_question_that_is_asked_until_the_work_is_over_is_one_call(self):
        trace, asked = self.ask("asks")
        table = self.command("export", trace, "--format", "text")
        line = next(line for line in table.splitlines() if "cudaEventQuery" in line)
        self.assertGreaterEqual(int(line.split()[2].replace(",", "")), asked - 10)

    def test_rows_with_gaps_between_them_are_a_range_that_is_used_somewhere(self):
        ranges = [[r.split(":", 2)[2] for r in o["ranges"].split()] for o in self.operations(self.record("rows"))]
        self.assertEqual(ranges, [["0:800", "0:800"], ["0:800", "0:996~"], ["0:996~"], ["0:100"]])

    def test_work_has_the_queue_that_it_went_through(self):
        operations = self.operations(self.record(""))
        kernels = [o["queue"] for o in operations if o["kind"] == "kernel"]
        # Two streams: one of them has work pending or none has.
        self.assertLessEqual(set(kernels), {"compute 0", "compute 1"})
        self.assertEqual({o["queue"] for o in operations if o["kind"].startswith("event")}, {""})

    def test_streams_that_work_together_go_through_queues_of_their_own(self):
        for connections, numbers in (("8", [0, 1, 2, 3]), ("1", [0, 0, 0, 0])):
            operations = self.operations(self.record("queues", STREAMBED_DEVICE="h200",
                                                     CUDA_DEVICE_MAX_CONNECTIONS=connections))
            for kind, engine in (("host_to_device", "host_to_device"), ("compute", "multiprocessors"),
                                 ("device_to_host", "device_to_host")):
                self.assertEqual([o["queue"] for o in operations if o["engine"] == engine],
                                 [f"{kind} {n}" for n in numbers])

    def test_graphs_are_there_with_every_node_and_its_edges(self):
        operations = self.operations(self.record("graph"))
        self.assertEqual(len(operations), 6 * ROUNDS)
        shapes = {}
        for graph in range(ROUNDS):
            parts = [o for o in operations if o["graph"] == str(graph)]
            self.assertEqual([o["kind"] for o in parts], ["graph_begin", *["kernel"] * 4, "graph_end"])
            self.assertEqual(len({o["call"] for o in parts}), 1)
            first = int(parts[0]["operation"])
            self.assertEqual([int(o["operation"]) - first for o in parts], list(range(6)))
            for o in parts:
                times = [int(o[name]) for name in ("called", "queued", "ready", "started", "ended")]
                self.assertEqual(times, sorted(times), o)
                # Nothing of it began before what it waited for was over.
                for wait in o["waits"].split():
                    cause, other, until = wait.split(":")
                    self.assertLessEqual(int(until), int(o["started"]), o)
                    self.assertEqual(int(operations[int(other)]["ended"]), int(until), o)
            shapes.setdefault(tuple((o["grid"], o["queue"]) for o in parts), []).append(graph)
        self.assertEqual({tuple(grid for grid, _ in shape) for shape in shapes},
                         {("", "1x1x1", "2x1x1", "1x1x1", "4x1x1", "")})
        self.assertIn(f"{4 * ROUNDS} kernels", self.command("explain", self.folder / "graph.sbt"))

    def test_the_end_of_a_graph_comes_behind_all_its_leaves(self):
        operations = self.operations(self.record("leaves"))
        self.assertEqual(len(operations), 5 * ROUNDS)
        for i in range(0, len(operations), 5):
            _, *leaves, end = operations[i:i + 5]
            self.assertEqual(end["kind"], "graph_end")
            waited = {int(wait.split(":")[1]) for wait in end["waits"].split()}
            self.assertLessEqual({int(o["operation"]) for o in leaves}, waited)
            self.assertEqual(int(end["ready"]), max(int(o["ended"]) for o in leaves))

    def test_a_killed_program_leaves_it_too(self):
        self.check(self.operations(self.record("kill", -9), status=3))

    def check_behind(self, operations, ended):
        self.assertEqual([o["operation"] for o in operations], [str(i) for i in range(len(operations))])
        gate = next(i for i, o in enumerate(operations) if o["name"].startswith("gate"))
        behind = operations[gate + 3:gate + 3 + 4 * ROUNDS]
        for i in range(0, len(behind), 4):
            first, second, record, copy = behind[i:i + 4]
            self.assertEqual([o["kind"] for o in behind[i:i + 4]], ["kernel", "kernel", "event_record", "copy"])
            self.assertEqual((first["grid"], second["grid"], copy["bytes"]), ("1x1x1", "2x1x1", "64"))
            self.assertEqual([o["stream"] for o in behind[i:i + 4]], [behind[0]["stream"], behind[1]["stream"]] * 2)
            for o, text in ((first, "small<<<1, 32, 0, s>>>(a, b);"), (second, "i == 50 ?"), (copy, "a + 512")):
                self.assertIn(text, self.lines[int(o["line"].rsplit(":", 1)[1]) - 1])
        for before, o in zip(behind, behind[2:]):  # of the same stream
            times = [int(o[name]) for name in ("called", "queued", *(("ready", "started", "ended") if ended else ()))]
            self.assertEqual(times, sorted(times), o)
            if ended:
                self.assertIn(f"stream_order:{before['operation']}:{before['ended']}", o["waits"].split())
        self.assertEqual({o["ended"] == "" for o in behind}, {not ended})
        return behind

    def test_work_that_is_handed_over_is_there_with_what_it_waited_for(self):
        behind = self.check_behind(self.operations(self.record("behind")), ended=True)
        self.assertEqual({o["started"] == "" for o in behind}, {False})

    def test_a_killed_program_leaves_what_it_had_handed_over(self):
        for _ in range(10):
            operations = self.operations(self.record("behind-kill", -9), status=3)
            behind = self.check_behind(operations, ended=False)
            self.assertEqual({o["started"] for o in behind}, {""})
            # Also what its call could not tell of, as late as that.
            self.assertEqual((operations[-1]["kind"], operations[-1]["bytes"]), ("copy", "128"))

    def test_a_kernel_that_fails_is_named_with_its_error(self):
        trace = self.record("fault")
        failed = [o for o in self.operations(trace) if o["error"]]
        self.assertEqual([(o["name"].split("(")[0], o["error"]) for o in failed], [("bad", "700")])
        text = self.command("explain", trace)
        self.assertRegex(text, r"1\. .*bad.* failed with cudaErrorIllegalAddress \(700\) \(recording\.cu:\d+\)")
        self.assertNotIn("failed with", self.command("explain", self.record("")))

    def test_a_trace_that_finds_no_room_is_told_of_and_an_error(self):
        trace = self.folder / "cut.sbt"
        limited = f"ulimit -f 512; exec {TOOLKIT}/bin/streambed run {self.program} --trace {trace} -- many"
        done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the trace stops before the program's end: File too large", done.stderr)
        self.assertIn(f"'{trace}' is not complete: there was no room for more of it", done.stderr)
        self.assertGreater(len(self.operations(trace, status=3)), 1000)
        self.assertIn("there was no room for more", self.command("explain", trace, status=3))

    def test_a_trace_whose_file_is_being_written_has_a_number_and_that_is_told(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STREAMBED_")}
        environment["STREAMBED_TRACE"] = "held.sbt"
        told = "streambed: held.sbt is being written by another process; the trace is held.1.sbt\n"
        with open(self.folder / "held.sbt", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            for beside, words in (({}, told), ({"STREAMBED_TRACE_BESIDE": "1"}, "")):
                done = subprocess.run([self.program, ""], env=environment | beside, cwd=self.folder,
                                      capture_output=True, text=True, timeout=200)
                self.assertEqual((done.returncode, done.stderr), (0, words))
                self.check(self.operations(self.folder / "held.1.sbt"))
                (self.folder / "held.1.sbt").unlink()

    def test_the_first_call_leaves_the_environment_where_it_is(self):
        # Other threads may be reading it.
        (self.folder / "reads.cu").write_text(
            "#include <cuda_runtime.h>\n#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n"
            "int main() {\n"
            '  const auto beside = [] { return getenv("STREAMBED_TRACE_BESIDE"); };\n'
            "  char** const all = environ;\n  const char* const before = beside();\n"
            '  if (before) printf("%s ", before);\n'
            "  cudaFree(nullptr);\n"
            '  if (before) printf("%s ", before);\n'
            '  puts(all == environ && before == beside() ? "same" : "moved");\n}\n')
        program = self.folder / "reads"
        subprocess.run([TOOLKIT / "bin/nvcc", "-o", program, program.with_suffix(".cu")], check=True, timeout=300)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STREAMBED_")}
        environment["STREAMBED_TRACE"] = str(self.folder / "reads.sbt")
        for beside, words in (({}, "0 1 same\n"), ({"STREAMBED_TRACE_BESIDE": "1"}, "1 1 same\n")):
            done = subprocess.run([program], env=environment | beside, capture_output=True, text=True, timeout=100)
            self.assertEqual((done.returncode, done.stdout), (0, words), done.stderr)
        self.assertTrue((self.folder / "reads.1.sbt").exists())

    def test_calls_have_their_lines_however_they_were_compiled(self):
        folder = self.folder / "lines"
        folder.mkdir()
        (folder / "host.cpp").write_text("""#include <cuda_runtime.h>
void launch(int* p);
int main() {
  int* p;
  cudaMalloc(&p, 4);
  cudaMemset(p, 0, 4);
  launch(p);
  return cudaDeviceSynchronize();
}
""")
        (folder / "kernel.cu").write_text("""__global__ void k(int* p) { *p = 1; }
void launch(int* p) {
  k<<<1, 1>>>(p);
  cudaMemset(p, 1, 4);
}
""")
        for flags in (), ("-rdc=true",), ("-g",), ("-Xcompiler", "-g"):
            subprocess.run([TOOLKIT / "bin/nvcc", *flags, "-o", "both", "host.cpp", "kernel.cu"], cwd=folder, check=True)
            subprocess.run([folder / "both"], check=True, timeout=100, env=os.environ | {"STREAMBED_TRACE": f"{folder}/t.sbt"})
            told = [(o["kind"], pathlib.Path(o["line"]).name) for o in self.operations(folder / "t.sbt")]
            self.assertEqual(told, [("fill", "host.cpp:6"), ("kernel", "kernel.cu:3"), ("fill", "kernel.cu:4")])
            sections = subprocess.run(["readelf", "-S", folder / "both"], capture_output=True, text=True).stdout
            self.assertEqual(".debug_info" in sections, "-g" in flags)

    def test_a_program_that_does_not_compile_is_told_of_before_the_compilers_words(self):
        wrong = self.folder / "wrong.cu"
        wrong.write_text("int main() { return nothing; }\n")
        done = subprocess.run([TOOLKIT / "bin/streambed", "run", wrong], capture_output=True, text=True, timeout=100)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Astreambed run: .*wrong\.cu does not compile\.")
        self.assertIn("nothing", done.stderr.split("\n", 1)[1])

    def test_a_kernel_that_is_loaded_behind_another_says_so(self):
        operations = self.operations(self.record("first"))
        second = next(o for o in operations if o["name"].startswith("second"))
        gate = next(o for o in operations if o["name"].startswith("gate"))
        self.assertIn(f"loading:{gate['operation']}:", second["waits"])
        self.assertNotIn("device_full", second["waits"])
        loaded = next(o for o in operations if o["name"].startswith("opens"))
        self.assertNotIn("loading", loaded["waits"])


if __name__ == "__main__":
    unittest.main()
