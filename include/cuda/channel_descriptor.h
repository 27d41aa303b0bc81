/* The format of an array's elements, by their type. */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#ifdef __cplusplus

#include "cuda_runtime_api.h"

template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

static inline __attribute__((unused)) cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static inline __attribute__((unused)) cudaChannelFormatDesc cudaCreateChannelDescHalf1() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static inline __attribute__((unused)) cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
static inline __attribute__((unused)) cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

#define SB_CHANNELS(type, x, y, z, w, kind)                                \
  template <>                                                              \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {             \
    return cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKind##kind); \
  }
#define SB_CHANNELS_OF(name, bits, kind)       \
  SB_CHANNELS(name##1, bits, 0, 0, 0, kind)    \
  SB_CHANNELS(name##2, bits, bits, 0, 0, kind) \
  SB_CHANNELS(name##4, bits, bits, bits, bits, kind)

#ifdef __CHAR_UNSIGNED__
SB_CHANNELS(char, 8, 0, 0, 0, Unsigned)
#else
SB_CHANNELS(char, 8, 0, 0, 0, Signed)
#endif
SB_CHANNELS(signed char, 8, 0, 0, 0, Signed)
SB_CHANNELS(unsigned char, 8, 0, 0, 0, Unsigned)
SB_CHANNELS(short, 16, 0, 0, 0, Signed)
SB_CHANNELS(unsigned short, 16, 0, 0, 0, Unsigned)
SB_CHANNELS(int, 32, 0, 0, 0, Signed)
SB_CHANNELS(unsigned int, 32, 0, 0, 0, Unsigned)
SB_CHANNELS(float, 32, 0, 0, 0, Float)
SB_CHANNELS_OF(char, 8, Signed)
SB_CHANNELS_OF(uchar, 8, Unsigned)
SB_CHANNELS_OF(short, 16, Signed)
SB_CHANNELS_OF(ushort, 16, Unsigned)
SB_CHANNELS_OF(int, 32, Signed)
SB_CHANNELS_OF(uint, 32, Unsigned)
SB_CHANNELS_OF(float, 32, Float)

#undef SB_CHANNELS_OF
#undef SB_CHANNELS

#endif

#endif
