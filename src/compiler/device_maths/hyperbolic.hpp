// Hyperbolic sine and cosine, and the tangent of double (that of float is in sigmoid.hpp).
#pragma once

#include "exponential.hpp"

namespace sb::maths {

// (sinh x - x) / x^3 for z = x^2 <= 1
inline float sinh_rest(float z) {
  return polynomial(z, 0x1.555556p-3f, 0x1.1110eap-7f, 0x1.a01c22p-13f, 0x1.76771ep-19f);
}
inline double sinh_rest(double z) {
  return polynomial(z, 0x1.5555555555556p-3, 0x1.1111111111040p-7, 0x1.a01a01a0318d3p-13,
                    0x1.71de3a4056daap-19, 0x1.ae646b4cd4e38p-26, 0x1.6118dfb2fe615p-33,
                    0x1.b52ea7510497dp-41);
}

// e^|x| / 2, infinite only where the sine is.
inline float half_exp(float x) {
  const float size = clamped(size_of(x), 0.0f, 90.0f);
  const whole_f n = twos_in_exp(size);
  return scaled(exp_of_rest(exp_rest(size, n)), n.bits - 1);
}
inline double half_exp(double x) {
  const double size = clamped(size_of(x), 0.0, 711.0);
  const whole_d n = twos_in_exp(size);
  return scaled(exp_of_rest(exp_rest(size, n)), n.bits - 1);
}

template <class Real>
inline Real sinh(Real x) {
  const Real size = size_of(x), z = x * x, grown = half_exp(x);
  const Real near = fused(z * size, sinh_rest(z), size);
  const Real far = grown - Real(0.25) / grown;
  return with_sign_of(x, size > Real(1) ? far : near);
}
template <class Real>
inline Real cosh(Real x) {
  const Real grown = half_exp(x);
  return grown + Real(0.25) / grown;
}

// With h = (e^2x - 1) / 2 it is h / (h + 1): what rounding leaves of h, of the sum and of the
// quotient is made good.
inline double tanh(double x) {
  const double size = size_of(x);
  const sum_of_two<double> half = half_expm1(2.0 * (size > 20.0 ? 20.0 : size));
  const double top = half.high + half.low, bottom = top + 1.0;
  const double top_low = (half.high - top) + half.low;
  const double bottom_low = (top > 1.0 ? (top - bottom) + 1.0 : (1.0 - bottom) + top) + top_low;
  const double inverse = 1.0 / bottom, quotient = top * inverse;
  const double missing = fused(-quotient, bottom, top) + fused(-quotient, bottom_low, top_low);
  const double result = fused(missing, inverse, quotient);
  return with_sign_of(x, size < negligible ? size : result);
}

}  // namespace sb::maths
