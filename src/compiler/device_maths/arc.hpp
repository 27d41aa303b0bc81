// Arcus functions: the angles of a tangent, of a sine, of a cosine.
#pragma once

#include "numbers.hpp"

namespace sb::maths {

// (atan x - x) / x^3, for z = x^2: up to 1 for float, up to tan(pi / 8)^2 for double.
inline float atan_rest(float z) {
  return polynomial(z, -0x1.55553ap-2f, 0x1.9991p-3f, -0x1.24177ap-3f, 0x1.c0317ep-4f,
                    -0x1.5709bap-4f, 0x1.d6de14p-5f, -0x1.f722e6p-6f, 0x1.5d871ap-7f,
                    -0x1.c7dc84p-10f);
}
inline double atan_rest(double z) {
  return polynomial(z, -0x1.555555555553bp-2, 0x1.9999999995497p-3, -0x1.2492492297dbbp-3,
                    0x1.c71c70de57901p-4, -0x1.745cf80d4e8b0p-4, 0x1.3b110b8ab9eb8p-4,
                    -0x1.10eb25cb71f75p-4, 0x1.df07578a82b30p-5, -0x1.9cb05f6d6d1c2p-5,
                    0x1.378199d52548fp-5, -0x1.24b8a472f36cfp-6);
}

// The angle of the point (x, y). Where |y| is the larger one it is a quarter turn minus that of the
// mirrored point, whose tangent is at most one.
inline float atan2(float y, float x) {
  const float a = size_of(y), b = size_of(x);
  const bool steep = a > b, left = is_negative(x);
  const float top = steep ? b : a, bottom = steep ? a : b;
  // Both zero: no angle. Both infinite: half of a quarter.
  const float divisor = bottom == 0.0f ? 1.0f : bottom;
  const float tangent = top == bottom ? top == 0.0f ? 0.0f : 1.0f : top / divisor;
  const float z = tangent * tangent;
  const float angle = fused(z * tangent, atan_rest(z), tangent);
  const float turns = steep ? 1.0f : left ? 2.0f : 0.0f;
  const float turned = steep != left ? -angle : angle;
  return with_sign_of(y, fused(turns, 0x1.921fb6p+0f, fused(turns, -0x1.777a5cp-25f, turned)));
}
// Where the tangent is beyond that of pi / 8, the angle is also pi / 4 from it.
inline double atan2(double y, double x) {
  const double a = size_of(y), b = size_of(x);
  const bool steep = a > b, left = is_negative(x);
  const double smaller = steep ? b : a, larger = steep ? a : b;
  // Their sum has to be finite, and a part of a denormal one.
  const double scale = larger > 0x1p1020 ? 0.25 : larger < 0x1p-1000 ? 0x1p60 : 1.0;
  const double top = smaller * scale, bottom = larger * scale;
  const bool same = top == bottom, wide = (top >= 0x1.a8279ap-2 * bottom) & (bottom > 0.0);
  const double dividend = same ? 0.0 : wide ? top - bottom : top;
  const double divisor = same ? 1.0 : wide ? top + bottom : bottom;
  const double tangent = dividend / divisor, z = tangent * tangent;
  const double angle = fused(z * tangent, atan_rest(z), tangent);
  const bool backwards = steep != left;
  const double half = wide ? 1.0 : 0.0;
  const double turns = (steep ? 2.0 : left ? 4.0 : 0.0) + (backwards ? -half : half);
  const double coarse = turns * 0x1.921fb54442d18p-1;
  const double low =
      fused(turns, 0x1.1a62633145c07p-55, fused(turns, 0x1.921fb54442d18p-1, -coarse));
  return with_sign_of(y, coarse + ((backwards ? -angle : angle) + low));
}
template <class Real>
inline Real atan(Real x) {
  return atan2(x, Real(1));
}

// (asin x - x) / x^3 for z = x^2 <= 1 / 4
inline float asin_rest(float z) {
  return polynomial(z, 0x1.5555c8p-3f, 0x1.330246p-4f, 0x1.747212p-5f, 0x1.8caecep-6f,
                    0x1.58f46p-5f);
}
inline double asin_rest(double z) {
  return polynomial(z, 0x1.5555555555399p-3, 0x1.333333336d0c6p-4, 0x1.6db6db438bf1dp-5,
                    0x1.f1c72bdb3836fp-6, 0x1.6e89fd4d337c6p-6, 0x1.1c6b575742861p-6,
                    0x1.c70876a6feda2p-7, 0x1.8e7ce740fc94ep-7, 0x1.ae2946e15bc09p-8,
                    0x1.3e5cdb40af60fp-6, -0x1.075a90079030dp-6, 0x1.04975b2137fa3p-5);
}
inline float half_pi_high(float) { return 0x1.921fb6p+0f; }
inline float half_pi_low(float) { return -0x1.777a5cp-25f; }
inline double half_pi_high(double) { return 0x1.921fb54442d18p+0; }
inline double half_pi_low(double) { return 0x1.1a62633145c07p-54; }

// Beyond 1/2, the angle is a quarter minus twice that of the root of (1 - x) / 2. The root of what
// is below zero is NaN, as it has to be.
template <class Real>
inline Real asin(Real x) {
  const Real size = size_of(x);
  const bool far = size > Real(0.5);
  const Real z = far ? Real(0.5) - Real(0.5) * size : x * x;
  const Real s = far ? root_of(z) : size;
  const Real rest = z * asin_rest(z), twice = Real(2) * s;
  const Real beyond = (half_pi_high(x) - twice) + fused(-twice, rest, half_pi_low(x));
  return with_sign_of(x, far ? beyond : fused(s, rest, s));
}
template <class Real>
inline Real acos(Real x) {
  const Real size = size_of(x);
  const bool far = size > Real(0.5), left = x < Real(0), right = !left & far;
  const Real z = far ? Real(0.5) - Real(0.5) * size : x * x;
  const Real s = far ? Real(2) * root_of(z) : x;
  const Real rest = z * asin_rest(z);
  // s + s * rest is the angle, or the one to subtract from a quarter or from a half.
  const Real turns = far ? left ? Real(2) : Real(0) : Real(1);
  const Real angle = right ? s : -s;
  const Real low = fused(turns, half_pi_low(x), angle * rest);
  return fused(turns, half_pi_high(x), angle + low);
}

}  // namespace sb::maths
