// What the device's headers declare and the compiler's pass defines: here there is no pass.
extern "C" {
#define SB_ONE(real, name)         \
  real __sb_maths_##name(real);    \
  real __streambed_##name(real x); \
  real __streambed_##name(real x) { return __sb_maths_##name(x); }
#define SB_EACH(name) SB_ONE(float, name##f) SB_ONE(double, name)
SB_EACH(rcbrt)
SB_EACH(sinpi)
SB_EACH(cospi)
SB_EACH(erfcx)
SB_EACH(erfinv)
SB_EACH(erfcinv)
SB_EACH(normcdfinv)
SB_EACH(normcdf)
SB_EACH(cyl_bessel_i0)
SB_EACH(cyl_bessel_i1)
#define SB_SEVERAL(name, parameters, ...) \
  double __sb_maths_##name parameters;    \
  double __streambed_##name parameters;   \
  double __streambed_##name parameters { return __sb_maths_##name(__VA_ARGS__); }
SB_SEVERAL(rhypot, (double x, double y), x, y)
SB_SEVERAL(norm3d, (double x, double y, double z), x, y, z)
SB_SEVERAL(rnorm3d, (double x, double y, double z), x, y, z)
SB_SEVERAL(norm4d, (double x, double y, double z, double u), x, y, z, u)
SB_SEVERAL(rnorm4d, (double x, double y, double z, double u), x, y, z, u)
}
