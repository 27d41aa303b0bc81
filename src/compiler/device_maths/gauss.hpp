// erfc, erfcx, normcdf, and erf of double (that of float is in sigmoid.hpp). e^(x^2) * erfc x is a
// smooth function, and a polynomial of (x - c) / (x + c) over all x that matter. x^2 in two parts:
// e^x makes the absolute error of its argument a relative one.
#pragma once

#include "exponential.hpp"

namespace sb::maths {

// (x + c) * e^(x^2) * erfc x for t = (x - c) / (x + c)
constexpr float erfc_middle_f = 3.0f, erfc_last_f = 10.2f;
constexpr double erfc_middle_d = 4.0, erfc_last_d = 27.3;
inline float erfc_curve(float t) {
  return fine_polynomial(t, 0x1.12f21ep+0f, -0x1.c44c48p-1f, 0x1.2e3262p-1f, -0x1.3dead6p-2f,
                         0x1.e99836p-4f, -0x1.b7baa8p-6f, -0x1.41d26ap-10f, 0x1.93822p-9f,
                         -0x1.fb2e8ep-12f, -0x1.552144p-12f);
}
inline double erfc_curve(double t) {
  return fine_polynomial(
      t, 0x1.18932bf08e154p+0, -0x1.f3fe31ecb49c0p-1, 0x1.8be202d26c740p-1, -0x1.14eacb1ad02ddp-1,
      0x1.52cac2370f207p-2, -0x1.645fd8a4bf99fp-3, 0x1.38dbd2c91da6bp-4, -0x1.b00c052a43cebp-6,
      0x1.908f47044d0c6p-8, -0x1.269b56d303037p-12, -0x1.dd283acdec9e2p-12, 0x1.72cddd92ef232p-13,
      -0x1.e7fa532ff8f7cp-19, -0x1.3c74d208e7feep-16, 0x1.3b1bec28ddad8p-18, 0x1.7f2434106e945p-20,
      -0x1.c6ee87c67d7adp-21, -0x1.56da73e71b6abp-24, 0x1.0bb66db68a2fbp-23, 0x1.1d6875d080287p-28,
      -0x1.06f3302aadde7p-26, -0x1.feb66843fee11p-31, 0x1.c7049e88009b1p-31);
}

// e^(x^2) * erfc x = value * (1 + low)
template <class Real>
struct scaled_erfc {
  Real value, low;
};
template <class Real>
inline scaled_erfc<Real> erfcx_of_size(Real size, Real middle) {
  // All of the curve is of this inverse, which is that of another x; the logarithm's derivative
  // leads back from there (2 / sqrt(pi) at zero, about as much as it needs to be elsewhere).
  const Real sum = size + middle, sum_low = size - (sum - middle), inverse = Real(1) / sum;
  const Real off = fused(-inverse, sum_low, fused(-inverse, sum, Real(1)));
  const Real back = off * (inverse * (Real(0x1.20dd76p+0) * middle * middle));
  return {erfc_curve(fused(Real(-2) * middle, inverse, Real(1))) * inverse, back};
}
// Of `size` and something that only its square has, halved `halves` times.
template <class Real>
inline Real erfc_of_square(Real size, Real square, Real square_low, Real middle, int halves) {
  const auto n = twos_in_exp(-square);
  const Real r = exp_rest(-square, n) - square_low, growth = fused(r * r, exp_curve(r), r);
  const auto curve = erfcx_of_size(size, middle);
  const Real rest = growth + fused(growth, curve.low, curve.low);
  return scaled(fused(curve.value, rest, curve.value), n.bits - halves);
}
template <class Real>
inline Real erfc_of_size(Real size, Real middle) {
  const Real square = size * size;
  return erfc_of_square(size, square, fused(size, size, -square), middle, 0);
}
template <class Real>
inline Real erfc_on_both_sides(Real x, Real middle, Real last) {
  const Real value = erfc_of_size(clamped(size_of(x), Real(0), last), middle);
  return x < Real(0) ? Real(2) - value : value;
}
inline float erfc(float x) { return erfc_on_both_sides(x, erfc_middle_f, erfc_last_f); }
inline double erfc(double x) { return erfc_on_both_sides(x, erfc_middle_d, erfc_last_d); }

// That of -x / sqrt(2), halved. The product has two parts, too.
template <class Real>
inline Real normcdf_up_to(Real most, Real x, Real root, Real root_low, Real middle) {
  const Real size = clamped(size_of(x), Real(0), most), part = size * root;
  const Real part_low = fused(size, root, -part) + size * root_low, square = part * part;
  const Real square_low = fused(Real(2) * part, part_low, fused(part, part, -square));
  const Real value = erfc_of_square(part, square, square_low, middle, 1);
  return x > Real(0) ? Real(1) - value : value;
}
inline float normcdf(float x) {
  return normcdf_up_to(14.4f, x, 0x1.6a09e6p-1f, 0x1.9fcef4p-27f, erfc_middle_f);
}
inline double normcdf(double x) {
  return normcdf_up_to(38.6, x, 0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55, erfc_middle_d);
}

// e^(x^2) * erfc x. Beyond `last` a series of z = 1 / x^2, divided by x; below zero it is
// 2 * e^(x^2) less that of -x, and infinite from -most on.
inline float erfcx_series(float z) { return polynomial(z, -0.5f, 0.75f, -1.875f, 6.5625f); }
inline double erfcx_series(double z) {
  return polynomial(z, -0.5, 0.75, -1.875, 6.5625, -29.53125, 162.421875, -1055.7421875);
}
template <class Real>
inline Real erfcx_up_to(Real last, Real most, Real x, Real middle) {
  const Real size = size_of(x), inverse = Real(1) / size, z = inverse * inverse;
  const auto curve = erfcx_of_size(size, middle);
  const Real lead = inverse * Real(0x1.20dd750429b6dp-1);
  const Real near = fused(curve.value, curve.low, curve.value);
  const Real above = size > last ? fused(lead, z * erfcx_series(z), lead) : near;
  const Real part = size > most ? most : size, square = part * part;
  const auto n = twos_in_exp(square);
  const Real grown = exp_of_rest(exp_rest(square, n) + fused(part, part, -square));
  return x < Real(0) ? scaled(grown, n.bits + 1) - above : above;
}
inline float erfcx(float x) { return erfcx_up_to(erfc_last_f, 9.5f, x, erfc_middle_f); }
inline double erfcx(double x) { return erfcx_up_to(erfc_last_d, 26.7, x, erfc_middle_d); }

inline double erf(double x) {
  const double size = size_of(x), z = x * x;
  const double p = polynomial(
      z, 0x1.06eba8214db68p-3, -0x1.812746b0379b1p-2, 0x1.ce2f21a04082ep-4, -0x1.b82ce311eba5fp-6,
      0x1.565bccf79918cp-8, -0x1.c02db00a4932ep-11, 0x1.f9a2b66c1a280p-14, -0x1.f4ca130bd4b37p-17,
      0x1.b97dc7cd14904p-20, -0x1.5bfb9f8386962p-23, 0x1.d6d1129df1c7dp-27, -0x1.aadfed8c5cab7p-31);
  const double far = 1.0 - erfc_of_size(size > 6.0 ? 6.0 : size, erfc_middle_d);
  return size > 1.0 ? with_sign_of(x, far) : fused(x, p, x);
}

}  // namespace sb::maths
