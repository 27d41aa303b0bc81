// A kernel reads what another stream's kernel wrote, by another way than a pointer argument, behind
// an event or a wait of the host; "apart": it reads other memory, by its pointer arguments.
#include <cstdio>
#include <cstdlib>
#include <string>

struct within {
  float* p;
  int n;
};
__device__ float variable[32];
__device__ float* kept;

__device__ void spin() {
  const long long begin = clock64();
  while (clock64() - begin < 600000) {
  }
}
__global__ void writes(float* a) { spin(), a[threadIdx.x] = 42, variable[threadIdx.x] = 42; }
__global__ void writes_its_own(float* a) { spin(), a[threadIdx.x] = 42; }
__global__ void structure(float* out, within w) { spin(), out[threadIdx.x] = w.p[threadIdx.x]; }
__global__ void table(float* out, float** t) { spin(), out[threadIdx.x] = t[1][threadIdx.x]; }
__global__ void from_variable(float* out) { spin(), out[threadIdx.x] = variable[threadIdx.x]; }
__global__ void from_kept(float* out) { spin(), out[threadIdx.x] = kept[threadIdx.x]; }
__global__ void from_number(float* out, unsigned long long p) {
  spin(), out[threadIdx.x] = ((float*)p)[threadIdx.x];
}
__global__ void apart(float* out, const float* in) { spin(), out[threadIdx.x] = in[threadIdx.x]; }

int main(int, char** words) {
  const std::string way = words[1], order = words[2];
  float *a, *other, *out, **pointers, *host;
  cudaMalloc(&a, 4096), cudaMalloc(&other, 4096), cudaMalloc(&out, 4096);
  cudaMalloc(&pointers, 64), cudaMallocHost(&host, 4096);
  float* both[2] = {out, a};
  cudaMemcpy(pointers, both, sizeof both, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(kept, &a, sizeof a);
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  if (way == "apart" || way == "structure")
    writes_its_own<<<1, 32, 0, s>>>(a);
  else
    writes<<<1, 32, 0, s>>>(a);
  if (order == "event") cudaEventRecord(e, s), cudaStreamWaitEvent(t, e, 0);
  if (order == "host") cudaStreamSynchronize(s);
  if (way == "structure") structure<<<1, 32, 0, t>>>(out, {a, 5});
  if (way == "table") table<<<1, 32, 0, t>>>(out, pointers);
  if (way == "variable") from_variable<<<1, 32, 0, t>>>(out);
  if (way == "kept") from_kept<<<1, 32, 0, t>>>(out);
  if (way == "number") from_number<<<1, 32, 0, t>>>(out, (unsigned long long)a);
  if (way == "apart") apart<<<1, 32, 0, t>>>(out, other);
  cudaMemcpyAsync(host, out, 128, cudaMemcpyDeviceToHost, t);
  cudaDeviceSynchronize();
  if (way != "apart" && host[3] != 42) return 1;
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
