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
inline double log_rest(double r) {
  const double s = r / (2.0 + r), z = s * s, half_square = 0.5 * r * r;
  const double p = z * polynomial(z, 0x1.5555555555594p-1, 0x1.999999997f667p-2,
                                  0x1.249249424f414p-2, 0x1.c71c51c09db10p-3, 0x1.74664d7cb7b03p-3,
                                  0x1.39a0453935325p-3, 0x1.2f14228530dd9p-3);
  return fused(s, half_square + p, -half_square);
}

// What a logarithm is for numbers that have none, or an infinite one.
template <class Real>
inline Real with_limits(Real x, Real result) {
  const Real infinity = __builtin_inff();
  const Real finite = x < infinity ? result : x;
  return x > Real(0) ? finite : x == Real(0) ? -infinity : Real(__builtin_nanf(""));
}

inline float log_of_parts(float k, float r, float rest) {
  return fused(k, 0x1.62e43p-1f, r + fused(k, -0x1.05c61p-29f, rest));
}
inline double log_of_parts(double k, double r, double rest) {
  return fused(k, 0x1.62e42fefa39efp-1, r + fused(k, 0x1.abc9e3b39803fp-56, rest));
}
template <class Real>
inline Real log(Real x) {
  const auto s = split(x);
  return with_limits(x, log_of_parts(s.k, s.r, log_rest(s.r)));
}

// log(1 + r) * factor + whole * k, each factor in two parts.
template <class Real>
inline Real log_to_base(Real x, Real factor, Real factor_low, Real whole, Real whole_low) {
  const auto s = split(x);
  const Real high = s.r * factor;
  const Real rest = fused(log_rest(s.r), factor, fused(s.r, factor_low, s.k * whole_low));
  const Real low = fused(s.r, factor, -high) + rest;
  return with_limits(x, fused(s.k, whole, high + low));
}
inline float log2(float x) { return log_to_base(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1.0f, 0.0f); }
inline float log10(float x) {
  return log_to_base(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344136p-2f, -0x1.ec10cp-27f);
}
inline double log2(double x) {
  return log_to_base(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 1.0, 0.0);
}
inline double log10(double x) {
  return log_to_base(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f79ffp-2,
                     -0x1.9dc1da994fd21p-59);
}

// What makes a positive normal number's mantissa of it: 2^-k.
inline float to_mantissa(float x) {
  return bits_as<float>(0x3f800000u - ((bits_as<std::uint32_t>(x) - 0x3f3504f3u) & 0xff800000u));
}
inline double to_mantissa(double x) {
  return bits_as<double>(0x3ff0000000000000u -
                         ((bits_as<std::uint64_t>(x) - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u));
}

// log(1 + x): k is that of the rounded sum, the rest is of x itself. What rounding takes from the
// rest counts where log(1 + r) is nearly -k * log(2) / 2; it has the derivative 1 / (1 + r), about.
template <class Real>
inline Real log1p(Real x) {
  const bool large = x > Real(0x1p64);
  const Real smaller = large ? x * Real(0x1p-64) : x;  // 2^-k has to be normal
  const Real sum = Real(1) + x, power = to_mantissa(large ? smaller : sum);
  const Real k = split(sum).k, whole = large ? Real(-1) : power - Real(1);
  const Real r = fused(smaller, power, whole);
  const Real lost = fused(smaller, power, whole - r);
  const Real result = log_of_parts(k, r, log_rest(r) + fused(-r, lost, lost));
  return x == Real(0) ? x : with_limits(sum, result);
}

}  // namespace sb::maths
