// Atomic functions with an order and a scope: every thread of a grid takes part, and the totals
// tell. Compiles with NVIDIA's nvcc too (-arch=sm_90).
#include <cstdio>

struct pair {
  int low, high;
};
struct cells {
  unsigned added, subtracted, conjunction, disjunction, difference, swapped, stored, spun;
  int least, greatest;
  float sum;
  double wide_sum;
  alignas(8) pair both;
  long long wide;
};

__global__ void take_part(cells* c, int* seen) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __nv_atomic_fetch_add(&c->added, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_sub(&c->subtracted, 1u, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_and(&c->conjunction, ~(1u << i % 32), __NV_ATOMIC_ACQ_REL);
  __nv_atomic_fetch_or(&c->disjunction, 1u << i % 32, __NV_ATOMIC_RELEASE);
  __nv_atomic_fetch_xor(&c->difference, (unsigned)i, __NV_ATOMIC_SEQ_CST);
  __nv_atomic_fetch_min(&c->least, -i, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(&c->greatest, i, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_add(&c->sum, 0.5f, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_add(&c->wide_sum, 0.25, __NV_ATOMIC_RELAXED);
  // Every value that was put in comes out once, but for the last.
  const unsigned old = __nv_atomic_exchange_n(&c->swapped, i + 1u, __NV_ATOMIC_ACQ_REL);
  __nv_atomic_fetch_add(&seen[old], 1, __NV_ATOMIC_RELAXED);

  pair now, next;
  __nv_atomic_load(&c->both, &now, __NV_ATOMIC_ACQUIRE);
  do {
    next.low = now.low + 1;
    next.high = now.high - 1;
  } while (!__nv_atomic_compare_exchange(&c->both, &now, &next, true, __NV_ATOMIC_ACQ_REL,
                                         __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM));
  long long expected = __nv_atomic_load_n(&c->wide, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  while (!__nv_atomic_compare_exchange_n(&c->wide, &expected, expected + (1ll << 33), false,
                                         __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED)) {
  }

  // One thread tells another of its own warp.
  if (i == 1) {
    __nv_atomic_store_n(&c->stored, 17u, __NV_ATOMIC_RELAXED);
    __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    unsigned one = 1;
    __nv_atomic_store(&c->spun, &one, __NV_ATOMIC_RELEASE);
  } else if (i == 0) {
    while (__nv_atomic_load_n(&c->spun, __NV_ATOMIC_ACQUIRE) == 0) {
    }
    unsigned three = 3, before = 0;
    __nv_atomic_exchange(&c->spun, &three, &before, __NV_ATOMIC_ACQ_REL);
    if (c->stored != 17 || before != 1) c->spun = 99;
  }
}

int main() {
  const int threads = 8 * 64;
  cells* c;
  int* seen;
  cudaMallocManaged(&c, sizeof *c);
  cudaMallocManaged(&seen, (threads + 1) * sizeof *seen);
  *c = cells{};
  c->conjunction = ~0u;
  for (int i = 0; i <= threads; ++i) seen[i] = 0;
  take_part<<<8, 64>>>(c, seen);
  if (cudaDeviceSynchronize() != cudaSuccess) return std::puts("the kernel failed"), 1;
  unsigned difference = 0;
  int once = 0;
  for (int i = 0; i < threads; ++i) difference ^= (unsigned)i;
  for (int i = 0; i <= threads; ++i) once += seen[i] == 1;
  const bool right[] = {c->added == threads,
                        c->subtracted == (unsigned)-threads,
                        c->conjunction == 0,
                        c->disjunction == ~0u,
                        c->difference == difference,
                        c->least == 1 - threads,
                        c->greatest == threads - 1,
                        c->sum == threads * 0.5f,
                        c->wide_sum == threads * 0.25,
                        once == threads && seen[c->swapped] == 0,
                        c->both.low == threads && c->both.high == -threads,
                        c->wide == threads * (1ll << 33),
                        c->spun == 3};
  int wrong = 0;
  for (const bool& one : right)
    if (!one) std::printf("wrong: check %d\n", (int)(&one - right)), ++wrong;
  if (wrong == 0) std::puts("ok");
  return wrong != 0;
}
