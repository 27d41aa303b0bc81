// Maths functions of kernels against the C library in double: all kinds of arguments, in loops that
// become vectors and in one thread alone, which have to agree to the last bit.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static int failures = 0;

template <class Real>
static long long place(Real x) {
  long long bits = 0;
  std::memcpy(&bits, &x, sizeof(x));
  const long long sign = 1ll << (8 * sizeof(x) - 1);
  return bits & sign ? -(bits & ~sign) : bits;
}

template <class Real>
static bool same_bits(Real a, Real b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0 || (std::isnan(a) && std::isnan(b));
}

// Numbers of all sizes and both signs, the special ones at the front.
template <class Real>
static std::vector<Real> arguments(int count) {
  const Real inf = HUGE_VAL;
  const bool single = sizeof(Real) == 4;
  std::vector<Real> all = {0,      Real(-0.0), inf,  -inf, Real(NAN), 1,          -1,
                           2,      0.5,        10,   -10,  Real(1e5), Real(-1e5), Real(1e9),
                           88.7,   89,         -88,  -104, -150,      709.7,      710,
                           -745.1, -746,       38.5, 1e30, 65536};
  all.push_back(single ? Real(0x1p-149) : Real(0x1p-1074));
  all.push_back(single ? Real(0x1p-126) : Real(0x1p-1022));
  all.push_back(single ? Real(0x1.fffffep127) : Real(0x1.fffffffffffffp1023));
  unsigned state = 1;
  while (static_cast<int>(all.size()) < count) {
    state = state * 1664525u + 1013904223u;
    const Real mantissa = 1 + Real(state >> 8) / (1 << 24);
    const int exponent = static_cast<int>(state >> 3 & 31) - 20;
    all.push_back(std::ldexp(state & 4 ? mantissa : -mantissa, exponent));
  }
  return all;
}

template <class Real, class Function>
__global__ void each(const Real* x, Real* y, int n, Function f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = f(x[i]);
}
// One thread, whose loop reads what it wrote: no vectors.
template <class Real, class Function>
__global__ void alone(const Real* x, Real* y, int n, Function f) {
  for (int i = 0; i < n; ++i) {
    Real argument = x[i];
    if (i > 0 && y[i - 1] == Real(12345)) argument = 1;
    y[i] = f(argument);
  }
}

template <class Real, class Function, class Right>
static void check(const char* name, double allowed, Function f, Right right) {
  const int n = 20011;
  const std::vector<Real> in = arguments<Real>(n);
  Real *x, *y, *z;
  cudaMallocManaged(&x, n * sizeof(Real));
  cudaMallocManaged(&y, n * sizeof(Real));
  cudaMallocManaged(&z, n * sizeof(Real));
  std::memcpy(x, in.data(), n * sizeof(Real));
  each<<<(n + 255) / 256, 256>>>(x, y, n, f);
  alone<<<1, 1>>>(x, z, n, f);
  if (cudaDeviceSynchronize() != cudaSuccess) ++failures;
  for (int i = 0; i < n; ++i) {
    const Real want = static_cast<Real>(right(in[i]));
    const bool finite = std::isfinite(want) && std::isfinite(y[i]);
    const double off = std::fabs(static_cast<double>(place(y[i]) - place(want)));
    const bool good =
        finite ? off <= allowed && (want != 0 || std::signbit(want) == std::signbit(y[i]))
               : same_bits(want, y[i]) || (!std::isnan(want) && off <= allowed);
    if (good && same_bits(y[i], z[i])) continue;
    ++failures;
    std::printf("%s(%a): %a in a vector, %a alone, %a is right\n", name, double(in[i]),
                double(y[i]), double(z[i]), double(want));
    break;
  }
  cudaFree(x);
  cudaFree(y);
  cudaFree(z);
}

#define FLOAT(name, allowed)                                         \
  check<float>(                                                      \
      #name, allowed, [] __device__(float x) { return name##f(x); }, \
      [](double x) { return static_cast<float>(::name(x)); })
#define DOUBLE(name, allowed)                                        \
  check<double>(                                                     \
      #name, allowed, [] __device__(double x) { return ::name(x); }, \
      [](double x) { return ::name(static_cast<long double>(x)); })

// What CUDA has beyond the C library: the host's own are a unit or two off, too.
#define BEYOND(name, allowed)                                            \
  check<double>(                                                         \
      #name, allowed + 2, [] __device__(double x) { return ::name(x); }, \
      [](double x) { return ::name(x); })
// Below 8: beyond, CUDA's errors are absolute ones.
#define BESSEL(name)                                                               \
  check<double>(                                                                   \
      #name, 7, [] __device__(double x) { return ::name(8 * x / (1 + fabs(x))); }, \
      [](double x) { return ::name##l(static_cast<long double>(8 * x / (1 + fabs(x)))); })
// What has no error, with the same expression on both sides.
#define EXACT(real, expression)                                             \
  check<real>(                                                              \
      #expression, 0, [] __device__(real x) -> real { return expression; }, \
      [](real x) -> real { return expression; })

template <class Real>
__host__ __device__ int any_exponent(Real x) {
  unsigned long long bits = 0;
  std::memcpy(&bits, &x, sizeof(x));
  return static_cast<int>(bits >> (sizeof(x) * 8 - 14)) - 7000;
}
#define BOTH_RESULTS(real, suffix)                                         \
  __host__ __device__ real both_of_frexp(real x) {                         \
    int exponent = 0;                                                      \
    const real mantissa = frexp##suffix(x, &exponent);                     \
    return std::isfinite(x) ? mantissa + real(4) * exponent : mantissa;    \
  }                                                                        \
  __host__ __device__ real both_of_modf(real x) {                          \
    real whole = 0;                                                        \
    const real rest = modf##suffix(x, &whole);                             \
    return std::isfinite(x) && whole != 0 ? whole / real(3) - rest : rest; \
  }
BOTH_RESULTS(float, f)
BOTH_RESULTS(double, )

int main() {
  FLOAT(exp, 1);
  FLOAT(exp2, 1);
  FLOAT(exp10, 1);
  FLOAT(log, 1);
  FLOAT(log2, 1);
  FLOAT(log10, 1);
  FLOAT(sin, 1);
  FLOAT(cos, 1);
  FLOAT(tan, 3);
  FLOAT(erf, 2);
  FLOAT(tanh, 2);
  FLOAT(expm1, 1);
  FLOAT(log1p, 1);
  FLOAT(erfc, 4);
  FLOAT(atan, 2);
  FLOAT(asin, 2);
  FLOAT(acos, 2);
  FLOAT(sinh, 3);
  FLOAT(cosh, 2);
  FLOAT(asinh, 3);
  FLOAT(acosh, 4);
  FLOAT(atanh, 3);
  FLOAT(cbrt, 1);
  FLOAT(lgamma, 6);
  FLOAT(tgamma, 5);
  FLOAT(sinpi, 1);
  FLOAT(cospi, 1);
  FLOAT(erfinv, 2);
  FLOAT(erfcinv, 4);
  FLOAT(normcdfinv, 5);
  FLOAT(normcdf, 5);
  FLOAT(erfcx, 4);
  FLOAT(rcbrt, 1);
  FLOAT(cyl_bessel_i0, 6);
  FLOAT(cyl_bessel_i1, 6);
  FLOAT(logb, 0);
  FLOAT(j0, 9);
  FLOAT(j1, 9);
  FLOAT(y0, 9);
  FLOAT(y1, 9);
  FLOAT(sqrt, 0);
  check<float>(
      "rsqrt", 2, [] __device__(float x) { return rsqrtf(x); },
      [](double x) { return 1 / std::sqrt(x); });
  check<float>(
      "pow", 1, [] __device__(float x) { return powf(x, 2.7f); },
      [](double x) { return std::pow(x, static_cast<double>(2.7f)); });
  check<float>(
      "pow of 3", 1, [] __device__(float x) { return powf(3.0f, x); },
      [](double x) { return std::pow(3.0, x); });
  check<float>(
      "pow of -2", 1, [] __device__(float x) { return powf(-2.0f, x); },
      [](double x) { return std::pow(-2.0, x); });
  check<float>(
      "std::exp", 1, [] __device__(float x) { return std::exp(x); },
      [](double x) { return std::exp(x); });
  check<float>(
      "sincosf", 1,
      [] __device__(float x) {
        float s, c;
        sincosf(x, &s, &c);
        return s;
      },
      [](double x) { return std::sin(x); });
  DOUBLE(exp, 1);
  DOUBLE(exp2, 1);
  DOUBLE(log, 1);
  DOUBLE(sin, 1);
  DOUBLE(cos, 1);
  check<double>(
      "exp10", 1, [] __device__(double x) { return exp10(x); },
      [](long double x) { return ::exp10l(x); });
  DOUBLE(expm1, 1);
  DOUBLE(log2, 1);
  DOUBLE(log10, 1);
  DOUBLE(log1p, 1);
  DOUBLE(tan, 2);
  DOUBLE(erf, 2);
  DOUBLE(erfc, 5);
  DOUBLE(atan, 2);
  DOUBLE(asin, 2);
  DOUBLE(acos, 2);
  DOUBLE(sinh, 2);
  DOUBLE(cosh, 2);
  DOUBLE(tanh, 2);
  DOUBLE(asinh, 3);
  DOUBLE(acosh, 3);
  DOUBLE(atanh, 2);
  DOUBLE(cbrt, 1);
  DOUBLE(lgamma, 4);
  DOUBLE(tgamma, 10);
  BEYOND(sinpi, 2);
  BEYOND(cospi, 2);
  BEYOND(erfinv, 5);
  BEYOND(erfcinv, 6);
  BEYOND(normcdfinv, 8);
  BEYOND(normcdf, 5);
  BEYOND(erfcx, 4);
  BEYOND(rcbrt, 1);
  BEYOND(cyl_bessel_i0, 6);
  BEYOND(cyl_bessel_i1, 6);
  check<double>(
      "sincospi", 2,
      [] __device__(double x) {
        double s, c;
        sincospi(x, &s, &c);
        return c;
      },
      [](double x) { return cospi(x); });
  check<double>(
      "norm3d", 2, [] __device__(double x) { return norm3d(x, -2.5, 1e-3); },
      [](long double x) { return std::hypot(x, std::hypot(2.5L, 1e-3L)); });
  check<double>(
      "rnorm4d", 1, [] __device__(double x) { return rnorm4d(x, 0.0, 3.0, 4.0); },
      [](long double x) { return 1 / std::hypot(x, 5.0L); });
  check<double>(
      "rhypot", 1, [] __device__(double x) { return rhypot(x, 2.5); },
      [](long double x) { return 1 / std::hypot(x, 2.5L); });
  BESSEL(j0);
  BESSEL(j1);
  BESSEL(y0);
  BESSEL(y1);
  EXACT(float, ldexpf(x, any_exponent(x)));
  EXACT(double, ldexp(x, any_exponent(x)));
  EXACT(float, scalbnf(x, any_exponent(x)));
  EXACT(double, scalbln(x, any_exponent(x)));
  EXACT(float, logbf(x));
  EXACT(double, logb(x));
  EXACT(float, x == 0 || x != x ? 0 : ilogbf(x));
  EXACT(double, x == 0 || x != x ? 0 : ilogb(x));
  EXACT(float, both_of_frexp(x));
  EXACT(double, both_of_frexp(x));
  EXACT(float, both_of_modf(x));
  EXACT(double, both_of_modf(x));
  EXACT(float, nextafterf(x, 3.0f));
  EXACT(double, nextafter(x, -HUGE_VAL));
  EXACT(float, fdimf(x, 1.5f));
  EXACT(double, fdim(-2.0, x));
  check<float>(
      "atan2f", 3, [] __device__(float x) { return atan2f(x, -1.5f); },
      [](double x) { return std::atan2(x, -1.5); });
  check<float>(
      "hypotf", 3, [] __device__(float x) { return hypotf(x, 2.5f); },
      [](double x) { return std::hypot(x, 2.5); });
  check<double>(
      "atan2", 2, [] __device__(double x) { return atan2(1.5, x); },
      [](long double x) { return std::atan2(1.5L, x); });
  check<double>(
      "hypot", 2, [] __device__(double x) { return hypot(x, 2.5); },
      [](long double x) { return std::hypot(x, 2.5L); });
  check<float>(
      "fmodf", 0, [] __device__(float x) { return fmodf(x, 2.5f); },
      [](double x) { return std::fmod(x, 2.5); });
  check<float>(
      "remainderf", 0, [] __device__(float x) { return remainderf(x, 2.5f); },
      [](double x) { return ::remainderl(x, 2.5L); });
  check<double>(
      "fmod", 0, [] __device__(double x) { return fmod(7.0, x); },
      [](long double x) { return std::fmod(7.0L, x); });
  check<double>(
      "remainder", 0, [] __device__(double x) { return remainder(x, -0.75); },
      [](long double x) { return std::remainder(x, -0.75L); });
  check<double>(
      "pow of double", 2, [] __device__(double x) { return pow(x, 2.7); },
      [](long double x) { return std::pow(x, static_cast<long double>(2.7)); });
  check<double>(
      "pow of double, -2", 2, [] __device__(double x) { return pow(-2.0, x); },
      [](long double x) { return std::pow(-2.0L, x); });
  // The quick ones, within what CUDA documents: absolute for angles below pi, relative here.
  check<float>(
      "__expf", 2, [] __device__(float x) { return __expf(x); },
      [](double x) { return std::exp(x); });
  check<float>(
      "__logf", 2, [] __device__(float x) { return __logf(x); },
      [](double x) { return std::log(x); });
  check<float>(
      "__exp10f", 2, [] __device__(float x) { return __exp10f(x); },
      [](double x) { return ::exp10(x); });
  std::printf(failures == 0 ? "ok\n" : "%d wrong\n", failures);
  return failures != 0;
}
