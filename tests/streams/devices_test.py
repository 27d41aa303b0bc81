"""Several virtual devices: what each has of its own, what works across them, and what does not."""

import unittest

from toolkit import NvccTest

COMMON = """
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>
static void check(const char* what, bool good) { std::printf("%s %s\\n", good ? "ok" : "WRONG", what); }
__device__ int variable = 5;
__global__ void hold(volatile int* open) { while (*open == 0) {} }
__global__ void add(int n) { atomicAdd(&variable, n); }
__global__ void mark(int* at) { atomicAdd(at, 1); }
__global__ void square(long long* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = (long long)i * i;
}
static int read_variable() { int v = -1; cudaMemcpyFromSymbol(&v, variable, sizeof v); return v; }
"""

OWN = COMMON + """
int main() {
  int *open, count = 0;
  cudaGetDeviceCount(&count);
  check("four devices", count == 4);
  cudaMallocHost(&open, 64);
  int* marks = open + 8;

  // Variables.
  for (int d = 0; d < 4; ++d) { cudaSetDevice(d); add<<<1, 1>>>(d * 10); }
  for (int d = 0; d < 4; ++d) { cudaSetDevice(d); check("a variable of its own", read_variable() == 5 + d * 10); }
  void* addresses[2];
  for (int d = 0; d < 2; ++d) { cudaSetDevice(d); cudaGetSymbolAddress(&addresses[d], variable); }
  check("variables at different addresses", addresses[0] != addresses[1]);

  // The current device belongs to the thread.
  cudaSetDevice(2);
  int theirs = -1;
  std::thread([&] { cudaGetDevice(&theirs); }).join();
  check("a new thread begins with device 0", theirs == 0);

  // Default streams.
  cudaSetDevice(1);
  hold<<<1, 1>>>(open);
  check("the legacy stream of the held device is busy", cudaStreamQuery(0) == cudaErrorNotReady);
  cudaSetDevice(0);
  mark<<<1, 1>>>(marks);
  check("that of another is not", cudaDeviceSynchronize() == cudaSuccess && *marks == 1);
  void* memory;
  cudaMalloc(&memory, 64);
  check("a free waits for its own device only", cudaFree(memory) == cudaSuccess);

  // Streams and events of another device.
  cudaStream_t s[2];
  cudaEvent_t e[2];
  for (int d = 0; d < 2; ++d) {
    cudaSetDevice(d);
    cudaStreamCreateWithFlags(&s[d], cudaStreamNonBlocking);
    cudaEventCreate(&e[d]);
  }
  cudaSetDevice(0);
  mark<<<1, 1, 0, s[1]>>>(marks);
  check("a launch into a stream of another device is refused", cudaGetLastError() == cudaErrorInvalidResourceHandle);
  check("so is a record of its own event there", cudaEventRecord(e[0], s[1]) == cudaErrorInvalidResourceHandle);
  check("a copy there is not", cudaMemcpyAsync(marks + 1, marks, sizeof(int), cudaMemcpyDefault, s[1]) == cudaSuccess);
  check("nor is waiting for that stream", cudaStreamSynchronize(s[1]) == cudaSuccess && marks[1] == 1);
  check("nor asking it", cudaStreamQuery(s[1]) == cudaSuccess);
  check("nor a record of the stream's own device's event", cudaEventRecord(e[1], s[1]) == cudaSuccess);
  check("nor waiting for that event", cudaEventSynchronize(e[1]) == cudaSuccess && cudaEventQuery(e[1]) == cudaSuccess);
  float ms;
  cudaEventRecord(e[0], s[0]);
  cudaEventSynchronize(e[0]);
  check("a time between events of two devices is refused", cudaEventElapsedTime(&ms, e[0], e[1]) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();

  // Waits across devices.
  cudaSetDevice(1);
  cudaEventRecord(e[1], 0);  // behind the gate
  cudaSetDevice(0);
  check("a stream waits for an event of another device", cudaStreamWaitEvent(s[0], e[1], 0) == cudaSuccess);
  mark<<<1, 1, 0, s[0]>>>(marks);
  check("and is held by it", cudaStreamQuery(s[0]) == cudaErrorNotReady && *(volatile int*)marks == 1);
  *(volatile int*)open = 1;
  check("until it is reached", cudaStreamSynchronize(s[0]) == cudaSuccess && *marks == 2);
  for (int d = 0; d < 4; ++d) { cudaSetDevice(d); cudaDeviceSynchronize(); }

  // A reset is one device's.
  cudaSetDevice(3);
  void *there, *here;
  cudaMalloc(&there, 64);
  cudaSetDevice(2);
  cudaMalloc(&here, 64);
  cudaSetDevice(3);
  cudaDeviceReset();
  check("a reset gives its variables their first values back", read_variable() == 5);
  cudaSetDevice(2);
  check("and leaves the others alone", read_variable() == 25 && cudaMemset(here, 0, 64) == cudaSuccess);
}
"""

THREADS = COMMON + """
constexpr int n = 20000;
static void work(int device, int* wrong) {
  cudaSetDevice(device);
  cudaStream_t s;
  cudaStreamCreate(&s);
  long long* values;
  std::vector<long long> host(n);
  for (int round = 0; round < 10; ++round) {
    cudaMallocAsync((void**)&values, n * sizeof(long long), s);
    square<<<(n + 127) / 128, 128, 0, s>>>(values, n);
    add<<<1, 1, 0, s>>>(1);
    cudaMemcpyAsync(host.data(), values, n * sizeof(long long), cudaMemcpyDeviceToHost, s);
    cudaFreeAsync(values, s);
    cudaStreamSynchronize(s);
    for (int i = 0; i < n; ++i) *wrong += host[i] != (long long)i * i;
    std::fill(host.begin(), host.end(), 0);
  }
  cudaStreamDestroy(s);
  *wrong += cudaGetLastError() != cudaSuccess;
}
int main() {
  int wrong[4] = {};
  std::vector<std::thread> threads;
  for (int d = 0; d < 4; ++d) threads.emplace_back(work, d, &wrong[d]);
  for (auto& t : threads) t.join();
  for (int d = 0; d < 4; ++d) check("a thread for each device", wrong[d] == 0);
  // One thread that keeps all of them busy at once.
  cudaStream_t s[4];
  long long* values[4];
  std::vector<std::vector<long long>> host(4, std::vector<long long>(n));
  for (int d = 0; d < 4; ++d) {
    cudaSetDevice(d);
    cudaStreamCreate(&s[d]);
    cudaMalloc(&values[d], n * sizeof(long long));
  }
  for (int round = 0; round < 10; ++round) {
    for (int d = 0; d < 4; ++d) {
      cudaSetDevice(d);
      cudaMemsetAsync(values[d], 0, n * sizeof(long long), s[d]);
      square<<<(n + 127) / 128, 128, 0, s[d]>>>(values[d], n);
      add<<<1, 1, 0, s[d]>>>(1);
    }
    // Round the ring: each passes its values to the next device.
    for (int d = 0; d < 4; ++d) cudaMemcpyPeerAsync(values[(d + 1) % 4], (d + 1) % 4, values[d], d, n * sizeof(long long), s[d]);
    for (int d = 0; d < 4; ++d) { cudaSetDevice(d); cudaMemcpyAsync(host[d].data(), values[d], n * sizeof(long long), cudaMemcpyDeviceToHost, s[d]); }
    for (int d = 0; d < 4; ++d) {
      cudaStreamSynchronize(s[d]);
      int bad = 0;
      for (int i = 0; i < n; ++i) bad += host[d][i] != (long long)i * i;
      if (bad) check("one thread for all devices", false);
    }
  }
  for (int d = 0; d < 4; ++d) { cudaSetDevice(d); check("its variable was counted", read_variable() == 25); }
}
"""

PEERS = COMMON + """
int main(int, char** argv) {
  const char* how = argv[1];
  int *theirs, *pooled, host[2] = {1, 2};
  cudaSetDevice(1);
  cudaMalloc(&theirs, 64);
  cudaMemset(theirs, 0, 64);
  cudaMallocAsync((void**)&pooled, 64, 0);
  cudaMemset(pooled, 0, 64);
  cudaDeviceSynchronize();
  void* symbol;
  cudaGetSymbolAddress(&symbol, variable);
  cudaSetDevice(0);
  if (!std::strcmp(how, "errors")) {
    int can = 0;
    check("two devices can reach each other", cudaDeviceCanAccessPeer(&can, 0, 1) == cudaSuccess && can == 1);
    check("not itself", cudaDeviceCanAccessPeer(&can, 0, 0) == cudaSuccess && can == 0);
    check("flags must be 0", cudaDeviceEnablePeerAccess(1, 1) == cudaErrorInvalidValue);
    check("an unknown device", cudaDeviceEnablePeerAccess(9, 0) == cudaErrorInvalidDevice);
    check("off before it is on", cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    check("on", cudaDeviceEnablePeerAccess(1, 0) == cudaSuccess);
    check("on twice", cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    cudaSetDevice(1);
    check("one way only", cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
    return 0;
  }
  // Copies need no access.
  cudaMemcpyPeer(theirs, 1, host, 0, 0);
  if (!std::strcmp(how, "disabled")) { cudaDeviceEnablePeerAccess(1, 0); cudaDeviceDisablePeerAccess(1); }
  if (!std::strcmp(how, "enabled") || !std::strcmp(how, "symbol")) cudaDeviceEnablePeerAccess(1, 0);
  if (!std::strcmp(how, "pool.peer")) cudaDeviceEnablePeerAccess(1, 0);
  if (!std::strcmp(how, "pool")) {
    cudaMemPool_t pool;
    cudaDeviceGetDefaultMemPool(&pool, 1);
    cudaMemAccessDesc d = {};
    d.location.type = cudaMemLocationTypeDevice;
    d.location.id = 0;
    d.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemPoolSetAccess(pool, &d, 1);
  }
  int* target = !std::strncmp(how, "pool", 4) ? pooled : !std::strcmp(how, "symbol") ? (int*)symbol : theirs;
  mark<<<1, 1>>>(target);
  std::printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaSetDevice(1);
  int value = -1;
  std::printf("%s ", cudaGetErrorName(cudaMemcpy(&value, target, sizeof value, cudaMemcpyDeviceToHost)));
  std::printf("%d\\n", value);
}
"""

OVERLAP = COMMON + """
int main() {
  int* open;
  cudaMallocHost(&open, 64);
  const size_t bytes = 8 << 20;
  char* m[2];
  cudaStream_t s[2];
  for (int d = 0; d < 2; ++d) {
    cudaSetDevice(d);
    cudaMalloc(&m[d], bytes);
    cudaMemset(m[d], d + 1, bytes);
    cudaStreamCreateWithFlags(&s[d], cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaStream_t busy;
    cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking);
    hold<<<1, 1, 0, busy>>>(open);
  }
  char *from0, *from1;
  cudaSetDevice(0);
  cudaMallocAsync((void**)&from1, bytes, s[0]);
  cudaSetDevice(1);
  cudaMallocAsync((void**)&from0, bytes, s[1]);
  check("a copy each way", cudaMemcpyPeerAsync(from1, 0, m[1], 1, bytes, s[0]) == cudaSuccess &&
                           cudaMemcpyPeerAsync(from0, 1, m[0], 0, bytes, s[1]) == cudaSuccess);
  check("done while kernels run on both", cudaStreamSynchronize(s[0]) == cudaSuccess && cudaStreamSynchronize(s[1]) == cudaSuccess);
  std::vector<char> a(bytes), b(bytes);
  cudaMemcpyAsync(a.data(), from1, bytes, cudaMemcpyDeviceToHost, s[0]);
  cudaMemcpyAsync(b.data(), from0, bytes, cudaMemcpyDeviceToHost, s[1]);
  check("with what the other had", a == std::vector<char>(bytes, 2) && b == std::vector<char>(bytes, 1));
  *(volatile int*)open = 1;
  check("all ends well", cudaGetLastError() == cudaSuccess);
}
"""


class Devices(NvccTest):
    def run_checks(self, program, devices, *words):
        self.write("a.cu", program)
        self.nvcc("-std=c++17", "a.cu", "-o", "a")
        lines = self.output("a", *words, STREAMBED_DEVICES=str(devices)).splitlines()
        self.assertEqual([line for line in lines if not line.startswith("ok ")], [])
        self.assertGreater(len(lines), 3)

    def test_each_has_variables_default_streams_and_a_reset_of_its_own(self):
        self.run_checks(OWN, 4)

    def test_a_host_thread_for_each_and_one_for_all(self):
        self.run_checks(THREADS, 4)

    def test_peer_access_has_its_errors(self):
        self.run_checks(PEERS, 2, "errors")

    def test_peer_copies_overlap_with_kernels_and_each_other(self):
        self.run_checks(OVERLAP, 2)

    def test_a_kernel_faults_on_memory_of_a_device_that_it_has_no_access_to(self):
        self.write("a.cu", PEERS)
        self.nvcc("a.cu", "-o", "a")
        fault = "cudaErrorIllegalAddress\ncudaSuccess 0\n"
        good = "cudaSuccess\ncudaSuccess 1\n"
        for how, said in (("never", fault), ("disabled", fault), ("enabled", good), ("pool", good),
                          ("pool.peer", fault), ("pool.never", fault),
                          ("symbol", "cudaSuccess\ncudaSuccess 6\n")):
            with self.subTest(how):
                self.assertEqual(self.output("a", how, STREAMBED_DEVICES="2"), said)


if __name__ == "__main__":
    unittest.main()
