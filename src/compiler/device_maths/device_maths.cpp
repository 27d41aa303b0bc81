// The maths functions of device code. clang makes bitcode of this file, which the pass carries and
// takes functions from: __sb_maths_NAME takes the place of the C library's NAME, or of what CUDA
// has beyond it (special_functions.h).
//
// A function __sb_maths_rare_NAME(is_rare, arguments..., quick) answers `quick`, or what the C
// library says where quick arithmetic is not good enough. It stays a call until loops have become
// vectors; the pass makes its form for vectors, which asks once whether any lane is rare.
#include <cmath>

#include "angle.hpp"
#include "arc.hpp"
#include "area.hpp"
#include "bessel.hpp"
#include "exponent.hpp"
#include "exponential.hpp"
#include "gamma.hpp"
#include "gauss.hpp"
#include "half_turns.hpp"
#include "hyperbolic.hpp"
#include "length.hpp"
#include "logarithm.hpp"
#include "modified_bessel.hpp"
#include "power.hpp"
#include "quantile.hpp"
#include "remainder.hpp"
#include "root.hpp"
#include "sigmoid.hpp"

#define SB_MATHS extern "C" __attribute__((const, nothrow))
// They keep all registers: the loop around has its constants in them.
#ifdef __clang__
#define SB_RARE extern "C" __attribute__((const, nothrow, noinline, cold, preserve_all))
#else
#define SB_RARE extern "C" __attribute__((const, nothrow, noinline, cold))
#endif

SB_RARE float __sb_maths_rare_sinf(int rare, float x, float quick) {
  return rare != 0 ? ::sinf(x) : quick;
}
SB_RARE float __sb_maths_rare_cosf(int rare, float x, float quick) {
  return rare != 0 ? ::cosf(x) : quick;
}
SB_RARE float __sb_maths_rare_tanf(int rare, float x, float quick) {
  return rare != 0 ? ::tanf(x) : quick;
}
SB_RARE double __sb_maths_rare_sin(int rare, double x, double quick) {
  return rare != 0 ? ::sin(x) : quick;
}
SB_RARE double __sb_maths_rare_cos(int rare, double x, double quick) {
  return rare != 0 ? ::cos(x) : quick;
}
SB_RARE double __sb_maths_rare_tan(int rare, double x, double quick) {
  return rare != 0 ? ::tan(x) : quick;
}
SB_RARE float __sb_maths_rare_powf(int rare, float x, float y, float quick) {
  return rare != 0 ? ::powf(x, y) : quick;
}
SB_RARE double __sb_maths_rare_pow(int rare, double x, double y, double quick) {
  return rare != 0 ? ::pow(x, y) : quick;
}
SB_RARE float __sb_maths_rare_fmodf(int rare, float x, float y, float quick) {
  return rare != 0 ? ::fmodf(x, y) : quick;
}
SB_RARE double __sb_maths_rare_fmod(int rare, double x, double y, double quick) {
  return rare != 0 ? ::fmod(x, y) : quick;
}
SB_RARE float __sb_maths_rare_remainderf(int rare, float x, float y, float quick) {
  return rare != 0 ? ::remainderf(x, y) : quick;
}
SB_RARE double __sb_maths_rare_remainder(int rare, double x, double y, double quick) {
  return rare != 0 ? ::remainder(x, y) : quick;
}
SB_RARE float __sb_maths_rare_lgammaf(int rare, float x, float quick) {
  return rare != 0 ? ::lgammaf(x) : quick;
}
SB_RARE double __sb_maths_rare_lgamma(int rare, double x, double quick) {
  return rare != 0 ? ::lgamma(x) : quick;
}
#define SB_RARE_BESSEL(name)                                                \
  SB_RARE float __sb_maths_rare_##name##f(int rare, float x, float quick) { \
    return rare != 0 ? ::name##f(x) : quick;                                \
  }                                                                         \
  SB_RARE double __sb_maths_rare_##name(int rare, double x, double quick) { \
    return rare != 0 ? ::name(x) : quick;                                   \
  }
SB_RARE_BESSEL(j0)
SB_RARE_BESSEL(j1)
SB_RARE_BESSEL(y0)
SB_RARE_BESSEL(y1)

namespace {
int is_far(float x) { return sb::maths::size_of(x) > sb::maths::largest_angle_f; }
int is_far(double x) { return sb::maths::size_of(x) > sb::maths::largest_angle_d; }
}  // namespace

#define SB_FLOAT(name) \
  SB_MATHS float __sb_maths_##name##f(float x) { return sb::maths::name(x); }
#define SB_DOUBLE(name) \
  SB_MATHS double __sb_maths_##name(double x) { return sb::maths::name(x); }
#define SB_BOTH(name) SB_FLOAT(name) SB_DOUBLE(name)
SB_BOTH(exp)
SB_BOTH(exp2)
SB_BOTH(exp10)
SB_BOTH(expm1)
SB_BOTH(log)
SB_BOTH(log2)
SB_BOTH(log10)
SB_BOTH(log1p)
SB_BOTH(erf)
SB_BOTH(erfc)
SB_BOTH(tanh)
SB_BOTH(sinh)
SB_BOTH(cosh)
SB_BOTH(asinh)
SB_BOTH(acosh)
SB_BOTH(atanh)
SB_BOTH(atan)
SB_BOTH(asin)
SB_BOTH(acos)
SB_BOTH(cbrt)
SB_BOTH(tgamma)
SB_BOTH(sinpi)
SB_BOTH(cospi)
SB_BOTH(erfinv)
SB_BOTH(erfcinv)
SB_BOTH(normcdfinv)
SB_BOTH(normcdf)
SB_BOTH(erfcx)
SB_BOTH(rcbrt)
SB_BOTH(logb)
SB_BOTH(cyl_bessel_i0)
SB_BOTH(cyl_bessel_i1)

#define SB_FLOATS(name) \
  SB_MATHS float __sb_maths_##name##f(float x, float y) { return sb::maths::name(x, y); }
#define SB_DOUBLES(name) \
  SB_MATHS double __sb_maths_##name(double x, double y) { return sb::maths::name(x, y); }
#define SB_BOTH_PAIRS(name) SB_FLOATS(name) SB_DOUBLES(name)
SB_BOTH_PAIRS(atan2)
SB_BOTH_PAIRS(hypot)
SB_BOTH_PAIRS(nextafter)
SB_BOTH_PAIRS(fdim)

// Those of float are sums of double: see special_functions.h.
SB_MATHS double __sb_maths_rhypot(double x, double y) { return sb::maths::rnorm(x, y); }
SB_MATHS double __sb_maths_norm3d(double x, double y, double z) { return sb::maths::norm(x, y, z); }
SB_MATHS double __sb_maths_rnorm3d(double x, double y, double z) {
  return sb::maths::rnorm(x, y, z);
}
SB_MATHS double __sb_maths_norm4d(double x, double y, double z, double u) {
  return sb::maths::norm(x, y, z, u);
}
SB_MATHS double __sb_maths_rnorm4d(double x, double y, double z, double u) {
  return sb::maths::rnorm(x, y, z, u);
}

#define SB_SCALED(real, name, whole, by) \
  SB_MATHS real __sb_maths_##name(real x, whole n) { return sb::maths::ldexp(x, by(n)); }
SB_SCALED(float, ldexpf, int, std::int32_t)
SB_SCALED(float, scalbnf, int, std::int32_t)
SB_SCALED(float, scalblnf, long, std::int64_t)
SB_SCALED(double, ldexp, int, std::int64_t)
SB_SCALED(double, scalbn, int, std::int64_t)
SB_SCALED(double, scalbln, long, std::int64_t)
SB_MATHS int __sb_maths_ilogbf(float x) { return sb::maths::ilogb(x); }
SB_MATHS int __sb_maths_ilogb(double x) { return sb::maths::ilogb(x); }
SB_MATHS float __sb_maths_mantissaf(float x) { return sb::maths::mantissa_of(x); }
SB_MATHS double __sb_maths_mantissa(double x) { return sb::maths::mantissa_of(x); }
SB_MATHS int __sb_maths_exponentf(float x) { return sb::maths::exponent_of(x); }
SB_MATHS int __sb_maths_exponent(double x) { return sb::maths::exponent_of(x); }

SB_MATHS float __sb_maths_sinf(float x) {
  return __sb_maths_rare_sinf(is_far(x), x, sb::maths::quick_sin(x));
}
SB_MATHS float __sb_maths_cosf(float x) {
  return __sb_maths_rare_cosf(is_far(x), x, sb::maths::quick_cos(x));
}
SB_MATHS float __sb_maths_tanf(float x) {
  return __sb_maths_rare_tanf(is_far(x), x, sb::maths::quick_tan(x));
}
SB_MATHS double __sb_maths_sin(double x) {
  return __sb_maths_rare_sin(is_far(x), x, sb::maths::quick_sin(x));
}
SB_MATHS double __sb_maths_cos(double x) {
  return __sb_maths_rare_cos(is_far(x), x, sb::maths::quick_cos(x));
}
SB_MATHS float __sb_maths_powf(float x, float y) {
  return __sb_maths_rare_powf(!sb::maths::has_plain_power(x, y), x, y, sb::maths::quick_pow(x, y));
}
SB_MATHS double __sb_maths_tan(double x) {
  return __sb_maths_rare_tan(is_far(x), x, sb::maths::quick_tan(x));
}
SB_MATHS double __sb_maths_pow(double x, double y) {
  return __sb_maths_rare_pow(!sb::maths::has_plain_power(x, y), x, y, sb::maths::quick_pow(x, y));
}

SB_MATHS float __sb_maths_lgammaf(float x) {
  return __sb_maths_rare_lgammaf(!sb::maths::has_plain_lgamma(x), x, sb::maths::quick_lgamma(x));
}
SB_MATHS double __sb_maths_lgamma(double x) {
  return __sb_maths_rare_lgamma(!sb::maths::has_plain_lgamma(x), x, sb::maths::quick_lgamma(x));
}

#define SB_BESSEL(name)                                                                    \
  SB_MATHS float __sb_maths_##name##f(float x) {                                           \
    return __sb_maths_rare_##name##f(!sb::maths::has_plain_bessel(x), x,                   \
                                     static_cast<float>(sb::maths::name(x)));              \
  }                                                                                        \
  SB_MATHS double __sb_maths_##name(double x) {                                            \
    return __sb_maths_rare_##name(!sb::maths::has_plain_bessel(x), x, sb::maths::name(x)); \
  }
SB_BESSEL(j0)
SB_BESSEL(j1)
SB_BESSEL(y0)
SB_BESSEL(y1)

#define SB_LEFT_OVER(real, name, base)                                        \
  SB_MATHS real __sb_maths_##name(real x, real y) {                           \
    return __sb_maths_rare_##name(!sb::maths::has_plain_quotient(x, y), x, y, \
                                  sb::maths::quick_##base(x, y));             \
  }
SB_LEFT_OVER(float, fmodf, fmod)
SB_LEFT_OVER(double, fmod, fmod)
SB_LEFT_OVER(float, remainderf, remainder)
SB_LEFT_OVER(double, remainder, remainder)
