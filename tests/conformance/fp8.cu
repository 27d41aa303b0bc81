// Numbers of 8 bits: every conversion, for every value or many.
#include <cuda_fp8.h>

#include <cstring>

#include "probe.h"

using word = unsigned long long;
__host__ __device__ inline unsigned mix(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16;
}
__host__ __device__ inline float float_of(int i) {  // every sign, exponent and leading bits; ties
  unsigned bits = static_cast<unsigned>(i) << 16 ^ ((i % 3) == 0 ? 0u : (i % 3) == 1 ? 1u : 0xffffu);
  float f; memcpy(&f, &bits, 4); return f;
}
__host__ __device__ inline double double_of(int i) {
  const unsigned e = mix(i) % 60 + 1000;
  word bits = static_cast<word>(i & 1) << 63 | static_cast<word>(e) << 52 | static_cast<word>(i >> 1 & 0x3f) << 46 | (i % 3 == 0 ? 0ull : i % 3 == 1 ? 1ull : 0x3fffffffffffull);
  if (i % 97 == 0) bits |= 0x7ff0000000000000ull;
  double d; memcpy(&d, &bits, 8); return d;
}
struct out { unsigned char f[4], h[4], b[4], d[4]; };
__host__ __device__ inline void convert(int i, out& o) {
  int n = 0;
  for (auto kind : {__NV_E4M3, __NV_E5M2})
    for (auto sat : {__NV_SATFINITE, __NV_NOSAT}) {
      o.f[n] = __nv_cvt_float_to_fp8(float_of(i), sat, kind);
      __half_raw h; h.x = static_cast<unsigned short>(i);
      o.h[n] = __nv_cvt_halfraw_to_fp8(h, sat, kind);
      __nv_bfloat16_raw b; b.x = static_cast<unsigned short>(i);
      o.b[n] = __nv_cvt_bfloat16raw_to_fp8(b, sat, kind);
      o.d[n] = __nv_cvt_double_to_fp8(double_of(i), sat, kind);
      ++n;
    }
}
__global__ void device(out* o) { const int i = blockIdx.x * blockDim.x + threadIdx.x; convert(i, o[i]); }
__host__ __device__ inline void back(int i, unsigned* o) {
  __half_raw a = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(i), __NV_E4M3);
  __half_raw b = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(i), __NV_E5M2);
  o[0] = a.x; o[1] = b.x;
  __nv_fp8_e4m3 x; x.__x = static_cast<unsigned char>(i);
  __nv_fp8_e5m2 y; y.__x = static_cast<unsigned char>(i);
  const float fx = static_cast<float>(x), fy = static_cast<float>(y);
  memcpy(&o[2], &fx, 4); memcpy(&o[3], &fy, 4);
  o[4] = static_cast<unsigned>(static_cast<int>(x)); o[5] = static_cast<unsigned>(static_cast<int>(y));
  o[6] = static_cast<unsigned char>(x); o[7] = static_cast<unsigned>(static_cast<signed char>(y));
  o[8] = static_cast<bool>(x); 
  o[9] = __nv_fp8_e4m3(static_cast<float>(i) * 1.7f).__x; o[10] = __nv_fp8_e5m2(static_cast<double>(i) * -300.3).__x;
  o[11] = __nv_fp8_e4m3(i * 3 - 300).__x; o[12] = __nv_fp8_e5m2(static_cast<unsigned>(i) * 1000u).__x;
  __nv_fp8x2_e4m3 p(make_float2(static_cast<float>(i), -0.5f * i)); o[13] = p.__x;
  __nv_fp8x4_e5m2 q(make_float4(1.f * i, 2.f * i, -3.f * i, 0.01f * i)); o[14] = q.__x;
  const float2 u = static_cast<float2>(p); const float4 v = static_cast<float4>(q);
  const float s = u.x * 3 + u.y + v.x + v.y * 5 + v.z * 7 + v.w * 11; memcpy(&o[15], &s, 4);
}
__global__ void device_back(unsigned* o) { back(threadIdx.x, o + 16 * threadIdx.x); }

static std::string sum(const unsigned char* p, int n, int step) {
  word s = 14695981039346656037ull; for (int i = 0; i < n; ++i) s = (s ^ p[i * step]) * 1099511628211ull;
  char t[20]; std::snprintf(t, sizeof t, "%016llx", s); return t;
}
int main() {
  constexpr int n = 65536;
  out* o; unsigned* b;
  MUST(cudaMallocManaged(&o, n * sizeof *o)); MUST(cudaMallocManaged(&b, 256 * 16 * 4));
  for (const bool on_device : {true, false}) {
    if (on_device) { device<<<n / 256, 256>>>(o); device_back<<<1, 256>>>(b); MUST(cudaDeviceSynchronize()); }
    else { for (int i = 0; i < n; ++i) convert(i, o[i]); for (int i = 0; i < 256; ++i) back(i, b + 16 * i); }
    const std::string where = on_device ? "device." : "host.";
    for (int k = 0; k < 4; ++k) {
      const std::string kind = std::string(k < 2 ? "e4m3" : "e5m2") + (k % 2 ? ".nosat" : ".sat");
      say(where + "float." + kind, sum(&o[0].f[k], n, sizeof(out)));
      say(where + "half." + kind, sum(&o[0].h[k], n, sizeof(out)));
      say(where + "bfloat." + kind, sum(&o[0].b[k], n, sizeof(out)));
      say(where + "double." + kind, sum(&o[0].d[k], n, sizeof(out)));
    }
    for (int k = 0; k < 16; ++k) {
      std::string text; char one[12];
      for (int i = 0; i < 256; ++i) if (i < 40 || (i > 118 && i < 132) || i > 230) { std::snprintf(one, sizeof one, "%x ", b[i * 16 + k]); text += one; }
      word s = 0; for (int i = 0; i < 256; ++i) s = (s ^ b[i * 16 + k]) * 1099511628211ull;
      std::snprintf(one, sizeof one, "%08x", static_cast<unsigned>(s ^ s >> 32));
      say(where + "back." + std::to_string(k), text + one);
    }
  }
}
