/* What the texture instructions of an H200 do, on the description that an object is. */
#ifndef STREAMBED_TEXTURE_SAMPLING_H
#define STREAMBED_TEXTURE_SAMPLING_H

#include "texture_filters.h"

SB_TEXTURE_FN struct __sb_texel __sb_tex_sample(const struct __sb_image* t, int dimensions, float x,
                                                float y, float z, int layer) {
  const struct __sb_place px = __sb_tex_place(t, x, t->width, t->address[0]);
  struct __sb_place py = {0, 0}, pz = {0, 0};
  if (dimensions > 1) py = __sb_tex_place(t, y, t->height, t->address[1]);
  if (dimensions > 2) pz = __sb_tex_place(t, z, t->depth, t->address[2]);
  if (!t->linear) {
    const int i = __sb_tex_index(px.first, t->width, t->address[0]);
    const int j = dimensions > 1 ? __sb_tex_index(py.first, t->height, t->address[1]) : 0;
    const int layer_at = dimensions > 2 ? __sb_tex_index(pz.first, t->depth, t->address[2]) : layer;
    return __sb_tex_load(t, __sb_tex_at(t, i, j, layer_at));
  }
  int ix[2], iy[2], iz[2];
  for (int i = 0; i < 2; ++i) {
    ix[i] = __sb_tex_index(px.first + i, t->width, t->address[0]);
    iy[i] = dimensions > 1 ? __sb_tex_index(py.first + i, t->height, t->address[1]) : 0;
    iz[i] = dimensions > 2 ? __sb_tex_index(pz.first + i, t->depth, t->address[2]) : layer;
  }
  unsigned weights[8];
  __sb_tex_weights(dimensions, px.weight, py.weight, pz.weight, weights);
  const int count = 1 << dimensions;
  const char* texels[8];
  for (int i = 0; i < count; ++i) texels[i] = __sb_tex_at(t, ix[i & 1], iy[i >> 1 & 1], iz[i >> 2]);
  return __sb_tex_filter(t, texels, weights, count);
}

/* What lies outside is 0. */
SB_TEXTURE_FN struct __sb_texel __sb_tex_fetch(const struct __sb_image* t, int x) {
  const struct __sb_texel nothing = {{0, 0, 0, 0}};
  return (unsigned)x < t->width ? __sb_tex_load(t, __sb_tex_at(t, x, 0, 0)) : nothing;
}

/* A layer below 0 or past the last is the last. */
SB_TEXTURE_FN int __sb_tex_layer(const struct __sb_image* t, int layer) {
  return (unsigned)layer < t->layers ? layer : (int)t->layers - 1;
}

/* The four texels that a filter would take, counter-clockwise from the lower left. */
SB_TEXTURE_FN struct __sb_texel __sb_tex_gather(const struct __sb_image* t, float x, float y,
                                                int component) {
  struct __sb_image filtered = *t;
  filtered.linear = 1;
  const long long px = __sb_tex_place(&filtered, x, t->width, 0).first;
  const long long py = __sb_tex_place(&filtered, y, t->height, 0).first;
  struct __sb_texel answer;
  for (int i = 0; i < 4; ++i) {
    const int right = i == 1 || i == 2, below = i < 2;
    const int ix = __sb_tex_index(px + right, t->width, t->address[0]);
    const int iy = __sb_tex_index(py + below, t->height, t->address[1]);
    const char* at = iy < 0 ? __sb_tex_at(t, -1, 0, 0) : __sb_tex_at(t, ix, iy, 0);
    answer.c[i] = __sb_tex_load(t, at).c[component & 3];
  }
  return answer;
}

/* ---- cube maps ---------------------------------------------------------------------------- */

/* The face that a direction meets, and where: from -1 to 1 from left to right and from above. */
struct __sb_cube_place {
  int face;
  float s, t;
};

SB_TEXTURE_FN struct __sb_cube_place __sb_tex_face(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  struct __sb_cube_place p;
  float size;
  if (az >= ax && az >= ay) {
    p.face = z < 0 ? 5 : 4;
    p.s = z < 0 ? -x : x;
    p.t = -y;
    size = az;
  } else if (ay >= ax) {
    p.face = y < 0 ? 3 : 2;
    p.s = x;
    p.t = y < 0 ? -z : z;
    size = ay;
  } else {
    p.face = x < 0 ? 1 : 0;
    p.s = x < 0 ? z : -z;
    p.t = -y;
    size = ax;
  }
  p.s = size > 0 ? p.s / size : 0;
  p.t = size > 0 ? p.t / size : 0;
  return p;
}

/* The direction in which a face has this place, which may lie a little outside of it. */
SB_TEXTURE_FN struct __sb_cube_place __sb_tex_next_face(int face, float s, float t) {
  switch (face) {
    case 0:
      return __sb_tex_face(1, -t, -s);
    case 1:
      return __sb_tex_face(-1, -t, s);
    case 2:
      return __sb_tex_face(s, 1, t);
    case 3:
      return __sb_tex_face(s, -1, -t);
    case 4:
      return __sb_tex_face(s, -t, 1);
    default:
      return __sb_tex_face(-s, -t, -1);
  }
}

/* A texel of a face, or beyond one of its edges the neighbouring face's. */
SB_TEXTURE_FN const char* __sb_tex_over_edge(const struct __sb_image* t, int cube, int face, int x,
                                             int y) {
  const int n = (int)t->width;
  if (x >= 0 && x < n && y >= 0 && y < n) return __sb_tex_at(t, x, y, cube * 6 + face);
  const float edge = 1.0f + 1e-3f / (float)n;
  const float s = x < 0 ? -edge : x >= n ? edge : (float)(2 * x + 1) / (float)n - 1.0f;
  const float v = y < 0 ? -edge : y >= n ? edge : (float)(2 * y + 1) / (float)n - 1.0f;
  const struct __sb_cube_place p = __sb_tex_next_face(face, s, v);
  const int ix = (int)((p.s * 0.5f + 0.5f) * (float)n), iy = (int)((p.t * 0.5f + 0.5f) * (float)n);
  return __sb_tex_at(t, ix < n ? ix : n - 1, iy < n ? iy : n - 1, cube * 6 + p.face);
}

SB_TEXTURE_FN struct __sb_texel __sb_tex_cube(const struct __sb_image* t, float x, float y, float z,
                                              int layer) {
  const struct __sb_cube_place p = __sb_tex_face(x, y, z);
  const float u = p.s * 0.5f + 0.5f, v = p.t * 0.5f + 0.5f;
  const int last = (int)t->layers / 6 - 1;
  const int cube = (unsigned)layer <= (unsigned)last ? layer : last;
  if (!t->linear || !t->seamless) return __sb_tex_sample(t, 2, u, v, 0, cube * 6 + p.face);
  const struct __sb_place px = __sb_tex_place(t, u, t->width, 0);
  const struct __sb_place py = __sb_tex_place(t, v, t->height, 0);
  unsigned weights[8];
  __sb_tex_weights(2, px.weight, py.weight, 0, weights);
  const char* texels[8];
  const int n = (int)t->width;
  int corner = -1;
  for (int i = 0; i < 4; ++i) {
    const int ix = (int)px.first + (i & 1), iy = (int)py.first + (i >> 1);
    if ((ix < 0 || ix >= n) && (iy < 0 || iy >= n)) corner = i;
    texels[i] = __sb_tex_over_edge(t, cube, p.face, ix, iy);
  }
  /* There is no texel beyond a corner: its weight goes to the other three, the rest to the own. */
  if (corner >= 0) {
    const unsigned third = (weights[corner] + 1) / 3;
    weights[corner ^ 1] += third;
    weights[corner ^ 2] += third;
    weights[corner ^ 3] += weights[corner] - 2 * third;
    weights[corner] = 0;
  }
  return __sb_tex_filter(t, texels, weights, 4);
}

/* ---- instructions ------------------------------------------------------------------------- */

/* An instruction that is not of its texture's shape reads 0, and so does one of no texture, or of
   one that has no texels. They are not inlined, and the pass knows them by their names: on the
   device each is one instruction that loads `bytes`. */
#define SB_TEXTURE_INSTRUCTION static __attribute__((unused, noinline, pure, nothrow)) __device__

SB_TEXTURE_FN const struct __sb_image* __sb_tex_image(unsigned long long object, int shapes) {
  const struct __sb_image* t = reinterpret_cast<const struct __sb_image*>(object);
  if (t == nullptr || (shapes >> t->shape & 1) == 0) return nullptr;
  return t->width != 0 ? t : nullptr;
}

SB_TEXTURE_INSTRUCTION struct __sb_texel __sb_texture_flat(unsigned long long object,
                                                           int dimensions, float x, float y,
                                                           int layer, unsigned) {
  const struct __sb_texel nothing = {{0, 0, 0, 0}};
  const struct __sb_image* t = __sb_tex_image(object, 1 << __sb_image_flat);
  return t != nullptr ? __sb_tex_sample(t, dimensions, x, y, 0, __sb_tex_layer(t, layer)) : nothing;
}

SB_TEXTURE_INSTRUCTION struct __sb_texel __sb_texture_line(unsigned long long object, float x,
                                                           int layer, unsigned) {
  const struct __sb_texel nothing = {{0, 0, 0, 0}};
  const struct __sb_image* t = __sb_tex_image(object, 1 << __sb_image_lines);
  return t != nullptr ? __sb_tex_sample(t, 1, x, 0, 0, __sb_tex_layer(t, layer)) : nothing;
}

SB_TEXTURE_INSTRUCTION struct __sb_texel __sb_texture_volume(unsigned long long object, float x,
                                                             float y, float z, unsigned) {
  const struct __sb_texel nothing = {{0, 0, 0, 0}};
  const struct __sb_image* t = __sb_tex_image(object, 1 << __sb_image_volume);
  return t != nullptr ? __sb_tex_sample(t, 3, x, y, z, 0) : nothing;
}

SB_TEXTURE_INSTRUCTION struct __sb_texel __sb_texture_cube(unsigned long long object, float x,
                                                           float y, float z, int layer, unsigned) {
  const struct __sb_texel nothing = {{0, 0, 0, 0}};
  const struct __sb_image* t = __sb_tex_image(object, 1 << __sb_image_cube);
  return t != nullptr ? __sb_tex_cube(t, x, y, z, layer) : nothing;
}

SB_TEXTURE_INSTRUCTION struct __sb_texel __sb_texture_fetch(unsigned long long object, int x,
                                                            unsigned) {
  const struct __sb_texel nothing = {{0, 0, 0, 0}};
  const struct __sb_image* t =
      __sb_tex_image(object, 1 << __sb_image_memory | 1 << __sb_image_lines);
  return t != nullptr ? __sb_tex_fetch(t, x) : nothing;
}

SB_TEXTURE_INSTRUCTION struct __sb_texel __sb_texture_gather(unsigned long long object, float x,
                                                             float y, int component, unsigned) {
  const struct __sb_texel nothing = {{0, 0, 0, 0}};
  const struct __sb_image* t = __sb_tex_image(object, 1 << __sb_image_flat);
  return t != nullptr ? __sb_tex_gather(t, x, y, component) : nothing;
}

#undef SB_TEXTURE_INSTRUCTION

#endif
