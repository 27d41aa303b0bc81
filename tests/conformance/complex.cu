// Complex numbers: every function of cuComplex.h, to the last bit.
#include <cuComplex.h>

#include <cmath>
#include <cstring>

#include "probe.h"

constexpr int count = 24 * 24;
template <class T>
struct answers {
  T add, sub, mul, div, conj, fma;
  decltype(T().x) abs, re, im;
};

__host__ __device__ inline void all(cuFloatComplex a, cuFloatComplex b, answers<cuFloatComplex>& o) {
  o.add = cuCaddf(a, b);
  o.sub = cuCsubf(a, b);
  o.mul = cuCmulf(a, b);
  o.div = cuCdivf(a, b);
  o.conj = cuConjf(a);
  o.fma = cuCfmaf(a, b, make_cuFloatComplex(b.x, a.y));
  o.abs = cuCabsf(a);
  o.re = cuCrealf(a);
  o.im = cuCimagf(a);
}
__host__ __device__ inline void all(cuDoubleComplex a, cuDoubleComplex b, answers<cuDoubleComplex>& o) {
  o.add = cuCadd(a, b);
  o.sub = cuCsub(a, b);
  o.mul = cuCmul(a, b);
  o.div = cuCdiv(a, b);
  o.conj = cuConj(a);
  o.fma = cuCfma(a, b, make_cuDoubleComplex(b.x, a.y));
  o.abs = cuCabs(a);
  o.re = cuCreal(a);
  o.im = cuCimag(a);
}
template <class T>
__global__ void device(const T* a, const T* b, answers<T>* o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) all(a[i], b[i], o[i]);
}

static unsigned long long bits(float f) { unsigned u; memcpy(&u, &f, 4); return f != f ? 0x7fffffff : u; }
static unsigned long long bits(double f) { unsigned long long u; memcpy(&u, &f, 8); return f != f ? 0x7fffffffffffffff : u; }

template <class T, class Of>
static void show(const std::string& name, const answers<T>* o, Of of) {
  std::string text;
  unsigned long long sum = 0;
  char one[24];
  for (int i = 0; i < count; ++i) {
    const T v = of(o[i]);
    const decltype(v.x) parts[] = {v.x, v.y};
    for (const auto part : parts) {
      sum = (sum ^ bits(part)) * 1099511628211ull;
      if (i % 9 == 0) {
        std::snprintf(one, sizeof one, " %llx", bits(part));
        text += one;
      }
    }
  }
  std::snprintf(one, sizeof one, "%016llx", sum);
  say(name, one + text);
}

template <class T>
static void run(const std::string& name) {
  using part = decltype(T().x);
  T *a, *b;
  answers<T>* o;
  MUST(cudaMallocManaged(&a, count * sizeof *a));
  MUST(cudaMallocManaged(&b, count * sizeof *b));
  MUST(cudaMallocManaged(&o, count * sizeof *o));
  const double odd[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 1e-44, 1e38, 3.3e38, 1e-30, -7.25};
  unsigned long long state = 11;
  const auto next = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const int exponent = static_cast<int>((state >> 55) % 41) - 20;
    return std::ldexp(static_cast<double>(static_cast<long long>(state) >> 20) * 0x1p-43, exponent);
  };
  for (int i = 0; i < count; ++i) {
    const auto pick = [&](int k) { return i < 144 ? odd[k % 12] : next(); };
    a[i] = T{static_cast<part>(pick(i)), static_cast<part>(pick(i / 12))};
    b[i] = T{static_cast<part>(pick(i / 5)), static_cast<part>(pick(i / 3 + 7))};
  }
  for (const bool on_device : {true, false}) {
    if (on_device) {
      device<T><<<(count + 63) / 64, 64>>>(a, b, o);
      MUST(cudaDeviceSynchronize());
    } else {
      for (int i = 0; i < count; ++i) all(a[i], b[i], o[i]);
    }
    const std::string n = name + (on_device ? ".device" : ".host");
    show(n + ".add", o, [](auto& v) { return v.add; });
    show(n + ".sub", o, [](auto& v) { return v.sub; });
    show(n + ".mul", o, [](auto& v) { return v.mul; });
    show(n + ".div", o, [](auto& v) { return v.div; });
    show(n + ".conj", o, [](auto& v) { return v.conj; });
    show(n + ".fma", o, [](auto& v) { return v.fma; });
    show(n + ".abs", o, [](auto& v) { return T{v.abs, v.re}; });
    show(n + ".im", o, [](auto& v) { return T{v.im, v.re}; });
  }
}

__global__ void mixed(cuComplex* f, cuDoubleComplex* d) {
  f[0] = make_cuComplex(1.5f, -2.5f);
  d[0] = cuComplexFloatToDouble(f[0]);
  f[1] = cuComplexDoubleToFloat(make_cuDoubleComplex(1.0 / 3, -2.0 / 3));
}

int main() {
  run<cuFloatComplex>("float");
  run<cuDoubleComplex>("double");
  cuComplex* f;
  cuDoubleComplex* d;
  MUST(cudaMallocManaged(&f, 64));
  MUST(cudaMallocManaged(&d, 64));
  mixed<<<1, 1>>>(f, d);
  MUST(cudaDeviceSynchronize());
  char text[200];
  std::snprintf(text, sizeof text, "%a %a %a %a %a %a %zu %zu %zu %zu", f[0].x, f[0].y, d[0].x, d[0].y, f[1].x, f[1].y,
                sizeof(cuComplex), alignof(cuComplex), sizeof(cuDoubleComplex), alignof(cuDoubleComplex));
  say("mixed", text);
}
