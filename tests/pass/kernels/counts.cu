// Kernels for counts_test.cpp: what their threads do is known by heart.
#include "device.h"

extern "C" __device__ double exp(double);
extern "C" __device__ float fmaf(float, float, float);
extern "C" __device__ float fabsf(float);

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

#define TILE 8
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n / TILE; ++tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + tile * TILE + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(tile * TILE + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// As many rounds as the thread's own number says.
extern "C" __global__ void rounds(const int* count, double* out) {
  int i = threadIdx.x;
  double sum = 1;
  for (int k = 0; k < count[i]; ++k) sum = sum * 1.5 + 2.0;
  out[i] = sum;
}

extern "C" __global__ void mathematics(const float* x, float* y, const double* d, double* e) {
  int i = threadIdx.x;
  y[i] = fabsf(fmaf(x[i], x[i], 3.0f)) / sqrtf(x[i]) + sinf(x[i]);
  e[i] = exp(d[i]) * d[i];
}

extern "C" __global__ void halves(const _Float16* x, _Float16* y) {
  y[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
}

__constant__ float table[64];
extern "C" __global__ void histogram(const unsigned char* in, int* bins, float* out) {
  __shared__ int own[64];
  own[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&own[in[threadIdx.x]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
  out[threadIdx.x] = table[(in[threadIdx.x] + 1) % 64];
}

extern "C" __global__ void warp_sum(const int* in, int* out) {
  int value = in[threadIdx.x];
  for (int delta = 16; delta > 0; delta /= 2) value += shuffle_down(value, delta);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = value;
}

// An array that no register holds: the place depends on the data.
extern "C" __global__ void private_array(const int* in, int* out) {
  int own[16];
  for (int i = 0; i < 16; ++i) own[(in[i] + i) & 15] = in[i];
  out[threadIdx.x] = own[in[threadIdx.x] & 15];
}

// Integers, so that the calls are counted and nothing else floats.
__device__ __noinline__ double halve(double x) { return x * 0.5; }
extern "C" __global__ void calls(double* p) { p[threadIdx.x] = halve(halve(p[threadIdx.x])); }

// Stands for the headers' function: what it does is the texture unit's.
struct texel {
  unsigned c[4];
};
struct image {
  const float* texels;
  int count;
};
static __device__ __attribute__((noinline, pure)) texel __sb_texture_flat(const image* t, float x,
                                                                          unsigned) {
  float sum = 0;
  for (int i = 0; i < t->count; ++i) sum += t->texels[(int)x + i] * x;
  texel answer = {{(unsigned)sum, 0, 0, 0}};
  return answer;
}
extern "C" __global__ void textured(const image* t, unsigned* out) {
  out[threadIdx.x] = __sb_texture_flat(t, (float)threadIdx.x, 8).c[0];
}

extern "C" __global__ void copies(const char* from, char* to, size_t bytes) {
  __builtin_memcpy(to + threadIdx.x * bytes, from + threadIdx.x * bytes, bytes);
}

struct alignas(16) four {
  float x, y, z, w;
};
extern "C" __global__ void vectors(const four* from, four* to) {
  const four v = from[threadIdx.x];
  to[threadIdx.x] = {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};
}

// Where to look next is what was found.
extern "C" __global__ void chase(const unsigned* next, unsigned* out, int times) {
  unsigned at = 0;
  for (int i = 0; i < times; ++i) at = next[at];
  *out = at;
}

extern "C" __global__ void sum(const float* in, float* out, int n) {
  float all = 0;
  for (int i = 0; i < n; ++i) all += in[i];
  *out = all;
}

// The device looks itself whether an amount is too large.
extern "C" __global__ void shifts(const unsigned* in, const int* by, unsigned* out) {
  const unsigned v = in[threadIdx.x];
  const int n = by[threadIdx.x];
  out[threadIdx.x] = v << n;
  out[threadIdx.x + 32] = v >> n;
  out[threadIdx.x + 64] = (unsigned)((int)v >> n);
}

// Multiply-adds of as many values, in registers, that follow each other: each with three of its
// own, with two, and with one that they have in common.
extern "C" __global__ void three_each(float* out, int times) {
  float a = out[0], b = out[1], c = out[2];
  for (int i = 0; i < times; ++i) {
    c = a * b + c;
    a = b * c + a;
  }
  out[0] = a + c;
}
extern "C" __global__ void two_each(float* out, int times) {
  float a = out[0], b = out[1];
  for (int i = 0; i < times; ++i) {
    a = a * b + b;
    a = a * b + a;
  }
  out[0] = a;
}
extern "C" __global__ void one_in_common(float* out, int times) {
  const float f = out[0], p = out[1], q = out[2];
  float a = out[3], b = out[4];
  for (int i = 0; i < times; ++i) {
    a = p * f + a;
    b = q * f + b;
  }
  out[0] = a + b;
}

// --- locks

extern "C" __global__ void takes_a_lock(int* lock, volatile int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *count += 1;
  __threadfence();
  atomicExch(lock, 0);
}
extern "C" __global__ void exchanges_for_a_lock(int* lock, volatile int* count) {
  while (__atomic_exchange_n(lock, 1, __ATOMIC_RELAXED) != 0) {
  }
  *count += 1;
  __atomic_store_n(lock, 0, __ATOMIC_RELAXED);
}
// lock[0]: the next ticket, lock[1]: the one that is served
extern "C" __global__ void waits_for_its_ticket(int* lock, volatile int* count) {
  const int mine = atomicAdd(lock, 1);
  volatile int* const served = lock + 1;
  while (*served != mine) {
  }
  *count += 1;
  *served = mine + 1;
}
// What is drawn after the look was not awaited by it.
extern "C" __global__ void looks_before_it_draws(int* lock, volatile int* count) {
  const int seen = *static_cast<volatile int*>(lock);
  if (*count == 0) {
    const int mine = atomicAdd(lock + 1, 1);
    *count = seen == mine ? 1 : mine + 7;
  }
}
// A sum that is made by exchanging is no lock.
extern "C" __global__ void retries(int* lock, volatile int* count) {
  for (int seen = *count; atomicCAS(lock, seen, seen + 1) != seen; seen = *lock) {
  }
}
