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

extern "C" __global__ void nested(int* out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = 7;
  if (i < n) {
    value = out[i] + 1;
    if (i > m) value *= 3;
  }
  if (i != m) out[i] = value;
}
