// An urgent kernel that comes behind a step of long work which has nothing to do with it: by an
// event, or because the long work is on the default stream. Applied: it does not. `needs`: it uses
// what the step made. The long work ends last in any case.
#include <cstdlib>
#include <string>

__global__ void step(float* a, int turns) {
  float x = a[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  a[threadIdx.x] = x;
}
__global__ void answer(float* a) { a[threadIdx.x] += 1; }

int main(int count, char** words) {
  const std::string how = count > 1 ? words[1] : "", more = count > 2 ? words[2] : "";
  const bool applied = more == "applied", by_default = how == "default";
  const bool urgent_waits = !applied && !by_default;
  float *theirs, *ours;
  cudaMalloc(&theirs, 4096);
  cudaMalloc(&ours, 4096);
  if (more == "needs") ours = theirs;
  int least, greatest;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStream_t bulk, urgent;
  cudaStreamCreateWithFlags(&bulk, cudaStreamNonBlocking);
  const unsigned flags = by_default && !applied ? cudaStreamDefault : cudaStreamNonBlocking;
  cudaStreamCreateWithPriority(&urgent, flags, more == "equal" ? least : greatest);
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  step<<<1, 256, 0, bulk>>>(theirs, 1);
  answer<<<1, 256, 0, urgent>>>(ours);
  cudaDeviceSynchronize();

  step<<<1, 256, 0, by_default ? nullptr : bulk>>>(theirs, 50000);
  cudaEventRecord(done, by_default ? nullptr : bulk);
  if (urgent_waits) cudaStreamWaitEvent(urgent, done, 0);
  answer<<<1, 256, 0, urgent>>>(ours);
  if (by_default) cudaStreamWaitEvent(bulk, done, 0);
  step<<<1, 256, 0, bulk>>>(theirs, 50000);
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
