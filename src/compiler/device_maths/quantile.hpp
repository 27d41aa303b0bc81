// The inverses of erf, erfc and of the normal distribution. With y = erfc x and
// w = -log(y * (2 - y)), x is nearly a multiple of 1 - y where w is small, and of the root of w
// elsewhere.
#pragma once

#include "logarithm.hpp"

namespace sb::maths {

// x = (1 - y) * (sqrt(pi) / 2 + w * this)
inline float erfinv_middle(float w) {
  return polynomial(w, 0x1.db29d2p-3f, 0x1.7a7c8ap-7f, -0x1.32627ap-9f, -0x1.050582p-13f,
                    0x1.682c56p-15f, 0x1.2e9eaap-18f, -0x1.16b8e4p-19f, 0x1.f0ecd4p-23f,
                    -0x1.3d81d8p-27f);
}
inline double erfinv_middle(double w) {
  return polynomial(
      w, 0x1.db29fb2fee580p-3, 0x1.7a72e72c27064p-7, -0x1.3211025f3576cp-9, -0x1.0c86b7f2f98a7p-13,
      0x1.870148d7f28cfp-15, 0x1.0f1f0b36c7dacp-19, -0x1.0fd06f0fde4cbp-20, -0x1.4018eb44915d9p-25,
      0x1.875470f899c1ap-26, 0x1.9bcf0e7375d8cp-31, -0x1.16693dd3bbf30p-31, -0x1.32405a7ec7580p-35,
      0x1.b578b4e3b0cf8p-36, -0x1.9e1ee004886f6p-38, 0x1.221bf4983866dp-39, -0x1.83b2865af2befp-41,
      0x1.61fae3bab6fadp-43, -0x1.b832d60fad0bap-46, 0x1.7d745c1a424e5p-49, -0x1.cb75a5738abd7p-53,
      0x1.721f62173075fp-57, -0x1.68f8c57f2b296p-62, 0x1.43d120edc25d2p-68);
}
// |x| = s * this for s = sqrt(w), root = 1 / sqrt(s)
inline float erfinv_tail(float root) {
  return polynomial(root - 0.5f, 0x1.eb7e08p-1f, -0x1.95e7e6p-3f, -0x1.e34a8cp-4f, 0x1.6d9feap-1f,
                    0x1.bf9f92p-1f, -0x1.de28fp-1f, -0x1.199c0ap+2f, -0x1.46fd6ep+4f, -0x1.fe0ap+4f,
                    0x1.58e3bap+7f, 0x1.0bb05p+9f);
}
inline double erfinv_tail(double root) {
  const double near = root - 0.5625, far = root - 0.328125;
  const double p = polynomial(
      near, 0x1.e5026f6e6e9dfp-1, -0x1.a170fb81c1ad6p-3, 0x1.0b931e1ce6f9dp-5, 0x1.ba3accd800451p-1,
      0x1.30c97e10353c3p-3, -0x1.1772447250461p+2, -0x1.9c43eb12754c4p+3, 0x1.d84a1ad80624ap+3,
      0x1.31e6c16a758acp+8, 0x1.23e129723d64ep+8, -0x1.9e5ab38822f96p+12, -0x1.3a2cae2fb16acp+13,
      0x1.2204122083051p+17, 0x1.25cc6e4aebc75p+17, -0x1.934ace4b44ebcp+21, 0x1.74c60ddd1bd5cp+19,
      0x1.01e48e01348b7p+26, -0x1.af34517417a29p+26, -0x1.2146978ac7daep+30, 0x1.2f4331d833517p+31,
      0x1.e58bb79f61048p+33);
  const double q = polynomial(
      far, 0x1.f9b9b199720f9p-1, -0x1.d42a7081b2b1cp-4, -0x1.3c9fdcd78748ep-2, 0x1.1e8b3299f5618p-6,
      0x1.f1784789ef200p-1, 0x1.cb928e821fd46p-2, -0x1.95132276c2fdap-1, -0x1.58479074081c2p-1,
      -0x1.b7bb0234845b9p-1, 0x1.aed6ba758991cp+0, 0x1.8732591c8a38bp+0, 0x1.80aa0e0844577p-1,
      -0x1.7f6edefe61e6cp+2, 0x1.f179009a7bbdep+3, 0x1.f3d7721abcd05p+5, -0x1.f8a3bc47c9d5ep+9,
      -0x1.6952748e61367p+12, 0x1.1d3a70c60905ep+15, 0x1.0c23a7a7aa459p+18, -0x1.56721de45b223p+18,
      -0x1.59ee101e08ff4p+22, -0x1.38a6de41e4bd1p+23);
  return root > 0x1.ddb68p-2 ? p : q;  // s = 4.595
}
inline float last_middle(float) { return 4.9f; }
inline double last_middle(double) { return 5.98; }

// x for 1 - y = `middle`, y * (2 - y) = `product`
template <class Real>
inline Real erfinv_of(Real middle, Real product) {
  const Real infinity = __builtin_inff(), w = Real(0) - log(product);
  const Real s = root_of(w), tail = s * erfinv_tail(root_of(Real(1) / s));
  const Real near = fused(middle, Real(0x1.c5bf891b4ef6bp-1), middle * w * erfinv_middle(w));
  const Real finite = w > last_middle(w) ? with_sign_of(middle, tail) : near;
  return w == infinity ? with_sign_of(middle, infinity) : finite;
}
template <class Real>
inline Real erfinv(Real x) {
  const Real size = size_of(x);
  return erfinv_of(x, (Real(1) - size) * (Real(1) + size));
}
template <class Real>
inline Real erfcinv(Real y) {
  return erfinv_of(Real(1) - y, y * (Real(2) - y));
}
template <class Real>
inline Real normcdfinv(Real y) {
  return Real(-0x1.6a09e667f3bcdp+0) * erfcinv(Real(2) * y);
}

}  // namespace sb::maths
