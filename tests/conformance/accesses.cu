// Accesses that the device refuses, and those that look like it: one per process, `accesses NAME`.
// `accesses list` prints the names. Left out is what depends on where the driver's own memory lies, and
// accesses of which a compiler leaves less than the source says.
#include "probe.h"

#include <cstring>
#include <map>
#include <unistd.h>

struct pair { double d; int i; };
struct holder { char tag; int* where; };
struct alignas(16) wide { int v[4]; };

__device__ int sink;
__device__ wide wide_sink;
__device__ char device_bytes[64];
__constant__ int constant_words[16];

template <class T> __global__ void load(const char* p) { T v = *(const volatile T*)p; sink = (int)v; }
template <class T> __global__ void store(char* p) { *(volatile T*)p = (T)1; }
__global__ void load4(const char* p) { int4 v = *(const int4*)p; sink = v.x + v.y + v.z + v.w; }
__global__ void store4(char* p) { *(int4*)p = make_int4(1, 2, 3, 4); }
__global__ void load2(const char* p) { float2 v = *(const float2*)p; sink = (int)(v.x + v.y); }
__global__ void load_one_of4(const char* p) { sink = ((const int4*)p)->y; }
__global__ void load_pair(const char* p) { pair v = *(const pair*)p; sink = (int)v.d + v.i; }
__global__ void load_member(const char* p) { sink = ((const pair*)p)->i; }
__global__ void copy_wide(const char* p) { wide_sink = *(const wide*)p; }
__global__ void by_memcpy(const char* p) { int v; memcpy(&v, p, 4); sink = v; }
__global__ void by_holder(holder h) { *h.where = 3; }
__global__ void by_loaded(char** p) { *(int*)*p = 3; }
__global__ void guarded(char* p, int go) { if (go) *(int*)p = 1; }
__global__ void guarded_loop(char* p, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) ((int*)p)[i] = i; }
__global__ void one_thread(char* p, int which) { if (threadIdx.x == which) *(int*)(p + 1) = 1; else *(int*)(p + 4 * threadIdx.x + 4) = 2; }
__global__ void shared_load(int off) { __shared__ char s[64]; s[threadIdx.x] = 1; __syncthreads(); sink = *(volatile int*)(s + off); }
__global__ void shared_store(int off) { __shared__ __align__(16) char s[64]; *(volatile int*)(s + off) = 1; __syncthreads(); sink = s[0]; }
__global__ void shared4(int off) { __shared__ __align__(16) char s[64]; *(int4*)(s + off) = make_int4(1, 2, 3, 4); __syncthreads(); sink = s[threadIdx.x]; }
__global__ void shared_past(int index) { __shared__ int s[32]; ((volatile int*)s)[index] = 1; sink = s[0]; }
__global__ void shared_atomic(int off) { __shared__ __align__(16) char s[64]; s[threadIdx.x] = 0; __syncthreads(); atomicAdd((int*)(s + off), 1); __syncthreads(); sink = s[0]; }
__device__ __noinline__ int through(const char* p) { return *(const volatile int*)p; }
__global__ void not_inlined(const char* p, int off) { sink = through(p + off); }
__global__ void local_load(int off) { char l[32]; for (int i = 0; i < 32; i++) l[i] = (char)(i + sink); sink = *(volatile int*)(l + off); }
__global__ void local_past(int index) { int l[4]; for (int i = 0; i < 4; i++) l[i] = i + sink; ((volatile int*)l)[index] = 7; sink = l[sink & 3]; }
__global__ void constant_load(int off) { sink = *(const volatile int*)((const char*)constant_words + off); }
__global__ void add_atomic(char* p) { atomicAdd((int*)p, 1); }
__global__ void add_atomic64(char* p) { atomicAdd((unsigned long long*)p, 1ull); }
__global__ void cas64(char* p) { atomicCAS((unsigned long long*)p, 0ull, 1ull); }
__global__ void add_float(char* p) { atomicAdd((float*)p, 1.0f); }
__global__ void exch(char* p) { sink = atomicExch((int*)p, 1); }
__device__ __noinline__ void generic_atomic(int* p) { atomicAdd(p, 1); }
__global__ void local_atomic(int* d, int go) { int l = go; generic_atomic(go ? &l : d); sink = l; }
typedef int (*reader)(const char*);
__device__ int reads_a(const char* p) { return *(const volatile int*)p; }
__device__ int reads_b(const char* p) { return *(const volatile short*)p; }
__device__ reader readers[2] = {reads_a, reads_b};
__global__ void indirect(const char* p, int which) { sink = readers[which](p); }
__global__ void call_null(int zero) { reader r = (reader)(size_t)zero; sink = r(nullptr); }
__global__ void device_variable(int off) { *(volatile int*)(device_bytes + off) = 1; }

int main(int argc, char** argv) {
  MUST(cudaFree(0));
  char *d, *pinned, *managed; char** table; cudaStream_t s;
  MUST(cudaMalloc((void**)&d, 1 << 16)); MUST(cudaMallocHost((void**)&pinned, 4096)); MUST(cudaMallocManaged((void**)&managed, 4096));
  MUST(cudaMalloc((void**)&table, 64)); MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  MUST(cudaMemset(d, 0, 1 << 16)); char* odd = d + 2; MUST(cudaMemcpy(table, &odd, 8, cudaMemcpyHostToDevice)); memset(pinned, 0, 4096); memset(managed, 0, 4096);
  MUST(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
#define RUN(name, ...) {name, [&] { __VA_ARGS__; }}
  std::map<std::string, std::function<void()>> all = {
      RUN("load.int.0", (load<int><<<1, 1, 0, s>>>(d))), RUN("load.int.1", (load<int><<<1, 1, 0, s>>>(d + 1))), RUN("load.int.2", (load<int><<<1, 1, 0, s>>>(d + 2))),
      RUN("load.short.1", (load<short><<<1, 1, 0, s>>>(d + 1))), RUN("load.double.4", (load<double><<<1, 1, 0, s>>>(d + 4))),
      RUN("store.int.1", (store<int><<<1, 1, 0, s>>>(d + 1))), RUN("store.double.4", (store<double><<<1, 1, 0, s>>>(d + 4))), RUN("store.short.1", (store<short><<<1, 1, 0, s>>>(d + 1))),
      RUN("load.int4.4", (load4<<<1, 1, 0, s>>>(d + 4))), RUN("load.int4.8", (load4<<<1, 1, 0, s>>>(d + 8))), RUN("load.int4.16", (load4<<<1, 1, 0, s>>>(d + 16))), RUN("store.int4.4", (store4<<<1, 1, 0, s>>>(d + 4))), RUN("store.int4.8", (store4<<<1, 1, 0, s>>>(d + 8))),
      RUN("load.float2.4", (load2<<<1, 1, 0, s>>>(d + 4))), RUN("load.one.of.int4.4", (load_one_of4<<<1, 1, 0, s>>>(d + 4))),
      RUN("load.pair.4", (load_pair<<<1, 1, 0, s>>>(d + 4))), RUN("load.pair.member.4", (load_member<<<1, 1, 0, s>>>(d + 4))), RUN("load.pair.member.2", (load_member<<<1, 1, 0, s>>>(d + 2))), RUN("copy.wide.4", (copy_wide<<<1, 1, 0, s>>>(d + 4))), RUN("copy.wide.2", (copy_wide<<<1, 1, 0, s>>>(d + 2))),
      RUN("memcpy.1", (by_memcpy<<<1, 1, 0, s>>>(d + 1))), RUN("holder.2", (by_holder<<<1, 1, 0, s>>>(holder{1, (int*)(d + 2)}))), RUN("loaded.2", (by_loaded<<<1, 1, 0, s>>>(table))),
      RUN("guarded.off", (guarded<<<1, 1, 0, s>>>(d + 1, 0))), RUN("guarded.on", (guarded<<<1, 1, 0, s>>>(d + 1, 1))), RUN("loop.none", (guarded_loop<<<1, 32, 0, s>>>(d + 1, 0))), RUN("loop.some", (guarded_loop<<<1, 32, 0, s>>>(d + 1, 100))),
      RUN("one.thread", (one_thread<<<1, 64, 0, s>>>(d, 40))), RUN("one.thread.none", (one_thread<<<1, 64, 0, s>>>(d, 99))),
      RUN("shared.load.1", (shared_load<<<1, 32, 0, s>>>(1))), RUN("shared.load.4", (shared_load<<<1, 32, 0, s>>>(4))), RUN("shared.store.2", (shared_store<<<1, 1, 0, s>>>(2))), RUN("shared.int4.4", (shared4<<<1, 1, 0, s>>>(4))), RUN("shared.int4.16", (shared4<<<1, 1, 0, s>>>(16))), RUN("shared.atomic.2", (shared_atomic<<<1, 32, 0, s>>>(2))),
      RUN("shared.past.32", (shared_past<<<1, 1, 0, s>>>(32))), RUN("shared.past.255", (shared_past<<<1, 1, 0, s>>>(255))), RUN("shared.past.1K", (shared_past<<<1, 1, 0, s>>>(1024))), RUN("shared.past.12K", (shared_past<<<1, 1, 0, s>>>(12 << 10))), RUN("shared.past.64K", (shared_past<<<1, 1, 0, s>>>(64 << 10))), RUN("shared.before", (shared_past<<<1, 1, 0, s>>>(-1))), RUN("shared.before.4K", (shared_past<<<1, 1, 0, s>>>(-4096))),
      RUN("not.inlined.1", (not_inlined<<<1, 1, 0, s>>>(d, 1))), RUN("not.inlined.4", (not_inlined<<<1, 1, 0, s>>>(d, 4))), RUN("local.load.1", (local_load<<<1, 1, 0, s>>>(1))), RUN("local.load.4", (local_load<<<1, 1, 0, s>>>(4))), RUN("local.past.5", (local_past<<<1, 1, 0, s>>>(5))), RUN("local.past.64K", (local_past<<<1, 1, 0, s>>>(64 << 10))),
      RUN("constant.load.2", (constant_load<<<1, 1, 0, s>>>(2))),
      RUN("atomic.int.2", (add_atomic<<<1, 1, 0, s>>>(d + 2))), RUN("atomic.long.4", (add_atomic64<<<1, 1, 0, s>>>(d + 4))), RUN("atomic.cas64.4", (cas64<<<1, 1, 0, s>>>(d + 4))), RUN("atomic.float.1", (add_float<<<1, 1, 0, s>>>(d + 1))), RUN("atomic.exch.2", (exch<<<1, 1, 0, s>>>(d + 2))), RUN("atomic.local", (local_atomic<<<1, 1, 0, s>>>((int*)d, 1))), RUN("atomic.null", (add_atomic<<<1, 1, 0, s>>>(nullptr))),
      RUN("indirect.int.2", (indirect<<<1, 1, 0, s>>>(d + 2, 0))), RUN("indirect.short.2", (indirect<<<1, 1, 0, s>>>(d + 2, 1))), RUN("call.null", (call_null<<<1, 1, 0, s>>>(0))), RUN("device.variable.1", (device_variable<<<1, 1, 0, s>>>(1))), RUN("device.variable.4", (device_variable<<<1, 1, 0, s>>>(4))),
      RUN("pinned.1", (load<int><<<1, 1, 0, s>>>(pinned + 1))), RUN("managed.1", (store<int><<<1, 1, 0, s>>>(managed + 1))), RUN("null.1", (load<int><<<1, 1, 0, s>>>((char*)1))), RUN("null.4", (load<int><<<1, 1, 0, s>>>((char*)4))), RUN("unmapped.1", (store<int><<<1, 1, 0, s>>>((char*)0x123456789001ull))), RUN("not.canonical", (store<int><<<1, 1, 0, s>>>((char*)0xf123456789000000ull))), RUN("not.canonical.1", (store<int><<<1, 1, 0, s>>>((char*)0xf123456789000001ull))),
      RUN("past.end.1", (store<char><<<1, 1, 0, s>>>(d + (1 << 16)))),
  };
  std::string which = argc > 1 ? argv[1] : "list";
  if (!all.count(which)) { for (auto& [name, f] : all) std::puts(name.c_str()); std::fflush(stdout); _exit(0); }
  std::string p = "access." + which + ".";
  all[which]();
  say(p + "launch", cudaGetLastError());
  cudaError_t r = cudaStreamSynchronize(s);
  say(p + "sync", r);
  void* q;
  say(p + "malloc", cudaMalloc(&q, 64));
  std::fflush(stdout);
  _exit(0);
}
