// Calls every function of intrinsics_table.inc with 400 inputs and keeps the results as bits. The
// inputs come from a fixed generator, with the values that matter (zeros, infinities, NaN, the
// smallest and the largest numbers, halves) among them, so that a recording needs to hold results
// only.
//
// Nothing here is a kernel: the functions are compiled as the device pass compiles them, and
// called.

using bits = unsigned long long;

__device__ bits as_bits(float x) {
  return __builtin_isnan(x) ? 0x7fffffffull : static_cast<bits>(__float_as_uint(x));
}
__device__ bits as_bits(double x) {
  return __builtin_isnan(x) ? 0x7fffffffffffffffull : static_cast<bits>(__double_as_longlong(x));
}
__device__ bits as_bits(int x) { return static_cast<unsigned>(x); }
__device__ bits as_bits(unsigned x) { return x; }
__device__ bits as_bits(long long x) { return static_cast<bits>(x); }
__device__ bits as_bits(bits x) { return x; }

struct inputs {
  bits state = 88172645463325252ull;

  __device__ bits next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
  __device__ unsigned word() {
    const bits r = next();
    switch (r & 7) {
      case 0:
        return static_cast<unsigned>(r >> 60);
      case 1:
        return 0xffffffffu - static_cast<unsigned>(r >> 60);
      case 2:
        return 0x80000000u + static_cast<unsigned>(r >> 60) - 8u;
      default:
        return static_cast<unsigned>(r >> 20);
    }
  }
  __device__ float number_f() {
    const bits r = next();
    const int high = static_cast<int>(r >> 32);
    switch (r & 15) {
      case 0:
        return __int_as_float(0x7f800000);
      case 1:
        return __int_as_float(static_cast<int>(0xff800000u));
      case 2:
        return 0.0f;
      case 3:
        return -0.0f;
      case 4:
        return __int_as_float(0x7fffffff);
      case 5:
        return __int_as_float(1 + static_cast<int>((r >> 40) & 0xff));
      case 6:
        return __int_as_float(0x7f7fffff);
      case 7:
      case 8:
      case 9:
        return static_cast<float>(high) / 3.0f * (1.0f / 65536.0f);
      case 10:
        return static_cast<float>(high);
      case 11:
        return static_cast<float>(static_cast<int>(r >> 48) - 32768) + 0.5f;
      case 12:
        return static_cast<float>(static_cast<long long>(r << 1));
      default:
        return __int_as_float(static_cast<int>(r >> 24));
    }
  }
  __device__ double number_d() {
    const bits r = next();
    const int high = static_cast<int>(r >> 32);
    switch (r & 15) {
      case 0:
        return __longlong_as_double(0x7ff0000000000000ll);
      case 1:
        return -__longlong_as_double(0x7ff0000000000000ll);
      case 2:
        return 0.0;
      case 3:
        return -0.0;
      case 4:
        return __longlong_as_double(0x7ff8000000000000ll);
      case 5:
        return __longlong_as_double(1 + static_cast<long long>((r >> 40) & 0xff));
      case 6:
        return __longlong_as_double(0x7fefffffffffffffll);
      case 7:
      case 8:
      case 9:
        return static_cast<double>(high) / 3.0 * (1.0 / 65536.0);
      case 10:
        return static_cast<double>(high) + 0.5;
      case 11:
        return static_cast<double>(static_cast<long long>(r * 3));
      case 12:
        return static_cast<double>(high) * 4294967296.0 + 0.5;
      default:
        return __longlong_as_double(static_cast<long long>(next()));
    }
  }
  __device__ double between(double low, double high) {
    return __fma_rn(high - low, static_cast<double>(next() >> 11) / 9007199254740992.0, low);
  }
};

// One loop per kind of arguments. Arguments are drawn from left to right.
#define LOOP(...)                 \
  inputs in;                      \
  for (int i = 0; i < 400; ++i) { \
    __VA_ARGS__;                  \
  }
#define I1(f) LOOP(unsigned a = in.word(); out[i] = as_bits(f(a)))
#define I2(f) LOOP(unsigned a = in.word(), b = in.word(); out[i] = as_bits(f(a, b)))
#define I3(f) \
  LOOP(unsigned a = in.word(), b = in.word(), c = in.word(); out[i] = as_bits(f(a, b, c)))
#define S3(f) LOOP(int a = in.word(), b = in.word(), c = in.word(); out[i] = as_bits(f(a, b, c)))
#define L1(f) LOOP(bits a = in.next(); a >>= in.next() & 63; out[i] = as_bits(f(a)))
#define L2(f) LOOP(bits a = in.next(), b = in.next(); out[i] = as_bits(f(a, b)))
#define F1(f) LOOP(float a = in.number_f(); out[i] = as_bits(f(a)))
#define F2(f) LOOP(float a = in.number_f(), b = in.number_f(); out[i] = as_bits(f(a, b)))
#define F3(f) \
  LOOP(float a = in.number_f(), b = in.number_f(), c = in.number_f(); out[i] = as_bits(f(a, b, c)))
#define D1(f) LOOP(double a = in.number_d(); out[i] = as_bits(f(a)))
#define D2(f) LOOP(double a = in.number_d(), b = in.number_d(); out[i] = as_bits(f(a, b)))
#define D3(f) \
  LOOP(double a = in.number_d(), b = in.number_d(), c = in.number_d(); out[i] = as_bits(f(a, b, c)))
#define FR(f, low, high) \
  LOOP(float a = static_cast<float>(in.between(low, high)); out[i] = as_bits(f(a)))
#define DR(f, low, high) LOOP(double a = in.between(low, high); out[i] = as_bits(f(a)))

// A function per entry keeps the compiler's work small.
#define EXACT(kind, f) \
  __device__ __noinline__ void run_##kind##_##f(bits* out) { kind(f) }
#define CLOSE(kind, f) EXACT(kind, f)
#define CLOSE_IN(kind, f, low, high)             \
  template <int Line>                            \
  __device__ void run_in(bits* out);             \
  template <>                                    \
  __device__ void run_in<__LINE__>(bits * out) { \
    kind(f, low, high)                           \
  }
#include "intrinsics_table.inc"
#undef CLOSE_IN
#undef CLOSE
#undef EXACT

struct entry {
  const char* name;
  void (*run)(bits*);
};
#define EXACT(kind, f) {#kind "." #f, run_##kind##_##f},
#define CLOSE(kind, f) EXACT(kind, f)
#define CLOSE_IN(kind, f, low, high) {#kind "." #f "." #low "." #high, run_in<__LINE__>},

extern "C" __device__ int intrinsics_run(int index, const char** name, bits* out) {
  const entry entries[] = {
#include "intrinsics_table.inc"
  };
  if (index < 0 || index >= static_cast<int>(sizeof entries / sizeof entries[0])) return 0;
  *name = entries[index].name;
  entries[index].run(out);
  return 1;
}
