// Shifts by as many bits as a value has, and by more: amounts that the compiler does not know, that
// it can find out, and that it is told.
#include <cstdint>

#include "probe.h"

static const long long amounts[] = {0,   1,   7,    8,    15,    16,     31,    32,    33,  47,
                                    63,  64,  65,   95,   96,    127,    128,   129,   159, 160,
                                    191, 192, 255,  256,  257,   288,    1023,  1024,  4096, 65535,
                                    65536, -1, -2, -31, -32, -33, -64, -128, -256, 2147483647LL,
                                    -2147483647LL - 1, 4294967295LL, 4294967296LL, 4294967297LL,
                                    4294967328LL, -4294967296LL, 9223372036854775807LL};
constexpr int count = sizeof amounts / sizeof amounts[0];

template <class Value, class Amount>
__global__ void by_memory(Value v, const long long* n, unsigned long long* left,
                          unsigned long long* right) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Amount by = static_cast<Amount>(n[i]);
  left[i] = static_cast<unsigned long long>(v << by);
  right[i] = static_cast<unsigned long long>(v >> by);
}

// The same amount for all threads.
template <class Value, class Amount>
__global__ void by_argument(Value v, Amount by, unsigned long long* left,
                            unsigned long long* right) {
  left[threadIdx.x] = static_cast<unsigned long long>(v << by);
  right[threadIdx.x] = static_cast<unsigned long long>(v >> by);
}

static std::string hex(const unsigned long long* v, int n) {
  std::string text;
  char one[24];
  for (int i = 0; i < n; ++i) {
    std::snprintf(one, sizeof one, "%s%llx", i ? " " : "", v[i]);
    text += one;
  }
  return text;
}

static long long* inputs;
static unsigned long long *left, *right;

template <class Value, class Amount>
static void shift(const char* name, Value v) {
  by_memory<Value, Amount><<<1, 64>>>(v, inputs, left, right);
  MUST(cudaDeviceSynchronize());
  say(std::string(name) + ".left", hex(left, count));
  say(std::string(name) + ".right", hex(right, count));
  const std::vector<unsigned long long> lefts(left, left + count), rights(right, right + count);
  for (int i = 0; i < count; ++i) {
    by_argument<Value, Amount><<<1, 32>>>(v, static_cast<Amount>(amounts[i]), left, right);
    MUST(cudaDeviceSynchronize());
    for (int t = 0; t < 32; ++t)
      if (left[t] != lefts[i] || right[t] != rights[i])
        say(std::string(name) + ".argument." + std::to_string(amounts[i]),
            hex(&left[t], 1) + " " + hex(&right[t], 1));
  }
}

// What programs do with such shifts.
__global__ void idioms(const long long* n, unsigned long long* out) {
  const int i = threadIdx.x;
  if (i >= count) return;
  const unsigned u = static_cast<unsigned>(n[i]);
  unsigned long long* o = out + i * 8;
  o[0] = (1u << u) - 1;                                   // so many ones
  o[1] = 0xffffffffu >> (32 - u);                         // the same
  o[2] = (0x12345678u << u) | (0x12345678u >> (32 - u));  // goes around, whatever the amount is
  o[3] = (1ull << u) - 1;
  o[4] = ~0ull >> (64 - u);
  o[5] = static_cast<unsigned>((0x123456789abcdef0ull >> u) & 0xff);
  o[6] = (1u << u) & 0x80000001u ? 1 : 0;  // whether a bit is set
  unsigned w = 0x87654321u;
  w >>= u;
  o[7] = w;
}

// Sums whose shifts become vectors.
__global__ void rows(const unsigned* v, const int* n, unsigned* out, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width) out[i] = (v[i] << n[i]) ^ (v[i] >> n[i]) ^ static_cast<unsigned>(static_cast<int>(v[i]) >> n[i]);
}
__global__ void rows64(const unsigned long long* v, const int* n, unsigned long long* out, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width) out[i] = (v[i] << n[i]) ^ (v[i] >> n[i]) ^ static_cast<unsigned long long>(static_cast<long long>(v[i]) >> n[i]);
}
__global__ void rows16(const unsigned short* v, const short* n, unsigned short* out, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width) out[i] = static_cast<unsigned short>((v[i] << n[i]) ^ (v[i] >> n[i]) ^ (static_cast<short>(v[i]) >> n[i]));
}
__global__ void rows8(const unsigned char* v, const signed char* n, unsigned char* out, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width) out[i] = static_cast<unsigned char>((v[i] << n[i]) ^ (v[i] >> n[i]) ^ (static_cast<signed char>(v[i]) >> n[i]));
}
// The amount counts up in a loop.
__global__ void counting(unsigned v, unsigned long long w, unsigned long long* out) {
  unsigned a = 0;
  unsigned long long b = 0;
  for (int k = 0; k < 100; k += 3) {
    a = a * 3 + (v << k) + (v >> k) + static_cast<unsigned>(static_cast<int>(v) >> k);
    b = b * 3 + (w << k) + (w >> k) + static_cast<unsigned long long>(static_cast<long long>(w) >> k);
  }
  out[threadIdx.x] = a;
  out[threadIdx.x + 32] = b;
}

template <class Value, class Amount>
static void vectors(const char* name, void (*kernel)(const Value*, const Amount*, Value*, int)) {
  constexpr int width = 1000;
  Value *v, *out;
  Amount* n;
  MUST(cudaMallocManaged(&v, width * sizeof *v));
  MUST(cudaMallocManaged(&out, width * sizeof *out));
  MUST(cudaMallocManaged(&n, width * sizeof *n));
  unsigned long long state = 7;
  for (int i = 0; i < width; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    v[i] = static_cast<Value>(state >> 3 ^ state >> 32);
    n[i] = static_cast<Amount>(i % 5 == 0 ? static_cast<long long>(state >> 33) : (state >> 40) % 140 - (i % 3 == 0 ? 10 : 0));
  }
  kernel<<<8, 128>>>(v, n, out, width);
  MUST(cudaDeviceSynchronize());
  unsigned long long sum = 0;
  for (int i = 0; i < width; ++i) sum = sum * 1099511628211ull + static_cast<unsigned long long>(out[i]);
  say(std::string("rows.") + name, hex(&sum, 1));
}

// Amounts that the compiler can see. Of shifts to the right with a sign, and of 64 bits, NVIDIA's then
// makes anything; and where it is left to nothing but numbers, nothing is left to run.
__device__ unsigned by_value(unsigned v, int n) { return v << n; }
#pragma nv_diag_suppress 62, 63
__global__ void seen(unsigned v, unsigned long long* o) {
  const int n = 32;
  int m = 33;
  o[0] = v << 32;
  o[1] = v >> 32;
  o[2] = v << n;
  o[3] = v >> m;
  o[4] = by_value(v, 40);
  o[5] = v << -1;
  o[6] = v >> -1;
  unsigned x = 5;
  o[7] = x << m;
  o[8] = by_value(7, -1);
}

// Rotations: NVIDIA's compiler makes them of values of 32 bits that are joined by | or +.
__global__ void rotations(const long long* n, unsigned long long* o) {
  const unsigned long long v = 0x8765432112345679ull;
  const unsigned x = static_cast<unsigned>(v);
  const int a = static_cast<int>(n[threadIdx.x]);
  o += threadIdx.x * 8;
  o[0] = v << a | v >> (64 - a);
  o[1] = (v << a) + (v >> (64 - a));
  o[2] = (v << a) ^ (v >> (64 - a));
  o[3] = v >> a | v << (64 - a);
  o[4] = (x << a) + (x >> (32 - a));
  o[5] = (x << a) ^ (x >> (32 - a));
  o[6] = (x << (32 - a)) ^ (x >> a);
  o[7] = x >> a | x << (32 - a);
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  MUST(cudaMallocManaged(&inputs, sizeof amounts));
  MUST(cudaMallocManaged(&left, 8 * 64 * sizeof *left));
  MUST(cudaMallocManaged(&right, 64 * sizeof *right));
  for (int i = 0; i < count; ++i) inputs[i] = amounts[i];
  for (int i = 0; i < 8 * 64; ++i) left[i] = 0xaaaa;
  if (what == "amounts") {
    shift<int, int>("int.int", -0x12345679);
    shift<int, int>("plus.int", 0x12345679);
    shift<int, unsigned char>("int.char", -0x12345679);
    shift<unsigned, int>("unsigned.int", 0x87654321u);
    shift<unsigned, unsigned>("unsigned.unsigned", 0x87654321u);
    shift<unsigned, short>("unsigned.short", 0x87654321u);
    shift<unsigned, long long>("unsigned.longlong", 0x87654321u);
    shift<long long, int>("longlong.int", -0x123456789abcdefll);
    shift<long long, long long>("longlong.longlong", -0x123456789abcdefll);
    shift<unsigned long long, int>("ulonglong.int", 0x8765432187654321ull);
    shift<unsigned long long, unsigned char>("ulonglong.char", 0x8765432187654321ull);
    shift<unsigned long long, unsigned long long>("ulonglong.ulonglong", 0x8765432187654321ull);
    shift<signed char, int>("char.int", -100);
    shift<unsigned char, int>("uchar.int", 200);
    shift<unsigned short, signed char>("ushort.char", 50000);
    shift<short, int>("short.int", -20000);
    shift<bool, int>("bool.int", true);
  } else if (what == "idioms") {
    idioms<<<1, 64>>>(inputs, left);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < count; ++i)
      say("idioms." + std::to_string(amounts[i]), hex(left + i * 8, 8));
  } else if (what == "rotations") {
    rotations<<<1, count>>>(inputs, left);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < count; ++i)
      say("rotations." + std::to_string(amounts[i]), hex(left + i * 8, 8));
  } else if (what == "vectors") {
    vectors<unsigned, int>("32", rows);
    vectors<unsigned long long, int>("64", rows64);
    vectors<unsigned short, short>("16", rows16);
    vectors<unsigned char, signed char>("8", rows8);
    counting<<<1, 32>>>(0x87654321u, 0x8765432187654321ull, left);
    MUST(cudaDeviceSynchronize());
    say("counting", hex(left, 1) + " " + hex(left + 32, 1));
  } else if (what == "seen") {
    seen<<<1, 1>>>(0x87654321u, left);
    MUST(cudaDeviceSynchronize());
    say("seen", hex(left, 9));
  }
}
