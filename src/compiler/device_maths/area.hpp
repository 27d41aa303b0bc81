// The inverse hyperbolic functions, by log(1 + x) of something that is near x where x is small.
#pragma once

#include "logarithm.hpp"

namespace sb::maths {

// Beyond this one more counts for nothing, and the square might be infinite: then it is log(2 x).
inline float largest_square(float) { return 0x1p30f; }
inline double largest_square(double) { return 0x1p100; }

template <class Real>
inline Real log1p_or_twice(bool twice, Real rest, Real x) {
  const Real result = log1p(twice ? x : rest);
  return twice ? result + Real(0x1.62e42fefa39efp-1) : result;
}
template <class Real>
inline Real asinh(Real x) {
  const Real size = size_of(x), square = size * size;
  const Real rest = size + square / (Real(1) + root_of(Real(1) + square));
  return with_sign_of(x, log1p_or_twice(size > largest_square(x), rest, size));
}
template <class Real>
inline Real acosh(Real x) {
  const Real above = x - Real(1);
  const Real rest = above + root_of(fused(above, above, Real(2) * above));
  const Real result = log1p_or_twice(x > largest_square(x), rest, x);
  return x < Real(1) ? Real(__builtin_nanf("")) : result;
}
template <class Real>
inline Real atanh(Real x) {
  const Real size = size_of(x);
  return with_sign_of(x, Real(0.5) * log1p(Real(2) * size / (Real(1) - size)));
}

}  // namespace sb::maths
