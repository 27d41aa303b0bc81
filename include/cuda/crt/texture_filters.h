/* Filters of textures, as an H200 adds: weights have 8 bits, the weighted texels are added exactly,
   but for what lies far below the largest of them, and the sum is rounded once. */
#ifndef STREAMBED_TEXTURE_FILTERS_H
#define STREAMBED_TEXTURE_FILTERS_H

#include "texture_texels.h"

/* `kept` bits of mantissa of size * 2^(unit - 127), rounded half up, as a float. */
SB_TEXTURE_FN unsigned __sb_tex_rounded(unsigned long long size, int unit, int kept) {
  const int length = 64 - __builtin_clzll(size);
  int exponent = unit + length - 1;
  int drop = length - kept;
  /* Halves below their normal numbers keep less. */
  if (kept == 11 && exponent < 113) drop += 113 - exponent;
  if (drop > 0) size = drop > 63 ? 0 : ((size >> (drop - 1)) + 1) >> 1 << drop;
  if (size == 0) return 0;
  const int now = 64 - __builtin_clzll(size);
  exponent += now - length;
  if (exponent <= 0) return 0;
  const unsigned long long mantissa = now > 24 ? size >> (now - 24) : size << (24 - now);
  if (exponent >= (kept == 11 ? 143 : 255)) return 0x7f800000u;
  return (unsigned)exponent << 23 | ((unsigned)mantissa & 0x7fffffu);
}

/* What infinities and what is no number make of a sum; 0: there are none. */
SB_TEXTURE_FN unsigned __sb_tex_special(const unsigned* values, const unsigned* weights,
                                        int count) {
  unsigned found = 0;
  for (int i = 0; i < count; ++i) {
    if (weights[i] == 0 || (values[i] & 0x7f800000u) != 0x7f800000u) continue;
    if ((values[i] & 0x7fffffu) != 0 || (found != 0 && found != values[i])) return 0x7fffffffu;
    found = values[i];
  }
  return found;
}

/* The sum of up to four weighted floats: a whole number of 2^(unit - 127). */
struct __sb_tex_part {
  long long sum;
  int unit;
  bool negative; /* all of them are, and so is a sum of 0 */
};

/* Of each texel 27 - `lost` bits below the largest's first count: of floats 27, of halves 14, of
   sRGB 7. */
SB_TEXTURE_FN struct __sb_tex_part __sb_tex_part_sum(const unsigned* values,
                                                     const unsigned* weights, int count, int lost) {
  struct __sb_tex_part part = {0, 0, true};
  int top = lost == 13 ? 113 : 1;
  for (int i = 0; i < count; ++i) {
    const int exponent = (int)(values[i] >> 23 & 255u);
    if (weights[i] == 0) continue;
    if (exponent > top) top = exponent;
    if (values[i] >> 31 == 0) part.negative = false;
  }
  for (int i = 0; i < count; ++i) {
    const int exponent = (int)(values[i] >> 23 & 255u);
    if (weights[i] == 0 || exponent == 0) continue;
    const int down = top - exponent + lost;
    const long long mantissa = (long long)((values[i] & 0x7fffffu) | 0x800000u) << 4;
    const long long product = down > 62 ? 0 : (mantissa >> down) * (long long)weights[i];
    part.sum += values[i] >> 31 ? -product : product;
  }
  part.unit = top - 35 + lost;
  return part;
}

/* Slices of a volume are summed on their own, and then together. */
SB_TEXTURE_FN struct __sb_tex_part __sb_tex_both(struct __sb_tex_part a, struct __sb_tex_part b) {
  if (a.sum == 0 || (b.sum != 0 && b.unit > a.unit)) {
    const struct __sb_tex_part first = a;
    a = b;
    b = first;
  }
  const int apart = a.unit - b.unit, up = apart < 20 ? apart : 20;
  struct __sb_tex_part all = {a.sum, a.unit, a.negative && b.negative};
  if (b.sum == 0) return all;
  all.sum = a.sum * (1ll << up) + (apart - up > 62 ? b.sum >> 62 : b.sum >> (apart - up));
  all.unit = a.unit - up;
  return all;
}

SB_TEXTURE_FN unsigned __sb_tex_float_sum(const unsigned* values, const unsigned* weights,
                                          int count, int lost) {
  const unsigned special = __sb_tex_special(values, weights, count);
  if (special != 0) return special;
  struct __sb_tex_part all = __sb_tex_part_sum(values, weights, count < 4 ? count : 4, lost);
  if (count > 4) all = __sb_tex_both(all, __sb_tex_part_sum(values + 4, weights + 4, 4, lost));
  if (all.sum == 0) return all.negative ? 0x80000000u : 0u;
  const unsigned long long size = (unsigned long long)(all.sum < 0 ? -all.sum : all.sum);
  return (all.sum < 0 ? 0x80000000u : 0u) | __sb_tex_rounded(size, all.unit, lost == 0 ? 24 : 11);
}

/* The sum of weighted integers as a fraction of their range. It has 16 bits, whatever they had. */
SB_TEXTURE_FN unsigned __sb_tex_fraction_sum(const struct __sb_image* t, int sum) {
  const bool small = t->bits == 8;
  if (t->kind != 0) {
    return __sb_tex_fraction(small ? (sum * 257 + 128) >> 8 : (int)(((unsigned)sum + 128u) >> 8),
                             65535.0f);
  }
  const int wide = small ? sum + ((sum + 64 + (sum >> 12) * 16) >> 7) : (sum + 128) >> 8;
  return __sb_tex_fraction(wide, 32767.0f);
}

SB_TEXTURE_FN struct __sb_texel __sb_tex_filter(const struct __sb_image* t,
                                                const char* const* texels, const unsigned* weights,
                                                int count) {
  struct __sb_texel answer = {{0, 0, 0, 0}};
  for (int c = 0; c < t->components; ++c) {
    unsigned values[8];
    int sum = 0;
    for (int i = 0; i < count; ++i) {
      const int raw = __sb_tex_raw(t, texels[i], c);
      values[i] = __sb_tex_value(t, raw, c);
      if (t->kind != 2) sum += raw * (int)weights[i];
    }
    const bool floats = t->kind == 2 || __sb_tex_is_srgb(t, c);
    const int lost = t->bits == 32 ? 0 : t->bits == 16 ? 13 : 20;
    answer.c[c] =
        floats ? __sb_tex_float_sum(values, weights, count, lost) : __sb_tex_fraction_sum(t, sum);
  }
  return answer;
}

/* The weights of 2, 4 or 8 texels, the first dimension changing fastest. They add up to 256, and
   which of them are rounded is the hardware's. */
SB_TEXTURE_FN unsigned __sb_tex_product(unsigned a, unsigned b) { return (a * b + 128u) >> 8; }

SB_TEXTURE_FN void __sb_tex_weights(int dimensions, unsigned a, unsigned b, unsigned c,
                                    unsigned* w) {
  if (dimensions < 3) {
    const unsigned both = __sb_tex_product(a, b);
    w[0] = 256u - a - b + both;
    w[1] = a - both;
    w[2] = b - both;
    w[3] = both;
    return;
  }
  for (int z = 0; z < 2; ++z, w += 4) {
    const unsigned slice = z == 0 ? 256u - c : c;
    const unsigned right = __sb_tex_product(a, slice), left = slice - right;
    w[0] = __sb_tex_product(left, 256u - b);
    w[2] = left - w[0];
    w[3] = __sb_tex_product(right, b);
    w[1] = right - w[3];
  }
}

#endif
