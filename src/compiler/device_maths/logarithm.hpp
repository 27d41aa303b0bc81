// Logarithms: x = 2^k * (1 + r) with 1 + r between the roots of 1/2 and 2, and a polynomial of r.
#pragma once

#include "numbers.hpp"

namespace sb::maths {

struct split_f {
  float k, r;
};
inline split_f split(float x) {
  const bool denormal = x < 0x1p-126f;
  const auto bits = bits_as<std::uint32_t>(denormal ? x * 0x1p23f : x);
  const std::uint32_t above = bits - 0x3f3504f3u;  // the root of 1/2
  const auto k = static_cast<std::int32_t>(above) >> 23;
  const float mantissa = bits_as<float>(bits - (above & 0xff800000u));
  return {static_cast<float>(k) - (denormal ? 23.0f : 0.0f), mantissa - 1.0f};
}

struct split_d {
  double k, r;
};
inline split_d split_normal(std::uint64_t bits) {
  const std::uint64_t above = bits - 0x3fe6a09e667f3bcdu;
  const auto k = static_cast<std::uint64_t>(static_cast<std::int64_t>(above) >> 52);
  const double mantissa = bits_as<double>(bits - (above & 0xfff0000000000000u));
  return {bits_as<double>(k + bits_as<std::uint64_t>(shifter_d)) - shifter_d, mantissa - 1.0};
}
inline split_d split(double x) {
  const bool denormal = x < 0x1p-1022;
  split_d s = split_normal(bits_as<std::uint64_t>(denormal ? x * 0x1p52 : x));
  s.k -= denormal ? 52.0 : 0.0;
  return s;
}

// log(1 + r) - r
inline float log_rest(float r) {
  const float p = polynomial(r, 0x1.555564p-2f, -0x1.00023cp-2f, 0x1.99986p-3f, -0x1.54679p-3f,
                             0x1.236438p-3f, -0x1.0e6826p-3f, 0x1.025beap-3f, -0x1.2d3636p-4f);
  const float square = r * r;
  return square * fused(r, p, -0.5f);
}

// What a logarithm is for numbers that have none, or an infinite one.
template <class Real>
inline Real with_limits(Real x, Real result, Real infinity) {
  const Real finite = x < infinity ? result : x;
  return x > Real(0) ? finite : x == Real(0) ? -infinity : Real(__builtin_nanf(""));
}

inline float log(float x) {
  const split_f s = split(x);
  const float low = fused(s.k, -0x1.05c61p-29f, log_rest(s.r));
  return with_limits(x, fused(s.k, 0x1.62e43p-1f, s.r + low), __builtin_inff());
}

// log(1 + r) * factor + whole * k, each factor in two parts.
inline float log_to_base(float x, float factor, float factor_low, float whole, float whole_low) {
  const split_f s = split(x);
  const float high = s.r * factor;
  const float rest = fused(log_rest(s.r), factor, fused(s.r, factor_low, s.k * whole_low));
  const float low = fused(s.r, factor, -high) + rest;
  return with_limits(x, fused(s.k, whole, high + low), __builtin_inff());
}
inline float log2(float x) { return log_to_base(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1.0f, 0.0f); }
inline float log10(float x) {
  return log_to_base(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344136p-2f, -0x1.ec10cp-27f);
}

inline double log(double x) {
  const split_d d = split(x);
  const double s = d.r / (2.0 + d.r), z = s * s, half_square = 0.5 * d.r * d.r;
  const double p = z * polynomial(z, 0x1.5555555555594p-1, 0x1.999999997f667p-2,
                                  0x1.249249424f414p-2, 0x1.c71c51c09db10p-3, 0x1.74664d7cb7b03p-3,
                                  0x1.39a0453935325p-3, 0x1.2f14228530dd9p-3);
  const double low = fused(d.k, 0x1.abc9e3b39803fp-56, fused(s, half_square + p, -half_square));
  return with_limits(x, fused(d.k, 0x1.62e42fefa39efp-1, d.r + low), __builtin_inf());
}

}  // namespace sb::maths
