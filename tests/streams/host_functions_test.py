"""An exception that escapes a host function or a callback ends the process with a message."""

import signal
import unittest

from toolkit import NvccTest

PROGRAM = """
#include <stdexcept>
#include <cstring>
int main(int, char** argv) {
  cudaStream_t s;
  cudaStreamCreate(&s);
  if (!std::strcmp(argv[1], "function"))
    cudaLaunchHostFunc(s, [](void*) { throw std::runtime_error("out of paper"); }, nullptr);
  if (!std::strcmp(argv[1], "callback"))
    cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) { throw 7; }, nullptr, 0);
  if (!std::strcmp(argv[1], "graph")) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaLaunchHostFunc(s, [](void*) { throw std::runtime_error("out of ink"); }, nullptr);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, s);
  }
  cudaDeviceSynchronize();
}
"""


class Exceptions(NvccTest):
    def test_the_process_ends_with_a_message(self):
        self.write("a.cu", PROGRAM)
        self.nvcc("a.cu", "-o", "a")
        for how, words in (("function", "a host function threw out of paper"),
                           ("callback", "a host function threw an exception"),
                           ("graph", "a host function threw out of ink")):
            with self.subTest(how):
                done = self.command(self.folder / "a", how, status=-signal.SIGABRT)
                self.assertIn("streambed: " + words, done.stderr)
                self.assertIn("catch it inside", done.stderr)


if __name__ == "__main__":
    unittest.main()
