// Kernels and copies of several streams that are on the device together and want the same parts of
// it: arithmetic, memory, or one of them each. They are launched while a kernel holds their
// streams, so that the host has no part in their time.
#include "measure.h"

namespace {

char* memory;
constexpr std::size_t part = 64 * mib;  // of a stream's data: two are more than the second cache

float* out_of(std::size_t stream) { return reinterpret_cast<float*>(memory + stream * 2 * part); }

template <class T>
__global__ void multiply_add(T* out, int turns) {
  T x = threadIdx.x, y = 1, z = 2, w = 3;
  const T a = T(0.999), b = T(0.5);
  for (int i = 0; i < turns; ++i) {
    x = x * a + b;
    y = y * a + b;
    z = z * a + b;
    w = w * a + b;
  }
  out[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = x + y + z + w;
}
__global__ void waves(float* out, int turns) {
  float x = threadIdx.x * 0.01f;
  for (int i = 0; i < turns; ++i) x = __sinf(x) + __expf(x) * 0.25f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
/// Moves n elements and computes `turns` times with each.
__global__ void move(const float4* in, float4* out, std::size_t n, int turns) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    float4 v = in[i];
    for (int k = 0; k < turns; ++k) {
      v.x = v.x * 0.999f + 0.5f;
      v.y = v.y * 0.999f + 0.5f;
      v.z = v.z * 0.999f + 0.5f;
      v.w = v.w * 0.999f + 0.5f;
    }
    out[i] = v;
  }
}

void compute(int blocks, std::size_t stream, cudaStream_t s, int turns = 3000) {
  multiply_add<float><<<blocks, 256, 0, s>>>(out_of(stream), turns);
}
void bring(int blocks, std::size_t stream, cudaStream_t s, int turns = 0,
           std::size_t bytes = part) {
  auto* from = reinterpret_cast<float4*>(memory + stream * 2 * part);
  move<<<blocks, 256, 0, s>>>(from, from + part / sizeof(float4), bytes / sizeof(float4), turns);
}

/// From the moment a kernel lets the streams go until the last of them has done what f put into it.
template <class F>
void held(const std::string& key, const streams& s, F f) {
  const streams gate(1);
  const event open, done;
  cudaEvent_t a, b;
  MUST(cudaEventCreate(&a));
  MUST(cudaEventCreate(&b));
  told(key, [&] {
    MUST(cudaDeviceSynchronize());
    wait_cycles<<<1, 32, 0, gate[0]>>>(300 * microsecond);
    MUST(cudaEventRecord(a, gate[0]));
    for (std::size_t i = 0; i < s.count(); ++i) order(gate[0], open, s[i]);
    f();
    for (std::size_t i = 0; i < s.count(); ++i) order(s[i], done, gate[0]);
    MUST(cudaEventRecord(b, gate[0]));
    MUST(cudaEventSynchronize(b));
    float ms;
    MUST(cudaEventElapsedTime(&ms, a, b));
    return ms * 1000.0;
  });
  MUST(cudaEventDestroy(a));
  MUST(cudaEventDestroy(b));
}

/// `kernels` of them in `count` streams, each stream with memory of its own.
template <class F>
void together(const std::string& key, F launch) {
  struct shape {
    const char* name;
    int kernels, count;
  };
  for (const shape& c : {shape{"alone", 1, 1}, shape{"two", 2, 2}, shape{"four", 4, 4},
                         shape{"eight_in_four", 8, 4}}) {
    const streams s(c.count);
    held(key + "." + c.name, s, [&] {
      for (int i = 0; i < c.kernels; ++i) launch(i % c.count, s[i]);
    });
  }
}

void arithmetic() {
  for (int blocks : {66, 100, 264, 1056})
    together("fma.g" + std::to_string(blocks),
             [&](int i, cudaStream_t s) { compute(blocks, i, s, blocks > 500 ? 800 : 3000); });
  const streams four(4);
  held("fma.g264.sixteen_in_four", four, [&] {
    for (int i = 0; i < 16; ++i) compute(264, i % 4, four[i]);
  });
  together("fma.few_warps",
           [](int i, cudaStream_t s) { multiply_add<float><<<132, 64, 0, s>>>(out_of(i), 8000); });
  together("double.g264", [](int i, cudaStream_t s) {
    multiply_add<double><<<264, 256, 0, s>>>(reinterpret_cast<double*>(out_of(i)), 1500);
  });
  together("special.g132",
           [](int i, cudaStream_t s) { waves<<<132, 256, 0, s>>>(out_of(i), 1200); });
}

void memory_too() {
  for (int blocks : {132, 264, 1056})
    together("move.g" + std::to_string(blocks),
             [&](int i, cudaStream_t s) { bring(blocks, i, s); });
  together("both.g528", [&](int i, cudaStream_t s) { bring(528, i, s, 24); });
}

void pairs() {
  const streams s(4);
  for (int one : {264, 1056})
    for (int other : {264, 1056}) {
      const std::string key = std::to_string(one) + "_and_" + std::to_string(other);
      held("pair.fma" + key + "move", s,
           [&] { compute(one, 0, s[0], one > 500 ? 800 : 3000), bring(other, 1, s[1]); });
      held("pair.move" + key + "fma", s,
           [&] { bring(one, 1, s[1]), compute(other, 0, s[0], other > 500 ? 800 : 3000); });
    }
  held("pair.fma_and_double", s, [&] {
    compute(264, 0, s[0]);
    multiply_add<double><<<264, 256, 0, s[1]>>>(reinterpret_cast<double*>(out_of(1)), 1500);
  });
  held("pair.fma_and_special", s, [&] {
    compute(264, 0, s[0]);
    waves<<<132, 256, 0, s[1]>>>(out_of(1), 1200);
  });
  // A short one beside a long one.
  held("pair.long_and_short", s, [&] {
    compute(264, 0, s[0], 5000);
    compute(132, 1, s[1], 1500);
  });
  held("pair.long_and_four_short", s, [&] {
    compute(132, 0, s[0], 6000);
    for (int i = 0; i < 4; ++i) compute(132, 1, s[1], 1500);
  });
  // Of different sizes, in four streams.
  held("mix.twelve", s, [&] {
    const int sizes[] = {40, 300, 132, 90, 600, 66, 200, 132, 20, 264, 150, 80};
    for (int i = 0; i < 12; ++i) {
      if (i % 3 == 2)
        bring(sizes[i], i % 4, s[i]);
      else
        compute(sizes[i], i % 4, s[i], 1000 + 200 * i);
    }
  });
}

void copies() {
  together("copy.64M", [&](int i, cudaStream_t s) {
    char* from = memory + i * 2 * part;
    MUST(cudaMemcpyAsync(from + part, from, part, cudaMemcpyDeviceToDevice, s));
  });
  together("fill.64M", [&](int i, cudaStream_t s) {
    MUST(cudaMemsetAsync(memory + i * 2 * part, 0, part, s));
  });
  const streams s(2);
  held("copy.64M_beside_move", s, [&] {
    MUST(cudaMemcpyAsync(memory + part, memory, part, cudaMemcpyDeviceToDevice, s[0]));
    bring(264, 1, s[1]);
  });
  held("copy.64M_beside_fma", s, [&] {
    MUST(cudaMemcpyAsync(memory + part, memory, part, cudaMemcpyDeviceToDevice, s[0]));
    compute(264, 1, s[1]);
  });
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(cudaMalloc(reinterpret_cast<void**>(&memory), 8 * part));
  MUST(cudaMemset(memory, 0, 8 * part));
  arithmetic();
  memory_too();
  pairs();
  copies();
  return end();
}
