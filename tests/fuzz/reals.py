"""Steps with numbers that are not whole: float, half and bfloat16, the same to the last bit in any order of threads.

A sum of a product may be fused or not, as a device's compiler likes, unless the program says which. So it is written here
with functions that say, or (`free`) in programs that are not held against a device, or compiled with -fmad=false. A result that is no number, or beyond
all, becomes 1.5, so that nothing depends on the sign of a zero or on a NaN's bits.
"""

VARIABLES = ["  float r = fmaf((float)(in[g & 1023] & 4095u), 0.37f, 0.1f), u = (float)(t & 31u) / 7.0f;",
             "  __half h = __float2half(r * 0.01f);",
             "  __nv_bfloat16 q = __float2bfloat16(u + 0.3f);"]
RESULT = ("__float_as_uint(r + 0.0f) ^ __float_as_uint(u + 0.0f) * 3u ^ (u32)__half_as_ushort(h) * 5u ^ "
          "(u32)__bfloat16_as_ushort(q) * 7u")


class Reals:
    """Wants rng and emit(), and r, u, h and q in the kernel."""

    free = False

    def small(self):
        return self.rng.choice(["r", "u", "0.7f", "1.0f / 3.0f", "-2.6f", "__half2float(h)", "__bfloat162float(q)",
                                "(float)(int)(a & 63u) / 9.0f", "(float)(b & 15u) - 7.3f"])

    def real(self):
        one, other, third = self.small(), self.small(), self.small()
        forms = [f"{one} + {other}", f"{one} - {other}", f"__fmul_rn({one}, {other})", f"fmaf({one}, {other}, {third})",
                 f"__fadd_rn(__fmul_rn({one}, {other}), {third})", f"{one} / ({other})", f"sqrtf(fabsf({one}))",
                 f"fminf({one}, {other})", f"fmaxf({one}, {other})", f"floorf({one})", f"({one} + {other}) - {third}",
                 f"{one} < {other} ? {third} : {one}", f"(float)((double){one} + (double){other})",
                 f"rintf({one})", f"truncf({one})", f"fabsf({one})"]
        if self.free:
            forms += [f"{one} * {other} + {third}", f"{one} * {other} - {third} * {one}", f"({one} + {other}) * {third}"]
        return self.rng.choice(forms)

    def real_step(self):
        target = self.rng.choice("ru")
        self.emit(f"{target} = {self.real()};")
        self.emit(f"{target} = fabsf({target}) < 1e6f ? {target} : 1.5f;")
        if self.rng.random() < 0.3:
            self.emit(f"{self.rng.choice('abc')} += (u32)(int)({target} * 16.0f);")

    def half_step(self):
        rng = self.rng
        h = rng.choice(["h + __float2half(u)", "h * __float2half(1.7f)", "h - __float2half(0.3f)",
                        "__hfma(h, __float2half(u), h)", "__hadd(h, __float2half(r))", "__hmax(h, __float2half(u))",
                        "h / __float2half(1.3f)", "__hlt(h, __float2half(u)) ? -h : h", "hsqrt(__habs(h))",
                        "__low2half(__hmul2(__half2half2(h), __floats2half2_rn(u, r)))",
                        "__high2half(__hfma2(__floats2half2_rn(u, 0.3f), __half2half2(h), __half2half2(h)))",
                        "__int2half_rn((int)(a & 255u)) + h"])
        q = rng.choice(["q + __float2bfloat16(r)", "q * __float2bfloat16(1.7f)", "q - __float2bfloat16(u)",
                        "__hfma(q, __float2bfloat16(u), q)", "__hmin(q, __float2bfloat16(r))",
                        "__hgt(q, __float2bfloat16(0.5f)) ? -q : q",
                        "__low2bfloat16(__hadd2(__bfloat162bfloat162(q), __floats2bfloat162_rn(u, r)))"])
        if rng.random() < 0.5:
            self.emit(f"h = {h};")
            self.emit("h = __half2float(__habs(h)) < 1000.0f ? h : __float2half(1.5f);")
        else:
            self.emit(f"q = {q};")
            self.emit("q = fabsf(__bfloat162float(q)) < 1000.0f ? q : __float2bfloat16(1.5f);")
        if rng.random() < 0.4:
            self.emit(rng.choice(["r += __half2float(h);", "u -= __bfloat162float(q);",
                                  "a ^= (u32)__half_as_ushort(__habs(h) + __float2half(1.0f));",
                                  "b += __hlt(h, __float2half(0.7f)) ? 3u : 5u;"]))
