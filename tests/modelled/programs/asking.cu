// The host, or a host function, asks or looks for ever for what can never come.
#include <cuda_runtime.h>

#include <cstdio>
#include <string>

__global__ void waits(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void sets(volatile int* flag) { *flag = 1; }

void looks(void* flag) {
  while (*static_cast<volatile int*>(flag) == 0) {
  }
}
void asks(void* event) {
  while (cudaEventQuery(*static_cast<cudaEvent_t*>(event)) == cudaErrorNotReady) {
  }
}

int main(int count, char** words) {
  const std::string how = count > 1 ? words[1] : "event";
  int* flags;
  cudaMallocHost(&flags, 2 * sizeof(int));
  flags[0] = flags[1] = 0;
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, waits);
  cudaFuncGetAttributes(&loaded, sets);
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEvent_t done;
  cudaEventCreate(&done);
  std::puts("all is pending");
  std::fflush(stdout);
  if (how != "function") waits<<<1, 1, 0, s>>>(flags);
  if (how == "event") {
    cudaEventRecord(done, s);
    while (cudaEventQuery(done) == cudaErrorNotReady) {
    }
  } else if (how == "flag") {
    sets<<<1, 1, 0, s>>>(flags + 1);
    looks(flags + 1);
  } else if (how == "function") {
    cudaLaunchHostFunc(t, looks, flags);
    sets<<<1, 1, 0, t>>>(flags);
    cudaStreamSynchronize(t);
  } else if (how == "asking_function") {
    cudaEventRecord(done, s);
    cudaLaunchHostFunc(t, asks, &done);
    cudaStreamSynchronize(t);
  }
  std::puts("over");
}
