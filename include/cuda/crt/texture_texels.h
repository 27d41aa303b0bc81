/* Textures as the texture units of an H200 read them: where a coordinate lies, and what a texel is.
   What is known to differ, in the last bits of some filtered sums, is in docs/compatibility.md.
   tests/conformance textures */
#ifndef STREAMBED_TEXTURE_TEXELS_H
#define STREAMBED_TEXTURE_TEXELS_H

#include "../host_defines.h"
#include "texture_object.h"

#define SB_TEXTURE_FN static inline __attribute__((unused)) __device__

/* Four components of 32 bits, floats or integers, as an instruction returns them. */
struct __sb_texel {
  unsigned c[4];
};

SB_TEXTURE_FN float __sb_tex_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
SB_TEXTURE_FN unsigned __sb_tex_bits(float value) { return __builtin_bit_cast(unsigned, value); }

/* ---- coordinates -------------------------------------------------------------------------- */

/* Where a coordinate is: between the texels `first` and `first + 1`, so many 256ths behind the
   first. Without a filter it is in `first`. */
struct __sb_place {
  long long first;
  unsigned weight;
};

/* Denormals and what is no number count as 0; what is out of every texture's reach may be less. */
SB_TEXTURE_FN float __sb_tex_within(float c, float most) {
  const unsigned magnitude = __sb_tex_bits(c) & 0x7fffffffu;
  if (magnitude < 0x00800000u || magnitude > 0x7f800000u) return 0.0f;
  return c > most ? most : c < -most ? -most : c;
}

/* Bits of a coordinate that is a fraction: what is below them is lost before it is multiplied. */
SB_TEXTURE_FN int __sb_tex_fraction_bits(unsigned size) {
  return size > 65536u ? 23 : size > 8192u ? 22 : 21;
}

/* The coordinate in 256ths of a texel, rounded half up when `half` is set and down otherwise. */
SB_TEXTURE_FN long long __sb_tex_position(float c, unsigned size, int fractions, int bits,
                                          int half) {
  if (!fractions) {
    const double scaled = (double)__sb_tex_within(c, 1048576.0f) * (1 << bits);
    return (long long)__builtin_floor(scaled + (half ? 0.5 : 0.0));
  }
  const int kept = __sb_tex_fraction_bits(size);
  /* Whole turns beyond the reach of floats with fractions are none. */
  const float inside = __sb_tex_within(c, kept == 23 ? 4194304.0f : 16777216.0f);
  const long long steps =
      (long long)__builtin_floor((double)inside * (double)(1ll << kept)) * (long long)size;
  const int drop = kept - bits;
  return (steps + (half ? 1ll << (drop - 1) : 0)) >> drop;
}

SB_TEXTURE_FN struct __sb_place __sb_tex_place(const struct __sb_image* t, float c, unsigned size,
                                               unsigned mode) {
  struct __sb_place place;
  if (!t->linear) {
    place.first = __sb_tex_position(c, size, t->fractions, 0, 0);
    place.weight = 0;
  } else {
    const long long at = __sb_tex_position(c, size, t->fractions, 8, 1) - 128;
    place.first = at >> 8;
    place.weight = (unsigned)(at & 255);
    /* Beyond the centre of an edge's texel there is but that texel. */
    if (mode == 1 && (place.first < 0 || place.first >= (long long)size - 1)) {
      place.first = place.first < 0 ? 0 : (long long)size - 1;
      place.weight = 0;
    }
  }
  return place;
}

/* The texel that a mode takes for a number outside; -1: the border. */
SB_TEXTURE_FN int __sb_tex_index(long long i, unsigned size, unsigned mode) {
  const long long n = size;
  if (i >= 0 && i < n) return (int)i;
  if (mode == 0) {
    const long long rest = i % n;
    return (int)(rest < 0 ? rest + n : rest);
  }
  if (mode == 2) {
    long long rest = i % (2 * n);
    if (rest < 0) rest += 2 * n;
    return (int)(rest < n ? rest : 2 * n - 1 - rest);
  }
  return mode == 3 ? -1 : i < 0 ? 0 : (int)(n - 1);
}

/* ---- texels ------------------------------------------------------------------------------- */

/* A component as it lies in memory. */
SB_TEXTURE_FN int __sb_tex_raw(const struct __sb_image* t, const char* texel, int component) {
  if (t->bits == 32) {
    int word;
    __builtin_memcpy(&word, texel + 4 * component, 4);
    return word;
  }
  if (t->bits == 16) {
    unsigned short word;
    __builtin_memcpy(&word, texel + 2 * component, 2);
    return t->kind == 0 ? (short)word : word;
  }
  const unsigned char word = (unsigned char)texel[component];
  return t->kind == 0 ? (signed char)word : word;
}

SB_TEXTURE_FN unsigned __sb_tex_half(unsigned h) {
  const unsigned sign = (h & 0x8000u) << 16;
  const unsigned exponent = h >> 10 & 31u;
  const unsigned mantissa = h & 0x3ffu;
  if (exponent == 31) return sign | 0x7f800000u | mantissa << 13;
  if (exponent != 0) return sign | (exponent + 112) << 23 | mantissa << 13;
  return sign | __sb_tex_bits((float)mantissa * 0x1p-24f);
}

/* What an H200 makes of sRGB, in 16384ths. */
SB_TEXTURE_FN unsigned __sb_tex_srgb(int value) {
  constexpr unsigned short linear[256] = {
      0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,
      66,    72,    78,    85,    92,    99,    107,   115,   123,   131,   140,   150,   159,
      169,   180,   190,   201,   213,   224,   236,   250,   262,   276,   290,   304,   318,
      332,   348,   364,   380,   396,   412,   430,   448,   466,   484,   504,   524,   544,
      564,   584,   604,   624,   648,   672,   692,   716,   740,   764,   788,   816,   840,
      864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,  1184,  1216,
      1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,
      1712,  1752,  1792,  1832,  1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,
      2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,  2752,  2816,  2864,
      2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,
      3664,  3712,  3776,  3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,
      4512,  4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,  5152,  5216,  5280,  5376,
      5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,
      6496,  6592,  6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,  7488,  7584,
      7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,  8448,  8512,  8640,  8768,  8832,
      8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240,
      10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712,
      11840, 11968, 12096, 12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376,
      13504, 13632, 13760, 13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104,
      15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384,
  };
  return __sb_tex_bits((float)linear[value] * 0x1p-14f);
}

SB_TEXTURE_FN unsigned __sb_tex_fraction(int value, float most) {
  return __sb_tex_bits((float)value < -most ? -1.0f : (float)value / most);
}

SB_TEXTURE_FN bool __sb_tex_is_srgb(const struct __sb_image* t, int component) {
  return t->srgb && component < (t->components == 4 ? 3 : 1);
}

/* As an instruction returns it. */
SB_TEXTURE_FN unsigned __sb_tex_value(const struct __sb_image* t, int raw, int component) {
  if (t->kind == 2) return t->bits == 16 ? __sb_tex_half((unsigned)raw) : (unsigned)raw;
  if (!t->normalized) return (unsigned)raw;
  if (__sb_tex_is_srgb(t, component)) return __sb_tex_srgb(raw);
  const bool small = t->bits == 8;
  return t->kind == 0 ? __sb_tex_fraction(raw, small ? 127.0f : 32767.0f)
                      : __sb_tex_fraction(raw, small ? 255.0f : 65535.0f);
}

/* Where a texel lies; the border's for a number below 0. */
SB_TEXTURE_FN const char* __sb_tex_at(const struct __sb_image* t, int x, int y, int z) {
  if ((x | y | z) < 0) return (const char*)t->border;
  return t->data + (size_t)(unsigned)z * t->slice + (size_t)(unsigned)y * t->pitch +
         (size_t)(unsigned)x * (t->bits / 8u * t->components);
}

SB_TEXTURE_FN struct __sb_texel __sb_tex_load(const struct __sb_image* t, const char* at) {
  struct __sb_texel texel = {{0, 0, 0, 0}};
  if (t->bits == 32) {
    const int count = t->components;
    __builtin_memcpy(&texel.c[0], at, 4);
    if (count > 1) __builtin_memcpy(&texel.c[1], at + 4, 4);
    if (count > 2) __builtin_memcpy(&texel.c[2], at + 8, 8);
    return texel;
  }
  for (int c = 0; c < t->components; ++c) texel.c[c] = __sb_tex_value(t, __sb_tex_raw(t, at, c), c);
  return texel;
}

#endif
