// In each turn something is made, and other work follows it in its stream before an event is
// recorded; another stream uses what was made. Applied: recorded right behind it.
//   late_records KEY=NUMBER ...
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static int word_count;
static char** words;

static int value(const char* name, int otherwise) {
  const std::string start = std::string(name) + "=";
  for (int i = 1; i < word_count; ++i)
    if (std::strncmp(words[i], start.c_str(), start.size()) == 0)
      return std::atoi(words[i] + start.size());
  return otherwise;
}

__global__ void work(float* a, const float* b, int turns) {
  float x = b[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  a[threadIdx.x] = x;
}

int main(int count, char** given) {
  word_count = count;
  words = given;
  const bool applied = value("applied", 0) != 0;
  cudaStream_t makes, uses;
  cudaStreamCreateWithFlags(&makes, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&uses, cudaStreamNonBlocking);
  std::vector<float*> made(value("turns", 5));
  float *other, *used;
  for (float*& one : made) cudaMalloc(&one, 4096);
  cudaMalloc(&other, 4096);
  cudaMalloc(&used, 4096);
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  work<<<1, 64, 0, makes>>>(other, other, 1);
  cudaDeviceSynchronize();
  for (float* const one : made) {
    work<<<1, 64, 0, makes>>>(one, one, value("make", 10000));
    if (applied) cudaEventRecord(done, makes);
    work<<<1, 64, 0, makes>>>(other, other, value("other", 30000));
    if (!applied) cudaEventRecord(done, makes);
    cudaStreamWaitEvent(uses, done, 0);
    work<<<1, 64, 0, uses>>>(used, one, value("use", 45000));
  }
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
