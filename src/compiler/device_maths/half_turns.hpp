// sin(pi * x) and cos(pi * x). What is left of x after whole turns and quarters is exact, for any
// x.
#pragma once

#include "numbers.hpp"

namespace sb::maths {

inline float rounded(float x) { return __builtin_rintf(x); }
inline double rounded(double x) { return __builtin_rint(x); }

template <class Real, class Bits>
struct half_turns {
  Real r;  // -1/4 to 1/4
  Bits quarters;
};
inline half_turns<float, std::uint32_t> within_eighth(float x) {
  const float turn = fused(rounded(x * 0.5f), -2.0f, x);
  const whole_f k = nearest(turn + turn);
  return {fused(k.value, -0.5f, turn), k.bits};
}
inline half_turns<double, std::uint64_t> within_eighth(double x) {
  const double turn = fused(rounded(x * 0.5), -2.0, x);
  const whole_d k = nearest(turn + turn);
  return {fused(k.value, -0.5, turn), k.bits};
}

inline float sin_of_half_turns(float r) {
  const float z = r * r, p = polynomial(z, -0x1.4abbbep+2f, 0x1.465fc4p+1f, -0x1.2dbd92p-1f);
  return fused(r, 0x1.921fb6p+1f, r * fused(z, p, -0x1.777a5cp-24f));
}
inline double sin_of_half_turns(double r) {
  const double z = r * r,
               p = polynomial(z, -0x1.4abbce625be53p+2, 0x1.466bc6775ab5cp+1, -0x1.32d2cce63608cp-1,
                              0x1.50783494be639p-4, -0x1.e3075fe927c35p-8, 0x1.e8fd0ababc110p-12,
                              -0x1.703fc53342c2dp-16);
  return fused(r, 0x1.921fb54442d18p+1, r * fused(z, p, 0x1.1a62633145c07p-53));
}
inline float cos_of_half_turns(float r) {
  const float z = r * r;
  return fused(z, polynomial(z, -0x1.3bd3ccp+2f, 0x1.03c1b6p+2f, -0x1.55b684p+0f, 0x1.d61e28p-3f),
               1.0f);
}
inline double cos_of_half_turns(double r) {
  const double z = r * r,
               p = polynomial(z, 0x1.03c1f081b5abcp+2, -0x1.55d3c7e3ca641p+0, 0x1.e1f50685151cdp-3,
                              -0x1.a6d1edabda345p-6, 0x1.f9cd1489dd9f5p-10, -0x1.b29e874ea9951p-14);
  return fused(z, fused(z, p, -0x1.3bd3cc9be45dep+2), 1.0);
}

// Zeros are positive.
template <class Real, class Bits>
inline Real sine_at(half_turns<Real, Bits> t) {
  const Real s = sin_of_half_turns(t.r), c = cos_of_half_turns(t.r);
  const Real value = (t.quarters & 1) != 0 ? c : s;
  const Bits turned = (t.quarters & 2) << (8 * sizeof(Real) - 2);
  return bits_as<Real>(bits_as<Bits>(value) ^ turned) + Real(0);
}
template <class Real>
inline Real sinpi(Real x) {
  return with_sign_of(x, sine_at(within_eighth(size_of(x))));
}
template <class Real>
inline Real cospi(Real x) {
  auto t = within_eighth(size_of(x));
  t.quarters += 1;
  return sine_at(t);
}

}  // namespace sb::maths
