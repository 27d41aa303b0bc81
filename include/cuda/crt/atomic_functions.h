/* Atomic functions. All but comparisons are relaxed, as on the device; order comes from
   __threadfence. The _block and _system forms are the same: every thread sees one memory. */
#ifndef STREAMBED_ATOMIC_FUNCTIONS_H
#define STREAMBED_ATOMIC_FUNCTIONS_H

#include "sync_functions.h"

#define SB_ATOMIC(name, type, builtin)                                                             \
  SB_FN type name(type* address, type value) { return builtin(address, value, __ATOMIC_RELAXED); } \
  SB_FN type name##_block(type* address, type value) { return name(address, value); }              \
  SB_FN type name##_system(type* address, type value) { return name(address, value); }

SB_ATOMIC(atomicAdd, int, __atomic_fetch_add)
SB_ATOMIC(atomicAdd, unsigned int, __atomic_fetch_add)
SB_ATOMIC(atomicAdd, unsigned long long, __atomic_fetch_add)
SB_ATOMIC(atomicAdd, float, __atomic_fetch_add)
SB_ATOMIC(atomicAdd, double, __atomic_fetch_add)

SB_ATOMIC(atomicSub, int, __atomic_fetch_sub)
SB_ATOMIC(atomicSub, unsigned int, __atomic_fetch_sub)

SB_ATOMIC(atomicMin, int, __atomic_fetch_min)
SB_ATOMIC(atomicMin, unsigned int, __atomic_fetch_min)
SB_ATOMIC(atomicMin, long long, __atomic_fetch_min)
SB_ATOMIC(atomicMin, unsigned long long, __atomic_fetch_min)

SB_ATOMIC(atomicMax, int, __atomic_fetch_max)
SB_ATOMIC(atomicMax, unsigned int, __atomic_fetch_max)
SB_ATOMIC(atomicMax, long long, __atomic_fetch_max)
SB_ATOMIC(atomicMax, unsigned long long, __atomic_fetch_max)

SB_ATOMIC(atomicAnd, int, __atomic_fetch_and)
SB_ATOMIC(atomicAnd, unsigned int, __atomic_fetch_and)
SB_ATOMIC(atomicAnd, unsigned long long, __atomic_fetch_and)

SB_ATOMIC(atomicOr, int, __atomic_fetch_or)
SB_ATOMIC(atomicOr, unsigned int, __atomic_fetch_or)
SB_ATOMIC(atomicOr, unsigned long long, __atomic_fetch_or)

SB_ATOMIC(atomicXor, int, __atomic_fetch_xor)
SB_ATOMIC(atomicXor, unsigned int, __atomic_fetch_xor)
SB_ATOMIC(atomicXor, unsigned long long, __atomic_fetch_xor)

SB_ATOMIC(atomicExch, int, __atomic_exchange_n)
SB_ATOMIC(atomicExch, unsigned int, __atomic_exchange_n)
SB_ATOMIC(atomicExch, unsigned long long, __atomic_exchange_n)

#undef SB_ATOMIC

#define SB_ATOMIC_BOTH_SCOPES(name, type, params, args) \
  SB_FN type name##_block params { return name args; }  \
  SB_FN type name##_system params { return name args; }

SB_FN float atomicExch(float* address, float value) {
  return __builtin_bit_cast(
      float, __atomic_exchange_n(reinterpret_cast<unsigned*>(address),
                                 __builtin_bit_cast(unsigned, value), __ATOMIC_RELAXED));
}
SB_ATOMIC_BOTH_SCOPES(atomicExch, float, (float* address, float value), (address, value))

/* The old value is what the comparison saw, also when it failed. Locks are built of these: a device
   does not do what comes behind one before it, so neither does this. */
#define SB_ATOMIC_CAS(type)                                                          \
  SB_FN type atomicCAS(type* address, type compare, type value) {                    \
    __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_ACQ_REL,   \
                                __ATOMIC_ACQUIRE);                                   \
    return compare;                                                                  \
  }                                                                                  \
  SB_ATOMIC_BOTH_SCOPES(atomicCAS, type, (type * address, type compare, type value), \
                        (address, compare, value))
SB_ATOMIC_CAS(int)
SB_ATOMIC_CAS(unsigned int)
SB_ATOMIC_CAS(unsigned long long)
SB_ATOMIC_CAS(unsigned short)
#undef SB_ATOMIC_CAS

/* Counts up and wraps to zero after `limit`. */
SB_FN unsigned int atomicInc(unsigned int* address, unsigned int limit) {
  unsigned int old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, old >= limit ? 0u : old + 1u, true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
SB_ATOMIC_BOTH_SCOPES(atomicInc, unsigned int, (unsigned int* address, unsigned int limit),
                      (address, limit))

/* Counts down and wraps to `limit` after zero, also from above the limit. */
SB_FN unsigned int atomicDec(unsigned int* address, unsigned int limit) {
  unsigned int old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, old == 0 || old > limit ? limit : old - 1u,
                                      true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
SB_ATOMIC_BOTH_SCOPES(atomicDec, unsigned int, (unsigned int* address, unsigned int limit),
                      (address, limit))

/* Vectors of floats: each component is atomic by itself. */
SB_FN float2 atomicAdd(float2* address, float2 value) {
  return float2{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
SB_ATOMIC_BOTH_SCOPES(atomicAdd, float2, (float2 * address, float2 value), (address, value))
SB_FN float4 atomicAdd(float4* address, float4 value) {
  return float4{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
                atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};
}
SB_ATOMIC_BOTH_SCOPES(atomicAdd, float4, (float4 * address, float4 value), (address, value))

/* 128 bits: any trivially copyable type of 16 bytes, aligned to 16. */
template <typename Type,
          bool Fits = sizeof(Type) == 16 && alignof(Type) >= 16 && __is_trivially_copyable(Type)>
struct __sb_atomic_128 {};
template <typename Type>
struct __sb_atomic_128<Type, true> {
  using type = Type;
};

template <typename Type>
SB_FN typename __sb_atomic_128<Type>::type atomicCAS(Type* address, Type compare, Type value) {
  unsigned __int128 expected = __builtin_bit_cast(unsigned __int128, compare);
  __atomic_compare_exchange_n(reinterpret_cast<unsigned __int128*>(address), &expected,
                              __builtin_bit_cast(unsigned __int128, value), false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return __builtin_bit_cast(Type, expected);
}
template <typename Type>
SB_FN typename __sb_atomic_128<Type>::type atomicCAS_block(Type* address, Type compare,
                                                           Type value) {
  return atomicCAS(address, compare, value);
}
template <typename Type>
SB_FN typename __sb_atomic_128<Type>::type atomicCAS_system(Type* address, Type compare,
                                                            Type value) {
  return atomicCAS(address, compare, value);
}
template <typename Type>
SB_FN typename __sb_atomic_128<Type>::type atomicExch(Type* address, Type value) {
  return __builtin_bit_cast(
      Type, __atomic_exchange_n(reinterpret_cast<unsigned __int128*>(address),
                                __builtin_bit_cast(unsigned __int128, value), __ATOMIC_RELAXED));
}
template <typename Type>
SB_FN typename __sb_atomic_128<Type>::type atomicExch_block(Type* address, Type value) {
  return atomicExch(address, value);
}
template <typename Type>
SB_FN typename __sb_atomic_128<Type>::type atomicExch_system(Type* address, Type value) {
  return atomicExch(address, value);
}

#undef SB_ATOMIC_BOTH_SCOPES

#endif
