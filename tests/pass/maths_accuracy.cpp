// How far the device's maths functions are from the right results, in units of the last place:
//   maths_accuracy [--all] [NAME...]
// The distance is CUDA's: between the result and the rounded right one. Without --all one float of
// 4099 is tried, with it every one; functions of double and of two numbers get random ones. Fails
// where a function is further off than CUDA allows, or another kind of number.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "maths_references.hpp"

extern "C" {
#define SB_UNARY(real, name) real __sb_maths_##name(real);
#define SB_BINARY(real, name) real __sb_maths_##name(real, real);
SB_UNARY(float, expf)
SB_UNARY(float, exp2f)
SB_UNARY(float, exp10f)
SB_UNARY(float, logf)
SB_UNARY(float, log2f)
SB_UNARY(float, log10f)
SB_UNARY(float, sinf)
SB_UNARY(float, cosf)
SB_UNARY(float, tanf)
SB_UNARY(float, erff)
SB_UNARY(float, tanhf)
SB_UNARY(float, expm1f)
SB_UNARY(float, log1pf)
SB_UNARY(float, erfcf)
SB_UNARY(float, atanf)
SB_UNARY(float, asinf)
SB_UNARY(float, acosf)
SB_UNARY(float, sinhf)
SB_UNARY(float, coshf)
SB_UNARY(float, asinhf)
SB_UNARY(float, acoshf)
SB_UNARY(float, atanhf)
SB_UNARY(float, cbrtf)
SB_UNARY(float, lgammaf)
SB_UNARY(float, tgammaf)
SB_UNARY(float, sinpif)
SB_UNARY(float, cospif)
SB_UNARY(float, erfinvf)
SB_UNARY(float, erfcinvf)
SB_UNARY(float, normcdfinvf)
SB_UNARY(float, normcdff)
SB_UNARY(float, erfcxf)
SB_UNARY(float, rcbrtf)
SB_UNARY(float, cyl_bessel_i0f)
SB_UNARY(float, cyl_bessel_i1f)
SB_UNARY(float, logbf)
SB_UNARY(double, exp)
SB_UNARY(double, exp2)
SB_UNARY(double, log)
SB_UNARY(double, sin)
SB_UNARY(double, cos)
SB_UNARY(double, exp10)
SB_UNARY(double, expm1)
SB_UNARY(double, log2)
SB_UNARY(double, log10)
SB_UNARY(double, log1p)
SB_UNARY(double, tan)
SB_UNARY(double, erf)
SB_UNARY(double, erfc)
SB_UNARY(double, tanh)
SB_UNARY(double, sinh)
SB_UNARY(double, cosh)
SB_UNARY(double, atan)
SB_UNARY(double, asin)
SB_UNARY(double, acos)
SB_UNARY(double, asinh)
SB_UNARY(double, acosh)
SB_UNARY(double, atanh)
SB_UNARY(double, cbrt)
SB_UNARY(float, j0f)
SB_UNARY(float, j1f)
SB_UNARY(float, y0f)
SB_UNARY(float, y1f)
SB_UNARY(double, lgamma)
SB_UNARY(double, tgamma)
SB_UNARY(double, sinpi)
SB_UNARY(double, cospi)
SB_UNARY(double, erfinv)
SB_UNARY(double, erfcinv)
SB_UNARY(double, normcdfinv)
SB_UNARY(double, normcdf)
SB_UNARY(double, erfcx)
SB_UNARY(double, rcbrt)
SB_UNARY(double, cyl_bessel_i0)
SB_UNARY(double, cyl_bessel_i1)
SB_UNARY(double, logb)
SB_UNARY(double, j0)
SB_UNARY(double, j1)
SB_UNARY(double, y0)
SB_UNARY(double, y1)
SB_BINARY(float, powf)
SB_BINARY(double, pow)
SB_BINARY(float, atan2f)
SB_BINARY(double, atan2)
SB_BINARY(float, hypotf)
SB_BINARY(double, hypot)
SB_BINARY(float, fmodf)
SB_BINARY(double, fmod)
SB_BINARY(float, remainderf)
SB_BINARY(double, remainder)
SB_BINARY(float, nextafterf)
SB_BINARY(double, nextafter)
SB_BINARY(float, fdimf)
SB_BINARY(double, fdim)
SB_BINARY(double, rhypot)
double __sb_maths_norm3d(double, double, double);
double __sb_maths_rnorm3d(double, double, double);
double __sb_maths_norm4d(double, double, double, double);
double __sb_maths_rnorm4d(double, double, double, double);
float __sb_maths_ldexpf(float, int);
double __sb_maths_ldexp(double, int);
float __sb_maths_scalblnf(float, long);
double __sb_maths_scalbln(double, long);
int __sb_maths_ilogbf(float);
int __sb_maths_ilogb(double);
float __sb_maths_mantissaf(float);
double __sb_maths_mantissa(double);
int __sb_maths_exponentf(float);
int __sb_maths_exponent(double);
}

namespace {

template <class To, class From>
To as(From from) {
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// Numbers in their order, as integers.
long long place(float x) {
  const int bits = as<int>(x);
  return bits < 0 ? -static_cast<long long>(bits & 0x7fffffff) : bits;
}
long long place(double x) {
  const long long bits = as<long long>(x);
  return bits < 0 ? -(bits & 0x7fffffffffffffff) : bits;
}

struct verdict {
  double worst = 0;
  std::string where;
  template <class Real>
  void add(Real got, Real want, double x, double y) {
    double distance = 0;
    if (std::isnan(want) || std::isnan(got))
      distance = std::isnan(want) == std::isnan(got) ? 0 : 1e30;
    else if (want == 0 && got == 0)
      distance = std::signbit(want) == std::signbit(got) ? 0 : 1e20;
    else
      distance = std::fabs(static_cast<double>(place(got) - place(want)));
    if (distance > worst) {
      worst = distance;
      char text[160];
      std::snprintf(text, sizeof(text), "%a, %a: %a instead of %a", x, y, static_cast<double>(got),
                    static_cast<double>(want));
      where = text;
    }
  }
  void add(const verdict& other) {
    if (other.worst > worst) *this = other;
  }
};

using unary_f = float (*)(float);
using right_f = double (*)(double);

verdict every_float(unary_f quick, right_f right, unsigned step) {
  const unsigned parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<verdict> found(parts);
  std::vector<std::thread> threads;
  for (unsigned part = 0; part < parts; ++part)
    threads.emplace_back([&, part] {
      const unsigned long long stride = static_cast<unsigned long long>(step) * parts;
      for (unsigned long long bits = static_cast<unsigned long long>(step) * part;
           bits < 1ull << 32; bits += stride) {
        const float x = as<float>(static_cast<unsigned>(bits));
        found[part].add(quick(x), static_cast<float>(right(x)), x, 0);
      }
    });
  for (std::thread& each : threads) each.join();
  for (float x : {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, std::nanf(""), 1.0f, -1.0f, 0x1p-149f,
                  -0x1p-149f, 0x1p-126f, 0x1.fffffep127f, 0x1p16f, 0x1.000002p16f})
    found[0].add(quick(x), static_cast<float>(right(x)), x, 0);
  for (unsigned part = 1; part < parts; ++part) found[0].add(found[part]);
  return found[0];
}

using unary_d = double (*)(double);
using right_d = long double (*)(long double);

// All kinds of doubles, and many of a size that programs use.
verdict some_doubles(unary_d quick, right_d right, int count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> usual(-50, 50), near(-1, 1), wide(-1e7, 1e7),
      large(-800, 800);
  verdict found;
  for (int i = 0; i < count; ++i) {
    for (double x : {as<double>(random()), usual(random), near(random), wide(random), large(random),
                     1 + 1e-3 * near(random)})
      found.add(quick(x), static_cast<double>(right(x)), x, 0);
  }
  const double inf = HUGE_VAL;
  for (double x : {0.0, -0.0, inf, -inf, std::nan(""), 1.0, -1.0, 0x1p-1074, 0x1p-1022,
                   709.7827128933841, -745.2, 1e300})
    found.add(quick(x), static_cast<double>(right(x)), x, 0);
  return found;
}

// The special numbers with one another.
template <class Real, class Add>
void add_special(const Add& add) {
  const Real inf = HUGE_VAL, none = std::nan("");
  const Real least = std::numeric_limits<Real>::denorm_min();
  const Real normal = std::numeric_limits<Real>::min(), most = std::numeric_limits<Real>::max();
  for (const Real x : {Real(0), Real(0.5), Real(1), Real(2), Real(3), Real(3.5), Real(8), least,
                       normal, most, most / 2, Real(1e30), Real(0x1p52), inf, none})
    for (const Real y :
         {Real(0), Real(0.5), Real(1), Real(2), Real(3), Real(3.5), Real(8), least, normal, most,
          most / 2, Real(1e30), Real(0x1.8p52), Real(0x1p60), inf, none}) {
      add(x, y);
      add(-x, y);
      add(x, -y);
      add(-x, -y);
    }
}

// Powers, with a wider type for the right ones.
template <class Real, class Wide>
verdict some_powers(Real (*quick)(Real, Real), Wide (*right)(Wide, Wide), int count) {
  std::mt19937_64 random(1);
  const bool single = sizeof(Real) == sizeof(float);
  std::uniform_real_distribution<Real> base(0, 4), exponent(single ? -130 : -1040, 130),
      small(-5, 5), near(Real(0.99), Real(1.01));
  verdict found;
  const auto add = [&](Real x, Real y) {
    found.add(quick(x, y), static_cast<Real>(right(x, y)), x, y);
  };
  const auto any = [&] {
    if constexpr (sizeof(Real) == sizeof(float))
      return as<float>(static_cast<unsigned>(random()));
    else
      return as<double>(random());
  };
  for (int i = 0; i < count; ++i) {
    add(any(), any());
    add(base(random), exponent(random));
    add(std::fabs(any()), small(random));
    add(near(random), exponent(random) * 60);
    add(-base(random), std::round(exponent(random)));
  }
  add_special<Real>(add);
  return found;
}

// Functions of two numbers, mostly of similar size, whatever it is.
template <class Real, class Wide>
verdict some_pairs(Real (*quick)(Real, Real), Wide (*right)(Wide, Wide), int count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<Real> usual(-4, 4);
  std::uniform_int_distribution<int> size(std::numeric_limits<Real>::min_exponent - 30,
                                          std::numeric_limits<Real>::max_exponent + 2),
      near(-30, 30);
  verdict found;
  const auto add = [&](Real x, Real y) {
    found.add(quick(x, y), static_cast<Real>(right(x, y)), x, y);
  };
  for (int i = 0; i < count; ++i) {
    const Real x = usual(random), y = usual(random);
    const int scale = size(random), other = size(random), nearby = scale + near(random);
    add(x, y);
    add(std::ldexp(x, scale), std::ldexp(y, nearby));
    add(std::ldexp(x, scale), std::ldexp(y, other));
    const Real step = std::round(y * 1000), half_steps = std::round(x * 50000);
    add(step * half_steps / 2, step);
  }
  add_special<Real>(add);
  return found;
}

// Functions of three and four numbers: of x, y and parts of these.
double some_norm3d(double x, double y) { return __sb_maths_norm3d(x, y, x / 3); }
double some_rnorm3d(double x, double y) { return __sb_maths_rnorm3d(y / 3, y, x); }
double some_norm4d(double x, double y) { return __sb_maths_norm4d(x, y, x / 3, y / 7); }
double some_rnorm4d(double x, double y) { return __sb_maths_rnorm4d(y / 3, y, x, x / 7); }
// Or infinity, whatever the others are.
long double right_norm(long double x, long double y, double z, double u = 0) {
  const long double l = z, m = u;
  const bool infinite = std::isinf(x) || std::isinf(y) || std::isinf(z) || std::isinf(u);
  return infinite ? HUGE_VALL : std::sqrt(x * x + y * y + l * l + m * m);
}
double part(long double x, double of) { return static_cast<double>(x) / of; }

// Bessel functions: units up to 8, an absolute error beyond, far below that which CUDA allows. Next
// to their zeros the right ones have absolute errors themselves.
template <class Real, class Wide>
verdict some_bessels(Real (*quick)(Real), Wide (*right)(Wide), double absolute, int count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<Real> near(-8, 8), usual(8, 100), wide(100, 1e6), tiny(0, 1e-3);
  verdict found;
  const auto add = [&](Real x) {
    const Wide exact = right(x);
    const Real got = quick(x), want = static_cast<Real>(exact);
    const double off = static_cast<double>(std::fabs(got - exact));
    const double allowed = std::fabs(x) < 8 ? std::numeric_limits<Wide>::epsilon() : absolute;
    if (!(off <= allowed)) found.add(got, want, x, 0);
  };
  for (int i = 0; i < count; ++i)
    for (const Real x : {near(random), near(random), usual(random), wide(random), tiny(random)}) {
      add(x);
      add(std::ldexp(x, static_cast<int>(random() % 64) - 40));
    }
  for (const Real x : {Real(0), Real(HUGE_VAL), Real(std::nan("")), Real(1e30), Real(8), Real(4),
                       std::numeric_limits<Real>::denorm_min(), std::numeric_limits<Real>::min()}) {
    add(x);
    add(-x);
  }
  return found;
}

// What has an exponent as its argument or its result.
template <class Real>
verdict some_exponents(Real (*by)(Real, int), Real (*by_long)(Real, long), int (*exponent)(Real),
                       Real (*mantissa)(Real), int (*next)(Real), int count) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> size(-2300, 2300);
  verdict found;
  const auto add = [&](Real x, long n) {
    found.add(by(x, static_cast<int>(n)), std::ldexp(x, static_cast<int>(n)), x, n);
    found.add(by_long(x, n), std::scalbln(x, n), x, n);
    // What the C library says of zero and NaN depends on the processor.
    const int none =
        std::isinf(x) ? std::numeric_limits<int>::max() : std::numeric_limits<int>::min();
    const bool ordinary = std::isfinite(x) && x != 0;
    found.add(Real(exponent(x)), Real(ordinary ? std::ilogb(x) : none), x, 0);
    int right_next = 0;
    const Real right = std::frexp(x, &right_next);
    found.add(mantissa(x), right, x, 0);
    found.add(Real(next(x)), Real(std::isfinite(x) ? right_next : 0), x, 0);
  };
  for (int i = 0; i < count; ++i) {
    const unsigned long long bits = random();
    Real x;
    std::memcpy(&x, &bits, sizeof(x));
    for (const int n : {size(random), size(random) / 12, size(random) / 100}) add(x, n);
  }
  for (Real x : {Real(0), Real(1), std::numeric_limits<Real>::denorm_min(), Real(1.75),
                 std::numeric_limits<Real>::min(), std::numeric_limits<Real>::max(), Real(HUGE_VAL),
                 Real(std::nan(""))})
    for (int n : {0, 1, -1, 24, -24, 52, -53, 1074, -1074, -1075, 2200, -2200,
                  std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
      add(x, n);
      add(-x, n);
    }
  return found;
}

}  // namespace

int main(int count, char** words) {
  bool all = false;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    if (!std::strcmp(words[i], "--all"))
      all = true;
    else
      names.emplace_back(words[i]);
  }
  const unsigned step = all ? 1 : 4099;
  const int tries = all ? 50000000 : 100000;
  int wrong = 0;
  const auto judge = [&](const char* name, double allowed, auto compute) {
    bool chosen = names.empty();
    for (const std::string& each : names) chosen = chosen || each == name;
    if (!chosen) return;
    const verdict found = compute();
    const bool good = found.worst <= allowed;
    std::printf("%s\t%g of %g%s%s\n", name, found.worst, allowed, good ? "" : "\tWRONG at ",
                good ? "" : found.where.c_str());
    std::fflush(stdout);
    wrong += !good;
  };
#define SB_FLOAT(name, right, allowed) \
  judge(#name, allowed, [&] { return every_float(__sb_maths_##name, right, step); })
  SB_FLOAT(expf, std::exp, 1);
  SB_FLOAT(exp2f, std::exp2, 1);
  SB_FLOAT(exp10f, ::exp10, 1);
  SB_FLOAT(logf, std::log, 1);
  SB_FLOAT(log2f, std::log2, 1);
  SB_FLOAT(log10f, std::log10, 1);
  SB_FLOAT(sinf, std::sin, 2);
  SB_FLOAT(cosf, std::cos, 2);
  SB_FLOAT(tanf, std::tan, 3);
  SB_FLOAT(erff, std::erf, 2);
  SB_FLOAT(tanhf, std::tanh, 2);
  SB_FLOAT(expm1f, std::expm1, 1);
  SB_FLOAT(log1pf, std::log1p, 1);
  SB_FLOAT(erfcf, std::erfc, 4);
  SB_FLOAT(atanf, std::atan, 2);
  SB_FLOAT(asinf, std::asin, 2);
  SB_FLOAT(acosf, std::acos, 2);
  SB_FLOAT(sinhf, std::sinh, 3);
  SB_FLOAT(coshf, std::cosh, 2);
  SB_FLOAT(asinhf, std::asinh, 3);
  SB_FLOAT(acoshf, std::acosh, 4);
  SB_FLOAT(atanhf, std::atanh, 3);
  SB_FLOAT(cbrtf, std::cbrt, 1);
  SB_FLOAT(lgammaf, std::lgamma, 6);
  SB_FLOAT(tgammaf, std::tgamma, 5);
  SB_FLOAT(logbf, std::logb, 0);
#define SB_BEYOND_FLOAT(name, allowed) \
  SB_FLOAT(name##f, [](double x) { return static_cast<double>(sb::references::name(x)); }, allowed)
  SB_BEYOND_FLOAT(sinpi, 1);
  SB_BEYOND_FLOAT(cospi, 1);
  SB_BEYOND_FLOAT(erfinv, 2);
  SB_BEYOND_FLOAT(erfcinv, 4);
  SB_BEYOND_FLOAT(normcdfinv, 5);
  SB_BEYOND_FLOAT(normcdf, 5);
  SB_BEYOND_FLOAT(erfcx, 4);
  SB_BEYOND_FLOAT(rcbrt, 1);
  SB_BEYOND_FLOAT(cyl_bessel_i0, 6);
  SB_BEYOND_FLOAT(cyl_bessel_i1, 6);
#define SB_DOUBLE(name, allowed) \
  judge(#name, allowed, [&] { return some_doubles(__sb_maths_##name, name##l, tries); })
  SB_DOUBLE(exp, 1);
  SB_DOUBLE(exp2, 1);
  SB_DOUBLE(log, 1);
  SB_DOUBLE(sin, 1);
  SB_DOUBLE(cos, 1);
  SB_DOUBLE(exp10, 1);
  SB_DOUBLE(expm1, 1);
  SB_DOUBLE(log2, 1);
  SB_DOUBLE(log10, 1);
  SB_DOUBLE(log1p, 1);
  SB_DOUBLE(tan, 2);
  SB_DOUBLE(erf, 2);
  SB_DOUBLE(erfc, 5);
  SB_DOUBLE(tanh, 2);
  SB_DOUBLE(sinh, 2);
  SB_DOUBLE(cosh, 2);
  SB_DOUBLE(atan, 2);
  SB_DOUBLE(asin, 2);
  SB_DOUBLE(acos, 2);
  SB_DOUBLE(asinh, 3);
  SB_DOUBLE(acosh, 3);
  SB_DOUBLE(atanh, 2);
  SB_DOUBLE(cbrt, 1);
  SB_DOUBLE(lgamma, 4);
  SB_DOUBLE(tgamma, 10);
  SB_DOUBLE(logb, 0);
#define SB_BEYOND_DOUBLE(name, allowed) \
  judge(#name, allowed,                 \
        [&] { return some_doubles(__sb_maths_##name, sb::references::name, tries); })
  SB_BEYOND_DOUBLE(sinpi, 2);
  SB_BEYOND_DOUBLE(cospi, 2);
  SB_BEYOND_DOUBLE(erfinv, 5);
  SB_BEYOND_DOUBLE(erfcinv, 6);
  SB_BEYOND_DOUBLE(normcdfinv, 8);
  SB_BEYOND_DOUBLE(normcdf, 5);
  SB_BEYOND_DOUBLE(erfcx, 4);
  SB_BEYOND_DOUBLE(rcbrt, 1);
  SB_BEYOND_DOUBLE(cyl_bessel_i0, 6);
  SB_BEYOND_DOUBLE(cyl_bessel_i1, 6);
#define SB_PAIR(name, some, right, allowed) \
  judge(#name, allowed, [&] { return some(__sb_maths_##name, right, tries); })
  SB_PAIR(powf, some_powers, ::pow, 1);
  SB_PAIR(pow, some_powers, ::powl, 2);
  SB_PAIR(atan2f, some_pairs, ::atan2, 3);
  SB_PAIR(atan2, some_pairs, ::atan2l, 2);
  SB_PAIR(hypotf, some_pairs, ::hypot, 3);
  SB_PAIR(hypot, some_pairs, ::hypotl, 2);
  SB_PAIR(fmodf, some_pairs, ::fmodl, 0);
  SB_PAIR(fmod, some_pairs, ::fmodl, 0);
  SB_PAIR(remainderf, some_pairs, ::remainderl, 0);
  SB_PAIR(remainder, some_pairs, ::remainderl, 0);
  SB_PAIR(rhypot, some_pairs, sb::references::rhypot, 1);
  SB_PAIR(nextafterf, some_pairs, static_cast<float (*)(float, float)>(std::nextafter), 0);
  SB_PAIR(nextafter, some_pairs, static_cast<double (*)(double, double)>(std::nextafter), 0);
  SB_PAIR(fdimf, some_pairs, static_cast<float (*)(float, float)>(std::fdim), 0);
  SB_PAIR(fdim, some_pairs, static_cast<double (*)(double, double)>(std::fdim), 0);
  using wide = long double;
#define SB_LENGTH(name, right, allowed)                                                   \
  judge(#name, allowed, [&] {                                                             \
    return some_pairs(some_##name, +[](wide x, wide y) -> wide { return right; }, tries); \
  })
  SB_LENGTH(norm3d, right_norm(x, y, part(x, 3)), 2);
  SB_LENGTH(rnorm3d, 1 / right_norm(x, y, part(y, 3)), 1);
  SB_LENGTH(norm4d, right_norm(x, y, part(x, 3), part(y, 7)), 2);
  SB_LENGTH(rnorm4d, 1 / right_norm(x, y, part(y, 3), part(x, 7)), 1);
#define SB_BESSEL(name, right)                                                                  \
  judge(#name "f", 9, [&] { return some_bessels(__sb_maths_##name##f, ::name, 1e-7, tries); }); \
  judge(#name, 7, [&] { return some_bessels(__sb_maths_##name, right, 1e-15, tries); })
  SB_BESSEL(j0, ::j0l);
  SB_BESSEL(j1, ::j1l);
  SB_BESSEL(y0, ::y0l);
  SB_BESSEL(y1, ::y1l);
#define SB_EXPONENTS(f)                                                                    \
  judge("exponents" #f, 0, [&] {                                                           \
    return some_exponents(__sb_maths_ldexp##f, __sb_maths_scalbln##f, __sb_maths_ilogb##f, \
                          __sb_maths_mantissa##f, __sb_maths_exponent##f, tries);          \
  })
  SB_EXPONENTS(f);
  SB_EXPONENTS();
  return wrong == 0 ? 0 : 1;
}
