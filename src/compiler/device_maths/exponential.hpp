// e^x, 2^x, 10^x: the nearest power of two, times a polynomial of the rest (coefficients.py).
#pragma once

#include "numbers.hpp"

namespace sb::maths {

// e^r = 1 + r + r^2 * this for |r| <= ln(2) / 2
inline float exp_curve(float r) {
  return polynomial(r, 0x1p-1f, 0x1.55548ap-3f, 0x1.5554e4p-5f, 0x1.123e38p-7f, 0x1.6d5156p-10f);
}
inline double exp_curve(double r) {
  return polynomial(r, 0x1p-1, 0x1.555555555555cp-3, 0x1.5555555555558p-5, 0x1.111111110e9e9p-7,
                    0x1.6c16c16c15007p-10, 0x1.a01a01b44ed79p-13, 0x1.a01a01ad79380p-16,
                    0x1.71ddee552f203p-19, 0x1.27e4cc20d3b5ap-22, 0x1.af6eb812d8a52p-26,
                    0x1.1f8bc08d928b8p-29);
}
template <class Real>
inline Real exp_of_rest(Real r) {
  return Real(1) + fused(r * r, exp_curve(r), r);
}

// The powers of two in e^x, and what is left of x.
inline whole_f twos_in_exp(float x) { return nearest(x * 0x1.715476p+0f); }
inline whole_d twos_in_exp(double x) { return nearest(x * 0x1.71547652b82fep+0); }
inline float exp_rest(float x, whole_f n) {
  return fused(n.value, 0x1.05c61p-29f, fused(n.value, -0x1.62e43p-1f, x));
}
inline double exp_rest(double x, whole_d n) {
  return fused(n.value, -0x1.abc9e3b39803fp-56, fused(n.value, -0x1.62e42fefa39efp-1, x));
}

// For arguments whose result is neither too large nor denormal.
inline float exp_in_range(float x) {
  const whole_f n = twos_in_exp(x);
  return exp_of_rest(exp_rest(x, n)) * power_of_two(static_cast<std::int32_t>(n.bits));
}

inline float exp(float given) {
  const float x = clamped(given, -104.5f, 89.0f);
  const whole_f n = twos_in_exp(x);
  return scaled(exp_of_rest(exp_rest(x, n)), n.bits);
}

inline double exp(double given) {
  const double x = clamped(given, -746.0, 710.0);
  const whole_d n = twos_in_exp(x);
  return scaled(exp_of_rest(exp_rest(x, n)), n.bits);
}

// 2^r for |r| <= 1 / 2
inline float exp2_of_rest(float r) {
  const float p = polynomial(r, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6af72p-5f, 0x1.3b2a48p-7f,
                             0x1.5f0dd6p-10f, 0x1.4424b4p-13f);
  return fused(r, p, 1.0f);
}

inline float exp2(float given) {
  const float x = clamped(given, -151.0f, 129.0f);
  const whole_f n = nearest(x);
  return scaled(exp2_of_rest(x - n.value), n.bits);
}

inline double exp2_of_rest(double r) {
  const double p = polynomial(r, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a183p-5,
                              0x1.3b2ab6fba4d80p-7, 0x1.5d87fe7888b71p-10, 0x1.430912f8a9390p-13,
                              0x1.ffcbfcdba74fdp-17, 0x1.62c0216375ce2p-20, 0x1.b524226c00cd6p-24,
                              0x1.e4d200f88cd71p-28, 0x1.eafe512fecd39p-32, 0x1.c0e3d832240c7p-36);
  return fused(r, p, 1.0);
}
inline double exp2(double given) {
  const double x = clamped(given, -1076.0, 1025.0);
  const whole_d n = nearest(x);
  return scaled(exp2_of_rest(x - n.value), n.bits);
}

inline float exp10(float given) {
  const float x = clamped(given, -45.5f, 38.7f);
  const whole_f n = nearest(x * 0x1.a934fp+1f);
  const float r = fused(n.value, 0x1.ec10cp-27f, fused(n.value, -0x1.344136p-2f, x));
  const float p = polynomial(r, 0x1.26bb1cp+1f, 0x1.53524cp+1f, 0x1.046f98p+1f, 0x1.2bd77p+0f,
                             0x1.156d4p-1f, 0x1.a8f18p-3f);
  return scaled(fused(r, p, 1.0f), n.bits);
}

inline double exp10(double given) {
  const double x = clamped(given, -324.5, 308.7);
  const whole_d n = nearest(x * 0x1.a934f0979a371p+1);
  const double r = fused(n.value, 0x1.9dc1da994fd21p-59, fused(n.value, -0x1.34413509f79ffp-2, x));
  const double p = polynomial(r, 0x1.26bb1bbb55516p+1, 0x1.53524c73cea69p+1, 0x1.0470591de2b7bp+1,
                              0x1.2bd7609fd96ebp+0, 0x1.1429ffd20e030p-1, 0x1.a7ed70851e860p-3,
                              0x1.16e4df2c1efcfp-4, 0x1.4116aeced1fb3p-6, 0x1.48991dd9d5216p-8,
                              0x1.2ea8baf8d1e1fp-10, 0x1.f9060ec76196dp-13, 0x1.7f3537f824df9p-15);
  return scaled(fused(r, p, 1.0), n.bits);
}

// Below this a function that begins with x, x^2 is x. A zero keeps its sign so, a denormal its
// bits.
constexpr float negligible = 0x1p-60f;

inline float ln2_high(float) { return 0x1.62e43p-1f; }
inline float ln2_low(float) { return -0x1.05c61p-29f; }
inline double ln2_high(double) { return 0x1.62e42fefa39efp-1; }
inline double ln2_low(double) { return 0x1.abc9e3b39803fp-56; }
inline float half_power(whole_f n) { return power_of_two(static_cast<std::int32_t>(n.bits) - 1); }
inline double half_power(whole_d n) { return power_of_two(static_cast<std::int64_t>(n.bits) - 1); }

// Half of e^x - 1 as a sum: 2^n may be infinite where e^x is not.
template <class Real>
struct sum_of_two {
  Real high, low;
};
template <class Real>
inline sum_of_two<Real> half_expm1(Real x) {
  const auto n = twos_in_exp(x);
  const Real coarse = fused(n.value, -ln2_high(x), x);
  const Real r = fused(n.value, -ln2_low(x), coarse);
  const Real lost = fused(n.value, -ln2_low(x), coarse - r);
  const Real rest = fused(r * r, exp_curve(r), lost);
  const Real power = half_power(n), whole = power - Real(0.5);
  // `whole` is zero or larger than the product: the difference from the sum is exact.
  const Real high = fused(power, r, whole);
  return {high, fused(power, rest, fused(power, r, whole - high))};
}
template <class Real>
inline Real expm1_between(Real low, Real high, Real x) {
  const sum_of_two<Real> half = half_expm1(clamped(x, low, high));
  return size_of(x) < Real(negligible) ? x : Real(2) * (half.high + half.low);
}
inline float expm1(float x) { return expm1_between(-20.0f, 89.0f, x); }
inline double expm1(double x) { return expm1_between(-40.0, 710.0, x); }

}  // namespace sb::maths
