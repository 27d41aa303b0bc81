/* Those of special_functions.h that the device has as functions of the compiler's own, for the
   host. Those for float compute in double and round once. */
#ifndef STREAMBED_HOST_SPECIAL_FUNCTIONS_H
#define STREAMBED_HOST_SPECIAL_FUNCTIONS_H

/* The quotient is a few units off in the last place; one step of Newton's, its residue in two
 * parts. */
SB_BOTH_FN double rcbrt(double x) {
  const double y = 1.0 / cbrt(x);
  const double square = y * y, product = x * y;
  const double residue = __builtin_fma(-product, square, 1.0) -
                         product * __builtin_fma(y, y, -square) -
                         square * __builtin_fma(x, y, -product);
  const double better = __builtin_fma(y, residue * 0.33333333333333333, y);
  return x == 0.0 || __builtin_isinf(x) ? y : better;
}
SB_BOTH_FN float rcbrtf(float x) { return static_cast<float>(1.0 / cbrt(static_cast<double>(x))); }

SB_BOTH_FN double norm3d(double a, double b, double c) {
  const double p[3] = {a, b, c};
  return norm(3, p);
}
SB_BOTH_FN double rnorm3d(double a, double b, double c) {
  const double p[3] = {a, b, c};
  return rnorm(3, p);
}
SB_BOTH_FN double norm4d(double a, double b, double c, double d) {
  const double p[4] = {a, b, c, d};
  return norm(4, p);
}
SB_BOTH_FN double rhypot(double x, double y) {
  const double p[2] = {x, y};
  return rnorm(2, p);
}
SB_BOTH_FN double rnorm4d(double a, double b, double c, double d) {
  const double p[4] = {a, b, c, d};
  return rnorm(4, p);
}

/* sin and cos of multiples of pi. `x` comes down to a quarter turn either way first, exactly. */
SB_BOTH_FN void sincospi(double x, double* sine, double* cosine) {
  if (__builtin_isinf(x) || __builtin_isnan(x)) {
    *sine = *cosine = __builtin_nan("");
    return;
  }
  if (__builtin_fabs(x) >= 0x1p53) { /* an even number */
    *sine = __builtin_copysign(0.0, x);
    *cosine = 1.0;
    return;
  }
  const double halves = __builtin_rint(2.0 * x);
  const double rest = __builtin_fma(-0.5, halves, x);
  const double pi = 3.14159265358979311600, pi_low = 1.2246467991473532e-16;
  const double angle = rest * pi;
  const double slack = __builtin_fma(rest, pi, -angle) + rest * pi_low;
  const double s0 = sin(angle), c0 = cos(angle);
  const double s = s0 + slack * c0, c = c0 - slack * s0;
  const int quarter = static_cast<int>(halves - 4.0 * __builtin_floor(halves / 4.0));
  const double turned_s = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
  const double turned_c = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
  /* Whole numbers give a zero with the sign of x; the cosine's zeros are positive. */
  *sine = rest == 0.0 && quarter % 2 == 0 ? __builtin_copysign(0.0, x) : turned_s;
  *cosine = rest == 0.0 && quarter % 2 == 1 ? 0.0 : turned_c;
}
SB_BOTH_FN double sinpi(double x) {
  double s, c;
  sincospi(x, &s, &c);
  return s;
}
SB_BOTH_FN double cospi(double x) {
  double s, c;
  sincospi(x, &s, &c);
  return c;
}
SB_BOTH_FN float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
SB_BOTH_FN float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }

/* exp(x*x) * erfc(x). The square is carried in two parts; where erfc vanishes, the series in 1/x^2.
 */
SB_BOTH_FN double erfcx(double x) {
  if (x < 25.0) {
    const double square = x * x;
    const double slack = __builtin_fma(x, x, -square);
    const double grown = exp(square);
    return grown > 1.7e308 ? grown * 2.0 : (grown + grown * slack) * erfc(x);
  }
  const double t = 0.5 / (x * x);
  double series = 1.0;
  for (int odd = 17; odd > 0; odd -= 2) series = 1.0 - odd * t * series;
  return 0.56418958354775628695 / x * series;
}
SB_BOTH_FN float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }

/* A first guess from the logarithm of what is left of one, then Halley's steps. */
SB_BOTH_FN double __sb_erf_guess(double log_of_rest) {
  const double a = 0.147, two_over_pi_a = 4.3307467508;
  const double half = two_over_pi_a + 0.5 * log_of_rest;
  return __builtin_sqrt(__builtin_sqrt(half * half - log_of_rest / a) - half);
}
SB_BOTH_FN double erfinv(double y) {
  const double size = __builtin_fabs(y);
  if (!(size <= 1.0)) return __builtin_nan("");
  if (size == 1.0) return __builtin_copysign(__builtin_inf(), y);
  if (size < 1e-8) return y * 0.88622692545275801365;
  double x = __sb_erf_guess(log1p(-size * size));
  for (int i = 0; i < 3; ++i) {
    const double excess = size < 0.5 ? erf(x) - size : (1.0 - size) - erfc(x);
    const double step = excess * exp(x * x) * 0.88622692545275801365;
    x -= step / (1.0 + x * step);
  }
  return __builtin_copysign(x, y);
}
SB_BOTH_FN double erfcinv(double y) {
  if (!(y >= 0.0 && y <= 2.0)) return __builtin_nan("");
  if (y == 0.0) return __builtin_inf();
  if (y >= 0.5) return erfinv(1.0 - y);
  double x = __sb_erf_guess(log(y * (2.0 - y)));
  if (y < 1e-280) {
    /* Near the smallest numbers erfc has no digits left: Newton's steps on its logarithm. */
    for (int i = 0; i < 4; ++i) {
      const double scaled = erfcx(x);
      x += (log(scaled) - x * x - log(y)) * 0.88622692545275801365 * scaled;
    }
    return x;
  }
  for (int i = 0; i < 3; ++i) {
    const double step = (y - erfc(x)) * exp(x * x) * 0.88622692545275801365;
    x -= step / (1.0 + x * step);
  }
  return x;
}
SB_BOTH_FN double normcdfinv(double y) {
  if (!(y >= 0.0 && y <= 1.0)) return __builtin_nan("");
  return -1.41421356237309514547 * erfcinv(2.0 * y);
}
/* The argument of erfc is carried in two parts: its error is magnified by the argument's square. */
SB_BOTH_FN double normcdf(double x) {
  const double root = 0.70710678118654757274, root_low = -4.8336466567264567e-17;
  const double t = -x * root;
  if (!(__builtin_fabs(t) < 30.0)) return 0.5 * erfc(t);
  const double slack = __builtin_fma(-x, root, -t) - x * root_low;
  return 0.5 * (erfc(t) - 1.12837916709551257390 * exp(-t * t) * slack);
}
/* Modified Bessel functions of order 0 and 1: the power series, whose terms all have one sign, kept
   in two parts each; for large arguments the asymptotic one. */
SB_BOTH_FN double __sb_bessel_i(int order, double size) {
  if (size < 20.0) {
    const double q = 0.25 * size * size;
    const double q_low = 0.25 * __builtin_fma(size, size, -4.0 * q);
    double term = order == 0 ? 1.0 : 0.5 * size, term_low = 0.0;
    double sum = term, sum_low = 0.0;
    for (int i = 1; i < 200 && term > sum * 1e-18; ++i) {
      const double divisor = static_cast<double>(i) * (i + order);
      const double product = term * q;
      const double low = __builtin_fma(term, q, -product) + term * q_low + term_low * q;
      term = product / divisor;
      term_low = (__builtin_fma(-term, divisor, product) + low) / divisor;
      const double next = sum + term;
      sum_low += (term - (next - sum)) + term_low;
      sum = next;
    }
    return sum + sum_low;
  }
  if (!(size < 720.0)) return size + __builtin_inf();
  const double mu = 4.0 * order * order;
  double term = 1.0, rest = 0.0;
  for (int i = 1; i < 40; ++i) {
    const double odd = 2.0 * i - 1.0;
    const double next = term * -(mu - odd * odd) / (8.0 * i * size);
    if (__builtin_fabs(next) < 1e-18 || __builtin_fabs(next) > __builtin_fabs(term)) break;
    term = next;
    rest += term;
  }
  const double half = size < 700.0 ? 1.0 : exp(0.5 * size);
  const double scale = size < 700.0 ? exp(size) : half;
  return half * ((1.0 + rest) / __builtin_sqrt(6.28318530717958623200 * size)) * scale;
}
SB_BOTH_FN double cyl_bessel_i0(double x) { return __sb_bessel_i(0, __builtin_fabs(x)); }
SB_BOTH_FN double cyl_bessel_i1(double x) {
  return __builtin_copysign(__sb_bessel_i(1, __builtin_fabs(x)), x);
}
#define SB_FLOAT_FROM_DOUBLE(name) \
  SB_BOTH_FN float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }
SB_FLOAT_FROM_DOUBLE(erfinv)
SB_FLOAT_FROM_DOUBLE(erfcinv)
SB_FLOAT_FROM_DOUBLE(normcdfinv)
SB_FLOAT_FROM_DOUBLE(normcdf)
SB_FLOAT_FROM_DOUBLE(cyl_bessel_i0)
SB_FLOAT_FROM_DOUBLE(cyl_bessel_i1)
#undef SB_FLOAT_FROM_DOUBLE

#endif
