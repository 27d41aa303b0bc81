// Memory of the host or the device that each turn of a loop takes, behind a kernel that runs
// meanwhile or in front of it, and frees. before: it is taken before the loop. once: in the first
// turn. Both free it right behind the loop.
#include <string>
#include <string_view>

namespace {

constexpr std::size_t bytes = 4 << 20;
constexpr int turns = 6, count = 2048;

__global__ void compute(float* p, int times) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = p[i];
  for (int k = 0; k < times; ++k) v = v * 1.0001f + 0.5f;
  p[i] = v;
}

struct memory {
  bool of_host;
  float* place = nullptr;

  void take() {
    if (of_host)
      cudaMallocHost(&place, bytes);
    else
      cudaMalloc(&place, bytes);
  }
  void free() {
    if (of_host)
      cudaFreeHost(place);
    else
      cudaFree(place);
  }
  void use(float* data, cudaStream_t s) {
    cudaMemcpyAsync(place, data, count * sizeof(float), cudaMemcpyDefault, s);
    if (of_host) cudaStreamSynchronize(s);
  }
};

}  // namespace

int main(int words, char** word) {
  if (words != 5) return 2;
  const std::string_view how = word[3];
  const bool hidden = word[2] == std::string_view("behind");
  const int times = std::stoi(word[4]);
  memory m{word[1] == std::string_view("host")};
  float* data;
  cudaStream_t s;
  cudaMalloc(&data, count * sizeof(float));
  cudaStreamCreate(&s);
  if (how == "before") m.take();
  for (int i = 0; i < turns; ++i) {
    const bool takes = how == "as_is" || (how == "once" && i == 0);
    if (takes && !hidden) m.take();
    compute<<<count / 256, 256, 0, s>>>(data, times);
    if (takes && hidden) m.take();
    m.use(data, s);
    if (how == "as_is") m.free();
  }
  if (how != "as_is") m.free();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
