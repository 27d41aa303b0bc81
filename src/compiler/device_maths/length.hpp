// Roots of sums of squares, and what is one divided by them.
#pragma once

#include "numbers.hpp"

namespace sb::maths {

// Squares neither overflow nor lose bits that count. NaN is none of these.
template <class Real>
struct fitting {
  Real scale, back;
  bool infinite;
};
template <class Real, class... More>
inline fitting<Real> fit(Real bound, Real factor, More... sizes) {
  const Real infinity = __builtin_inff();
  const bool large = ((sizes > bound) | ...), infinite = ((sizes == infinity) | ...);
  const bool small = ((sizes < Real(1) / bound) & ...);
  return {large   ? Real(1) / factor
          : small ? factor
                  : Real(1),
          large   ? factor
          : small ? Real(1) / factor
                  : Real(1),
          infinite};
}

template <class Real>
inline Real sum_of_squares(Real x) {
  return x * x;
}
template <class Real, class... More>
inline Real sum_of_squares(Real x, More... more) {
  return fused(x, x, sum_of_squares(more...));
}
template <class Real, class... More>
inline Real length_of(Real bound, Real factor, More... x) {
  const auto by = fit(bound, factor, size_of(x)...);
  const Real result = root_of(sum_of_squares(x * by.scale...)) * by.back;
  return by.infinite ? Real(__builtin_inff()) : result;
}
inline float hypot(float x, float y) { return length_of(0x1p50f, 0x1p100f, x, y); }
inline double hypot(double x, double y) { return length_of(0x1p500, 0x1p600, x, y); }
template <class... More>
inline double norm(More... x) {
  return length_of(0x1p500, 0x1p600, x...);
}

// The same as a sum of two.
struct square_sum {
  double high, low;
};
inline square_sum both_squares(double x) {
  const double high = x * x;
  return {high, fused(x, x, -high)};
}
template <class... More>
inline square_sum both_squares(double x, More... more) {
  const square_sum one = both_squares(x), rest = both_squares(more...);
  const double high = one.high + rest.high, other = high - one.high;
  const double lost = (one.high - (high - other)) + (rest.high - other);
  return {high, lost + (one.low + rest.low)};
}
// Root and quotient would be two units off at times: a step of Newton's, its residue in two parts.
template <class... More>
inline double rnorm(More... x) {
  const auto by = fit(0x1p500, 0x1p600, size_of(x)...);
  const square_sum square = both_squares(x * by.scale...);
  const double y = 1.0 / root_of(square.high), product = square.high * y;
  const double product_low = fused(square.high, y, -product) + square.low * y;
  const double residue = fused(-product_low, y, fused(-product, y, 1.0));
  const double better = fused(0.5 * y, residue, y) * by.scale;
  return by.infinite ? 0.0 : square.high == 0.0 ? __builtin_inf() : better;
}

}  // namespace sb::maths
