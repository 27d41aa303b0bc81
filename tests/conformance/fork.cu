// CUDA calls in a child of fork, after the parent used the device. One process.
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
__global__ void five(int* out) { *out = 5; }
#define SAY(name, call) (std::printf("fork.%s.%s\t%s\n", who, name, cudaGetErrorName(call)), std::fflush(stdout))
static int use(const char* who) {
  int *p = nullptr, value = 0, n = -1, version = 0;
  cudaStream_t s = nullptr; cudaEvent_t e = nullptr; cudaDeviceProp prop; size_t a, b; void* h = nullptr; cudaPointerAttributes at;
  SAY("runtimeversion", cudaRuntimeGetVersion(&version)); std::printf("fork.%s.runtimeversion.value\t%d\n", who, version);
  version = 0; SAY("driverversion", cudaDriverGetVersion(&version)); std::printf("fork.%s.driverversion.value\t%d\n", who, version);
  SAY("getdevice", cudaGetDevice(&n)); std::printf("fork.%s.getdevice.value\t%d\n", who, n);
  n = -1; SAY("devicecount", cudaGetDeviceCount(&n)); std::printf("fork.%s.devicecount.value\t%d\n", who, n);
  SAY("setdevice", cudaSetDevice(0)); SAY("properties", cudaGetDeviceProperties(&prop, 0));
  SAY("attribute", cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
  SAY("meminfo", cudaMemGetInfo(&a, &b)); SAY("malloc", cudaMalloc(&p, 4)); SAY("mallochost", cudaMallocHost(&h, 4));
  five<<<1, 1>>>(p); SAY("launch", cudaGetLastError()); SAY("last.again", cudaGetLastError());
  SAY("memcpy", cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost)); SAY("memcpy.zero", cudaMemcpy(&value, p, 0, cudaMemcpyDeviceToHost));
  SAY("memcpy.bad.kind", cudaMemcpy(&value, p, 4, (cudaMemcpyKind)9));
  SAY("streamcreate", cudaStreamCreate(&s)); SAY("eventcreate", cudaEventCreate(&e)); SAY("eventcreate.null", cudaEventCreate(nullptr));
  SAY("pointerattributes", cudaPointerGetAttributes(&at, &value)); SAY("free.null", cudaFree(nullptr));
  SAY("streamsync", cudaStreamSynchronize(0)); SAY("query", cudaStreamQuery(0)); SAY("sync", cudaDeviceSynchronize());
  SAY("peek", cudaPeekAtLastError()); SAY("reset", cudaDeviceReset()); std::fflush(stdout);
  return value;
}
int main(int argc, char**) {
  const bool only_count = argc > 1;
  int n;
  if (only_count) cudaGetDeviceCount(&n); else { int* p; cudaMalloc(&p, 4); five<<<1, 1>>>(p); cudaDeviceSynchronize(); }
  pid_t c = fork();
  if (c == 0) { use(only_count ? "aftercount" : "child"); return 7; }
  int st = 0; waitpid(c, &st, 0);
  std::printf("fork.%s.exit\t%d\n", only_count ? "aftercount" : "child", WIFEXITED(st) ? WEXITSTATUS(st) : -WTERMSIG(st));
}
