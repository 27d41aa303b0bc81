// The gamma function and its logarithm.
#pragma once

#include "half_turns.hpp"
#include "power.hpp"

namespace sb::maths {

// lgamma has zeros at 1 and 2: up to 4 it is (x - 1) * (x - 2) * this, t = (x - c) / (x + c).
constexpr float lgamma_middle = 1.4375f;
inline float lgamma_curve(float t) {
  return fine_polynomial(t, 0x1.f85342p-2f, -0x1.c5fceap-2f, 0x1.076fd2p-3f, -0x1.388d1ap-3f,
                         0x1.5e9d1ep-4f, -0x1.80d84ep-4f, 0x1.04edfcp-4f, -0x1.1fdc92p-4f,
                         0x1.baee76p-5f, -0x1.41d0c8p-5f, 0x1.9db048p-6f, -0x1.680ae4p-4f,
                         0x1.4bfc2cp-4f);
}
inline double lgamma_curve(double t) {
  return fine_polynomial(
      t, 0x1.f85341d79e780p-2, -0x1.c5fcec08cd09fp-2, 0x1.076ffb0715bcfp-3, -0x1.388b03824414dp-3,
      0x1.5e8ef83be0cf7p-4, -0x1.816be996c767bp-4, 0x1.0615d786b89efp-4, -0x1.1764ed8b52611p-4,
      0x1.a1e7625f2bc7fp-5, -0x1.b68a280500109p-5, 0x1.5b499d83a5edcp-5, -0x1.68fb8266e2936p-5,
      0x1.29055aedb18c4p-5, -0x1.32c29e95409acp-5, 0x1.03958170eb99ap-5, -0x1.0b03ab022c40cp-5,
      0x1.c97e9ce35e4d9p-6, -0x1.d23cf0a56bbbfp-6, 0x1.b6f054a626258p-6, -0x1.d0762389acda5p-6,
      0x1.e4d4a358cbea7p-7, -0x1.66400119f426dp-7, 0x1.993845644760cp-5, -0x1.fdcf61847ea8bp-5,
      -0x1.66be62d4cd9a2p-5, 0x1.00832f7088ad3p-4, 0x1.6c92a3c5abae1p-4, -0x1.a62ad307d671ap-4);
}
// Beyond, Stirling's formula, and this divided by x, for z = 1 / x^2.
inline float stirling_rest(float z) {
  return polynomial(z, 0x1.555554p-4f, -0x1.6beddcp-9f, 0x1.850a5ep-11f);
}
inline double stirling_rest(double z) {
  return polynomial(z, 0x1.5555555555554p-4, -0x1.6c16c16bf82a6p-9, 0x1.a01a00ca1f94cp-11,
                    -0x1.3812f16a720d6p-11, 0x1.b920f2a3910a9p-11, -0x1.f1e268b870707p-10,
                    0x1.7f6607fd88f5dp-8, -0x1.30c255eb0b7c7p-6, 0x1.30508d9b8712fp-5);
}

// For x of no sign. Between 0 and 1/2 it is that of x + 1 less log x.
template <class Real>
inline Real quick_lgamma(Real x) {
  constexpr Real middle = lgamma_middle;
  const Real log_x = log(x);
  const bool small = x < Real(0.5);
  const Real y = small ? x + Real(1) : x;
  const Real curve = lgamma_curve((y - middle) / (y + middle));
  // (y - 1) * (y - 2), with zeros that are positive
  const Real above = y - Real(1), product = fused(above, above, -above);
  const Real near = fused(product, curve, small ? -log_x : Real(0));
  const Real inverse = Real(1) / x;
  const Real low = fused(inverse, stirling_rest(inverse * inverse), Real(0x1.acfe390c97d69p-2));
  const Real far = fused(x - Real(0.5), log_x - Real(1), low);
  return x > Real(4) ? far : near;
}
// Below zero it has zeros between all integers: see the rare cases.
template <class Real>
inline bool has_plain_lgamma(Real x) {
  return !(x < Real(0));
}

// gamma x = x^(x - 1/2) * e^-x * this from 1 on, v = 1 / (x + 1/2).
inline float tgamma_curve(float v) {
  return fine_polynomial(v, 0x1.40d932p+1f, 0x1.abcc9cp-3f, 0x1.cf58b2p-4f, 0x1.be8a68p-5f,
                         0x1.4b7172p-6f, 0x1.b47128p-7f, -0x1.b36cbcp-9f, 0x1.1dc848p-7f);
}
inline double tgamma_curve(double v) {
  return fine_polynomial(v, 0x1.40d931ff62706p+1, 0x1.abcc42a9d8396p-3, 0x1.cf729d8d88988p-4,
                         0x1.bc09d26c31c9bp-5, 0x1.682550823ffc4p-6, 0x1.0abecc98cb6a5p-7,
                         0x1.269c1be4822e6p-8, 0x1.d5257dc3b7f62p-9, 0x1.0097e3d0530b5p-10,
                         -0x1.674c59a855df8p-11, -0x1.1e2f318914664p-8, 0x1.588ba7e80f030p-6,
                         -0x1.501a5e3af8755p-5, 0x1.a156f80106838p-5, -0x1.5d3253fa76c92p-5,
                         0x1.843e1c9c5f1bep-6, -0x1.04aaecb1ce11ap-7, 0x1.437494cde3d21p-10);
}
// x^(x - 1/2) * e^-x, or what is one divided by that. No double is too small or too large for it.
inline double steep_power(float x, bool inverse) {
  const double y = x, t = fused(y - 0.5, log2_of(x), -0x1.71547652b82fep+0 * y);
  const double exponent = inverse ? -t : t;
  const whole_d n = nearest(exponent);
  return exp2_of_rest(static_cast<float>(exponent - n.value)) *
         power_of_two(static_cast<std::int64_t>(n.bits));
}
// The same as 2^n * part.
struct power_d {
  double part;
  std::int64_t n;
};
inline power_d steep_power(double x, bool inverse) {
  const sum_of_two<double> log = log2_of(x);
  const double y = x - 0.5, high = y * log.high;
  const double low = fused(y, log.high, -high) + y * log.low;
  const double less = x * 0x1.71547652b82fep+0;
  const double less_low = fused(x, 0x1.71547652b82fep+0, -less) + x * 0x1.777d0ffda0d24p-56;
  const double t = high - less, other = t - high;
  const double t_low = ((high - (t - other)) - (less + other)) + (low - less_low);
  const double exponent = inverse ? -t : t;
  const whole_d n = nearest(exponent);
  const double r = (exponent - n.value) + (inverse ? -t_low : t_low);
  return {exp2_of_rest(r), static_cast<std::int64_t>(n.bits)};
}

// gamma(-x) = -pi / (x * sin(pi * x) * gamma x), gamma x = gamma(x + 1) / x where x is below 1.
template <class Wide, class Real>
struct quotient {
  Real y;  // what a power is needed of; no result is finite and not zero beyond `most`
  bool inverse, none;
  Wide top, bottom;
};
template <class Wide, class Real>
inline quotient<Wide, Real> tgamma_parts(Real x, Real most) {
  const Real size = size_of(x), capped = size > most ? most : size;
  const bool below = is_negative(x), small = size < Real(1);
  const Real y = small ? size + Real(1) : capped;
  const Wide curve = tgamma_curve(Real(1) / (y + Real(0.5)));
  const Real sine = sine_at(within_eighth(size));
  const Wide turned = curve * Wide(sine), far = small ? Wide(1) : Wide(size);
  const Wide top = below ? Wide(-0x1.921fb54442d18p+1) : curve;
  const Wide bottom = below ? turned * far : small ? Wide(size) : Wide(1);
  const bool pole = below & !small & (sine == Real(0));
  return {y, below, pole, top, bottom};
}
inline float tgamma(float x) {
  const auto parts = tgamma_parts<double>(x, 50.0f);
  const double power = steep_power(parts.y, parts.inverse);
  const auto result = static_cast<float>(power * parts.top / parts.bottom);
  return parts.none ? __builtin_nanf("") : result;
}
inline double tgamma(double x) {
  const auto parts = tgamma_parts<double>(x, 200.0);
  const power_d power = steep_power(parts.y, parts.inverse);
  const std::int64_t half = power.n >> 1;
  const double top = power.part * parts.top * power_of_two(half);
  const double result = top / parts.bottom * power_of_two(power.n - half);
  return parts.none ? __builtin_nan("") : result;
}

}  // namespace sb::maths
