// Sine, cosine, tangent. An angle loses its quarter turns: x - k * pi/2, with pi/2 in three parts.
// The first product is exact together with the difference, whatever k is, as both are multiples of
// the first part's last bit. Beyond `largest_angle` k takes too many bits: see rare_cases.hpp.
#pragma once

#include "numbers.hpp"

namespace sb::maths {

constexpr float largest_angle_f = 0x1p16f;
constexpr double largest_angle_d = 0x1p26;

struct turned_f {
  float r;
  std::uint32_t quarters;
};
inline turned_f within_quarter(float size) {
  const whole_f k = nearest(size * 0x1.45f306p-1f);
  float r = fused(k.value, -0x1.921fb6p+0f, size);
  r = fused(k.value, 0x1.777a5cp-25f, r);
  return {fused(k.value, 0x1.ee59dap-50f, r), k.bits};
}

struct turned_d {
  double r, low;  // a sum
  std::uint64_t quarters;
};
inline turned_d within_quarter(double size) {
  const whole_d k = nearest(size * 0x1.45f306dc9c883p-1);
  const double coarse = fused(k.value, -0x1.921fb54442d18p+0, size);
  const double finer = fused(k.value, -0x1.1a62633145c07p-54, coarse);
  const double r = fused(k.value, 0x1.f1976b7ed8fbcp-110, finer);
  const double rest = fused(k.value, -0x1.1a62633145c07p-54, coarse - r);
  return {r, fused(k.value, 0x1.f1976b7ed8fbcp-110, rest), k.bits};
}

inline float sin_of_rest(float r) {
  const float z = r * r;
  return fused(z * r, polynomial(z, -0x1.555544p-3f, 0x1.1106cep-7f, -0x1.991fccp-13f), r);
}
inline float cos_of_rest(float r) {
  const float z = r * r;
  const float p = polynomial(z, 0x1.55554ap-5f, -0x1.6c0c1cp-10f, 0x1.99e1d6p-16f);
  return fused(z, fused(z, p, -0.5f), 1.0f);
}
// (sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 for z = r^2
inline double sin_curve(double z) {
  return polynomial(z, -0x1.5555555555547p-3, 0x1.111111110f59ap-7, -0x1.a01a019bb47d0p-13,
                    0x1.71de3525c38f1p-19, -0x1.ae5e25121cc97p-26, 0x1.5d7fd48b3625ap-33);
}
inline double cos_curve(double z) {
  return polynomial(z, 0x1.555555555554ap-5, -0x1.6c16c16c14df3p-10, 0x1.a01a019c593ffp-16,
                    -0x1.27e4f7c9bae0bp-22, 0x1.1ee9bff82d070p-29, -0x1.8f97add31f3b2p-37);
}
inline double sin_of_rest(double r) {
  const double z = r * r;
  return fused(z * r, sin_curve(z), r);
}
inline double cos_of_rest(double r) {
  const double z = r * r, half = 0.5 * z, near = 1.0 - half;
  return near + fused(z * z, cos_curve(z), (1.0 - near) - half);
}

inline float sine_at(turned_f t) {
  const float s = sin_of_rest(t.r), c = cos_of_rest(t.r);
  const float value = (t.quarters & 1) != 0 ? c : s;
  return bits_as<float>(bits_as<std::uint32_t>(value) ^ ((t.quarters & 2) << 30));
}
inline double sine_at(turned_d t) {
  const double s = sin_of_rest(t.r), c = cos_of_rest(t.r);
  const double value = (t.quarters & 1) != 0 ? c : s;
  return bits_as<double>(bits_as<std::uint64_t>(value) ^ ((t.quarters & 2) << 62));
}

template <class Real>
inline Real quick_sin(Real x) {
  return with_sign_of(x, sine_at(within_quarter(size_of(x))));
}
template <class Real>
inline Real quick_cos(Real x) {
  auto t = within_quarter(size_of(x));
  t.quarters += 1;
  return sine_at(t);
}
inline float quick_tan(float x) {
  const turned_f t = within_quarter(size_of(x));
  const float s = sin_of_rest(t.r), c = cos_of_rest(t.r);
  const bool odd = (t.quarters & 1) != 0;
  const float ratio = (odd ? -c : s) / (odd ? s : c);
  return with_sign_of(x, ratio);
}
// A quotient has the errors of both, and of the angle: each is kept and made good at the end.
inline double quick_tan(double x) {
  const turned_d t = within_quarter(size_of(x));
  const double z = t.r * t.r, half = 0.5 * z, near = 1.0 - half;
  const double sine_rest = fused(z * t.r, sin_curve(z), t.low);
  const double sine = t.r + sine_rest, sine_low = (t.r - sine) + sine_rest;
  const double cosine_rest = fused(-t.r, t.low, fused(z * z, cos_curve(z), (1.0 - near) - half));
  const double cosine = near + cosine_rest, cosine_low = (near - cosine) + cosine_rest;
  const bool odd = (t.quarters & 1) != 0;
  const double top = odd ? -cosine : sine, top_low = odd ? -cosine_low : sine_low;
  const double bottom = odd ? sine : cosine, bottom_low = odd ? sine_low : cosine_low;
  const double inverse = 1.0 / bottom, quotient = top * inverse;
  const double missing = fused(-quotient, bottom, top) + fused(-quotient, bottom_low, top_low);
  return with_sign_of(x, fused(missing, inverse, quotient));
}

}  // namespace sb::maths
