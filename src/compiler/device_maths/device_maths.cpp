// The maths functions of device code. clang makes bitcode of this file, which the pass carries and
// takes functions from: __sb_maths_NAME takes the place of the C library's NAME.
//
// A function __sb_maths_rare_NAME(is_rare, arguments..., quick) answers `quick`, or what the C
// library says where quick arithmetic is not good enough. It stays a call until loops have become
// vectors; the pass makes its form for vectors, which asks once whether any lane is rare.
#include <cmath>

#include "angle.hpp"
#include "exponential.hpp"
#include "logarithm.hpp"
#include "power.hpp"
#include "sigmoid.hpp"

#define SB_MATHS extern "C" __attribute__((const, nothrow))
// They keep all registers: the loop around has its constants in them.
#ifdef __clang__
#define SB_RARE extern "C" __attribute__((const, nothrow, noinline, cold, preserve_all))
#else
#define SB_RARE extern "C" __attribute__((const, nothrow, noinline, cold))
#endif

SB_RARE float __sb_maths_rare_sinf(int rare, float x, float quick) {
  return rare != 0 ? ::sinf(x) : quick;
}
SB_RARE float __sb_maths_rare_cosf(int rare, float x, float quick) {
  return rare != 0 ? ::cosf(x) : quick;
}
SB_RARE float __sb_maths_rare_tanf(int rare, float x, float quick) {
  return rare != 0 ? ::tanf(x) : quick;
}
SB_RARE double __sb_maths_rare_sin(int rare, double x, double quick) {
  return rare != 0 ? ::sin(x) : quick;
}
SB_RARE double __sb_maths_rare_cos(int rare, double x, double quick) {
  return rare != 0 ? ::cos(x) : quick;
}
SB_RARE float __sb_maths_rare_powf(int rare, float x, float y, float quick) {
  return rare != 0 ? ::powf(x, y) : quick;
}

namespace {
int is_far(float x) { return sb::maths::size_of(x) > sb::maths::largest_angle_f; }
int is_far(double x) { return sb::maths::size_of(x) > sb::maths::largest_angle_d; }
}  // namespace

SB_MATHS float __sb_maths_expf(float x) { return sb::maths::exp(x); }
SB_MATHS float __sb_maths_exp2f(float x) { return sb::maths::exp2(x); }
SB_MATHS float __sb_maths_exp10f(float x) { return sb::maths::exp10(x); }
SB_MATHS double __sb_maths_exp(double x) { return sb::maths::exp(x); }
SB_MATHS double __sb_maths_exp2(double x) { return sb::maths::exp2(x); }
SB_MATHS float __sb_maths_logf(float x) { return sb::maths::log(x); }
SB_MATHS float __sb_maths_log2f(float x) { return sb::maths::log2(x); }
SB_MATHS float __sb_maths_log10f(float x) { return sb::maths::log10(x); }
SB_MATHS double __sb_maths_log(double x) { return sb::maths::log(x); }
SB_MATHS float __sb_maths_erff(float x) { return sb::maths::erf(x); }
SB_MATHS float __sb_maths_tanhf(float x) { return sb::maths::tanh(x); }
SB_MATHS float __sb_maths_sinf(float x) {
  return __sb_maths_rare_sinf(is_far(x), x, sb::maths::quick_sin(x));
}
SB_MATHS float __sb_maths_cosf(float x) {
  return __sb_maths_rare_cosf(is_far(x), x, sb::maths::quick_cos(x));
}
SB_MATHS float __sb_maths_tanf(float x) {
  return __sb_maths_rare_tanf(is_far(x), x, sb::maths::quick_tan(x));
}
SB_MATHS double __sb_maths_sin(double x) {
  return __sb_maths_rare_sin(is_far(x), x, sb::maths::quick_sin(x));
}
SB_MATHS double __sb_maths_cos(double x) {
  return __sb_maths_rare_cos(is_far(x), x, sb::maths::quick_cos(x));
}
SB_MATHS float __sb_maths_powf(float x, float y) {
  return __sb_maths_rare_powf(!sb::maths::has_plain_power(x, y), x, y, sb::maths::quick_pow(x, y));
}
