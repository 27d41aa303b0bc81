// Bessel functions of the orders 0 and 1. Up to 8 each is the product of its distances from its
// zeros, which are sums of two, and a polynomial; beyond, sine and cosine of the angle with two
// polynomials of 1 / x^2. All is double: a float next to a zero is a matter of rounding then.
#pragma once

#include "angle.hpp"
#include "logarithm.hpp"

namespace sb::maths {

constexpr double last_near_zeros = 8.0;
// Beyond, see the rare cases.
inline bool has_plain_bessel(double x) { return !(size_of(x) > largest_angle_d); }

// The distance from a zero.
inline double from_zero(double x, double high, double low) { return (x - high) - low; }

// j x = p * cos(angle) - q * sin(angle), y x the same with sine and cosine.
struct far_bessel {
  double p, q, sine, cosine;  // with the root of 1 / (pi * x) in p and q
};
inline far_bessel far_parts(double x, double p, double q_by_x) {
  turned_d t = within_quarter(x);
  const double sine = sine_at(t);
  t.quarters += 1;
  const double inverse = 1.0 / x, root = 0x1.20dd750429b6dp-1 * root_of(inverse);
  return {root * p, root * inverse * q_by_x, sine, sine_at(t)};
}
inline far_bessel far_of_order_0(double x) {
  const double z = 1.0 / (x * x);
  return far_parts(
      x,
      polynomial(z, 0x1.0000000000000p+0, -0x1.1ffffffffb463p-4, 0x1.cb5fffb91b7abp-4,
                 -0x1.251eb8f4ccc9cp-1, 0x1.84ad38e0172ccp+2, -0x1.b677cc2ec74cbp+6,
                 0x1.6e3baa6aa36d2p+11, -0x1.8023029e0a5a0p+16, 0x1.99a34935a8c78p+21,
                 -0x1.6748fe47d6c6ep+26, 0x1.a46cd231b4096p+30, -0x1.d5b594df589a3p+33),
      polynomial(z, -0x1.ffffffffffff4p-4, 0x1.2bffffffc82abp-4, -0x1.d11dfea27d01cp-3,
                 0x1.ba4b803cc0f47p+0, -0x1.85f31611df1aap+4, 0x1.11e6b2496c6cap+9,
                 -0x1.0e6328d580db8p+14, 0x1.3dce454f87718p+19, -0x1.6a955970403abp+24,
                 0x1.4a0ffa55a1db0p+29, -0x1.8a2ef3fa7c1b9p+33, 0x1.bd7e7171fe4c2p+36));
}
inline far_bessel far_of_order_1(double x) {
  const double z = 1.0 / (x * x);
  return far_parts(
      x,
      polynomial(z, 0x1.0000000000000p+0, 0x1.dffffffffafcap-4, -0x1.274fffda67b1bp-3,
                 0x1.5a6a261dbbca6p-1, -0x1.b881373c141fep+2, 0x1.e4b211c8c280cp+6,
                 -0x1.8e75608c86616p+11, 0x1.9de211a84e320p+16, -0x1.b6f0b9380114cp+21,
                 0x1.7fd5e03950803p+26, -0x1.c06616224014fp+30, 0x1.f4756f0a7419bp+33),
      polynomial(z, 0x1.7fffffffffffdp-2, -0x1.a3ffffffc5deap-4, 0x1.1c3cff48a0f97p-2,
                 -0x1.fe5733cd566e7p+0, 0x1.b3d5b3e4360b1p+4, -0x1.2c0ed5c3009c3p+9,
                 0x1.24630e20f22a0p+14, -0x1.54fb0f63e9179p+19, 0x1.835b90b1b168cp+24,
                 -0x1.5fd21c1a304ddp+29, 0x1.a3a9eae9acbb8p+33, -0x1.d9f96254bf320p+36));
}

inline double j0(double given) {
  const double x = size_of(given), z = x * x;
  const double low_product =
      from_zero(x, 0x1.33d152e971b40p+1, -0x1.0f539d7da258ep-53) * (x + 0x1.33d152e971b40p+1);
  const double low =
      low_product *
      fine_polynomial(z - 8.0, -0x1.6b2948e843e2bp-4, 0x1.08d902d0bf620p-7, -0x1.17057235d9c0ep-12,
                      0x1.33fa04134ef93p-18, -0x1.a4b2380cd3ad8p-25, 0x1.87a4ac4490cd8p-32,
                      -0x1.08c6210b4c515p-39, 0x1.0fff1bb49b59fp-47, -0x1.b72fce594b833p-56,
                      0x1.1e46df114e1edp-64, -0x1.29f0a9138272dp-73, -0x1.79277fcbfaae6p-82,
                      -0x1.74e7a802399d5p-86, 0x1.93aeffc48b58cp-89);
  const double high =
      from_zero(x, 0x1.6148f5b2c2e45p+2, 0x1.75054cd60a517p-54) *
      fine_polynomial(x - 6.0, 0x1.416dc96e57c0ep-2, -0x1.3d97028754e55p-4, -0x1.63c76276a6e95p-5,
                      0x1.15618767e6badp-7, 0x1.bb360f4dad99cp-10, -0x1.307fa1bf6e598p-12,
                      -0x1.104aed84cb3f1p-15, 0x1.52a757fba558ep-18, 0x1.949f15c58364ep-22,
                      -0x1.cd44e1323b174p-25, -0x1.951002da445a9p-29, 0x1.aab884811d1e2p-32,
                      0x1.246c4f9895f0bp-36, -0x1.1e6a171e705f3p-39, -0x1.3fb16ee76cbe0p-44,
                      0x1.23bddb229a498p-47, 0x1.20d85501923a4p-52, -0x1.bcceeebf4c76ap-56,
                      -0x1.894a424491c09p-60);
  const far_bessel f = far_of_order_0(x);
  const double far = fused(f.p, f.cosine + f.sine, f.q * (f.cosine - f.sine));
  const double near = x > 4.0 ? high : low;
  return x > last_near_zeros ? far : near;
}
inline double j1(double given) {
  const double x = size_of(given), z = x * x;
  const double low_product =
      from_zero(x, 0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53) * (x + 0x1.ea75575af6f09p+1);
  const double low =
      x * (low_product *
           fine_polynomial(z - 10.0, -0x1.31e33d1acbaf0p-6, 0x1.381005531646dp-10,
                           -0x1.fa38bd414b2e9p-16, 0x1.c688212d62b72p-22, -0x1.05bd8573ff773p-28,
                           0x1.a556a89514ee2p-36, -0x1.f5d43cc83798fp-44, 0x1.ccafac32950fep-52,
                           -0x1.5031571e30f66p-60, 0x1.8fa1918078efep-69, -0x1.8a2e127d91acdp-78,
                           0x1.2bb3952815b2ep-87, -0x1.ba91765fc8731p-96, 0x1.2e19b284cbe9ep-99));
  const double high =
      from_zero(x, 0x1.c0ff5f3b47250p+2, -0x1.b226d9d243827p-54) *
      fine_polynomial(x - 6.25, 0x1.2738e1e5d22bep-2, 0x1.aaea4b09baf4fp-5, -0x1.7c62c2d64ecafp-5,
                      -0x1.dbb7ad29c1c71p-9, 0x1.1c0aacc0e6461p-9, 0x1.911d62dd99696p-14,
                      -0x1.91c8d403c7bb5p-15, -0x1.705cc33547f58p-20, 0x1.4cb4e67fe3367p-21,
                      0x1.af523f7e5e043p-27, -0x1.6ab6a024045d1p-28, -0x1.602e58c612741p-34,
                      0x1.186c4ba4e651fp-35, 0x1.a946c71872529p-42, -0x1.4342516b6d7f0p-43,
                      -0x1.8f2212ad0c1c1p-50, 0x1.109a597b45b0cp-51, 0x1.7c8ca096a43a4p-58);
  const far_bessel f = far_of_order_1(x);
  const double far = fused(f.p, f.sine - f.cosine, f.q * (f.sine + f.cosine));
  const double near = x > 4.6 ? high : low;
  return with_sign_of(given, x > last_near_zeros ? far : near);
}

// 2 / pi * log(x / z) * j0 x + what is zero at z, too.
inline double y0(double x) {
  const double z = x * x;
  const double from = from_zero(x, 0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56);
  const double log_of_ratio =
      x < 0.4375 ? log(x) + 0x1.cce4b73e6f025p-4 : log1p(from * 0x1.1e7d3131dd6bap+0);
  const double j = fine_polynomial(
      z, 0x1.0000000000000p+0, -0x1.0000000000000p-2, 0x1.0000000000000p-6, -0x1.c71c71c71c70ep-12,
      0x1.c71c71c71bb90p-18, -0x1.234567896f0bdp-24, 0x1.02e85bf2e3b5ap-31, -0x1.522a3aaacf80fp-39,
      0x1.5227ce7692a64p-47, -0x1.0acc210f4587fp-55, 0x1.43e0d46985a2cp-64);
  const double part =
      from * (x + 0x1.c982eb8d417eap-1) *
      polynomial(z, 0x1.750811790a13cp-3, -0x1.12583f4a4abbap-6, 0x1.268a9aaaea367p-11,
                 -0x1.4c030d9927ff4p-17, 0x1.cf041384975adp-24, -0x1.b796e04e052ebp-31,
                 0x1.2eaab4bb120dap-38, -0x1.39231e8239f0ep-46, 0x1.2a936628bc3b8p-56,
                 0x1.991a087dfd642p-58, -0x1.0fdb81a678ce1p-61, 0x1.32daf0c210e36p-66);
  const double low = fused(log_of_ratio * j, 0x1.45f306dc9c883p-1, part);
  const double middle = from_zero(x, 0x1.fa9534d98569cp+1, -0x1.f06ae7804384ep-54) *
                        from_zero(x, 0x1.c581dc4e72103p+2, -0x1.9774a495f56cfp-54);
  const double high =
      middle *
      fine_polynomial(x - 5.0625, 0x1.227a8c051cb7cp-3, -0x1.b2c1d81e23562p-10,
                      -0x1.95e41526ee0c4p-7, 0x1.4bd93dbb71e16p-12, 0x1.8473486683120p-12,
                      -0x1.0e59385af73b7p-17, -0x1.a2ab60b7fa355p-18, 0x1.5346b3d1ed5c7p-23,
                      0x1.efed4ce38d281p-25, -0x1.b920b19d77e39p-32, -0x1.45f66f5a5ba4bp-31,
                      0x1.428389d3c39a7p-35, -0x1.b09bbf7c33756p-39, 0x1.0c4467683826ep-40,
                      -0x1.b1fd906f20767p-43, 0x1.36dca571a7858p-45, -0x1.e488a2c34bdedp-48,
                      0x1.71a3c32712f86p-50, -0x1.91fa2414ef513p-53, 0x1.0ce032e7ead4ep-55,
                      -0x1.2c7ec7351b3efp-56, 0x1.19a4709f7b29cp-58, 0x1.22e2b7124e60ep-61,
                      -0x1.cb45c4de7c978p-63, -0x1.06e71cc57c96cp-64, 0x1.7dead2a8147bbp-66,
                      0x1.ef9c4fad59d13p-72, -0x1.9b47d5a6daf44p-71, 0x1.e5a19d2c4269cp-75,
                      0x1.eb78604e392e5p-77, -0x1.3ee346ef499efp-78, 0x1.03a0f9b852661p-81);
  const far_bessel f = far_of_order_0(x);
  const double far = fused(f.p, f.sine - f.cosine, f.q * (f.sine + f.cosine));
  const double near = x > 2.2 ? high : low;
  return x > last_near_zeros ? far : near;
}
inline double y1(double x) {
  // Where x is next to nothing, so is the logarithm's part.
  const double z = x * x, log_x = log(x < 0x1p-100 ? 0x1p-100 : x);
  const double inverse = 0x1.45f306dc9c883p-1 / size_of(x);
  const double by_log =
      0x1.45f306dc9c883p-1 * log_x *
      fine_polynomial(z, 0x1.0000000000000p-1, -0x1.0000000000000p-4, 0x1.5555555555555p-9,
                      -0x1.c71c71c71c698p-15, 0x1.6c16c16c119a3p-21, -0x1.845c8a097a195p-28,
                      0x1.27e4fa21727aap-35, -0x1.5229a11c220e3p-43, 0x1.2c68f46ab6c32p-51,
                      -0x1.9cf6038984d35p-60);
  const double low = fused(
      x,
      by_log + polynomial(z, -0x1.91866143cbc8ap-3, 0x1.bd3975c75b48ap-5, -0x1.835b97894b020p-9,
                          0x1.2c7dbffc7785ap-14, -0x1.0a780a93c74ccp-20, 0x1.32e58585c7c6ep-27,
                          -0x1.f0b643ac50cd6p-35, 0x1.2482386de6553p-42, 0x1.4b06e5bd3d683p-51,
                          -0x1.2455b53b07944p-52, 0x1.536cbf5fff301p-56),
      -inverse);
  const double middle =
      from_zero(x, 0x1.193bed4dff243p+1, -0x1.bd1e50d219bfdp-55) *
      fine_polynomial(x - 2.75, 0x1.c7ac9b29f81cfp-2, -0x1.3dd347feacdcep-3, -0x1.f3c5c50950a99p-6,
                      0x1.90d7fd226fe14p-8, 0x1.a07f588ca75d5p-9, -0x1.e6fa94d8d732ep-11,
                      0x1.9bdbe7bb66e0fp-13, -0x1.48d2629f1f82ep-14, 0x1.051c11d2568bdp-15,
                      -0x1.7c626a0e9bb10p-17, 0x1.14dae49d7f0aep-18, -0x1.94d8f994fb9a7p-20,
                      0x1.27abed9a19736p-21, -0x1.af3f7828d85b4p-23, 0x1.3a13da5715c2fp-24,
                      -0x1.cb7a094ddbf80p-26, 0x1.527f37c7ba635p-27, -0x1.de50c1381ab5bp-29,
                      0x1.3ed0d60ed69aap-30, -0x1.12e3239debcd1p-31, 0x1.172bee318d326p-32,
                      -0x1.eeddd7f5864abp-35, -0x1.835593712dbf8p-37, -0x1.921f79c320c9ep-38,
                      0x1.6611180576fddp-37, -0x1.6704b28d6ab28p-39);
  const double high =
      from_zero(x, 0x1.5b7fe4e87b02ep+2, 0x1.dfe7bac228e8cp-52) *
      fine_polynomial(x - 6.0, -0x1.3a3a8cefc7efcp-2, 0x1.579152b207297p-4, 0x1.4739eeba03020p-5,
                      -0x1.155cf697f37adp-7, -0x1.94a78f4d796c3p-10, 0x1.266b15559ce5dp-12,
                      0x1.005abac6bba4cp-15, -0x1.4c02309d6bdcep-18, -0x1.72fed672a2baap-22,
                      0x1.b0fa0b4dbd901p-25, 0x1.a8759e6b08075p-29, -0x1.d3685da91bdecp-32,
                      -0x1.131434fac0888p-37, 0x1.56666cb6472ecp-41, 0x1.5930bb5a0e3e6p-42,
                      -0x1.a98afb7b777ebp-45, 0x1.5fd125211aa8cp-48, -0x1.08fd274820ad5p-50,
                      0x1.7e47296001ba8p-52, -0x1.d6181dfcd4bd9p-55);
  const far_bessel f = far_of_order_1(x);
  const double far = fused(f.q, f.sine - f.cosine, -f.p * (f.sine + f.cosine));
  const double near = x > 4.0 ? high : x > 1.6 ? middle : low;
  const double result = x > last_near_zeros ? far : near;
  return x < 0.0 ? __builtin_nan("") : result;
}

}  // namespace sb::maths
