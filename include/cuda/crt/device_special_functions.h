/* Those of special_functions.h that the compiler has for the device (src/compiler/device_maths): it
   takes them by these names. */
#ifndef STREAMBED_DEVICE_SPECIAL_FUNCTIONS_H
#define STREAMBED_DEVICE_SPECIAL_FUNCTIONS_H

#define SB_SPECIAL extern "C" __device__ __attribute__((const, nothrow))
#define SB_SPECIAL_FN(real, name)           \
  SB_SPECIAL real __streambed_##name(real); \
  SB_BOTH_FN real name(real x) { return __streambed_##name(x); }
#define SB_SPECIAL_FNS(name) SB_SPECIAL_FN(double, name) SB_SPECIAL_FN(float, name##f)
SB_SPECIAL_FNS(rcbrt)
SB_SPECIAL_FNS(sinpi)
SB_SPECIAL_FNS(cospi)
SB_SPECIAL_FNS(erfcx)
SB_SPECIAL_FNS(erfinv)
SB_SPECIAL_FNS(erfcinv)
SB_SPECIAL_FNS(normcdfinv)
SB_SPECIAL_FNS(normcdf)
SB_SPECIAL_FNS(cyl_bessel_i0)
SB_SPECIAL_FNS(cyl_bessel_i1)
#undef SB_SPECIAL_FNS
#undef SB_SPECIAL_FN

SB_BOTH_FN void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}

SB_SPECIAL double __streambed_rhypot(double, double);
SB_SPECIAL double __streambed_norm3d(double, double, double);
SB_SPECIAL double __streambed_rnorm3d(double, double, double);
SB_SPECIAL double __streambed_norm4d(double, double, double, double);
SB_SPECIAL double __streambed_rnorm4d(double, double, double, double);
SB_BOTH_FN double rhypot(double x, double y) { return __streambed_rhypot(x, y); }
SB_BOTH_FN double norm3d(double a, double b, double c) { return __streambed_norm3d(a, b, c); }
SB_BOTH_FN double rnorm3d(double a, double b, double c) { return __streambed_rnorm3d(a, b, c); }
SB_BOTH_FN double norm4d(double a, double b, double c, double d) {
  return __streambed_norm4d(a, b, c, d);
}
SB_BOTH_FN double rnorm4d(double a, double b, double c, double d) {
  return __streambed_rnorm4d(a, b, c, d);
}
#undef SB_SPECIAL

#endif
