/* va_arg of functions that are for the device as well: variadic __device__ functions, and lambdas,
   which clang compiles for both sides wherever they stand.

   clang refuses __builtin_va_arg in such functions when it compiles for the device, though its code
   is that of the host's processor. It does not where the expression initialises a member. */
#ifndef STREAMBED_VARIADIC_FUNCTIONS_H
#define STREAMBED_VARIADIC_FUNCTIONS_H

#if defined(__CUDA_ARCH__) && !defined(__builtin_va_arg)
namespace __sb_variadic {

template <class T, class List>
struct argument {
  __host__ __device__ explicit argument(List& from) : list(from) {}

  List& list;
  T value = __builtin_va_arg(list, T);
};

template <class T, class List>
__host__ __device__ __attribute__((always_inline)) inline T next(List&& list) {
  return argument<T, List>(list).value;
}

}  // namespace __sb_variadic

#define __builtin_va_arg(list, ...) ::__sb_variadic::next<__VA_ARGS__>(list)
#endif

#endif
