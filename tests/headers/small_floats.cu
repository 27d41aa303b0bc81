// The types of 16 bits, on the host and in a kernel, against rounding by search: every number of
// the format is in a sorted table, and the nearest of them to an exact value is found by comparing.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures = 0;
#define CHECK(condition, ...)                                    \
  do {                                                           \
    if (!(condition) && ++failures < 20) {                       \
      std::printf("%s:%d %s: ", __func__, __LINE__, #condition); \
      std::printf(__VA_ARGS__);                                  \
      std::printf("\n");                                         \
    }                                                            \
  } while (0)

template <typename Type>
struct format;
template <>
struct format<__half> {
  static constexpr int exponent_bits = 5, mantissa_bits = 10;
};
template <>
struct format<__nv_bfloat16> {
  static constexpr int exponent_bits = 8, mantissa_bits = 7;
};

// Written from the definition of the formats, without the header.
template <typename Type>
long double value_of(unsigned bits) {
  constexpr int e = format<Type>::exponent_bits, m = format<Type>::mantissa_bits;
  const int exponent = bits >> m & ((1 << e) - 1), mantissa = bits & ((1 << m) - 1);
  const int bias = (1 << (e - 1)) - 1;
  const long double magnitude =
      exponent ? std::ldexp(static_cast<long double>(mantissa + (1 << m)), exponent - bias - m)
               : std::ldexp(static_cast<long double>(mantissa), 1 - bias - m);
  return bits & 0x8000 ? -magnitude : magnitude;
}
template <typename Type>
constexpr unsigned infinity =
    ((1u << format<Type>::exponent_bits) - 1) << format<Type>::mantissa_bits;

enum class mode { nearest, zero, up, down };

// The exact value rounded. Non-negative numbers of a format are in the order of their bits; the
// step after the largest is where infinity begins.
template <typename Type>
unsigned short rounded(long double exact, mode how) {
  if (std::isnan(exact)) return 0x7fff;
  const bool negative = std::signbit(exact);
  const long double magnitude = std::fabs(exact);
  static const std::vector<long double> table = [] {
    std::vector<long double> values;
    for (unsigned bits = 0; bits <= infinity<Type>; ++bits) values.push_back(value_of<Type>(bits));
    return values;
  }();
  const unsigned sign = negative ? 0x8000 : 0;
  if (std::isinf(exact)) return sign | infinity<Type>;
  const auto above = std::lower_bound(table.begin(), table.end(), magnitude);
  unsigned high = above == table.end() ? infinity<Type> : above - table.begin();
  if (above != table.end() && *above == magnitude && high < infinity<Type>) return sign | high;
  const unsigned low = high - 1;
  bool take_high = false;
  if (how == mode::nearest) {
    const long double to_low = magnitude - table[low], to_high = table[high] - magnitude;
    take_high = to_high < to_low || (to_high == to_low && (low & 1)) || above == table.end();
  } else if (how != mode::zero) {
    take_high = (how == mode::up) != negative;
  }
  return sign | (take_high ? high : low);
}

struct inputs {
  float f;
  double d;
  int i;
  long long l;
  unsigned short a, b, c;
};
struct outputs {
  unsigned short narrow, down, up, zero, twice, from_int, from_ll;
  unsigned short add, sub, mul, div, fma, most, least, pair_high;
  unsigned masks;
  int to_int;
  float wide;
  unsigned short root;  // a kernel's own
};

#define BOTH __host__ __device__ inline
#define OF_TYPE(Type, word)                                                         \
  BOTH Type make(Type, unsigned short bits) { return __ushort_as_##word(bits); }    \
  BOTH unsigned short bits_of(Type a) { return __##word##_as_ushort(a); }           \
  BOTH void convert(const inputs& in, outputs& out, Type a) {                       \
    out.narrow = bits_of(__float2##word(in.f));                                     \
    out.down = bits_of(__float2##word##_rd(in.f));                                  \
    out.up = bits_of(__float2##word##_ru(in.f));                                    \
    out.zero = bits_of(__float2##word##_rz(in.f));                                  \
    out.twice = bits_of(__double2##word(in.d));                                     \
    out.from_int = bits_of(__int2##word##_rn(in.i));                                \
    out.from_ll = bits_of(__ll2##word##_rd(in.l));                                  \
    out.to_int = __##word##2int_rn(a);                                              \
    out.wide = __##word##2float(a);                                                 \
    const auto pair = __hfma2(__halves2##word##2(a, a), __float2##word##2_rn(2.0f), \
                              __floats2##word##2_rn(0.0f, 1.0f));                   \
    out.pair_high = bits_of(__high2##word(pair));                                   \
    out.masks = __hlt2_mask(pair, __lowhigh2highlow(pair));                         \
  }
OF_TYPE(__half, half)
OF_TYPE(__nv_bfloat16, bfloat16)

template <typename Type>
BOTH void compute(const inputs& in, outputs& out) {
  const Type a = make(Type{}, in.a), b = make(Type{}, in.b), c = make(Type{}, in.c);
  convert(in, out, a);
  out.add = bits_of(a + b);
  out.sub = bits_of(a - b);
  out.mul = bits_of(a * b);
  out.div = bits_of(a / b);
  out.fma = bits_of(__hfma(a, b, c));
  out.most = bits_of(__hmax(a, b));
  out.least = bits_of(__hmin_nan(a, b));
}
template <typename Type>
__global__ void run(const inputs* in, outputs* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  compute<Type>(in[i], out[i]);
  out[i].root = bits_of(hsqrt(make(Type{}, in[i].a)));
}

template <typename Type>
void check_one(const char* where, const inputs& in, const outputs& out) {
  const bool nan = (in.a & 0x7fff) > infinity<Type>, other_nan = (in.b & 0x7fff) > infinity<Type>;
  auto number = [](unsigned short bits) -> long double {
    const unsigned magnitude = bits & 0x7fff;
    if (magnitude > infinity<Type>) return NAN;
    if (magnitude == infinity<Type>) return bits & 0x8000 ? -INFINITY : INFINITY;
    return value_of<Type>(bits);
  };
  const long double a = number(in.a), b = number(in.b), c = number(in.c);
  auto nearest = [](long double value) { return rounded<Type>(value, mode::nearest); };
#define SAME(field, wanted)                                                                    \
  CHECK(out.field == (wanted), "%s: %x %x %x (%a): %x, not %x", where, in.a, in.b, in.c, in.f, \
        out.field, (wanted))
  SAME(narrow, nearest(in.f));
  SAME(down, rounded<Type>(in.f, mode::down));
  SAME(up, rounded<Type>(in.f, mode::up));
  SAME(zero, rounded<Type>(in.f, mode::zero));
  SAME(twice, nearest(in.d));
  SAME(from_int, nearest(in.i));
  SAME(from_ll, rounded<Type>(in.l, mode::down));
  SAME(add, nearest(a + b));
  SAME(sub, nearest(a - b));
  SAME(mul, nearest(a * b));
  SAME(div, nearest(a / b));
  const long double product = a * b, sum = product + c;
  const bool exact = !std::isfinite(sum) || (sum - product == c && sum - c == product);
  if (exact) SAME(fma, nearest(sum));
  if (nan || other_nan) {
    SAME(least, 0x7fff);
    SAME(most, nan ? (other_nan ? 0x7fff : in.b) : in.a);
  } else if (a != b) {
    SAME(most, a > b ? in.a : in.b);
    SAME(least, a < b ? in.a : in.b);
  }
  if (nan) {
    CHECK(std::isnan(out.wide) && out.to_int == 0, "%s: %x", where, in.a);
  } else {
    CHECK(out.wide == static_cast<float>(a), "%s: %x: %a", where, in.a, out.wide);
    const long double whole = std::nearbyint(a);
    const int wanted = whole >= 2147483647.0L    ? 2147483647
                       : whole <= -2147483648.0L ? -2147483647 - 1
                                                 : static_cast<int>(whole);
    CHECK(out.to_int == wanted, "%s: %x: %d, not %d", where, in.a, out.to_int, wanted);
    SAME(pair_high, nearest(2 * a + 1));
    const long double low = number(nearest(2 * a)), high = number(nearest(2 * a + 1));
    SAME(masks, (low < high ? 0xffffu : 0u) | (high < low ? 0xffff0000u : 0u));
  }
}

static unsigned long long state = 88172645463325252ull;
static unsigned long long next() {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

template <typename Type>
void check_type() {
  std::vector<inputs> in;
  for (unsigned i = 0; i < (1u << 16) + 60000; ++i) {
    inputs one{};
    one.a = static_cast<unsigned short>(i);  // every number once
    one.b = static_cast<unsigned short>(next());
    one.c = static_cast<unsigned short>(next());
    if (i & 1) one.b = static_cast<unsigned short>((one.a & 0x7f80) ^ (next() & 0x87ff));  // near a
    // Near a number of the format, half-way to the next one, or anywhere.
    const long double low = value_of<Type>(i % infinity<Type>),
                      high = value_of<Type>(i % infinity<Type> + 1);
    const float middle = static_cast<float>((low + high) / 2);
    const float choices[] = {middle, std::nextafterf(middle, 0.0f),
                             std::nextafterf(middle, INFINITY),
                             __builtin_bit_cast(float, static_cast<unsigned>(next()))};
    one.f = choices[next() % 4];
    one.d = next() % 2 ? std::nextafter(static_cast<double>(middle), next() % 2 ? 1e300 : 0.0)
                       : __builtin_bit_cast(double, next());
    one.i = static_cast<int>(next()) >> (next() % 32);
    one.l = static_cast<long long>(next()) >> (next() % 64);
    in.push_back(one);
  }
  const int count = static_cast<int>(in.size());
  std::vector<outputs> host(count), kernel(count);
  for (int i = 0; i < count; ++i) compute<Type>(in[i], host[i]);
  inputs* device_in = nullptr;
  outputs* device_out = nullptr;
  cudaMalloc(&device_in, count * sizeof(inputs));
  cudaMalloc(&device_out, count * sizeof(outputs));
  cudaMemcpy(device_in, in.data(), count * sizeof(inputs), cudaMemcpyHostToDevice);
  run<Type><<<(count + 127) / 128, 128>>>(device_in, device_out, count);
  const cudaError_t error =
      cudaMemcpy(kernel.data(), device_out, count * sizeof(outputs), cudaMemcpyDeviceToHost);
  CHECK(error == cudaSuccess, "%s", cudaGetErrorString(error));
  cudaFree(device_in);
  cudaFree(device_out);
  for (int i = 0; i < count; ++i) {
    check_one<Type>("host", in[i], host[i]);
    check_one<Type>("kernel", in[i], kernel[i]);
    const unsigned magnitude = in[i].a & 0x7fff;
    if (magnitude <= infinity<Type>) {
      const long double value = magnitude == infinity<Type> ? INFINITY : value_of<Type>(magnitude);
      const unsigned wanted = in[i].a > 0x8000    ? 0x7fff
                              : in[i].a == 0x8000 ? 0x8000
                                                  : rounded<Type>(std::sqrt(value), mode::nearest);
      CHECK(kernel[i].root == wanted, "%x: %x, not %x", in[i].a, kernel[i].root, wanted);
    }
  }
}

// What a sum in double loses decides a tie.
static void check_ties() {
  const auto tie = __float2bfloat16(1.0f + 1.0f / 128), other = __float2bfloat16(1.5f);
  const float product = 1.5f * (1.0f + 1.0f / 128);  // 9 bits: half-way between two numbers
  const auto tiny = __float2bfloat16(0x1p-100f);
  CHECK(__bfloat162float(__hfma(tie, other, tiny)) > product, "%a",
        __bfloat162float(__hfma(tie, other, tiny)));
  CHECK(__bfloat162float(__hfma(tie, other, __hneg(tiny))) < product, "%a",
        __bfloat162float(__hfma(tie, other, __hneg(tiny))));
  CHECK(__half2ll_rz(CUDART_NAN_FP16) == -0x7fffffffffffffffll - 1, "of a NaN");
  CHECK(__half2ushort_rz(__float2half(-3.0f)) == 0, "below");
  CHECK(__half2short_ru(__float2half(1.5f)) == 2, "up");
  CHECK(static_cast<float>(__hadd_sat(__float2half(0.75f), __float2half(0.75f))) == 1.0f, "sat");
  CHECK(static_cast<float>(__hfma_relu(__float2half(-1.f), __float2half(1.f), __float2half(0.f))) ==
            0.0f,
        "relu");
  CHECK(__hisinf(CUDART_INF_FP16) == 1 && __hisinf(__hneg(CUDART_INF_FP16)) == -1, "infinity");
}

template <typename Pair, typename Type>
__global__ void meet(Type* sums, Pair* pair, Type one) {
  atomicAdd(&sums[0], one);
  atomicAdd(pair, Pair(one, one + one));
  Type value = Type(static_cast<float>(threadIdx.x % 32));
  for (int distance = 16; distance; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  if (threadIdx.x == 40) sums[1] = value;
}
template <typename Pair, typename Type>
void check_meetings() {
  Type* sums = nullptr;
  Pair* pair = nullptr;
  cudaMallocManaged(&sums, 2 * sizeof(Type));
  cudaMallocManaged(&pair, sizeof(Pair));
  cudaMemset(sums, 0, 2 * sizeof(Type));
  cudaMemset(pair, 0, sizeof(Pair));
  meet<<<1, 64>>>(sums, pair, Type(1.0f));
  CHECK(cudaDeviceSynchronize() == cudaSuccess, "launch");
  CHECK(static_cast<float>(sums[0]) == 64.0f && static_cast<float>(pair->x) == 64.0f &&
            static_cast<float>(pair->y) == 128.0f,
        "atomics");
  CHECK(static_cast<float>(sums[1]) == 496.0f, "shuffles: %g", static_cast<float>(sums[1]));
  cudaFree(sums);
  cudaFree(pair);
}

int main() {
  check_type<__half>();
  check_type<__nv_bfloat16>();
  check_ties();
  check_meetings<__half2, __half>();
  check_meetings<__nv_bfloat162, __nv_bfloat16>();
  std::printf("%d differences\n", failures);
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
