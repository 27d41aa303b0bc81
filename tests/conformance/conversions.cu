// Casts of floating-point numbers to integers: what is no number, what is too large, what is cut off,
// for every pair of types.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "probe.h"

static const double values[] = {0.0,      -0.0,     0.75,      -0.75,      2.5,       -2.5,       127.9,
                                -128.9,   255.5,    300.25,    -300.25,    32767.5,   -32768.5,   65535.5,
                                70000.0,  -70000.0, 2147483520.0, 2147483647.0, 2147483648.0, -2147483648.0,
                                -2147483904.0, 4294967040.0, 4294967295.0, 4294967296.0, 9.2233715e18,
                                9.3e18,   -9.3e18,  1.8446743e19, 1.9e19,  1e30,      -1e30,      INFINITY,
                                -INFINITY, NAN,     -NAN};
constexpr int count = sizeof values / sizeof values[0];

template <class From, class To>
__global__ void cast(const double* in, unsigned long long* out) {
  const From x = static_cast<From>(in[threadIdx.x]);
  out[threadIdx.x] = static_cast<unsigned long long>(static_cast<To>(x));
}

template <class From, class To>
__global__ void cast_small(const double* in, unsigned long long* out) {
  const From x = static_cast<From>(static_cast<float>(in[threadIdx.x]));
  out[threadIdx.x] = static_cast<unsigned long long>(static_cast<To>(x));
}

__global__ void intrinsics(const double* in, unsigned long long* out) {
  const double x = in[threadIdx.x];
  const float f = static_cast<float>(x);
  const __half h = __float2half(f);
  unsigned long long* o = out + threadIdx.x * 12;
  o[0] = static_cast<unsigned>(__float2int_rn(f));
  o[1] = __float2uint_rd(f);
  o[2] = static_cast<unsigned long long>(__float2ll_ru(f));
  o[3] = __float2ull_rz(f);
  o[4] = static_cast<unsigned>(__double2int_rz(x));
  o[5] = __double2uint_rn(x);
  o[6] = static_cast<unsigned long long>(__double2ll_rd(x));
  o[7] = __double2ull_ru(x);
  o[8] = static_cast<unsigned>(__half2int_rn(h));
  o[9] = __half2ushort_rz(h);
  o[10] = static_cast<unsigned long long>(__half2ll_rz(h));
  o[11] = static_cast<unsigned short>(__half2short_rn(h));
}

static double* in;
static unsigned long long* out;

static void tell(const char* name, int each) {
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) {
    char key[64], number[24];
    std::snprintf(key, sizeof key, "%s.%.17g", name, values[i]);
    std::string all;
    for (int k = 0; k < each; ++k) {
      std::snprintf(number, sizeof number, k == 0 ? "%llx" : " %llx", out[i * each + k]);
      all += number;
    }
    say(key, all);
  }
}

template <class To>
static void to(const char* name) {
  const std::string into = name;
  cast<float, To><<<1, count>>>(in, out);
  tell(("float." + into).c_str(), 1);
  cast<double, To><<<1, count>>>(in, out);
  tell(("double." + into).c_str(), 1);
  cast_small<__half, To><<<1, count>>>(in, out);
  tell(("half." + into).c_str(), 1);
  cast_small<__nv_bfloat16, To><<<1, count>>>(in, out);
  tell(("bfloat16." + into).c_str(), 1);
}

int main() {
  MUST(cudaMallocManaged(&in, sizeof values));
  MUST(cudaMallocManaged(&out, count * 12 * sizeof *out));
  for (int i = 0; i < count; ++i) in[i] = values[i];
  to<signed char>("schar");
  to<unsigned char>("uchar");
  to<short>("short");
  to<unsigned short>("ushort");
  to<int>("int");
  to<unsigned>("uint");
  to<long long>("llong");
  to<unsigned long long>("ullong");
  intrinsics<<<1, count>>>(in, out);
  tell("intrinsics", 12);
}
