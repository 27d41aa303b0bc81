// Comes to a stop, in the way that its first argument names:
//   cross     two kernels, each of which waits for a flag that is set behind the other one
//   queue     with one connection: the kernel that sets the flag is behind one that cannot start
//   crowd     the same with eight, where the waiting kernels' streams have them all
//   function  a host function waits for the thread that waits for it
//   flag      a kernel waits for a flag that nobody sets, and much is behind it
//   closes    the same, after it has closed all files that it may have inherited
// Anything else: the flag is set, and it ends.
#include <cuda_runtime.h>

#include <cstdio>
#include <string>
#include <vector>

#include <semaphore.h>
#include <unistd.h>

__global__ void waits(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void sets(volatile int* flag) { *flag = 1; }
__global__ void works(int* number) { ++*number; }

sem_t done;
void wait_for_host(void*) { sem_wait(&done); }

int main(int, char** arguments) {
  const std::string how = arguments[1];
  sem_init(&done, 0, 0);
  int* flags;
  cudaMalloc(&flags, 64 * sizeof(int));
  cudaMemset(flags, 1, 64 * sizeof(int));
  waits<<<1, 1>>>(flags);  // all are loaded
  sets<<<1, 1>>>(flags);
  works<<<1, 1>>>(flags);
  cudaMemset(flags, 0, 64 * sizeof(int));
  std::vector<cudaStream_t> s(9);
  for (cudaStream_t& each : s) cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking);
  cudaDeviceSynchronize();

  if (how == "closes")
    for (int i = 3; i < 256; ++i) close(i);
  cudaStream_t awaited = s[0];
  if (how == "cross") {
    waits<<<1, 1, 0, s[0]>>>(flags);
    sets<<<1, 1, 0, s[0]>>>(flags + 1);
    waits<<<1, 1, 0, s[1]>>>(flags + 1);
    sets<<<1, 1, 0, s[1]>>>(flags);
  } else if (how == "queue" || how == "crowd") {
    const int streams = how == "queue" ? 1 : 8;
    for (int i = 0; i < streams; ++i) {
      waits<<<1, 1, 0, s[i]>>>(flags);
      works<<<1, 1, 0, s[i]>>>(flags + 3);
    }
    sets<<<1, 1, 0, s[8]>>>(flags);
    awaited = s[8];
  } else if (how == "function") {
    cudaLaunchHostFunc(s[0], wait_for_host, nullptr);
    works<<<1, 1, 0, s[0]>>>(flags + 3);
  } else {
    waits<<<1, 1, 0, s[0]>>>(flags);
    for (int i = 0; i < 5; ++i) works<<<1, 1, 0, s[0]>>>(flags + 3);
    cudaEvent_t over;
    cudaEventCreate(&over);
    cudaEventRecord(over, s[0]);
    for (int i = 1; i <= 6; ++i) {
      cudaStreamWaitEvent(s[i], over, 0);
      works<<<1, 1, 0, s[i]>>>(flags + 3);
    }
    awaited = s[1];
    if (how != "flag" && how != "closes") sets<<<1, 1, 0, s[7]>>>(flags);
  }
  std::puts("all is pending");
  std::fflush(stdout);
  cudaStreamSynchronize(awaited);
  sem_post(&done);
  std::puts(cudaDeviceSynchronize() == cudaSuccess ? "ok" : "failed");
}
