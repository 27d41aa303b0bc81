// What is left of a quotient. x - n * y is exact for a whole n next to x / y: as a multiple of the
// last bit of y that is not above it. The rounded quotient is next to the right one as long as it
// has no more bits than a number; beyond, and for infinities, see the rare cases.
#pragma once

#include "numbers.hpp"

namespace sb::maths {

constexpr float most_turns_f = 0x1p24f;
constexpr double most_turns_d = 0x1p53;
inline float most_turns(float /*of*/) { return most_turns_f; }
inline double most_turns(double /*of*/) { return most_turns_d; }
inline float whole_part(float x) { return __builtin_truncf(x); }
inline double whole_part(double x) { return __builtin_trunc(x); }

template <class Real>
inline bool has_plain_quotient(Real x, Real y) {
  const Real b = size_of(y);
  return (size_of(x) / b < most_turns(x)) & (b < Real(__builtin_inff()));
}

template <class Real>
struct left_over {
  Real whole, rest;  // 0 <= rest < y
};
template <class Real>
inline left_over<Real> divided(Real a, Real b) {
  const Real whole = whole_part(a / b);
  const Real rest = fused(-whole, b, a);
  const bool too_far = rest < Real(0);
  return {too_far ? whole - Real(1) : whole, too_far ? rest + b : rest};
}

template <class Real>
inline Real quick_fmod(Real x, Real y) {
  return with_sign_of(x, divided(size_of(x), size_of(y)).rest);
}
// To the nearer side; from the middle, to where the quotient is even.
template <class Real>
inline Real quick_remainder(Real x, Real y) {
  const Real b = size_of(y);
  const left_over<Real> d = divided(size_of(x), b);
  const Real other = b - d.rest, half = d.whole * Real(0.5);
  const bool odd = whole_part(half) != half;
  const bool further = (d.rest > other) | ((d.rest == other) & odd);
  return with_sign_of(x, further ? -other : d.rest);
}

}  // namespace sb::maths
