#!/usr/bin/env python3
"""Computes the polynomials of this folder: fitted, with coefficients that are rounded one by one.

  coefficients.py [name...]

A polynomial of x or of x*x stands for a function over an interval, so that the relative error of the result is small.
After the lowest coefficient is rounded to the type, the others are fitted again, and so on: the rounding of one is made
good by the next. Needs mpmath (Debian: python3-mpmath). It is not part of the build.
"""

import struct
import sys

from mpmath import mp, mpf

mp.dps = 50


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
