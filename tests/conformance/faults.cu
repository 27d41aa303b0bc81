// What a program is told after device code goes wrong: one fault per process, named on the command line.
// Every line is "fault.NAME.what<TAB>answer". `faults list` prints the names.
#include <cassert>
#include <cstring>

#include "probe.h"

__device__ int sink;
__constant__ int constant_zero = 0;

__global__ void write_to(int* p) { *p = 1; }
__global__ void read_from(const int* p) { sink = *(const volatile int*)p; }
__global__ void write_unaligned(char* p) { *(volatile int*)(p + 1) = 1; }
__global__ void do_trap() { __trap(); }
__global__ void do_assert(int x) { assert(x == 7); }
__device__ __noinline__ int deep(int n, volatile int* p) {
  volatile int frame[64];
  frame[n & 63] = n;
  *p = n;
  return n <= 0 ? 0 : deep(n - 1, p) + frame[(n + 1) & 63];
}
__global__ void overflow_stack(int n, int* p) { sink = deep(n, p); }
__global__ void shared_far(int n) { __shared__ int s[32]; ((volatile int*)s)[n] = 1; sink = s[0]; }
__global__ void barrier_some_return(int* out) {
  if (threadIdx.x >= 16) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void barrier_warp_return(int* out) {
  if (threadIdx.x >= 32) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void barrier_two_places(int* out) {
  if (threadIdx.x < 32) __syncthreads();
  else { __syncthreads(); out[threadIdx.x] = 1; }
}
__global__ void barrier_divergent_warp(int* out) {
  if (threadIdx.x & 1) __syncthreads();
  else { __syncthreads(); out[threadIdx.x] = 1; }
}
__global__ void barrier_unequal(int* out) {
  if (threadIdx.x < 32) __syncthreads();
  __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void divide(int* out, int a, int b) { out[0] = a / b; out[1] = a % b; out[2] = (int)((unsigned)a / (unsigned)b); out[3] = (int)((unsigned)a % (unsigned)b); }
__global__ void divide64(long long* out, long long a, long long b) { out[0] = a / b; out[1] = a % b; out[2] = (long long)((unsigned long long)a / (unsigned long long)b); }
__global__ void float_to_int(int* out, float a) { out[0] = (int)a; out[1] = (int)(unsigned)a; out[2] = __float2int_rn(a); out[3] = __float2uint_rz(a); }
__global__ void heap(int* out, size_t n) { void* p = malloc(n); *out = p != nullptr; free(p); }
__global__ void breakpoint() { __brkpt(); }
__global__ void wait_gate_then(volatile int* gate, int* p) { while (*gate == 0) {} if (p) *p = 1; }

static void CUDART_CB note(void* p) { *(int*)p += 1; }
static void CUDART_CB status_of(cudaStream_t, cudaError_t e, void* p) { *(int*)p = (int)e; }

int main(int argc, char** argv) {
  std::string name = argc > 1 ? argv[1] : "list";
  const char* names[] = {"null.write", "null.read", "far.write", "past.end.in.granule", "past.end.of.granule", "freed.read", "host.pointer", "misaligned", "trap", "assert", "stack", "shared.far",
                         "barrier.some.return", "barrier.warp.return", "barrier.two.places", "barrier.divergent.warp", "barrier.unequal", "divide.zero", "divide.overflow", "float.to.int", "heap", "brkpt", "pending", "constant.write", "free.fault.async"};
  if (name == "list") { for (auto n : names) std::puts(n); return 0; }
  std::string p = "fault." + name + ".";
  MUST(cudaFree(0));
  int *d, *h; char* page = (char*)malloc(4096); cudaStream_t s, t; cudaEvent_t e, before;
  MUST(cudaMalloc((void**)&d, 4096)); MUST(cudaMallocHost((void**)&h, 4096)); MUST(cudaMemset(d, 0, 4096)); memset(h, 0, 4096);
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  MUST(cudaEventCreate(&e)); MUST(cudaEventCreate(&before)); MUST(cudaEventRecord(before, s)); MUST(cudaDeviceSynchronize());
  nop_kernel<<<1, 1>>>(); mark_kernel<<<1, 1>>>(h, 0); MUST(cudaDeviceSynchronize());
  auto values = [&](int n) { MUST(cudaDeviceSynchronize()); MUST(cudaMemcpy(h, d, 256, cudaMemcpyDeviceToHost)); for (int i = 0; i < n; i++) say(p + "value" + std::to_string(i), h[i]); };
  auto sum = [&](int n) { cudaError_t r = cudaDeviceSynchronize(); say(p + "sync", r); if (r == cudaSuccess) { MUST(cudaMemcpy(h, d, 512, cudaMemcpyDeviceToHost)); int k = 0; for (int i = 0; i < n; i++) k += h[i]; say(p + "sum", k); } };
  // programs that are in order, or whose values matter
  if (name == "barrier.some.return") { barrier_some_return<<<1, 32, 0, s>>>(d); sum(64); return 0; }
  if (name == "barrier.warp.return") { barrier_warp_return<<<1, 64, 0, s>>>(d); sum(64); return 0; }
  if (name == "barrier.two.places") { barrier_two_places<<<1, 64, 0, s>>>(d); sum(64); return 0; }
  if (name == "barrier.divergent.warp") { barrier_divergent_warp<<<1, 32, 0, s>>>(d); sum(64); return 0; }
  if (name == "barrier.unequal") { barrier_unequal<<<1, 64, 0, s>>>(d); sum(64); return 0; }
  if (name == "divide.zero") { divide<<<1, 1, 0, s>>>(d, 7, 0); values(4); divide<<<1, 1, 0, s>>>(d, -7, 0); values(4); divide64<<<1, 1, 0, s>>>((long long*)d, 7, 0); values(6); return 0; }
  if (name == "divide.overflow") { divide<<<1, 1, 0, s>>>(d, -2147483647 - 1, -1); values(4); return 0; }
  if (name == "float.to.int") { for (float f : {1e20f, -1e20f, 0.0f / (float)h[0], -3.7f, 3.5f, 4.5f}) { float_to_int<<<1, 1, 0, s>>>(d, f); values(4); } return 0; }
  if (name == "heap") { for (size_t n : {(size_t)16, (size_t)1 << 20, (size_t)64 << 20}) { heap<<<1, 1, 0, s>>>(d, n); values(1); } return 0; }
  Gate g; int ran = 0, cb = -1;
  if (name == "null.write") write_to<<<1, 1, 0, s>>>(nullptr);
  else if (name == "null.read") read_from<<<1, 1, 0, s>>>(nullptr);
  else if (name == "far.write") write_to<<<1, 1, 0, s>>>((int*)0x123456789000ull);
  else if (name == "past.end.in.granule") write_to<<<1, 1, 0, s>>>(d + 1024);
  else if (name == "past.end.of.granule") write_to<<<1, 1, 0, s>>>(d + (64 << 20));
  else if (name == "freed.read") { int* q; MUST(cudaMalloc((void**)&q, 64 << 20)); MUST(cudaFree(q)); read_from<<<1, 1, 0, s>>>(q); }
  else if (name == "host.pointer") { *(int*)page = 5; write_to<<<1, 1, 0, s>>>((int*)page); }
  else if (name == "misaligned") write_unaligned<<<1, 1, 0, s>>>((char*)d);
  else if (name == "trap") do_trap<<<1, 1, 0, s>>>();
  else if (name == "assert") do_assert<<<2, 2, 0, s>>>(3);
  else if (name == "stack") overflow_stack<<<1, 1, 0, s>>>(1 << 20, d);
  else if (name == "shared.far") shared_far<<<1, 32, 0, s>>>(1 << 22);
  else if (name == "brkpt") breakpoint<<<1, 1, 0, s>>>();
  else if (name == "constant.write") { int* q = nullptr; MUST(cudaGetSymbolAddress((void**)&q, constant_zero)); write_to<<<1, 1, 0, s>>>(q); }
  else if (name == "pending") { wait_gate_then<<<1, 1, 0, s>>>(g.flag, nullptr); g.close(t); write_to<<<1, 1, 0, s>>>(nullptr); }
  else if (name == "free.fault.async") { wait_gate_then<<<1, 1, 0, s>>>(g.flag, (int*)nullptr + 1); }
  else { std::puts("unknown fault"); return 2; }
  say(p + "launch", cudaGetLastError());
  if (name == "pending" || name == "free.fault.async") {  // work behind the fault, and beside it
    say(p + "callback.add", cudaStreamAddCallback(s, status_of, &cb, 0));
    say(p + "hostfunc.add", cudaLaunchHostFunc(s, note, &ran));
    say(p + "record.add", cudaEventRecord(e, s));
    say(p + "copy.add", cudaMemcpyAsync(h + 8, d, 4, cudaMemcpyDeviceToHost, s));
    g.open();
  }
  say(p + "streamsync", cudaStreamSynchronize(s));
  if (name == "pending" || name == "free.fault.async") { wait_until([&] { return cb != -1; }, 500); say(p + "callback.status", cb); say(p + "hostfunc.ran", ran); say(p + "event.query", cudaEventQuery(e)); }
  say(p + "last", cudaGetLastError());
  say(p + "last.again", cudaGetLastError());
  say(p + "peek", cudaPeekAtLastError());
  say(p + "sync", cudaDeviceSynchronize());
  say(p + "other.streamsync", cudaStreamSynchronize(t));
  say(p + "query", cudaStreamQuery(s));
  void* q = nullptr; int n = 0; size_t a, b; float ms; cudaStream_t u; cudaEvent_t v; cudaDeviceProp pr; cudaPointerAttributes pa;
  say(p + "malloc", cudaMalloc(&q, 64));
  say(p + "mallochost", cudaMallocHost(&q, 64));
  say(p + "mallocasync", cudaMallocAsync(&q, 64, t));
  say(p + "memcpy.h2d", cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice));
  say(p + "memcpy.zero", cudaMemcpy(d, h, 0, cudaMemcpyHostToDevice));
  say(p + "memcpy.bad.kind", cudaMemcpy(d, h, 4, (cudaMemcpyKind)9));
  say(p + "memcpyasync", cudaMemcpyAsync(d, h, 4, cudaMemcpyHostToDevice, t));
  say(p + "memset", cudaMemset(d, 0, 4));
  nop_kernel<<<1, 1, 0, t>>>(); say(p + "launch.after", cudaGetLastError());
  nop_kernel<<<1, 4096, 0, t>>>(); say(p + "launch.bad.after", cudaGetLastError());
  say(p + "streamcreate", cudaStreamCreate(&u));
  say(p + "eventcreate", cudaEventCreate(&v));
  say(p + "record", cudaEventRecord(e, t));
  say(p + "wait", cudaStreamWaitEvent(t, before, 0));
  say(p + "eventquery.before", cudaEventQuery(before));
  say(p + "elapsed", cudaEventElapsedTime(&ms, before, before));
  say(p + "hostfunc", cudaLaunchHostFunc(t, note, &ran));
  say(p + "getdevice", cudaGetDevice(&n));
  say(p + "devicecount", cudaGetDeviceCount(&n));
  say(p + "setdevice", cudaSetDevice(0));
  say(p + "properties", cudaGetDeviceProperties(&pr, 0));
  say(p + "attribute", cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
  say(p + "meminfo", cudaMemGetInfo(&a, &b));
  say(p + "pointerattributes", cudaPointerGetAttributes(&pa, d));
  say(p + "streamflags", cudaStreamGetFlags(s, (unsigned*)&n));
  say(p + "priorityrange", cudaDeviceGetStreamPriorityRange(&n, &n));
  say(p + "runtimeversion", cudaRuntimeGetVersion(&n));
  say(p + "freehost", cudaFreeHost(h));
  say(p + "free", cudaFree(d));
  say(p + "free.null", cudaFree(nullptr));
  say(p + "streamdestroy", cudaStreamDestroy(s));
  say(p + "eventdestroy", cudaEventDestroy(e));
  say(p + "last.end", cudaGetLastError());
  say(p + "reset", cudaDeviceReset());
  say(p + "reset.last", cudaGetLastError());
  say(p + "reset.malloc", cudaMalloc(&q, 64));
  say(p + "reset.memset", cudaMemset(q, 0, 64));
  nop_kernel<<<1, 1>>>(); say(p + "reset.launch", cudaGetLastError());
  say(p + "reset.sync", cudaDeviceSynchronize());
  say(p + "reset.oldstream.query", cudaStreamQuery(t));
  if (name == "host.pointer") say(p + "page", *(int*)page);
  say(p + "end", "ok");
  std::fflush(stdout);
  _Exit(0);
}
