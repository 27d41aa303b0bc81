// Do streams beyond the first 63 share a hardware queue? One stuck stream, a thousand others; run once per
// value of CUDA_DEVICE_MAX_CONNECTIONS.
#include "probe.h"
int main() {
  const char* env = getenv("CUDA_DEVICE_MAX_CONNECTIONS"); std::string p = std::string("many.") + (env ? env : "unset") + ".";
  const int N = 1000; MUST(cudaFree(0)); int* marks; MUST(cudaHostAlloc((void**)&marks, N * 4, cudaHostAllocMapped)); volatile int* m = marks;
  std::vector<cudaStream_t> s(N); for (auto& x : s) MUST(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
  { Gate g; g.open(); g.close(s[0]); MUST(cudaDeviceSynchronize()); } mark_kernel<<<1, 1>>>(marks, 0); nop_kernel<<<1, 1>>>(); MUST(cudaDeviceSynchronize());
  for (int stuck : {7, 500}) {
    for (int i = 0; i < N; i++) m[i] = 0;
    Gate g; g.close(s[stuck]); nop_kernel<<<1, 1, 0, s[stuck]>>>();
    for (int i = 0; i < N; i++) if (i != stuck) mark_kernel<<<1, 1, 0, s[i]>>>(marks + i, 1);
    wait_until([&] { for (int i = 0; i < N; i++) if (i != stuck && !m[i]) return false; return true; }, 300);
    std::string held; int n = 0; for (int i = 0; i < N; i++) if (i != stuck && !m[i]) { n++; if (n <= 12) held += " " + std::to_string(i); }
    say(p + "stuck" + std::to_string(stuck) + ".held", std::to_string(n) + held);
    g.open(); MUST(cudaDeviceSynchronize());
  }
  say(p + "end", "ok");
}
