// Kernels for basics_test.cpp.
#include "device.h"

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void nothing() {}

extern "C" __global__ void indices(int* out) {
  int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int size = blockDim.x * blockDim.y * blockDim.z;
  out[block * size + thread] =
      threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x + 10000 * blockIdx.z;
}

extern "C" __global__ void early_return(int* out) {
  if (threadIdx.x % 3 == 0) return;
  for (int i = 0; i < 4; ++i) {
    if (i == (int)threadIdx.x) return;
    out[threadIdx.x] += 1;
  }
}

// A private array must belong to one thread.
extern "C" __global__ void private_arrays(int* out) {
  int mine[16];
  for (int i = 0; i < 16; ++i) mine[i] = threadIdx.x * i;
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += mine[(i * 7 + threadIdx.x) % 16];
  out[threadIdx.x] = sum;
}

struct empty {};
struct pair {
  double a;
  char b;
};
struct tracked {
  int x;
  __host__ __device__ tracked(const tracked& other) : x(other.x + 1) {}
  __host__ __device__ ~tracked() {}
};
struct alignas(16) quad {
  float x, y, z, w;
};
struct big {
  int a[1500];
};
enum class colour : short { red = 7 };

extern "C" __global__ void every_kind(long* out, bool flag, empty, pair p, tracked t, quad q, big b,
                                      const pair constant, long l, float f, unsigned char c,
                                      sb_dim3 d, colour e, decltype(nullptr), const int& r,
                                      double g) {
  out[0] = flag;
  out[1] = (long)p.a * 1000 + p.b;
  out[2] = t.x;
  out[3] = (long)(q.x + 10 * q.y + 100 * q.z + 1000 * q.w);
  out[4] = b.a[0] + b.a[1499];
  out[5] = (long)constant.a + constant.b;
  out[6] = l;
  out[7] = (long)(f * 100);
  out[8] = c;
  out[9] = d.x + 10 * d.y + 100 * d.z;
  out[10] = (long)e;
  out[11] = r;
  out[12] = (long)g;
}

// Parameters belong to the thread that changes them.
extern "C" __global__ void changed_parameters(int* out, int n, big b, quad q) {
  n += threadIdx.x;
  b.a[3] += n;
  q.y += 1;
  out[threadIdx.x] = n + b.a[3] + (int)q.y;
}

template <class Function>
__global__ void apply(int* out, Function f) {
  out[threadIdx.x] = f(threadIdx.x);
}
struct times {
  int k;
  __device__ int operator()(int x) const { return k * x; }
};
template __global__ void apply<times>(int*, times);

extern "C" __global__ void __launch_bounds__(256, 2) bounded(int* p) { *p = 1; }

__device__ int counter = 4;
__constant__ float table[4] = {1, 2, 3, 4};
static __device__ int hidden = 9;
__device__ int* pointer_to_counter = &counter;
__managed__ int shared_with_host;

extern "C" __global__ void variables(int* out) {
  out[0] = counter;
  out[1] = (int)table[2];
  out[2] = ++hidden;
  out[3] = ++*pointer_to_counter;
  out[4] = shared_with_host;
  shared_with_host = 5;
}

extern "C" __global__ void divisions(int* out, int zero, int minus_one, long long lzero) {
  int least = (int)0x80000000;
  out[0] = 7 / zero;
  out[1] = 7 % zero;
  out[2] = least / minus_one;
  out[3] = least % minus_one;
  out[4] = (int)(7u / (unsigned)zero);
  out[5] = (int)(7u % (unsigned)zero);
  out[6] = (int)(7ll / lzero);
  out[7] = 100 / minus_one;
  out[8] = 7 % -3;
}

// Divisions that only some threads come to, of numbers that all of them have.
extern "C" __global__ void divisions_of_some(const char* asked, const int* table, int* out,
                                             unsigned a, unsigned b, int c, int d) {
  const int t = threadIdx.x;
  int sum = 0;
  if (asked[t]) {
    sum = table[a % b];
    if (asked[t] > 1) sum += table[a / b % 32 + a % b / 2];
  }
  if (d != 0 && asked[t]) sum += 100 * (c / d);
  out[t] = sum;
}

extern "C" __global__ void conversions(int* out, float big, float negative) {
  out[0] = (int)big;
  out[1] = (int)-big;
  out[2] = (int)(unsigned)negative;
  out[3] = (unsigned char)big;
}

extern "C" __global__ void pointer_uses(const int* in, int* out, int* both, int* unused,
                                        int** deep) {
  out[0] = in[0];
  both[0] += 1;
  *deep[0] = 3;
}

extern "C" __global__ void pointer_values(int* stored, int* compared, int* tested, int* counted,
                                          int (*called)(int), int* exchanged, long* out) {
  *(int**)(out + 1) = stored;
  if (compared != (int*)out) *compared = 1;
  if (tested) *tested = 2;
  out[2] = (long)counted & 15;
  out[3] = called(4);
  __atomic_exchange_n((int**)(out + 4), exchanged, __ATOMIC_RELAXED);
}

// Memory that is reached from pointer parameters only, or is the thread's or the block's own.
__device__ __noinline__ int far_sum(const int* a, int n) {
  return n == 0 ? 0 : a[n] + far_sum(a + 1, n / 2);
}

extern "C" __global__ void follows_parameters(int* a, int* b, int n) {
  int* p = n > 3 ? a : b;
  for (int i = 0; i < n; ++i) p = p[i] > 0 ? p + 1 : a;
  atomicAdd(p, far_sum(b, n));
  __builtin_memcpy(a + n, b, 64);
}

extern "C" __global__ void keeps_to_itself(int* out, int n) {
  __shared__ int tile[32];
  int own[16] = {};
  tile[threadIdx.x % 32] = n;
  own[n & 15] = tile[n & 31];
  out[0] = own[(n + 1) & 15];
}

__constant__ int fixed[4];
extern "C" __global__ void reads_constants(int* out, int n) { out[0] = fixed[n & 3]; }

// And by other ways.
struct within {
  int n;
  int* p;
};
__device__ int variable[4];
__device__ int* kept;

extern "C" __global__ void follows_structure(int* out, within w) { out[0] = w.p[w.n]; }
extern "C" __global__ void follows_table(int* out, int** table) { out[0] = *table[1]; }
extern "C" __global__ void uses_variable(int* out, int n) { out[0] = variable[n & 3]; }
extern "C" __global__ void follows_variable(int* out) { out[0] = *kept; }
extern "C" __global__ void follows_number(int* out, unsigned long long p) { out[0] = *(int*)p; }
__device__ __noinline__ int far_variable(int n) {
  return n == 0 ? variable[0] : far_variable(n - 1);
}
extern "C" __global__ void calls_one_that_follows(int* out, int n) { out[0] = far_variable(n); }
extern "C" __global__ void copies_to_structure(int* from, within w) {
  __builtin_memcpy(w.p, from, 256);
}
extern "C" __global__ void adds_to_variable(int* out) { atomicAdd(&variable[1], out[0]); }
extern "C" __global__ void calls_pointer(int* out, int (*called)(int)) { out[0] = called(4); }
