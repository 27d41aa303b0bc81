"""NVTX, as a program uses it: what it says about itself is in the trace, and costs nothing without one."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import perfetto

TOOLKIT = pathlib.Path(sys.argv.pop())
HERE = pathlib.Path(__file__).resolve().parent


class Nvtx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.addClassCleanup(cls.temporary.cleanup)

    def build(self, name, *options):
        program = self.folder / name
        subprocess.run([TOOLKIT / "bin/nvcc", "-o", program, HERE / "nvtx.cu", *options], check=True,
                       timeout=300)
        return program

    def run_program(self, program, trace=None):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STREAMBED_")}
        if trace:
            environment["STREAMBED_TRACE"] = str(trace)
        done = subprocess.run([program], env=environment, capture_output=True, text=True,
                              timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def events(self, trace):
        text = subprocess.run([TOOLKIT / "bin/streambed", "export", trace, "--format", "chrome"],
                              capture_output=True, text=True, check=True, timeout=100).stdout
        return json.loads(text)["traceEvents"]

    def check(self, program):
        trace = self.folder / f"{program.name}.sbt"
        self.assertEqual(self.run_program(program, trace), "0 1 1 0\n")
        events = self.events(trace)
        rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
                if e["name"] == "thread_name"}
        self.assertIn("thread 0 the main one", rows.values())
        self.assertTrue(any(name.endswith(" copies") for name in rows.values()), rows)
        found = {e["name"]: e for e in events if e.get("cat") == "annotation"}
        self.assertEqual(set(found), {"outer", "inn\u00e9r", "crossing", "in a thread", "function",
                                      "registered", "marked", "open at the end"})
        self.assertEqual(found["inn\u00e9r"]["args"], {"category": "phase"})
        self.assertEqual(found["function"]["args"], {"domain": "library"})
        self.assertEqual([found[n]["ph"] for n in ("marked", "in a thread", "outer")],
                         ["i", "i", "X"])
        end = lambda e: e["ts"] + e["dur"]
        self.assertLessEqual(found["outer"]["ts"], found["inn\u00e9r"]["ts"])
        self.assertLessEqual(end(found["inn\u00e9r"]), end(found["outer"]))
        rows_of = lambda name: rows[(found[name]["pid"], found[name]["tid"])]
        self.assertEqual(rows_of("outer"), "thread 0 the main one annotations")
        self.assertNotEqual(rows_of("in a thread"), rows_of("outer"))

    def test_what_the_program_says_is_in_the_trace(self):
        self.check(self.build("static", "-lnvToolsExt"))

    def test_with_the_shared_runtime_as_well(self):
        self.check(self.build("shared", "-cudart", "shared"))

    def test_without_a_trace_nothing_is_tracked(self):
        self.assertEqual(self.run_program(self.build("quiet")), "-2 -2 -2 -2\n")

    def test_ranges_inside_others_are_so_in_perfetto_where_times_are_equal(self):
        # In modelled time neither NVTX nor the code between its calls takes any.
        source = self.folder / "nested.cu"
        source.write_text("""
          #include <nvtx3/nvToolsExt.h>
          __global__ void nothing() {}
          int main() {
            cudaFree(nullptr);
            nvtxRangePushA("before"); nvtxRangePop();
            nvtxRangePushA("outer");
            nvtxRangePushA("middle");
            nvtxRangePushA("first"); nothing<<<1, 1>>>(); nvtxRangePop();
            nvtxRangePushA("second"); nothing<<<1, 1>>>();
            nvtxRangePop(); nvtxRangePop(); nvtxRangePop();
            nvtxRangePushA("after"); cudaDeviceSynchronize();
            const nvtxRangeId_t crossing = nvtxRangeStartA("crossing");
            nothing<<<1, 1>>>(); nvtxRangePop(); nothing<<<1, 1>>>(); nvtxRangeEnd(crossing);
          }""")
        streambed = TOOLKIT / "bin/streambed"
        trace, out = self.folder / "nested.sbt", self.folder / "nested.pftrace"
        subprocess.run([streambed, "run", "--device=h200", "--quiet", "--trace", trace, source],
                       check=True, timeout=100)
        subprocess.run([streambed, "export", trace, "--format", "perfetto", "-o", out], check=True,
                       timeout=100)
        rows, names, stacks, found = {}, {}, {}, []
        # As Perfetto does it: by time, and what is equal stays in the order of the file.
        for packet in sorted(perfetto.packets(self, out), key=lambda p: (p["timestamp"] or [0])[0]):
            for row in packet["track_descriptor"]:
                if row["name"] and "annotations" in row["name"][0]:
                    rows[row["uuid"][0]] = len(rows)
            for data in packet["interned_data"]:
                names.update((name["iid"][0], name["name"][0]) for name in data["event_names"])
            for event in packet["track_event"]:
                row = rows.get(event["track_uuid"][0])
                if row is None:
                    continue
                stack = stacks.setdefault(row, [])
                if event["type"] == [2]:
                    stack.pop()
                else:
                    stack.append(names[event["name_iid"][0]])
                    found.append((row, "/".join(stack)))
        self.assertEqual(found, [
            (0, "before"), (0, "outer"), (0, "outer/middle"), (0, "outer/middle/first"),
            (0, "outer/middle/second"), (0, "after"), (1, "crossing")])

    def test_a_program_without_the_runtime_compiles_and_runs(self):
        for compiler, ending in (("gcc", "c"), ("g++", "cpp")):
            source = self.folder / f"alone.{ending}"
            source.write_text("#include <nvtx3/nvToolsExt.h>\nint main(void) { nvtxMarkA(\"x\");"
                              " nvtxRangePushA(\"y\"); return nvtxRangePop() != -2; }\n")
            program = self.folder / f"alone_{ending}"
            subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", f"-I{TOOLKIT}/include",
                            "-o", program, source], check=True, timeout=100)
            subprocess.run([program], check=True, timeout=20)


if __name__ == "__main__":
    unittest.main()
