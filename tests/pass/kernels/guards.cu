// Kernels for guards_test.cpp: conditions on the thread's index, in every form.
#include "device.h"

#define GUARD(name, condition)                              \
  extern "C" __global__ void name(int* out, int n, int m) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;          \
    unsigned u = i;                                         \
    long long w = (long long)i + m;                         \
    (void)u, (void)w;                                       \
    int k = (int)(threadIdx.x + blockIdx.x * blockDim.x);   \
    if (condition)                                          \
      out[k] = 2 * i + 1;                                   \
    else                                                    \
      out[k] -= 1;                                          \
  }

GUARD(less, i < n)
GUARD(less_equal, i <= n)
GUARD(greater, i > n)
GUARD(greater_equal, i >= n)
GUARD(equal, i == n)
GUARD(not_equal, i != n)
GUARD(unsigned_less, u < (unsigned)n)
GUARD(shifted, i + m < n)
GUARD(wraps, (int)((unsigned)i + (unsigned)m) < n)
GUARD(wide, w < n)
GUARD(between, i >= n && i < m)
GUARD(outside, i < n || i >= m)
GUARD(two_points, i == n || i == m)
GUARD(outside_numbers, i < 1 || i >= 97)
GUARD(outside_wrapping, u + m < 5 || u + m >= 70)
GUARD(two_wrapping_points, u + m == (unsigned)n || u + m == n + 3u)
GUARD(all_but_points, i != 0 && i != n && i != m)
GUARD(points_before_an_end, i < n && (i == 0 || i == m))
GUARD(points_or_behind, !(i != 3 && i != m) || i + 5 > n)
GUARD(inverted, !(i < n && m > 3))
GUARD(swapped, n > i)

// Conditions of threads at even distances, and of products; once with something for the others to
// do, and once without, behind a barrier as in a tree.
#define STEPS(name, condition)                                     \
  GUARD(name, condition)                                           \
  extern "C" __global__ void only_##name(int* out, int n, int m) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                 \
    unsigned u = i;                                                \
    (void)u;                                                       \
    out[i] -= 1;                                                   \
    __syncthreads();                                               \
    if (condition) out[i] = 2 * i + 1;                             \
  }

STEPS(masked, (u & (unsigned)n) == (unsigned)m)
STEPS(masked_from, ((u + m) & (n - 1u)) == 0)
STEPS(remainder, u % (unsigned)n == (unsigned)m)
STEPS(signed_remainder, i % n == m)
STEPS(remainder_from, (u + m) % (unsigned)n == 3)
STEPS(signed_remainder_from, (int)(u + m) % n == 0)
STEPS(every_third, i % 3 == 1)
STEPS(every_odd, (i & 1) == 1)
STEPS(every_warp, (threadIdx.x & 31) == 0)
STEPS(no_mask, (i & 6) == 2)
STEPS(every_fifth_below, !(i % 5 != 2 || i >= n))
STEPS(every_other_step, u % (unsigned)n == 0 && (int)(u + m) < 90)
STEPS(product, (int)(u* n) < m)
STEPS(unsigned_product, u* n < (unsigned)m)
STEPS(product_from, (int)(u* n + 7u) > m)
STEPS(unsigned_product_from, u* n + 7u >= (unsigned)m)
STEPS(product_at_most, u* n <= (unsigned)m)
STEPS(constant_product, (int)(u * 6u + n) < m)
STEPS(falling, (int)(n - 3u * u) > m)
STEPS(unsigned_falling, n - 3u * u <= (unsigned)m)
STEPS(falling_by, (int)(n - u * m) < 40)
STEPS(wide_product, (long long)i* n < m)
STEPS(wide_falling, n - 5ll * i >= m)
STEPS(wide_unsigned, (unsigned long long)i* n + m < 1000ull)
STEPS(stretch_of_products, (int)(u * 2u) >= n && (int)(u * 3u) < m)
#undef STEPS

extern "C" __global__ void nested(int* out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = 7;
  if (i < n) {
    value = out[i] + 1;
    if (i > m) value *= 3;
  }
  if (i != m) out[i] = value;
}
