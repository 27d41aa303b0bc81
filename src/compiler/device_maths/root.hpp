// The cube root, and what is one divided by it.
#pragma once

#include <type_traits>

#include "logarithm.hpp"

namespace sb::maths {

// About (1 + r)^(-1/3)
inline float inverse_cbrt(float r) {
  return polynomial(r, 0x1.000034p+0f, -0x1.55406cp-2f, 0x1.c5feeap-3f, -0x1.68acd2p-3f,
                    0x1.46d4bap-3f, -0x1.b01ec4p-4f);
}
inline double inverse_cbrt(double r) {
  return polynomial(r, 0x1.ffffff42c65dfp-1, -0x1.555551abb9e7bp-2, 0x1.c72045c9d2ab9p-3,
                    -0x1.6200da2b4d122p-3, 0x1.2637919b473b9p-3, -0x1.fbfe6d1c3d53cp-4,
                    0x1.de35be8a071d3p-4, -0x1.da790c75ee570p-4, 0x1.23289a824876fp-4);
}
inline float power_of_two(whole_f n) { return power_of_two(static_cast<std::int32_t>(n.bits)); }
inline double power_of_two(whole_d n) { return power_of_two(static_cast<std::int64_t>(n.bits)); }
inline float power_of_two_less(whole_f n) {
  return power_of_two(-static_cast<std::int32_t>(n.bits));
}
inline double power_of_two_less(whole_d n) {
  return power_of_two(-static_cast<std::int64_t>(n.bits));
}

// x = a * 8^third with a between 1/3 and 3, and t is nearly a^(-1/3).
template <class Real, class Whole>
struct cube_parts {
  Whole third;
  Real a, t;
};
template <class Real>
inline auto in_cubes(Real size) {
  const auto s = split(size);
  const auto third = nearest(s.k * Real(0x1.5555555555555p-2));
  const Real left = fused(third.value, Real(-3), s.k);
  const Real factor = left > Real(0) ? Real(2) : left < Real(0) ? Real(0.5) : Real(1);
  const Real root = left > Real(0)   ? Real(0x1.965fea53d6e3dp-1)
                    : left < Real(0) ? Real(0x1.428a2f98d728bp+0)
                                     : Real(1);
  return cube_parts<Real, std::remove_const_t<decltype(third)>>{third, fused(s.r, factor, factor),
                                                                inverse_cbrt(s.r) * root};
}

// From t comes y = a * t^2, and what is missing from e = y * t - 1:
// (1 + e)^(-2/3) = 1 - 2 e / 3 + 5 e^2 / 9. The error of y is in e too, so that a third of it
// remains.
template <class Real>
inline Real cbrt(Real x) {
  const Real size = size_of(x);
  const auto [third, a, t] = in_cubes(size);
  const Real y = a * (t * t), e = fused(y, t, Real(-1));
  const Real missing = e * fused(e, Real(0x1.1c71c71c71c72p-1), Real(-0x1.5555555555555p-1));
  const Real result = fused(y, missing, y) * power_of_two(third);
  const bool ordinary = (size > Real(0)) & (size < Real(__builtin_inff()));
  return ordinary ? with_sign_of(x, result) : x;
}
// (1 + e)^(-1/3) = 1 - e / 3 + 2 e^2 / 9, and what rounding takes from y is made good.
template <class Real>
inline Real rcbrt(Real x) {
  const Real size = size_of(x);
  const auto [third, a, t] = in_cubes(size);
  const Real square = t * t, y = a * square;
  const Real y_low = fused(a, square, -y) + a * fused(t, t, -square);
  const Real e = fused(y_low, t, fused(y, t, Real(-1)));
  const Real missing = e * fused(e, Real(0x1.c71c71c71c71cp-3), Real(-0x1.5555555555555p-2));
  const Real result = fused(t, missing, t) * power_of_two_less(third);
  const bool ordinary = (size > Real(0)) & (size < Real(__builtin_inff()));
  return ordinary ? with_sign_of(x, result) : Real(1) / x;
}

}  // namespace sb::maths
