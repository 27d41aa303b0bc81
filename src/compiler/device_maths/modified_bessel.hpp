// Modified Bessel functions of the orders 0 and 1: a polynomial of x^2 with nothing but positive
// terms, then e^x / sqrt(x) with one of 1 / x.
#pragma once

#include "exponential.hpp"

namespace sb::maths {

inline float i0_low(float z) {
  return fine_polynomial(z, 0x1p+0f, 0x1.000002p-2f, 0x1.ffffb2p-7f, 0x1.c71ffp-12f,
                         0x1.c6f90ep-18f, 0x1.240138p-24f, 0x1.fcf7eap-32f, 0x1.7151ap-39f,
                         0x1.a9fc86p-48f, 0x1.05dd98p-54f);
}
inline float i1_low(float z) {
  return fine_polynomial(z, 0x1p-1f, 0x1p-4f, 0x1.55554ap-9f, 0x1.c71dbap-15f, 0x1.6c0916p-21f,
                         0x1.84ede8p-28f, 0x1.2484d6p-35f, 0x1.697ea6p-43f, 0x1.a12cb8p-52f,
                         0x1.8f8ffcp-59f);
}
inline double i0_low(double z) {
  return fine_polynomial(
      z, 0x1.0000000000000p+0, 0x1.0000000000000p-2, 0x1.0000000000001p-6, 0x1.c71c71c71c6dbp-12,
      0x1.c71c71c71cd3fp-18, 0x1.23456789a70f8p-24, 0x1.02e85c08df0e8p-31, 0x1.522a43f102999p-39,
      0x1.522a443d58a45p-47, 0x1.0b312fe3fadf1p-55, 0x1.5601ad62a71c8p-64, 0x1.69c91c065096dp-73,
      0x1.41a35fc12a351p-82, 0x1.e69c6f8671524p-92, 0x1.4075ac5e3841ep-101, 0x1.5b3bd5d8b739fp-111,
      0x1.abc19bc2d425cp-121, 0x1.fdb223960e800p-133, 0x1.1f74ec4f9c3dcp-140);
}
inline double i1_low(double z) {
  return fine_polynomial(
      z, 0x1.0000000000000p-1, 0x1.0000000000000p-4, 0x1.5555555555556p-9, 0x1.c71c71c71c6f9p-15,
      0x1.6c16c16c16eebp-21, 0x1.845c8a0ce13adp-28, 0x1.27e4fb77bd221p-35, 0x1.522a43f2cbc1bp-43,
      0x1.2c9759069aa59p-51, 0x1.ab81e76b57824p-60, 0x1.f176bfe48b3edp-69, 0x1.e261f05361f2ep-78,
      0x1.8bd9d7c5d2154p-87, 0x1.161e0c95a0265p-96, 0x1.5573cb97a4b83p-106, 0x1.5d0bdbd241fe1p-116,
      0x1.8ca8937b49189p-126, 0x1.f3cfd77fa3ff7p-138, 0x1.d9af305b0169ap-146);
}
inline float i0_high(float v) {
  return fine_polynomial(v, 0x1.988454p-2f, 0x1.987e46p-5f, 0x1.cefd6ep-6f, 0x1.742432p-6f,
                         0x1.2b1258p-3f, -0x1.6519dap-1f, 0x1.65ed86p+1f);
}
inline float i1_high(float v) {
  return fine_polynomial(v, 0x1.988454p-2f, -0x1.32647ap-3f, -0x1.7decaap-5f, -0x1.657272p-5f,
                         -0x1.2e1b02p-5f, -0x1.6b4692p-4f, -0x1.06bdfap+0f);
}
inline double i0_high(double v) {
  return fine_polynomial(v, 0x1.9884533d43653p-2, 0x1.9884533d3abb2p-5, 0x1.cb94ddd17b04fp-6,
                         0x1.debad7ff8695fp-6, 0x1.6e9cf2022996ep-5, 0x1.6dddc09cb821dp-4,
                         0x1.57b35c032d0c8p-2, -0x1.68e80c2b038e6p+2, 0x1.1005957c8ec54p+8,
                         -0x1.068a7b43de375p+13, 0x1.794fd194168f3p+17, -0x1.8cb73e4ef7ef4p+21,
                         0x1.2d17e08a9d904p+25, -0x1.3f95f8cda42afp+28, 0x1.bfdd946c80374p+30,
                         -0x1.71b87c6262f18p+32, 0x1.0e6d2d74dc73ap+33);
}
inline double i1_high(double v) {
  return fine_polynomial(v, 0x1.9884533d4364ep-2, -0x1.32633e6df0494p-3, -0x1.7efc0e20b4f96p-5,
                         -0x1.4f1c6e360d92dp-5, -0x1.d756d857aa56fp-5, -0x1.c019e0efda040p-4,
                         -0x1.870bd58c32dd4p-2, 0x1.7388161d2e44ep+2, -0x1.1ba407dad1ce4p+8,
                         0x1.1131470f99d0fp+13, -0x1.882347a92032cp+17, 0x1.9bb01e973f591p+21,
                         -0x1.37f119fd46814p+25, 0x1.4a7a7bd4b0763p+28, -0x1.ce1f7dc5e8b6ap+30,
                         0x1.7c7fd0b59650cp+32, -0x1.156ea1525065dp+33);
}
inline float last_low_bessel(float) { return 8.0f; }
inline double last_low_bessel(double) { return 12.0; }

// Both are infinite from these on.
inline float grown_bessel(float x) { return clamped(x, 0.0f, 95.0f); }
inline double grown_bessel(double x) { return clamped(x, 0.0, 720.0); }

// What rounding takes from x^2 counts up to six times: about `curve` * low / (2 * x + twice) is the
// derivative's part.
template <class Real>
inline Real low_bessel(Real x, Real z, Real curve, Real twice) {
  const Real low = fused(x, x, -z) / fused(Real(2), x, twice);
  return fused(curve, low, curve);
}
template <class Real>
inline Real high_bessel(Real x, Real inverse, Real curve) {
  const auto n = twos_in_exp(x);
  return scaled(exp_of_rest(exp_rest(x, n)) * (root_of(inverse) * curve), n.bits);
}
template <class Real>
inline Real cyl_bessel_i0(Real given) {
  const Real x = grown_bessel(size_of(given)), inverse = Real(1) / x, z = x * x;
  const Real high = high_bessel(x, inverse, i0_high(inverse));
  return x > last_low_bessel(x) ? high : low_bessel(x, z, i0_low(z), Real(4));
}
template <class Real>
inline Real cyl_bessel_i1(Real given) {
  const Real x = grown_bessel(size_of(given)), inverse = Real(1) / x, z = x * x;
  const Real high = high_bessel(x, inverse, i1_high(inverse));
  return with_sign_of(given,
                      x > last_low_bessel(x) ? high : x * low_bessel(x, z, i1_low(z), Real(8)));
}

}  // namespace sb::maths
