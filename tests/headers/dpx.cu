// The functions for dynamic programming, on the host and on the device, against their definitions
// in wider integers. Compiles with NVIDIA's nvcc too.
#include <cstdio>

struct answers {
  unsigned words[64];
  int count;
};

__host__ __device__ static void add(answers& to, unsigned word) { to.words[to.count++] = word; }

// What the functions say.
__host__ __device__ static void ask(answers& to, unsigned a, unsigned b, unsigned c) {
  const int x = (int)a, y = (int)b, z = (int)c;
  bool high = false, low = false;
  add(to, __vimax3_s32(x, y, z));
  add(to, __vimin3_s32(x, y, z));
  add(to, __viaddmax_s32(x, y, z));
  add(to, __viaddmin_s32(x, y, z));
  add(to, __vimax3_s32_relu(x, y, z));
  add(to, __vimin3_s32_relu(x, y, z));
  add(to, __viaddmax_s32_relu(x, y, z));
  add(to, __viaddmin_s32_relu(x, y, z));
  add(to, __vimax_s32_relu(x, y));
  add(to, __vimin_s32_relu(x, y));
  add(to, __vimax3_u32(a, b, c));
  add(to, __vimin3_u32(a, b, c));
  add(to, __viaddmax_u32(a, b, c));
  add(to, __viaddmin_u32(a, b, c));
  add(to, __vimax3_s16x2(a, b, c));
  add(to, __vimin3_s16x2(a, b, c));
  add(to, __viaddmax_s16x2(a, b, c));
  add(to, __viaddmin_s16x2(a, b, c));
  add(to, __vimax3_s16x2_relu(a, b, c));
  add(to, __vimin3_s16x2_relu(a, b, c));
  add(to, __viaddmax_s16x2_relu(a, b, c));
  add(to, __viaddmin_s16x2_relu(a, b, c));
  add(to, __vimax_s16x2_relu(a, b));
  add(to, __vimin_s16x2_relu(a, b));
  add(to, __vimax3_u16x2(a, b, c));
  add(to, __vimin3_u16x2(a, b, c));
  add(to, __viaddmax_u16x2(a, b, c));
  add(to, __viaddmin_u16x2(a, b, c));
  add(to, __vibmax_s32(x, y, &low)), add(to, low);
  add(to, __vibmin_s32(x, y, &low)), add(to, low);
  add(to, __vibmax_u32(a, b, &low)), add(to, low);
  add(to, __vibmin_u32(a, b, &low)), add(to, low);
  add(to, __vibmax_s16x2(a, b, &high, &low)), add(to, 2 * high + low);
  add(to, __vibmin_s16x2(a, b, &high, &low)), add(to, 2 * high + low);
  add(to, __vibmax_u16x2(a, b, &high, &low)), add(to, 2 * high + low);
  add(to, __vibmin_u16x2(a, b, &high, &low)), add(to, 2 * high + low);
}

// What they should say: a lane of `bits` bits, signed or not, as a 64-bit number.
static long long lane(unsigned word, int at, int bits, bool is_signed) {
  const long long all = 1ll << bits;
  const long long value = (word >> at) & (unsigned)(all - 1);
  return is_signed && value >= all / 2 ? value - all : value;
}
static long long least(long long a, long long b) { return a < b ? a : b; }
static long long greatest(long long a, long long b) { return a > b ? a : b; }

enum kind { max3, min3, addmax, addmin, max2, min2 };
static unsigned expect(kind what, bool relu, int bits, bool is_signed, const unsigned* v) {
  unsigned result = 0;
  for (int at = 0; at < 32; at += bits) {
    const long long a = lane(v[0], at, bits, is_signed), b = lane(v[1], at, bits, is_signed),
                    c = lane(v[2], at, bits, is_signed);
    // A sum that does not fit wraps around.
    const long long sum = lane((unsigned)(a + b), 0, bits, is_signed);
    long long r = what == max3     ? greatest(greatest(a, b), c)
                  : what == min3   ? least(least(a, b), c)
                  : what == addmax ? greatest(sum, c)
                  : what == addmin ? least(sum, c)
                  : what == max2   ? greatest(a, b)
                                   : least(a, b);
    if (relu) r = greatest(r, 0);
    result |= (unsigned)(r & ((1ll << bits) - 1)) << at;
  }
  return result;
}

static void expect_all(answers& to, const unsigned* v) {
  const kind three[] = {max3, min3, addmax, addmin}, two[] = {max2, min2};
  for (kind k : three) add(to, expect(k, false, 32, true, v));
  for (kind k : three) add(to, expect(k, true, 32, true, v));
  for (kind k : two) add(to, expect(k, true, 32, true, v));
  for (kind k : three) add(to, expect(k, false, 32, false, v));
  for (kind k : three) add(to, expect(k, false, 16, true, v));
  for (kind k : three) add(to, expect(k, true, 16, true, v));
  for (kind k : two) add(to, expect(k, true, 16, true, v));
  for (kind k : three) add(to, expect(k, false, 16, false, v));
  for (int bits = 32; bits >= 16; bits -= 16) {
    for (int is_signed = 1; is_signed >= 0; --is_signed) {
      for (kind k : two) {
        unsigned first = 0;
        for (int at = 32 - bits; at >= 0; at -= bits) {
          const long long a = lane(v[0], at, bits, is_signed), b = lane(v[1], at, bits, is_signed);
          first = 2 * first + (k == max2 ? a >= b : a <= b);
        }
        add(to, expect(k, false, bits, is_signed, v));
        add(to, first);
      }
    }
  }
}

__global__ void ask_device(answers* to, const unsigned* v) { ask(*to, v[0], v[1], v[2]); }

int main() {
  const unsigned values[] = {0,           1,           7,           0xffffffffu, 0x7fffffffu,
                             0x80000000u, 0x7fff8000u, 0x80007fffu, 0x0001ffffu, 0x12345678u};
  answers* there;
  unsigned* input;
  cudaMallocManaged(&there, sizeof *there);
  cudaMallocManaged(&input, 3 * sizeof *input);
  int wrong = 0;
  for (unsigned a : values)
    for (unsigned b : values)
      for (unsigned c : values) {
        input[0] = a, input[1] = b, input[2] = c;
        answers here = {}, right = {};
        ask(here, a, b, c);
        expect_all(right, input);
        there->count = 0;
        ask_device<<<1, 1>>>(there, input);
        if (cudaDeviceSynchronize() != cudaSuccess) return std::puts("the kernel failed"), 1;
        if (here.count != right.count || there->count != right.count)
          return std::puts("not as many answers as questions"), 1;
        for (int i = 0; i < right.count; ++i)
          if (here.words[i] != right.words[i] || there->words[i] != right.words[i]) {
            std::printf("question %d of %#x %#x %#x: host %#x, device %#x, right %#x\n", i, a, b, c,
                        here.words[i], there->words[i], right.words[i]);
            ++wrong;
          }
      }
  if (wrong == 0) std::puts("ok");
  return wrong != 0;
}
