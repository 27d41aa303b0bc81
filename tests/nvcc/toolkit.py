"""What the tests of the nvcc command share: a folder of their own, and the command as a user runs it."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOLKIT = pathlib.Path(os.environ["STREAMBED_TOOLKIT"]).resolve()


class NvccTest(unittest.TestCase):
    """Each test runs in an empty folder with nothing but the toolkit and the system on the PATH."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nvcc-test-"))
        self.temporaries = self.folder / "tmp"
        self.temporaries.mkdir()
        self.environment = {
            "PATH": f"{TOOLKIT / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "TMPDIR": str(self.temporaries),
            "STREAMBED_CACHE_DIR": os.environ.get("STREAMBED_CACHE_DIR", "off"),
            "LC_ALL": "C",
        }

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def command(self, *words, status=0, **environment):
        """Runs a command; `status` is what it must exit with, None: anything but 0."""
        done = subprocess.run([str(word) for word in words], cwd=self.folder, text=True,
                              env={**self.environment, **environment}, timeout=300,
                              stdin=subprocess.DEVNULL, capture_output=True)
        said = f"\n$ {' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
        if status is None:
            self.assertNotEqual(done.returncode, 0, said)
        else:
            self.assertEqual(done.returncode, status, said)
        return done

    def nvcc(self, *words, status=0, **environment):
        return self.command("nvcc", *words, status=status, **environment)

    def refused(self, *words, **environment):
        """What nvcc says when it fails."""
        return self.nvcc(*words, status=None, **environment).stderr

    def output(self, program, *words, **environment):
        return self.command(self.folder / program, *words, **environment).stdout

    def assert_temporaries_are_gone(self):
        self.assertEqual(sorted(self.temporaries.iterdir()), [])


# A program that computes on the device and says ok.
DOUBLING = """
#include <cstdio>
__global__ void twice(int* values, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= 2;
}
int main() {
  int host[100], *device;
  for (int i = 0; i < 100; ++i) host[i] = i;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  twice<<<2, 64>>>(device, 100);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 100; ++i)
    if (host[i] != 2 * i) return std::printf("wrong at %d\\n", i), 1;
  std::puts("ok");
}
"""

# Runs `body` in one device thread, which sets `long long result`; prints it.
def device_value(body, before=""):
    return before + """
#include <cstdio>
__global__ void compute(long long* out) { long long result = 0; """ + body + """ *out = result; }
int main() {
  long long host = -1, *device;
  cudaMalloc(&device, sizeof host);
  compute<<<1, 1>>>(device);
  if (cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  std::printf("%lld\\n", host);
}
"""
