/* Atomic functions that say their order and their scope. The scope changes nothing: every thread
   sees one memory. */
#ifndef STREAMBED_NV_ATOMIC_FUNCTIONS_H
#define STREAMBED_NV_ATOMIC_FUNCTIONS_H

#include "sync_functions.h"

enum {
  __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST
};

enum {
  __NV_THREAD_SCOPE_THREAD = 0,
  __NV_THREAD_SCOPE_BLOCK = 1,
  __NV_THREAD_SCOPE_CLUSTER = 2,
  __NV_THREAD_SCOPE_DEVICE = 3,
  __NV_THREAD_SCOPE_SYSTEM = 4
};

/* The value's type is that of the object, whatever the argument's is. */
template <typename T>
struct __sb_same {
  typedef T type;
};
#define SB_VALUE typename __sb_same<T>::type
#define SB_SCOPE int = __NV_THREAD_SCOPE_SYSTEM

/* Objects that are only moved are moved as a number of their size; they are aligned to it. */
template <unsigned Bytes>
struct __sb_atomic_word;
template <>
struct __sb_atomic_word<1> {
  typedef unsigned char type;
};
template <>
struct __sb_atomic_word<2> {
  typedef unsigned short type;
};
template <>
struct __sb_atomic_word<4> {
  typedef unsigned int type;
};
template <>
struct __sb_atomic_word<8> {
  typedef unsigned long long type;
};
template <>
struct __sb_atomic_word<16> {
  typedef unsigned __int128 type;
};
#define SB_WORD typename __sb_atomic_word<sizeof(T)>::type

template <typename T>
SB_FN SB_WORD __sb_atomic_bits(const T& value) {
  SB_WORD word;
  __builtin_memcpy(&word, &value, sizeof word);
  return word;
}
template <typename T>
SB_FN void __nv_atomic_load(T* ptr, SB_VALUE* ret, int order, SB_SCOPE) {
  const SB_WORD word = __atomic_load_n(reinterpret_cast<SB_WORD*>(ptr), order);
  __builtin_memcpy(ret, &word, sizeof word);
}
template <typename T>
SB_FN T __nv_atomic_load_n(T* ptr, int order, SB_SCOPE) {
  T value;
  __nv_atomic_load(ptr, &value, order);
  return value;
}
template <typename T>
SB_FN void __nv_atomic_store(T* ptr, SB_VALUE* val, int order, SB_SCOPE) {
  __atomic_store_n(reinterpret_cast<SB_WORD*>(ptr), __sb_atomic_bits<T>(*val), order);
}
template <typename T>
SB_FN void __nv_atomic_store_n(T* ptr, SB_VALUE val, int order, SB_SCOPE) {
  __nv_atomic_store(ptr, &val, order);
}
template <typename T>
SB_FN void __nv_atomic_exchange(T* ptr, SB_VALUE* val, SB_VALUE* ret, int order, SB_SCOPE) {
  const SB_WORD word =
      __atomic_exchange_n(reinterpret_cast<SB_WORD*>(ptr), __sb_atomic_bits<T>(*val), order);
  __builtin_memcpy(ret, &word, sizeof word);
}
template <typename T>
SB_FN T __nv_atomic_exchange_n(T* ptr, SB_VALUE val, int order, SB_SCOPE) {
  T old;
  __nv_atomic_exchange(ptr, &val, &old, order);
  return old;
}
template <typename T>
SB_FN bool __nv_atomic_compare_exchange(T* ptr, SB_VALUE* expected, SB_VALUE* desired, bool weak,
                                        int success_order, int failure_order, SB_SCOPE) {
  SB_WORD word = __sb_atomic_bits<T>(*expected);
  const bool done = __atomic_compare_exchange_n(reinterpret_cast<SB_WORD*>(ptr), &word,
                                                __sb_atomic_bits<T>(*desired), weak, success_order,
                                                failure_order);
  __builtin_memcpy(expected, &word, sizeof word);
  return done;
}
template <typename T>
SB_FN bool __nv_atomic_compare_exchange_n(T* ptr, SB_VALUE* expected, SB_VALUE desired, bool weak,
                                          int success_order, int failure_order, SB_SCOPE) {
  return __nv_atomic_compare_exchange(ptr, expected, &desired, weak, success_order, failure_order);
}

#define SB_FETCH(operation)                                                          \
  template <typename T>                                                              \
  SB_FN T __nv_atomic_fetch_##operation(T* ptr, SB_VALUE val, int order, SB_SCOPE) { \
    return __atomic_fetch_##operation(ptr, val, order);                              \
  }
SB_FETCH(add)
SB_FETCH(sub)
SB_FETCH(and)
SB_FETCH(or)
SB_FETCH(xor)
SB_FETCH(min)
SB_FETCH(max)
#undef SB_FETCH

SB_FN void __nv_atomic_thread_fence(int order, SB_SCOPE) { __atomic_thread_fence(order); }

#undef SB_WORD
#undef SB_SCOPE
#undef SB_VALUE

#endif
