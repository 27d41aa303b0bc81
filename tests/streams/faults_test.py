"""What an asynchronous fault tells: kernel, stream and the line of the launch, once, on stderr."""

import re
import unittest

from toolkit import NvccTest

PROGRAM = """
#include <cstdio>
#include <cstring>
#include "kernel.h"
template <class T> __global__ void store(T* p) { if (threadIdx.x == 3) p[1] = 7; }
struct arguments { int* p; };
int main(int argc, char** argv) {
  cudaStream_t s;
  cudaStreamCreate(&s);
  unsigned long long id;
  cudaStreamGetId(s, &id);
  int* bad = (int*)0x10000;
  const char* how = argv[1];
  if (!std::strcmp(how, "plain")) store<<<2, 32, 0, s>>>(bad);  // here: plain
  if (!std::strcmp(how, "default")) store<<<2, 32>>>(bad);  // here: default
  if (!std::strcmp(how, "lines"))
    store
      <<<1,  // here: lines
         32, 0, s>>>(bad);
  if (!std::strcmp(how, "macro")) LAUNCH(s, bad);  // here: macro
  if (!std::strcmp(how, "header")) from_header(s, bad);
  if (!std::strcmp(how, "nested")) {
    auto also = [&] { touch<<<1, 1, 0, s>>>(nullptr); return bad; };
    store<<<1, 32, 0, s>>>(also());  // here: nested
  }
  if (!std::strcmp(how, "graph")) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t t;
    cudaStreamCreate(&t);
    cudaStreamBeginCapture(t, cudaStreamCaptureModeGlobal);
    store<<<1, 32, 0, t>>>(bad);  // here: graph
    cudaStreamEndCapture(t, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, s);
  }
  if (!std::strcmp(how, "call")) {
    void* args[] = {&bad};
    cudaLaunchKernel((const void*)store<int>, dim3(1), dim3(32), args, 0, s);
  }
  if (!std::strcmp(how, "far")) store<<<1, 32, 0, s>>>(bad + (1LL << 46));
  if (!std::strcmp(how, "assert")) claim<<<1, 2, 0, s>>>(0);  // here: assert
  std::printf("%llu %s\\n", id, cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
"""

HEADER = """
#pragma once
#include <cassert>
__global__ inline void touch(int* p) { if (p) *p = 1; }
__global__ inline void claim(int x) { assert(x == 1); }
#define LAUNCH(s, p) touch<<<1, 1, 0, s>>>(p)
inline void from_header(cudaStream_t s, int* p) {
  touch<<<1, 1, 0, s>>>(p);
}
"""


class Report(NvccTest):
    def setUp(self):
        super().setUp()
        self.write("program.cu", PROGRAM)
        self.write("kernel.h", HEADER)
        self.nvcc("program.cu", "-o", "a")

    def told(self, how, error="cudaErrorIllegalAddress", **environment):
        done = self.command(self.folder / "a", how, **environment)
        number, name = done.stdout.split()
        self.assertEqual(name, error)
        return done.stderr, number

    def line(self, how):
        return next(i for i, text in enumerate(PROGRAM.splitlines(), 1) if f"// here: {how}" in text)

    def assert_told(self, how, kernel, file="program.cu", line=None, stream=None):
        text, number = self.told(how)
        where = stream or f"stream {number}"
        self.assertRegex(text, r"^streambed: kernel " + re.escape(kernel) + " on " + where +
                         rf" \(launched at {file}:{line or self.line(how)}\), block \(\d,0,0\)"
                         r".*: illegal address 0x1000[04] "
                         r"\(memory that the device has no access to\)\n$")

    def test_kernel_stream_and_line_are_told_once(self):
        self.assert_told("plain", "void store<int>(int*)")

    def test_the_default_stream_is_called_so(self):
        self.assert_told("default", "void store<int>(int*)", stream="the default stream")

    def test_a_launch_over_several_lines_has_that_of_its_brackets(self):
        self.assert_told("lines", "void store<int>(int*)")

    def test_a_launch_inside_a_macro_has_the_line_that_uses_it(self):
        self.assert_told("macro", "touch(int*)")

    def test_a_launch_in_a_header_names_the_header(self):
        line = next(i for i, text in enumerate(HEADER.splitlines(), 1) if text.startswith("  touch"))
        self.assert_told("header", "touch(int*)", file=r"\S*kernel.h", line=line)

    def test_a_launch_in_the_arguments_of_another_keeps_its_own_line(self):
        self.assert_told("nested", "void store<int>(int*)")

    def test_a_graph_has_the_line_that_was_captured_and_the_stream_it_runs_in(self):
        self.assert_told("graph", "void store<int>(int*)")

    def test_a_launch_by_call_has_the_place_in_the_program(self):
        text, number = self.told("call")
        self.assertRegex(text, rf" on stream {number} \(launched from \S*/a 0x[0-9a-f]+\), block ")

    def test_an_address_far_outside_is_illegal_and_not_misaligned(self):
        self.assertIn(": illegal address 0x1000000010004", self.told("far")[0])

    def test_an_assertion_has_cudas_lines_and_ours(self):
        text, number = self.told("assert", "cudaErrorAssert")
        lines = text.splitlines()
        self.assertIn("Assertion `x == 1` failed.", lines[0])
        self.assertIn(f"claim(int) on stream {number} (launched at program.cu:{self.line('assert')})",
                      lines[-1])

    def test_a_recorded_run_calls_the_stream_the_same_everywhere(self):
        for how, stream in (("plain", r"stream \d+"), ("default", "the default stream")):
            words = self.command("streambed", "run", "--device=h200", "--force", "a", "--", how).stderr
            named = re.findall(rf"kernel void store<int>\(int\*\) on ({stream}) (?:\(launched|failed)",
                               words)
            self.assertEqual(len(named), 2, words)
            self.assertEqual(named[0], named[1])

    def test_after_an_abort_the_report_does_not_end_as_if_all_were_well(self):
        self.write("c.cu", """
          #include <cstdlib>
          __global__ void k() {}
          int main(int argc, char**) {
            k<<<1, 1>>>();
            if (argc > 1) std::abort();
          }""")
        self.nvcc("c.cu", "-o", "c")
        well = self.command("streambed", "run", "--device=h200", "c").stderr
        self.assertIn("\nNothing to change was found.\n", well)
        words = self.command("streambed", "run", "--device=h200", "c", "--", "x", status=134).stderr
        self.assertIn("ended by signal 6", words)
        self.assertIn("\nThe program did not come to its end. Nothing to change was found up to there.\n"
                      "  Thread 0 was in its own code since cudaLaunchKernel (c.cu:5).\n", words)
        self.assertNotIn("Thread 0", well)

    def test_the_environment_silences_it(self):
        self.assertEqual(self.told("plain", STREAMBED_FAULT_REPORT="0")[0], "")

    def test_a_per_thread_build_has_lines_too(self):
        self.nvcc("--default-stream", "per-thread", "program.cu", "-o", "a")
        self.assert_told("plain", "void store<int>(int*)")

    def test_a_synchronous_launch_returns_its_error(self):
        self.write("b.cu", """
          #include <cstdio>
          __global__ void k(int* p) { *p = 1; }
          int main() {
            k<<<1, 1>>>((int*)16);
            std::printf("%s\\n", cudaGetErrorName(cudaPeekAtLastError()));
          }""")
        self.nvcc("b.cu", "-o", "b")
        self.assertEqual(self.output("b", CUDA_LAUNCH_BLOCKING="1"), "cudaErrorIllegalAddress\n")


if __name__ == "__main__":
    unittest.main()
