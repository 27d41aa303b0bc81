// Loops whose calls stand in functions and in inner loops, or whose turns are not all alike.
// helpers raii|ring|checks|streams|tiles as_is|applied, and coefficients, which needs what it does
#include <string_view>

namespace {

constexpr int turns = 20, streams = 4;
constexpr std::size_t bytes = 1 << 20;

__global__ void work(float* out, int steps) {
  float x = out[blockIdx.x * blockDim.x + threadIdx.x];
  for (int i = 0; i < steps; ++i) x = x * 0.5f + 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__constant__ float coefficients[64];

__global__ void filter(float* out) {
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += coefficients[i] * static_cast<float>(i + threadIdx.x);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

struct buffer {
  float* memory = nullptr;
  buffer() { cudaMalloc(&memory, bytes); }
  ~buffer() { cudaFree(memory); }
  buffer(const buffer&) = delete;
};

cudaStream_t made[streams];

void two_buffers(const buffer& a, const buffer& b) {
  work<<<64, 256, 0, made[0]>>>(a.memory, 500);
  work<<<64, 256, 0, made[0]>>>(b.memory, 500);
}

// Two buffers of a class, which come and go with each turn.
void raii(bool applied) {
  if (!applied) {
    for (int i = 0; i < turns; ++i) {
      buffer a, b;
      two_buffers(a, b);
    }
  } else {
    buffer a, b;
    for (int i = 0; i < turns; ++i) two_buffers(a, b);
  }
}

// The memory of four turns is there at once.
void ring(bool applied) {
  float* memory[streams] = {};
  const auto allocate = [&](int k) { cudaMalloc(&memory[k], bytes); };
  if (applied)
    for (int k = 0; k < streams; ++k) allocate(k);
  for (int i = 0; i < turns; ++i) {
    const int k = i % streams;
    if (!applied) {
      if (i >= streams) cudaFree(memory[k]);
      allocate(k);
    }
    work<<<64, 256, 0, made[k]>>>(memory[k], 500);
  }
  if (applied)
    for (float* one : memory) cudaFree(one);
}

void check() { cudaDeviceSynchronize(); }

// A check behind each launch.
void checks(bool applied, float* memory) {
  for (int i = 0; i < turns; ++i) {
    work<<<64, 256, 0, made[0]>>>(memory, 300);
    if (!applied) check();
    filter<<<64, 256, 0, made[0]>>>(memory);
    if (!applied) check();
    work<<<32, 256, 0, made[0]>>>(memory, 400);
    if (!applied || i + 1 == turns) check();
  }
}

// Each turn waits for each stream.
void all_streams(bool applied, float* memory) {
  for (int i = 0; i < turns; ++i) {
    for (int k = 0; k < streams; ++k) work<<<16, 256, 0, made[k]>>>(memory + (k << 16), 1000);
    if (applied && i + 1 < turns) continue;
    for (cudaStream_t one : made) cudaStreamSynchronize(one);
  }
}

// As many launches in a turn as there are tiles.
void tiles(bool applied, float* memory) {
  for (int i = 0; i < turns; ++i) {
    for (int k = 0; k < 1 + i % 5; ++k) work<<<64, 256, 0, made[0]>>>(memory, 900);
    if (!applied || i + 1 == turns) cudaStreamSynchronize(made[0]);
  }
}

// Each kernel reads what the copy in front of it brings.
void uploads(float* memory) {
  float* host;
  cudaMallocHost(&host, sizeof coefficients);
  for (int i = 0; i < turns; ++i) {
    cudaMemcpyToSymbolAsync(coefficients, host, sizeof coefficients, 0, cudaMemcpyHostToDevice,
                            made[0]);
    filter<<<64, 256, 0, made[0]>>>(memory + (i << 14));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string_view what = words[1];
  const bool applied = std::string_view(words[2]) == "applied";
  float* memory;
  cudaMalloc(&memory, 4 << 20);
  for (cudaStream_t& one : made) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  work<<<1, 32, 0, made[0]>>>(memory, 1);
  filter<<<1, 32, 0, made[0]>>>(memory);
  cudaDeviceSynchronize();
  if (what == "raii") raii(applied);
  if (what == "ring") ring(applied);
  if (what == "checks") checks(applied, memory);
  if (what == "streams") all_streams(applied, memory);
  if (what == "tiles") tiles(applied, memory);
  if (what == "coefficients") uploads(memory);
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
