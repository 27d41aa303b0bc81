// What CUDA has beyond the C library, in long double: for maths_accuracy, slow and right to some 60
// bits.
#pragma once

#include <cmath>
#include <limits>

namespace sb::references {

constexpr long double pi = 3.14159265358979323846264338327950288L;
constexpr long double half_root_pi = 0.88622692545275801364908374167057259L;

inline long double sinpi(long double x) {
  const long double turn = std::remainder(x, 2.0L), quarters = std::rint(2 * turn);
  const long double angle = (turn - quarters / 2) * pi;
  const int k = std::isfinite(x) ? static_cast<int>(quarters) : 0;
  if (angle == 0 && k % 2 == 0) return std::copysign(0.0L, x);
  const long double value = k % 2 == 0 ? std::sin(angle) : std::cos(angle);
  return k == 2 || k == -2 || k == -1 ? -value : value;
}
inline long double cospi(long double x) {
  const long double turn = std::remainder(x, 2.0L), quarters = std::rint(2 * turn);
  const long double angle = (turn - quarters / 2) * pi;
  const int k = std::isfinite(x) ? static_cast<int>(quarters) : 0;
  if (angle == 0 && k % 2 != 0) return 0;
  const long double value = k % 2 == 0 ? std::cos(angle) : std::sin(angle);
  return k == 2 || k == -2 || k == 1 ? -value : value;
}

inline long double rcbrt(long double x) { return 1 / std::cbrt(x); }
inline long double rhypot(long double x, long double y) {
  return std::isinf(x) || std::isinf(y) ? 0 : 1 / std::sqrt(x * x + y * y);
}

inline long double erfcx(long double x) {
  if (!(x > 50)) {
    const long double square = x * x, low = std::fma(x, x, -square);
    const long double grown = std::exp(square);
    return std::isinf(grown) ? grown : (grown + grown * low) * std::erfc(x);
  }
  long double series = 1;
  for (int odd = 25; odd > 0; odd -= 2) series = 1 - odd / (2 * x * x) * series;
  return series / (2 * half_root_pi * x);
}
// The derivative takes care of what rounding takes from the product.
inline long double normcdf(long double x) {
  const long double root = 0x1.6a09e667f3bcdp-1L, root_low = -0x1.bdd3413b26456p-55L;
  const long double t = -x * root;
  if (!(std::fabs(t) < 100)) return std::erfc(t) / 2;
  const long double low = std::fma(-x, root, -t) - x * root_low;
  return (std::erfc(t) - std::exp(-t * t) * low / half_root_pi) / 2;
}

inline long double erfcinv(long double y);
// Newton's steps until nothing changes.
inline long double erfinv(long double z) {
  const long double size = std::fabs(z);
  if (!(size <= 0.5L)) return size <= 1 ? std::copysign(erfcinv(1 - size), z) : std::nan("");
  long double x = size * half_root_pi;
  for (int i = 0; i < 8; ++i) x -= (std::erf(x) - size) * half_root_pi * std::exp(x * x);
  return std::copysign(x, z);
}
inline long double erfcinv(long double y) {
  if (!(y >= 0 && y <= 2)) return std::nan("");
  if (y == 0) return std::numeric_limits<long double>::infinity();
  if (y > 1) return -erfcinv(2 - y);
  if (y > 0.5L) return erfinv(1 - y);
  long double x = std::sqrt(-std::log(y));
  for (int i = 0; i < 12; ++i) {
    const long double value = std::erfc(x);
    x += std::log(value / y) * value * half_root_pi * std::exp(x * x);
  }
  return x;
}
inline long double normcdfinv(long double y) {
  return -1.41421356237309504880168872420969808L * erfcinv(2 * y);
}

// The power series, whose terms all have one sign, then the asymptotic one.
inline long double modified_bessel(int order, long double x) {
  if (!(x > 40)) {
    long double term = order == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; k < 150; ++k)
      sum += term *= x * x / 4 / (static_cast<long double>(k) * (k + order));
    return sum;
  }
  long double term = 1, sum = 1;
  for (int k = 1; k < 40; ++k) {
    const long double odd = 2 * k - 1;
    sum += term *= (odd * odd - 4 * order) / (8 * k * x);
  }
  return std::isinf(x) ? x : std::exp(x) / std::sqrt(2 * pi * x) * sum;
}
inline long double cyl_bessel_i0(long double x) { return modified_bessel(0, std::fabs(x)); }
inline long double cyl_bessel_i1(long double x) {
  return std::copysign(modified_bessel(1, std::fabs(x)), x);
}

}  // namespace sb::references
