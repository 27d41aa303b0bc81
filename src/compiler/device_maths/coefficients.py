#!/usr/bin/env python3
"""Computes the polynomials of this folder: fitted, with coefficients that are rounded one by one.

  coefficients.py [name...]

A polynomial of x or of x*x stands for a function over an interval, so that the relative error of the result is small.
After the lowest coefficient is rounded to the type, the others are fitted again, and so on: the rounding of one is made
good by the next. Needs mpmath (Debian: python3-mpmath). It is not part of the build.
"""

import functools
import struct
import sys

from mpmath import mp, mpf

mp.dps = 70


def rounded(value, double):
    if double:
        return mpf(float(value))
    return mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def solve(function, weight, powers, low, high):
    """Coefficients of the powers with the least squares of (sum - function) * weight, and the largest of these. At the
    nodes of Chebyshev that is nearly the best polynomial, whatever the powers are."""
    middle, half = (low + high) / 2, (high - low) / 2
    count = 8 * len(powers) + 8
    nodes = [middle - half * mp.cos(mp.pi * (i + mpf(1) / 2) / count) for i in range(count)]
    rows, right = mp.matrix(count, len(powers)), mp.matrix(count, 1)
    for i, x in enumerate(nodes):
        scale = weight(x)
        for j, power in enumerate(powers):
            rows[i, j] = x**power * scale
        right[i] = function(x) * scale
    transposed = rows.T
    solution = mp.lu_solve(transposed * rows, transposed * right)
    level = max(abs(e) for e in rows * solution - right)
    return list(solution), level


def fit(function, weight, powers, low, high, double=False, fixed=()):
    """As solve, with rounded coefficients; `fixed` are those of the first powers."""
    low, high = mpf(low), mpf(high)
    known = [mpf(c) for c in fixed]
    level = mpf(0)
    while len(known) < len(powers):
        def rest(x):
            return function(x) - sum(c * x**p for c, p in zip(known, powers))
        coefficients, level = solve(rest, weight, powers[len(known):], low, high)
        known.append(rounded(coefficients[0], double))
    return known, level


def steps(first, count, step=1):
    return [first + step * i for i in range(count)]


def of_square(function):
    return lambda t: function(mp.sqrt(t))


one = mpf(1)
tiny = mpf("1e-9")
root = mp.sqrt(mpf(2)) - 1  # sqrt(2) - 1 and sqrt(1/2) - 1 bound what logarithms get
low_root = mp.sqrt(mpf(1) / 2) - 1
quarter = mp.pi / 4 * mpf("1.01")


def fit_erfc(c, last, count, double):
    def scaled(t):
        x = c * (1 + t) / (1 - t)
        return (x + c) * mp.exp(x * x) * mp.erfc(x)
    return fit(scaled, lambda t: 1 / scaled(t), steps(0, count), -1, (mpf(last) - c) / (mpf(last) + c), double)


def fit_over(variable, inverse, function, first, last, count, double, weight=None):
    """A polynomial of a variable that depends on x, for x from `first` to `last`."""
    low, high = sorted((variable(mpf(first)), variable(mpf(last))))

    def of_variable(v):
        return function(inverse(v))
    return fit(of_variable, weight or (lambda v: 1 / of_variable(v)), steps(0, count), low, high, double)


def fit_lgamma(c, last, count, double):
    def rest(x):
        return mp.loggamma(x) / ((x - 1) * (x - 2))
    return fit_over(lambda x: (x - c) / (x + c), lambda t: c * (1 + t) / (1 - t), rest, 0.5, last, count, double)


def fit_stirling(first, count, double):
    def rest(z):
        x = 1 / mp.sqrt(z)
        return (mp.loggamma(x) - (x - one / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x
    return fit(rest, lambda z: mpf(1), steps(0, count), mpf("1e-7"), one / first**2, double)


def fit_tgamma(last, count, double):
    def rest(x):
        return mp.exp(mp.loggamma(x) - (x - one / 2) * mp.log(x) + x)
    return fit_over(lambda x: 1 / (x + one / 2), lambda v: 1 / v - one / 2, rest, 1, last, count, double)


@functools.cache
def inverse_erfc(w):
    """x with erfc(x) * erfc(-x) = e^-w."""
    rest = mp.exp(-w)
    log_erfc = -w - mp.log(1 + mp.sqrt(1 - rest))
    x = mp.sqrt(w) * (1 if w > 3 else mp.sqrt(mp.pi) / 2)
    for _ in range(60):
        value = mp.erfc(x)
        step = (mp.log(value) - log_erfc) * value * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
        x += step
        if abs(step) < mpf(10) ** -60 * x:
            break
    return x


def fit_erfinv_middle(last, count, double):
    first = rounded(mp.sqrt(mp.pi) / 2, double)

    def ratio(w):
        x = inverse_erfc(w)
        return x / mp.erf(x)
    return fit(ratio, lambda w: 1 / ratio(w), steps(0, count), mpf("1e-9"), mpf(last), double, (first,))


def fit_erfinv_tail(middle, first, last, count, double):
    return fit_over(lambda s: 1 / mp.sqrt(s) - middle, lambda t: 1 / (t + middle)**2,
                    lambda s: inverse_erfc(s * s) / s, first, last, count, double)


# Bessel functions of the order n, and where they are zero.
ZEROS = {"j0": (2.4, 5.5), "j1": (3.8, 7.0), "y0": (0.89, 3.96, 7.09), "y1": (2.2, 5.43)}


def bessel(name):
    order = int(name[1])
    return (lambda x: mp.besselj(order, x)) if name[0] == "j" else (lambda x: mp.bessely(order, x))


@functools.cache
def zero(name, number):
    return mp.findroot(bessel(name), mpf(ZEROS[name][number]))


def fit_of_square(middle, function, last, count):
    """A polynomial of x^2 - middle, from zero on."""
    def of_variable(t):
        return function(mp.sqrt(t + middle))
    return fit(of_variable, lambda t: 1 / of_variable(t), steps(0, count), mpf("1e-12") - middle, mpf(last)**2 - middle,
               True)


def fit_from_zeros(name, middle, numbers, first, last, count):
    """A polynomial of x - middle, that of a Bessel function divided by its distances from zeros."""
    def rest(x):
        return bessel(name)(x) / mp.fprod(x - zero(name, number) for number in numbers)
    return fit_over(lambda x: x - middle, lambda t: t + middle, rest, first, last, count, True)


def fit_y_part(order, last, count):
    """What y0 and y1 are besides logarithm and pole."""
    def rest(x):
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        if order == 0:
            least = zero("y0", 0)
            return (y - 2 / mp.pi * mp.log(x / least) * j) / (x * x - least**2)
        return (y - 2 / mp.pi * (mp.log(x) * j - 1 / x)) / x
    return fit_of_square(mpf(0), rest, last, count)


def fit_far(order, wanted, count):
    """j x = sqrt(2 / (pi * x)) * (p * cos(x - turn) - q / x * sin(x - turn)), y x the same with sine and cosine,
    polynomials of 1 / x^2."""
    def part(z):
        x = 1 / mp.sqrt(z)
        angle = x - mp.pi * (2 * order + 1) / 4
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        scale = mp.sqrt(mp.pi * x / 2)
        if wanted == "p":
            return scale * (j * mp.cos(angle) + y * mp.sin(angle))
        return scale * x * (y * mp.cos(angle) - j * mp.sin(angle))
    return fit(part, lambda z: mpf(1), steps(0, count), mpf("1e-6"), one / 64, True)


def fit_growing(order, last, count, double):
    """The modified Bessel function of x, divided by x if its order is one, as a polynomial of x^2 up to `last`."""
    def rest(z):
        x = mp.sqrt(z)
        return mp.besseli(order, x) / x**order
    return fit(rest, lambda z: 1 / rest(z), steps(0, count), mpf("1e-9"), mpf(last)**2, double)


def fit_grown(order, first, count, double):
    """The same times e^-x * sqrt(x), as a polynomial of 1 / x beyond `first`."""
    def rest(v):
        return mp.besseli(order, 1 / v) * mp.exp(-1 / v) / mp.sqrt(v)
    return fit(rest, lambda v: 1 / rest(v), steps(0, count), mpf("1e-3"), one / first, double)


# (f(x) - what is exact) / a power of x, so that powers begin at zero.
POLYNOMIALS = {
    # e^r = 1 + r + r^2 * p(r)
    "exp_f": lambda: fit(lambda r: (mp.exp(r) - 1 - r) / r**2, lambda r: r**2, steps(0, 5), -0.3467, 0.3467),
    # 2^r = 1 + r * p(r)
    "exp2_f": lambda: fit(lambda r: (mpf(2) ** r - 1) / r, lambda r: abs(r), steps(0, 6), -0.5001, 0.5001),
    # 10^r = 1 + r * p(r)
    "exp10_f": lambda: fit(lambda r: (mpf(10) ** r - 1) / r, lambda r: abs(r), steps(0, 6), -0.15052, 0.15052),
    # log(1 + r) = r - r^2 / 2 + r^3 * p(r)
    "log_f": lambda: fit(lambda r: (mp.log1p(r) - r + r**2 / 2) / r**3, lambda r: abs(r**3 / mp.log1p(r)),
                         steps(0, 8), low_root, root),
    # sin r = r + r^3 * p(r^2), cos r = 1 - r^2 / 2 + r^4 * p(r^2)
    "sin_f": lambda: fit(of_square(lambda r: (mp.sin(r) - r) / r**3), of_square(lambda r: r**2), steps(0, 3),
                         tiny, quarter**2),
    "cos_f": lambda: fit(of_square(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4), of_square(lambda r: r**4), steps(0, 3),
                         mpf("1e-4"), quarter**2),
    # log2(1 + r) = r * p(r), in double for float powers
    "log2_pow": lambda: fit(lambda r: mp.log1p(r) / mp.ln2 / r, lambda r: r * mp.ln2 / mp.log1p(r), steps(0, 13),
                            low_root, root, True),
    # erf x = x + x * p(x^2) below 1; log(erfc x) = p(x) above
    "erf_low_f": lambda: fit(of_square(lambda x: mp.erf(x) / x - 1), of_square(lambda x: x / mp.erf(x)), steps(0, 7),
                             tiny, one),
    "erf_high_f": lambda: fit(lambda x: mp.log(mp.erfc(x + 1)), lambda x: mp.erfc(x + 1) / mp.erf(x + 1), steps(0, 9),
                              0, 3),
    # tanh x = x + x^3 * p(x^2)
    "tanh_f": lambda: fit(of_square(lambda x: (mp.tanh(x) - x) / x**3), of_square(lambda x: x**3 / mp.tanh(x)),
                          steps(0, 5), tiny, mpf("0.56")**2),
    # The same for double: e^r = 1 + r + r^2 * p(r), 2^r = 1 + r * p(r)
    "exp_d": lambda: fit(lambda r: (mp.exp(r) - 1 - r) / r**2, lambda r: r**2, steps(0, 11), -0.3467, 0.3467, True),
    "exp2_d": lambda: fit(lambda r: (mpf(2) ** r - 1) / r, lambda r: abs(r), steps(0, 12), -0.5001, 0.5001, True),
    # log(1 + r) = 2 s + s^3 * p(s^2), s = r / (2 + r)
    "log_d": lambda: fit(of_square(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3),
                         of_square(lambda s: s**3 / (2 * mp.atanh(s))), steps(0, 7), tiny, mpf("0.1717")**2, True),
    "sin_d": lambda: fit(of_square(lambda r: (mp.sin(r) - r) / r**3), of_square(lambda r: r**2), steps(0, 6),
                         tiny, quarter**2, True),
    "cos_d": lambda: fit(of_square(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4), of_square(lambda r: r**4), steps(0, 6),
                         mpf("1e-4"), quarter**2, True),
    # 10^r = 1 + r * p(r)
    "exp10_d": lambda: fit(lambda r: (mpf(10) ** r - 1) / r, lambda r: abs(r), steps(0, 12), -0.15052, 0.15052, True),
    # log2((1 + s) / (1 - s)) = c1 * s + c3 * s^3 + s^5 * p(s^2), the first two terms in pairs of doubles
    "log2_pow_d": lambda: fit(of_square(lambda s: ((2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5) / mp.ln2),
                              of_square(lambda s: s**5 / mp.atanh(s)), steps(0, 8), mpf("1e-7"), mpf("0.1717")**2,
                              True),
    # atan x = x + x^3 * p(x^2), for double where x^2 is at most tan(pi / 8)^2
    "atan_f": lambda: fit(of_square(lambda x: (mp.atan(x) - x) / x**3), of_square(lambda x: x**3 / mp.atan(x)),
                          steps(0, 9), tiny, one),
    "atan_d": lambda: fit(of_square(lambda x: (mp.atan(x) - x) / x**3), of_square(lambda x: x**3 / mp.atan(x)),
                          steps(0, 11), tiny, mpf("0.4143")**2, True),
    # asin x = x + x^3 * p(x^2) for x^2 <= 1/4
    "asin_f": lambda: fit(of_square(lambda x: (mp.asin(x) - x) / x**3), of_square(lambda x: x**3 / mp.asin(x)),
                          steps(0, 5), tiny, mpf("0.25")),
    "asin_d": lambda: fit(of_square(lambda x: (mp.asin(x) - x) / x**3), of_square(lambda x: x**3 / mp.asin(x)),
                          steps(0, 12), tiny, mpf("0.25"), True),
    # sinh x = x + x^3 * p(x^2) below 1
    "sinh_f": lambda: fit(of_square(lambda x: (mp.sinh(x) - x) / x**3), of_square(lambda x: x**3 / mp.sinh(x)),
                          steps(0, 4), tiny, one),
    "sinh_d": lambda: fit(of_square(lambda x: (mp.sinh(x) - x) / x**3), of_square(lambda x: x**3 / mp.sinh(x)),
                          steps(0, 7), tiny, one, True),
    # m^(-1/3), as a polynomial of m - 1
    "cbrt_f": lambda: fit(lambda r: (1 + r) ** (-one / 3), lambda r: (1 + r) ** (one / 3), steps(0, 6), low_root, root),
    "cbrt_d": lambda: fit(lambda r: (1 + r) ** (-one / 3), lambda r: (1 + r) ** (one / 3), steps(0, 9), low_root, root,
                          True),
    # e^(x^2) * erfc x = p(t) / (x + c), t = (x - c) / (x + c), up to where erfc is zero
    "erfc_f": lambda: fit_erfc(3, 10.2, 10, False),
    "erfc_d": lambda: fit_erfc(4, 27.3, 23, True),
    # erf x = x + x * p(x^2) below 1
    "erf_d": lambda: fit(of_square(lambda x: mp.erf(x) / x - 1), of_square(lambda x: x / mp.erf(x)), steps(0, 12),
                         tiny, one, True),
    # sin(pi * r) = r * (pi + p(r^2) * r^2), cos(pi * r) = 1 + r^2 * p(r^2) for |r| <= 1/4; the cosine of double has
    # its first coefficient in two parts
    "sinpi_f": lambda: fit(of_square(lambda r: (mp.sinpi(r) / r - mp.pi) / r**2), of_square(lambda r: r**3 / mp.sinpi(r)),
                           steps(0, 3), tiny, one / 16),
    "sinpi_d": lambda: fit(of_square(lambda r: (mp.sinpi(r) / r - mp.pi) / r**2), of_square(lambda r: r**3 / mp.sinpi(r)),
                           steps(0, 7), tiny, one / 16, True),
    "cospi_f": lambda: fit(of_square(lambda r: (mp.cospi(r) - 1) / r**2), of_square(lambda r: r**2), steps(0, 4),
                           mpf("1e-7"), one / 16),
    "cospi_d": lambda: fit(of_square(lambda r: ((mp.cospi(r) - 1) / r**2 + mp.pi**2 / 2) / r**2),
                           of_square(lambda r: r**4), steps(0, 6), mpf("1e-4"), one / 16, True),
    # lgamma x = (x - 1) * (x - 2) * p((x - c) / (x + c)) from 1/2 to 4
    "lgamma_f": lambda: fit_lgamma(mpf("1.4375"), 4, 13, False),
    "lgamma_d": lambda: fit_lgamma(mpf("1.4375"), 4, 28, True),
    # lgamma x = (x - 1/2) * log x - x + log(2 * pi) / 2 + p(1 / x^2) / x beyond
    "stirling_f": lambda: fit_stirling(4, 3, False),
    "stirling_d": lambda: fit_stirling(4, 9, True),
    # gamma x = x^(x - 1/2) * e^-x * p(1 / (x + 1/2))
    "tgamma_f": lambda: fit_tgamma(36, 8, False),
    "tgamma_d": lambda: fit_tgamma(173, 18, True),
    # The inverse x of y = erfc x, for w = -log(y * (2 - y)): (1 - y) * p(w), or s * p(1 / sqrt(s) - m) with s = sqrt(w)
    "erfinv_f": lambda: fit_erfinv_middle(5, 10, False),
    "erfinv_tail_f": lambda: fit_erfinv_tail(0.5, 2.2, 10.25, 11, False),
    "erfinv_d": lambda: fit_erfinv_middle(6, 24, True),
    "erfinv_tail_d": lambda: fit_erfinv_tail(0.5625, 2.44, 4.6, 21, True),
    "erfinv_far_d": lambda: fit_erfinv_tail(0.328125, 4.59, 27.4, 22, True),
    # j0 x = (x^2 - z^2) * p(x^2 - 8) up to 4, (x - z) * p(x - 6) up to 8, for its zeros z; the other ones alike
    "j0_low_d": lambda: fit_of_square(mpf(8), lambda x: mp.besselj(0, x) / (x * x - zero("j0", 0)**2), 4, 14),
    "j0_high_d": lambda: fit_from_zeros("j0", 6, (1,), 4, 8, 19),
    "j1_low_d": lambda: fit_of_square(mpf(10), lambda x: mp.besselj(1, x) / x / (x * x - zero("j1", 0)**2), 4.6, 14),
    "j1_high_d": lambda: fit_from_zeros("j1", mpf("6.25"), (1,), 4.6, 8, 18),
    # y0 x = 2 / pi * log(x / z) * j0 x + (x^2 - z^2) * p(x^2) for its first zero z, y1 x without that, and their j x
    "y0_low_d": lambda: fit_y_part(0, 2.21, 12),
    "y0_high_d": lambda: fit_from_zeros("y0", mpf("5.0625"), (1, 2), 2.2, 8, 32),
    "j0_small_d": lambda: fit_of_square(mpf(0), bessel("j0"), 2.21, 11),
    "y1_low_d": lambda: fit_y_part(1, 1.61, 11),
    "y1_middle_d": lambda: fit_from_zeros("y1", mpf("2.75"), (0,), 1.6, 4, 26),
    "y1_high_d": lambda: fit_from_zeros("y1", 6, (1,), 4, 8, 20),
    "j1_small_d": lambda: fit_of_square(mpf(0), lambda x: mp.besselj(1, x) / x, 1.61, 10),
    "p0_d": lambda: fit_far(0, "p", 12),
    "q0_d": lambda: fit_far(0, "q", 12),
    "p1_d": lambda: fit_far(1, "p", 12),
    "q1_d": lambda: fit_far(1, "q", 12),
    # The modified Bessel functions i0 and i1
    "i0_low_f": lambda: fit_growing(0, 8, 10, False),
    "i0_high_f": lambda: fit_grown(0, 8, 7, False),
    "i1_low_f": lambda: fit_growing(1, 8, 10, False),
    "i1_high_f": lambda: fit_grown(1, 8, 7, False),
    "i0_low_d": lambda: fit_growing(0, 12, 19, True),
    "i0_high_d": lambda: fit_grown(0, 12, 17, True),
    "i1_low_d": lambda: fit_growing(1, 12, 19, True),
    "i1_high_d": lambda: fit_grown(1, 12, 17, True),
}


def parts(value, double, count):
    """A number as a sum of numbers of the type, the largest first."""
    out = []
    for _ in range(count):
        out.append(rounded(value, double))
        value -= out[-1]
    return out


def spelled(value, double):
    text = float(value).hex()
    if not double:  # 6 digits hold a float
        head, tail = text.split("p")
        text = head.rstrip("0").rstrip(".") + "p" + tail + "f"
    return text


def main():
    wanted = sys.argv[1:]
    for name, compute in POLYNOMIALS.items():
        if wanted and name not in wanted:
            continue
        coefficients, level = compute()
        double = name.endswith("_d") or name == "log2_pow"
        print(f"{name}: 2^{float(mp.log(level, 2)):.1f}")
        print("  " + ", ".join(spelled(c, double) for c in coefficients), flush=True)
    for name, value, count in (("ln2", mp.ln2, 2), ("log2(e)", 1 / mp.ln2, 2), ("log10(2)", mp.log10(2), 2),
                               ("log2(10)", mp.log(10, 2), 1), ("pi/2", mp.pi / 2, 3), ("2/pi", 2 / mp.pi, 1),
                               ("log10(e)", mp.log10(mp.e), 2), ("ln10", mp.log(10), 2), ("pi", mp.pi, 2),
                               ("pi/4", mp.pi / 4, 2), ("2^(1/3)", mp.cbrt(2), 1), ("2^(-1/3)", 1 / mp.cbrt(2), 1),
                               ("2/ln2", 2 / mp.ln2, 2), ("2/ln2/3", 2 / mp.ln2 / 3, 2)):
        for double in (False, True):
            print(f"{name}: " + ", ".join(spelled(p, double) for p in parts(mpf(value), double, count)))


if __name__ == "__main__":
    main()
