// One mistake of device code per run, named on the command line, that a sanitizer must report.
#include <cstdio>
#include <cstdlib>
#include <cstring>

// A function of its own does not know how long the array is.
__device__ __noinline__ void store(int* at, int index) { at[index] = 3; }
__global__ void past_the_end_of_an_array(int* out, int by) {
  int own[8];
  for (int i = 0; i < 8; ++i) own[i] = out[i];
  store(own, 7 + by);
  for (int i = 0; i < 8; ++i) out[i] = own[(i * by) & 7];
}

__global__ void a_sum_that_is_too_large(int* out, int by) { out[0] = 0x7fffffff + by; }

// The host and the kernel write what[0]; nothing but relaxed flags comes between.
__global__ void a_write_beside_the_host(int* what, int* flag) {
  while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) {
  }
  what[0] = 2;
  __atomic_store_n(flag, 2, __ATOMIC_RELAXED);
}

int main(int argc, char** argv) {
  const char* mistake = argc > 1 ? argv[1] : "";
  int *what, *flag;
  if (cudaMallocManaged(&what, 64) != cudaSuccess || cudaMallocManaged(&flag, 64) != cudaSuccess)
    return 2;
  memset(what, 0, 64);
  *flag = 0;
  if (!strcmp(mistake, "array")) {
    past_the_end_of_an_array<<<1, 1>>>(what, 1);
  } else if (!strcmp(mistake, "overflow")) {
    a_sum_that_is_too_large<<<1, 1>>>(what, 1);
  } else if (!strcmp(mistake, "race")) {
    a_write_beside_the_host<<<1, 1>>>(what, flag);
    what[0] = 1;
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(flag, __ATOMIC_RELAXED) != 2) {
    }
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  puts("over");
  return 0;
}
