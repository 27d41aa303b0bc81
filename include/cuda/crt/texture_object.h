/* What a texture or surface object is: a description in memory that the runtime writes and device
   code reads. The object's number is its address. Plain C, for the runtime includes it too. */
#ifndef STREAMBED_TEXTURE_OBJECT_H
#define STREAMBED_TEXTURE_OBJECT_H

#include <stddef.h>

/* Which instructions can read it. */
enum __sb_image_shape {
  __sb_image_flat,   /* of one or two dimensions, and layers of two; also pitched memory */
  __sb_image_lines,  /* layers of one dimension */
  __sb_image_volume, /* of three dimensions */
  __sb_image_cube,
  __sb_image_memory /* plain memory: tex1Dfetch alone */
};

struct __sb_image {
  char* data;                    /* the first texel */
  size_t pitch, slice;           /* bytes from row to row, and from slice or layer to the next */
  unsigned width, height, depth; /* in texels; of what it has no dimension for, 1 */
  unsigned layers;               /* faces of cube maps are layers */
  unsigned char kind;            /* of cudaChannelFormatKind: signed 0, unsigned 1, float 2 */
  unsigned char bits;            /* of a component: 8, 16 or 32 */
  unsigned char components;      /* 1, 2 or 4 */
  unsigned char address[3];      /* of cudaTextureAddressMode, as the hardware follows it */
  unsigned char linear;          /* filtered */
  unsigned char normalized;      /* integers are read as fractions of their range */
  unsigned char srgb;
  unsigned char fractions;  /* coordinates are fractions of the size */
  unsigned char seamless;   /* filters of a cube map reach over its edges */
  unsigned char shape;      /* of __sb_image_shape */
  unsigned char border[16]; /* a texel of the format */
};

#endif
