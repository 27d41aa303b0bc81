// x^y through log2 of x. The exponent of the result may be 150, for double 1074, so a logarithm of
// the type would lose seven or ten bits: it is a double for float, and a sum of two for double.
#pragma once

#include "exponential.hpp"
#include "logarithm.hpp"

namespace sb::maths {

// log2 of a float that is positive and finite, to 35 bits. No float is a denormal double.
inline double log2_of(float x) {
  const split_d s = split_normal(bits_as<std::uint64_t>(static_cast<double>(x)));
  const double p = polynomial(s.r, 0x1.71547652a478ep+0, -0x1.715476573d93bp-1,
                              0x1.ec709ea524354p-2, -0x1.71546f2db0accp-2, 0x1.2776593c9b33ep-2,
                              -0x1.ec735f28d72aep-3, 0x1.a63dd9b537727p-3, -0x1.7130bb70c406dp-3,
                              0x1.4530bc4e4d29ep-3, -0x1.25ebb9c3c4eb7p-3, 0x1.28e4a8bcde0fdp-3,
                              -0x1.2177f7b85d6f3p-3, 0x1.34d2ce61696d2p-4);
  return fused(s.r, p, s.k);
}

// Without the cases of has_plain_power's other half.
inline float quick_pow(float x, float y) {
  const double t = clamped(static_cast<double>(y) * log2_of(x), -160.0, 160.0);
  const whole_d n = nearest(t);
  return scaled(exp2_of_rest(static_cast<float>(t - n.value)), static_cast<std::uint32_t>(n.bits));
}
inline bool has_plain_power(float x, float y) {
  const bool positive = bits_as<std::uint32_t>(x) - 1u < 0x7f7fffffu;
  const bool finite = bits_as<std::uint32_t>(y) << 1 < 0xff000000u;
  return positive & finite;
}

// The product of two sums; the product of their small parts does not count.
inline sum_of_two<double> product(sum_of_two<double> a, sum_of_two<double> b) {
  const double high = a.high * b.high;
  return {high, fused(a.high, b.high, -high) + fused(a.high, b.low, a.low * b.high)};
}
// `larger` may be zero, too.
inline sum_of_two<double> sum(double larger, double high, double low) {
  const double all = larger + high;
  return {all, ((larger - all) + high) + low};
}

// log2 of a positive finite number, to some 65 bits: for s = r / (2 + r) it is
// s * (c1 + s^2 * (c3 + s^2 * p(s^2))), all but p in sums of two.
inline sum_of_two<double> log2_of(double x) {
  const split_d d = split(x);
  const double below = 2.0 + d.r, below_low = d.r - (below - 2.0), inverse = 1.0 / below;
  const double s_high = d.r * inverse;
  const double missing = fused(-s_high, below_low, fused(-s_high, below, d.r));
  const sum_of_two<double> s = {s_high, missing * inverse}, z = product(s, s);
  const double p = polynomial(z.high, 0x1.2776c50ef9bfbp-1, 0x1.a61762a7af1e2p-2,
                              0x1.484b13d67a041p-2, 0x1.0c9a854feb049p-2, 0x1.c68edf8fd5a95p-3,
                              0x1.8a0b08dca5c75p-3, 0x1.58e49f24fcc5bp-3, 0x1.62a8f0c8b4788p-3);
  const auto from_third = sum(0x1.ec709dc3a03fdp-1, z.high * p, 0x1.d27f05548af0cp-55);
  const auto third = product(z, from_third);
  const auto factor = sum(0x1.71547652b82fep+1, third.high, third.low + 0x1.777d0ffda0d24p-55);
  const auto rest = product(s, factor);
  return sum(d.k, rest.high, rest.low);
}

// For y of any size and x that is not zero, infinite or NaN; below zero if y is an integer. (That
// for float is the third part slower with bases below zero, which few programs have.)
inline double quick_pow(double x, double y) {
  const sum_of_two<double> log = log2_of(size_of(x));
  const double exponent = clamped(y, -0x1p70, 0x1p70);
  const double high = exponent * log.high;
  const double low = fused(exponent, log.high, -high) + exponent * log.low;
  const bool fits = size_of(high) < 1100.0;
  const double capped = clamped(high, -1100.0, 1100.0);
  const whole_d n = nearest(capped);
  const double power = exp2_of_rest((capped - n.value) + (fits ? low : 0.0));
  const double size = scaled(power, n.bits);
  const bool odd = (nearest(y).bits & 1) != 0, turns = odd & (x < 0.0);
  return turns ? -size : size;
}
inline bool has_plain_power(double x, double y) {
  const double size = size_of(x), exponent = size_of(y), infinity = __builtin_inf();
  const bool known = exponent < 0x1p50, integer = known & (nearest(y).value == y);
  const bool plain = (size > 0.0) & (size < infinity) & (exponent < infinity);
  return plain & ((x > 0.0) | integer);
}

}  // namespace sb::maths
