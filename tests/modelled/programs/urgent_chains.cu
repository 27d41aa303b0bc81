// Kernels in a row in streams of high priority, beside larger ones of streams without.
//   urgent_chains chains|waits KEY=NUMBER ...
// chains: the urgent streams wait for nobody. waits: one waits for an event behind work of another
// stream, which is urgent too with applied=1; as are the chains' streams.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static int word_count;
static char** words;

static int value(const char* name, int otherwise) {
  const std::string start = std::string(name) + "=";
  for (int i = 2; i < word_count; ++i)
    if (std::strncmp(words[i], start.c_str(), start.size()) == 0)
      return std::atoi(words[i] + start.size());
  return otherwise;
}

__global__ void fill(float* a, int turns) {
  float x = a[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  a[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void prepare(float* a, int turns) {
  float x = a[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  a[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void answer(float* a, const float* b, int turns) {
  float x = a[threadIdx.x] + b[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  a[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static int least, greatest;

static cudaStream_t stream(bool urgent) {
  cudaStream_t s;
  cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, urgent ? greatest : least);
  return s;
}
static float* memory() {
  float* m;
  cudaMalloc(&m, 8 << 20);
  return m;
}

int main(int count, char** given) {
  word_count = count;
  words = given;
  const bool waits = count > 1 && std::string(given[1]) == "waits", applied = value("applied", 0);
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  std::vector<cudaStream_t> larges, urgents;
  std::vector<float*> of_large, of_urgent;
  for (int i = 0; i < value("larges", 1); ++i) {
    larges.push_back(stream(false));
    of_large.push_back(memory());
  }
  for (int i = 0; i < value("urgents", 1); ++i) {
    urgents.push_back(stream(waits || applied));
    of_urgent.push_back(memory());
  }
  const cudaStream_t other = stream(waits && applied);
  float* const made = memory();
  cudaEvent_t ready;
  cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
  fill<<<1, 32, 0, larges[0]>>>(of_large[0], 1);
  prepare<<<1, 32, 0, other>>>(made, 1);
  answer<<<1, 32, 0, urgents[0]>>>(of_urgent[0], made, 1);
  cudaDeviceSynchronize();

  for (int round = 0; round < value("rounds", 1); ++round) {
    for (int k = 0; k < value("large", 1); ++k)
      for (std::size_t i = 0; i < larges.size(); ++i)
        fill<<<value("blocks", 1056), value("threads", 256), value("shared", 0) << 10, larges[i]>>>(
            of_large[i], value("turns", 500));
    if (waits) {
      prepare<<<value("prepared", 64), 256, 0, other>>>(made, 300);
      cudaEventRecord(ready, other);
      for (const cudaStream_t s : urgents) cudaStreamWaitEvent(s, ready, 0);
    }
    for (int k = 0; k < value("chain", 3); ++k)
      for (std::size_t i = 0; i < urgents.size(); ++i) {
        answer<<<value("small", 132), 64, value("small_shared", 0) << 10, urgents[i]>>>(
            of_urgent[i], made, value("small_turns", 300));
        if (value("driven", 0)) cudaStreamSynchronize(urgents[i]);
      }
    if (value("sync", 0)) cudaStreamSynchronize(urgents[0]);
  }
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
