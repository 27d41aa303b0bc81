// Random programs of up to 40 operations over nine streams. Gates hold some of them and are opened one by
// one; after each step the program prints what has finished. The rules alone decide that, not the speed.
//   random_order FIRST_SEED COUNT [SETTLE_MS]
#include "probe.h"
#include <cstring>

struct Rng {
  unsigned long long x;
  explicit Rng(unsigned long long s) : x(s * 0x9E3779B97F4A7C15ull + 0xD1B54A32D192ED03ull) {}
  unsigned next(unsigned n) { x ^= x >> 12; x ^= x << 25; x ^= x >> 27; return (unsigned)((x * 0x2545F4914F6CDD1Dull) >> 33) % n; }
};
static void CUDART_CB host_mark(void* p) { *(volatile int*)p = 1; }

int main(int argc, char** argv) {
  unsigned long long first = argc > 1 ? strtoull(argv[1], nullptr, 10) : 0;
  int count = argc > 2 ? atoi(argv[2]) : 10, settle = argc > 3 ? atoi(argv[3]) : 4;
  const int MAXOPS = 64, MAXGATES = 4, NEV = 6;
  int *flags, *gates, *one, *scratch;
  MUST(cudaHostAlloc((void**)&flags, MAXOPS * sizeof(int), cudaHostAllocMapped));
  MUST(cudaHostAlloc((void**)&gates, 64 * sizeof(int), cudaHostAllocMapped));
  MUST(cudaMalloc((void**)&one, 4096)); MUST(cudaMalloc((void**)&scratch, 4096));
  int ones[2] = {1, 1}; MUST(cudaMemcpy(one, ones, 8, cudaMemcpyHostToDevice));
  int* pinned_one; MUST(cudaMallocHost((void**)&pinned_one, 64)); pinned_one[0] = 1;
  cudaStream_t st[9]; st[0] = 0; st[1] = cudaStreamPerThread;
  for (int i = 2; i < 5; i++) MUST(cudaStreamCreate(&st[i]));
  for (int i = 5; i < 8; i++) MUST(cudaStreamCreateWithFlags(&st[i], cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithPriority(&st[8], cudaStreamDefault, -5));
  gates[0] = 1; gate_kernel<<<1, 1>>>(gates); mark_kernel<<<1, 1>>>(flags, 1);
  MUST(cudaMemcpyAsync(flags, one, 4, cudaMemcpyDeviceToHost, 0)); MUST(cudaMemcpyAsync(scratch, pinned_one, 4, cudaMemcpyHostToDevice, 0));
  MUST(cudaMemsetAsync(flags, 1, 4, 0)); MUST(cudaLaunchHostFunc(0, host_mark, flags)); MUST(cudaDeviceSynchronize());
  for (int p = 0; p < count; p++) {
    Rng r(first + p);
    cudaEvent_t ev[NEV]; for (auto& e : ev) MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    for (int i = 0; i < MAXOPS; i++) ((volatile int*)flags)[i] = 0;
    for (int i = 0; i < MAXGATES; i++) ((volatile int*)gates)[i] = 0;
    int nops = 10 + r.next(30), ngates = 0; std::string prog; int nflags = 0;
    int use[9], nuse = 3 + r.next(4); for (int i = 0; i < nuse; i++) use[i] = r.next(9);
    for (int i = 0; i < nops; i++) {
      int s = use[r.next(nuse)]; unsigned k = r.next(16);
      if (k < 2 && ngates < MAXGATES) { gate_kernel<<<1, 1, 0, st[s]>>>(gates + ngates++); prog += "G" + std::to_string(s); }
      else if (k < 6) { mark_kernel<<<1, 1, 0, st[s]>>>(flags + nflags++, 1); prog += "K" + std::to_string(s); }
      else if (k < 7) { MUST(cudaMemcpyAsync(flags + nflags++, one, 4, cudaMemcpyDeviceToHost, st[s])); prog += "D" + std::to_string(s); }
      else if (k < 8) { MUST(cudaMemcpyAsync(scratch, pinned_one, 4, cudaMemcpyHostToDevice, st[s])); prog += "U" + std::to_string(s); }
      else if (k < 9) { MUST(cudaMemsetAsync(flags + nflags++, 1, 4, st[s])); prog += "M" + std::to_string(s); }
      else if (k < 10) { MUST(cudaLaunchHostFunc(st[s], host_mark, flags + nflags++)); prog += "H" + std::to_string(s); }
      else if (k < 13) { int e = r.next(NEV); MUST(cudaEventRecord(ev[e], st[s])); prog += "R" + std::to_string(s) + (char)('a' + e); }
      else { int e = r.next(NEV); MUST(cudaStreamWaitEvent(st[s], ev[e], 0)); prog += "W" + std::to_string(s) + (char)('a' + e); }
    }
    auto look = [&] { std::string b; for (int i = 0; i < nflags; i++) b += ((volatile int*)flags)[i] ? '1' : '0'; b += '|'; for (auto& e : ev) b += cudaEventQuery(e) == cudaSuccess ? '1' : '0'; b += '|';
      for (int i = 0; i < 9; i++) b += cudaStreamQuery(st[i]) == cudaSuccess ? '1' : '0'; return b; };
    auto settled = [&] { std::string was = look(); auto since = std::chrono::steady_clock::now(); for (;;) { std::this_thread::sleep_for(std::chrono::microseconds(200)); std::string now = look(); if (now != was) { was = now; since = std::chrono::steady_clock::now(); } else if (std::chrono::steady_clock::now() - since > std::chrono::milliseconds(settle)) return was; } };
    std::string out = settled(); std::vector<int> order; for (int i = 0; i < ngates; i++) order.push_back(i);
    for (int i = ngates - 1; i > 0; i--) std::swap(order[i], order[r.next(i + 1)]);
    for (int g : order) { ((volatile int*)gates)[g] = 1; out += " o" + std::to_string(g) + " " + settled(); }
    MUST(cudaDeviceSynchronize()); cudaGetLastError();
    say("random." + std::to_string(first + p), prog + " -> " + out);
    for (auto& e : ev) MUST(cudaEventDestroy(e));
  }
}
