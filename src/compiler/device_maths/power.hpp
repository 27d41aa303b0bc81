// x^y for float, through the logarithm in double: the exponent may be 150, so a float's logarithm
// would lose seven bits.
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

}  // namespace sb::maths
