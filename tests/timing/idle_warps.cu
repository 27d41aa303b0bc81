// Blocks in which some warps work and the others wait at a barrier, or have returned: as long as
// the ones that work, whoever waits beside them.
#include "unseen/measure.h"

namespace {

constexpr unsigned all_lanes = 0xffffffffu;

__device__ bool works(int warps) { return static_cast<int>(threadIdx.x / 32) < warps; }

// --- bound by arithmetic: one chain, or as many as keep a scheduler busy

__global__ void chain(float* out, int warps, int loops) {
  float x = static_cast<float>(threadIdx.x & 3);
  if (works(warps))
    for (int i = 0; i < loops; ++i) x = x * 0.999f + 0.5f;
  __syncthreads();
  out[threadIdx.x] = x;
}
__global__ void chains(float* out, int warps, int loops) {
  float x[8];
  for (int k = 0; k < 8; ++k) x[k] = static_cast<float>(threadIdx.x & 3) + static_cast<float>(k);
  if (works(warps))
    for (int i = 0; i < loops; ++i)
      for (float& each : x) each = each * 0.999f + 0.5f;
  __syncthreads();
  for (int k = 1; k < 8; ++k) x[0] += x[k];
  out[threadIdx.x] = x[0];
}
__global__ void chains_alone(float* out, int warps, int loops) {
  if (!works(warps)) return;
  float x[8];
  for (int k = 0; k < 8; ++k) x[k] = static_cast<float>(threadIdx.x & 3) + static_cast<float>(k);
  for (int i = 0; i < loops; ++i)
    for (float& each : x) each = each * 0.999f + 0.5f;
  for (int k = 1; k < 8; ++k) x[0] += x[k];
  out[threadIdx.x] = x[0];
}

// --- bound by loads: each waits for the one before it, or for a sum over the warp

__global__ void follow(const unsigned* next, unsigned* out, int warps, int loops) {
  unsigned at = threadIdx.x * 32;
  if (works(warps))
    for (int i = 0; i < loops; ++i) at = next[at];
  __syncthreads();
  out[threadIdx.x] = at;
}
__global__ void rows(const float* in, float* out, int warps, int loops) {
  float sum = 0;
  if (works(warps))
    for (int i = 0; i < loops; ++i) {
      float v = in[i * 1024 + threadIdx.x];
      for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(all_lanes, v, d);
      sum += v;
    }
  __syncthreads();
  out[threadIdx.x] = sum;
}
// The first warp brings rows, and the others meet it after each.
__global__ void brings(const float* in, float* out, int loops) {
  __shared__ float row[2][32];
  const unsigned lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = 0; i < loops; ++i) {
    if (threadIdx.x < 32) {
      float v = in[i * 32 + static_cast<int>(lane)];
      for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(all_lanes, v, d);
      row[i & 1][lane] = v;
    }
    __syncthreads();
    if (threadIdx.x >= 32) sum += row[i & 1][lane];
  }
  out[threadIdx.x] = sum;
}

// --- bound by shared memory: each load for the one before it, or four side by side, or 32 to a
// bank

__global__ void shared_chain(unsigned* out, int warps, int loops) {
  __shared__ unsigned next[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (i + 32) % 1024;
  __syncthreads();
  unsigned at = threadIdx.x;
  if (works(warps))
    for (int i = 0; i < loops; ++i) at = next[at];
  __syncthreads();
  out[threadIdx.x] = at;
}
__global__ void shared_sums(float* out, int warps, int loops, int stride) {
  __shared__ float in[2048];
  for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) in[i] = 1;
  __syncthreads();
  float a = 0, b = 0, c = 0, d = 0;
  if (works(warps))
    for (int i = 0; i < loops; ++i) {
      const int at = (static_cast<int>(threadIdx.x % 32) * stride + i) % 1024;
      a += in[at], b += in[at + 128], c += in[at + 256], d += in[at + 384];
    }
  __syncthreads();
  out[threadIdx.x] = a + b + c + d;
}

class idle_warps {
 public:
  idle_warps() {
    MUST(cudaMalloc(&in_, words * sizeof(float)));
    MUST(cudaMalloc(&out_, 4096));
    std::vector<unsigned> next(words);
    for (unsigned i = 0; i < words; ++i) next[i] = (i + 33 * 32) % words;
    next_ = reinterpret_cast<unsigned*>(in_);
    MUST(cudaMemcpy(in_, next.data(), words * sizeof(unsigned), cudaMemcpyHostToDevice));
  }
  void run() const {
    for (const int blocks : {1, 132})
      for (const int warps : {1, 2, 4, 8, 16, 32}) shape(blocks, 1, warps);
    for (const int warps : {4, 8, 16, 32}) {
      shape(132, 2, warps);
      if (warps > 4) shape(132, 4, warps);
    }
  }

 private:
  static constexpr unsigned words = 1 << 20;

  void shape(int blocks, int working, int warps) const {
    const int threads = warps * 32;
    const std::string name =
        std::to_string(blocks) + "x" + std::to_string(working) + "of" + std::to_string(warps);
    auto* numbers = reinterpret_cast<unsigned*>(out_);
    wall("chain." + name, [&] { chain<<<blocks, threads>>>(out_, working, 8000); });
    wall("chains." + name, [&] { chains<<<blocks, threads>>>(out_, working, 2000); });
    wall("chains_alone." + name, [&] { chains_alone<<<blocks, threads>>>(out_, working, 2000); });
    wall("follow." + name, [&] { follow<<<blocks, threads>>>(next_, numbers, working, 200); });
    wall("rows." + name, [&] { rows<<<blocks, threads>>>(in_, out_, working, 200); });
    wall("shared_chain." + name,
         [&] { shared_chain<<<blocks, threads>>>(numbers, working, 2000); });
    for (const int stride : {1, 32})
      wall("shared_sums.stride" + std::to_string(stride) + "." + name, [&] {
        shared_sums<<<blocks, threads>>>(out_, working, stride == 1 ? 2000 : 200, stride);
      });
    if (working == 1) wall("brings." + name, [&] { brings<<<blocks, threads>>>(in_, out_, 200); });
  }

  float *in_ = nullptr, *out_ = nullptr;
  unsigned* next_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  idle_warps().run();
  return end();
}
