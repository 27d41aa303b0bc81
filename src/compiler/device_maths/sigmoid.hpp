// erf and tanh of float: an odd polynomial near zero, one minus something small beyond.
#pragma once

#include "exponential.hpp"

namespace sb::maths {

inline float erf(float x) {
  const float size = size_of(x), z = x * x;
  const float near =
      fused(x,
            polynomial(z, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2cfp-4f, -0x1.b7f858p-6f,
                       0x1.53ff92p-8f, -0x1.a3c95cp-11f, 0x1.48edeep-14f),
            x);
  const float beyond = (size > 4.0f ? 4.0f : size) - 1.0f;
  const float log_of_rest = polynomial(beyond, -0x1.d97fcp+0f, -0x1.51c99cp+1f, -0x1.afafa4p-1f,
                                       -0x1.5336eep-5f, 0x1.3bfb1ep-7f, -0x1.7c1cecp-10f,
                                       -0x1.19d86p-13f, 0x1.26661cp-13f, -0x1.9a3bbp-16f);
  const float far = __builtin_copysignf(1.0f - exp_in_range(log_of_rest), x);
  return size > 1.0f ? far : near;
}

inline float tanh(float x) {
  const float size = size_of(x), z = x * x;
  const float near = fused(z * size,
                           polynomial(z, -0x1.555548p-2f, 0x1.110c6cp-3f, -0x1.b9099p-5f,
                                      0x1.583a16p-6f, -0x1.955d7p-8f),
                           size);
  const float grown = exp_in_range(2.0f * (size > 10.0f ? 10.0f : size));
  const float far = 1.0f - 2.0f / (grown + 1.0f);
  return __builtin_copysignf(size > 0.55f ? far : near, x);
}

}  // namespace sb::maths
