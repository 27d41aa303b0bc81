// Which streams hold each other back because they share a hardware queue. The answer depends on
// CUDA_DEVICE_MAX_CONNECTIONS, which every line names; one run for each value.
#include "probe.h"
#include <string>
int main() {
  const char* env = getenv("CUDA_DEVICE_MAX_CONNECTIONS"); std::string p = std::string("conn.") + (env ? env : "unset") + ".";
  MUST(cudaFree(0)); int* marks; MUST(cudaHostAlloc((void**)&marks, 65536, cudaHostAllocMapped)); volatile int* m = marks;
  const int N = 160; std::vector<cudaStream_t> s(N); for (auto& x : s) MUST(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
  { Gate g; g.open(); g.close(s[0]); } mark_kernel<<<1, 1>>>(marks, 0); nop_kernel<<<1, 1>>>(); MUST(cudaDeviceSynchronize());
  auto mark = [&](int i, int st) { mark_kernel<<<1, 1, 0, s[st]>>>(marks + i, 1); };
  auto seen = [&](int i, int ms = 60) { return wait_until([&] { return m[i] == 1; }, ms); };
  { Gate g; m[0] = 0; g.close(s[0]); mark(0, 1); say(p + "K0held.K1", seen(0)); g.open(); MUST(cudaDeviceSynchronize()); }
  { Gate g; m[0] = m[1] = 0; g.close(s[0]); mark(0, 0); mark(1, 1); say(p + "K0held.K0.K1", seen(1)); g.open(); MUST(cudaDeviceSynchronize()); }
  { Gate g; m[0] = m[1] = 0; g.close(s[0]); mark(0, 1); mark(1, 0); say(p + "K0held.K1.K0", seen(0)); g.open(); MUST(cudaDeviceSynchronize()); }
  { cudaEvent_t e; MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); Gate g; m[0] = m[1] = m[2] = 0; g.close(s[0]); MUST(cudaEventRecord(e, s[0])); MUST(cudaStreamWaitEvent(s[1], e, 0)); mark(0, 1); mark(1, 2);
    say(p + "wait.in.s1.then.K2", seen(1)); g.open(); MUST(cudaDeviceSynchronize()); 
    // backward/communication shape: compute stream keeps going while the communication stream waits and runs
    Gate h; for (int i = 0; i < 8; i++) m[i] = 0; MUST(cudaEventRecord(e, s[0])); MUST(cudaStreamWaitEvent(s[1], e, 0)); h.close(s[1]); mark(1, 0); mark(2, 0); say(p + "commheld.compute1", seen(1)); say(p + "commheld.compute2", seen(2)); 
    MUST(cudaEventRecord(e, s[0])); MUST(cudaStreamWaitEvent(s[1], e, 0)); mark(3, 1); mark(4, 0); say(p + "commheld.queued.comm.then.compute", seen(4)); h.open(); MUST(cudaDeviceSynchronize()); MUST(cudaEventDestroy(e)); }
  { char *d, *h; MUST(cudaMalloc((void**)&d, 1 << 20)); MUST(cudaMallocHost((void**)&h, 1 << 20)); cudaEvent_t e; MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); Gate g; g.close(s[0]); MUST(cudaMemcpyAsync(d, h, 1 << 16, cudaMemcpyHostToDevice, s[1])); MUST(cudaEventRecord(e, s[1])); say(p + "K0held.h2d1", wait_until([&] { return cudaEventQuery(e) == cudaSuccess; }, 60)); cudaGetLastError(); g.open(); MUST(cudaDeviceSynchronize());
    Gate k; k.close(s[0]); MUST(cudaMemcpyAsync(h, d, 1 << 16, cudaMemcpyDeviceToHost, s[0])); MUST(cudaMemcpyAsync(h + (1 << 17), d, 1 << 16, cudaMemcpyDeviceToHost, s[1])); MUST(cudaEventRecord(e, s[1])); say(p + "K0held.d2h0.d2h1", wait_until([&] { return cudaEventQuery(e) == cudaSuccess; }, 60)); cudaGetLastError(); k.open(); MUST(cudaDeviceSynchronize());
    Gate j; j.close(s[0]); MUST(cudaMemcpyAsync(h, d, 1 << 16, cudaMemcpyDeviceToHost, s[0])); MUST(cudaMemcpyAsync(d + (1 << 17), h + (1 << 17), 1 << 16, cudaMemcpyHostToDevice, s[1])); MUST(cudaEventRecord(e, s[1])); say(p + "K0held.d2h0.h2d1", wait_until([&] { return cudaEventQuery(e) == cudaSuccess; }, 60)); cudaGetLastError(); j.open(); MUST(cudaDeviceSynchronize()); }
  // how many of N streams, each [gate][mark], can have their gates running at once; and who shares a queue with stream 0
  { Gate g; for (int i = 0; i < 300; i++) m[i] = 0; g.close(s[0]); mark(299, 0); int free_ = 0; std::string shared; for (int i = 1; i < 64; i++) mark(i, i); std::this_thread::sleep_for(std::chrono::milliseconds(100)); for (int i = 1; i < 64; i++) { if (m[i]) free_++; else shared += (shared.empty() ? "" : ",") + std::to_string(i); }
    say(p + "streams.not.held.of63", free_); say(p + "streams.held.by.s0", shared.empty() ? "none" : shared); g.open(); MUST(cudaDeviceSynchronize()); }
  { // resident kernels at once
    for (int i = 0; i < 300; i++) m[i] = 0; Gate g; for (int i = 0; i < N; i++) { mark(i, i); } MUST(cudaDeviceSynchronize()); for (int i = 0; i < N; i++) m[i] = 0; 
    int* count; MUST(cudaHostAlloc((void**)&count, 4096 * 4, cudaHostAllocMapped)); (void)count;
    for (int i = 0; i < N; i++) { /* each stream: mark then gate */ mark(i, i); g.close(s[i]); } std::this_thread::sleep_for(std::chrono::milliseconds(200)); int started = 0; for (int i = 0; i < N; i++) started += m[i] == 1; say(p + "gates.enqueued.marks.of160", started); g.open(); MUST(cudaDeviceSynchronize()); }
  say(p + "end", "ok");
}
