// A kernel's first launch while work is held elsewhere: does the launch return, does it run? Each
// section in a process of its own; also with CUDA_MODULE_LOADING=EAGER.
#include <unistd.h>

#include "probe.h"

static __device__ int variable;
static __global__ void first(int* p) { if (p) *p = variable; }
static __global__ void second(int* p) { if (p) *p = variable + 1; }

int main(int argc, char** argv) {
  const std::string section = argc > 1 ? argv[1] : "";
  watchdog(60);
  MUST(cudaFree(0));
  cudaStream_t u, v;
  MUST(cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&v, cudaStreamNonBlocking));
  char* d;
  MUST(cudaMalloc((void**)&d, 4096));
  Gate g;
  auto look = [&](const char* name) { say(section + "." + name, wait_until([&] { return cudaStreamQuery(v) == cudaSuccess; }, 100)); cudaGetLastError(); };
  auto call = [&](const char* name, const std::function<void()>& f) { std::atomic<bool> done{false}; std::thread t([&] { f(); done = true; }); const bool quick = wait_until([&] { return done.load(); }, 300); say(section + "." + name + ".returns", quick); if (!quick) { g.open(); t.join(); say(section + "." + name, "opened"); say(section + ".end", "ok"); _exit(0); } t.join(); };
  g.close(u);  // the gate's own first launch
  if (section == "kernel") { call("launch", [&] { first<<<1, 1, 0, v>>>(nullptr); }); look("first.runs"); call("again", [&] { first<<<1, 1, 0, v>>>(nullptr); }); look("again.runs"); call("second", [&] { second<<<1, 1, 0, v>>>(nullptr); }); look("second.runs"); }
  if (section == "memset") { call("memset", [&] { MUST(cudaMemsetAsync(d, 0, 64, v)); }); look("memset.runs"); }
  if (section == "copy") { call("copy", [&] { MUST(cudaMemcpyAsync(d, d + 64, 64, cudaMemcpyDeviceToDevice, v)); }); look("copy.runs"); }
  if (section == "symbol") { int x = 4; call("symbol", [&] { MUST(cudaMemcpyToSymbolAsync(variable, &x, 4, 0, cudaMemcpyHostToDevice, v)); }); look("symbol.runs"); }
  if (section == "attributes") { cudaFuncAttributes a; call("attributes", [&] { MUST(cudaFuncGetAttributes(&a, (const void*)first)); }); call("launch", [&] { first<<<1, 1, 0, v>>>(nullptr); }); look("launch.runs"); }
  if (section == "malloc.async") { void* p; call("malloc", [&] { MUST(cudaMallocAsync(&p, 33 << 20, v)); }); look("malloc.runs"); call("launch", [&] { first<<<1, 1, 0, v>>>(nullptr); }); look("launch.runs"); }
  // As runtime.cu does it: the stream's memory freed behind the gate first.
  if (section == "pool") { void *x, *y; unsigned long long th = ~0ull; cudaMemPool_t pool; g.open(); MUST(cudaDeviceSynchronize()); *g.flag = 0; MUST(cudaDeviceGetDefaultMemPool(&pool, 0)); MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &th)); MUST(cudaMallocAsync(&x, 33 << 20, u)); g.close(u); MUST(cudaFreeAsync(x, u)); call("malloc", [&] { MUST(cudaMallocAsync(&y, 33 << 20, v)); }); say("pool.same", x == y); look("malloc.runs"); call("launch", [&] { first<<<1, 1, 0, v>>>(nullptr); }); look("launch.runs"); }
  if (section == "pool.warm") { void *x, *y; unsigned long long th = ~0ull; cudaMemPool_t pool; g.open(); first<<<1, 1, 0, v>>>(nullptr); MUST(cudaDeviceSynchronize()); *g.flag = 0; MUST(cudaDeviceGetDefaultMemPool(&pool, 0)); MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &th)); MUST(cudaMallocAsync(&x, 33 << 20, u)); g.close(u); MUST(cudaFreeAsync(x, u)); call("malloc", [&] { MUST(cudaMallocAsync(&y, 33 << 20, v)); }); say("pool.same", x == y); look("malloc.runs"); call("launch", [&] { first<<<1, 1, 0, v>>>(nullptr); }); look("launch.runs"); }
  g.open();
  MUST(cudaDeviceSynchronize());
  look("after.runs");
  say(section + ".end", "ok");
  std::fflush(stdout);
  _exit(0);
}
