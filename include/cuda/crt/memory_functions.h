/* Loads and stores with cache hints, and questions about addresses. There is one memory without
   caches of its own, so a hint is a plain access. */
#ifndef STREAMBED_MEMORY_FUNCTIONS_H
#define STREAMBED_MEMORY_FUNCTIONS_H

#include "sync_functions.h"

#define SB_HINTED_ACCESS(type)                                                   \
  SB_FN type __ldg(const type* address) { return *address; }                     \
  SB_FN type __ldcg(const type* address) {                                       \
    __atomic_signal_fence(__ATOMIC_SEQ_CST);                                     \
    return *address;                                                             \
  }                                                                              \
  SB_FN type __ldca(const type* address) { return *address; }                    \
  SB_FN type __ldcs(const type* address) { return *address; }                    \
  SB_FN type __ldlu(const type* address) { return *address; }                    \
  SB_FN type __ldcv(const type* address) { return __sb_volatile_load(address); } \
  SB_FN void __stwb(type* address, type value) { *address = value; }             \
  SB_FN void __stcg(type* address, type value) { *address = value; }             \
  SB_FN void __stcs(type* address, type value) { *address = value; }             \
  SB_FN void __stwt(type* address, type value) { *address = value; }

/* __ldcv fetches again: a loop may wait for a change with it, as with __ldcg. That one keeps the
   compiler from using an earlier value, and is a plain load for everything else. */
template <typename Type>
SB_FN Type __sb_volatile_load(const Type* address) {
  if constexpr (__is_class(Type)) {
    Type value;
    using word = char;
    const volatile word* from = reinterpret_cast<const volatile word*>(address);
    word* to = reinterpret_cast<word*>(&value);
    for (unsigned i = 0; i < sizeof(Type); ++i) to[i] = from[i];
    return value;
  } else {
    return *static_cast<const volatile Type*>(address);
  }
}

SB_HINTED_ACCESS(char)
SB_HINTED_ACCESS(signed char)
SB_HINTED_ACCESS(unsigned char)
SB_HINTED_ACCESS(short)
SB_HINTED_ACCESS(unsigned short)
SB_HINTED_ACCESS(int)
SB_HINTED_ACCESS(unsigned int)
SB_HINTED_ACCESS(long)
SB_HINTED_ACCESS(unsigned long)
SB_HINTED_ACCESS(long long)
SB_HINTED_ACCESS(unsigned long long)
SB_HINTED_ACCESS(float)
SB_HINTED_ACCESS(double)
SB_HINTED_ACCESS(char2)
SB_HINTED_ACCESS(char4)
SB_HINTED_ACCESS(uchar2)
SB_HINTED_ACCESS(uchar4)
SB_HINTED_ACCESS(short2)
SB_HINTED_ACCESS(short4)
SB_HINTED_ACCESS(ushort2)
SB_HINTED_ACCESS(ushort4)
SB_HINTED_ACCESS(int2)
SB_HINTED_ACCESS(int4)
SB_HINTED_ACCESS(uint2)
SB_HINTED_ACCESS(uint4)
SB_HINTED_ACCESS(longlong2)
SB_HINTED_ACCESS(ulonglong2)
SB_HINTED_ACCESS(float2)
SB_HINTED_ACCESS(float4)
SB_HINTED_ACCESS(double2)
#undef SB_HINTED_ACCESS

/* Shared memory is numbered from the block's first byte, as on the device. A block never has more
   than 228 KiB of it. */
SB_FN size_t __cvta_generic_to_shared(const void* address) {
  return static_cast<size_t>(static_cast<const char*>(address) -
                             static_cast<const char*>(__sb_shared_base()));
}
SB_FN void* __cvta_shared_to_generic(size_t offset) {
  return static_cast<char*>(__sb_shared_base()) + offset;
}
SB_FN size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<size_t>(address);
}
SB_FN void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
SB_FN size_t __cvta_generic_to_local(const void* address) {
  return reinterpret_cast<size_t>(address);
}
SB_FN void* __cvta_local_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
SB_FN size_t __cvta_generic_to_constant(const void* address) {
  return reinterpret_cast<size_t>(address);
}
SB_FN void* __cvta_constant_to_generic(size_t address) { return reinterpret_cast<void*>(address); }

SB_FN unsigned __isShared(const void* address) {
  return __cvta_generic_to_shared(address) < 228u * 1024u;
}
/* A thread's own variables lie on its stack, close to a variable of this function. */
SB_FN unsigned __isLocal(const void* address) {
  char here;
  const size_t distance = static_cast<size_t>(static_cast<const char*>(address) - &here);
  return distance < 64u * 1024u || distance > ~size_t{0} - 64u * 1024u;
}
SB_FN unsigned __isGlobal(const void* address) {
  return !__isShared(address) && !__isLocal(address);
}
SB_FN unsigned __isConstant(const void*) { return 0; }
SB_FN unsigned __isGridConstant(const void*) { return 0; }

#endif
