// For recording_test.py: small work, again and again; `many` has more of it. `fault` ends with a
// kernel that fails, `kill` ends by SIGKILL, `first` has a kernel that is loaded behind another
// one, `queues` has four streams that copy at the same time, `graph` launches a graph, `leaves` one
// of three kernels with nothing behind them. `behind` has work that is handed over behind a kernel
// that waits, and ends; `behind-kill` is killed while that still waits. `over` waits for records
// that are over; `before` has a wait too that comes before its record, for an event that is made
// where another one was. `registers` pins buffers of its own in a loop and keeps them. `rows`
// copies and sets rows, with gaps between them and without. `pageable` copies the same two buffers
// again and again, `beside` parts of one buffer. `asks` asks
// whether a kernel is over until it is, and prints how often; `turns` asks after several things in
// turn, one of which is over before.
#include <cuda_runtime.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void small(float* out, const float* in) { out[threadIdx.x] = in[threadIdx.x] + 1; }
__global__ void bad(float* out, const float* in, bool really) {
  if (really) *out = *in;
}
__device__ int open_gate;
__global__ void gate() {
  while (atomicAdd(&open_gate, 0) == 0) {
  }
}
__global__ void opens() { atomicExch(&open_gate, 1); }
__global__ void nap() {
  const long long begin = clock64();
  while (clock64() - begin < 200'000'000) {
  }
}
__global__ void second(float* out) { *out = 2; }

constexpr int rounds = 100;
constexpr std::size_t large = std::size_t{4} << 20;

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEvent_t e;
  cudaEventCreate(&e);
  float *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 8192);
  if (std::strcmp(how, "first") == 0) {
    opens<<<1, 1, 0, t>>>();
    cudaDeviceSynchronize();
    int zero = 0;
    cudaMemcpyToSymbol(open_gate, &zero, sizeof zero);
    gate<<<1, 1, 0, s>>>();
    cudaStreamSynchronize(0);  // the gate is taken in
    second<<<1, 1, 0, t>>>(a);
    opens<<<1, 1, 0, t>>>();  // behind a kernel that is loaded behind the gate: never
    const int one = 1;
    cudaStream_t u;
    cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking);
    cudaMemcpyToSymbolAsync(open_gate, &one, sizeof one, 0, cudaMemcpyHostToDevice, u);
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "rows") == 0) {
    cudaMemcpy2DAsync(a, 100, b, 100, 100, 8, cudaMemcpyDeviceToDevice, s);
    cudaMemcpy2DAsync(a, 128, b, 100, 100, 8, cudaMemcpyDeviceToDevice, s);
    cudaMemset2DAsync(a, 128, 0, 100, 8, s);
    cudaMemset2DAsync(a, 128, 0, 100, 1, s);
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "pageable") == 0) {
    // Few bytes are staged, and one buffer of the stage follows another.
    std::vector<float> first(1024), second(1024);
    for (int i = 0; i < 3; ++i) {
      for (std::vector<float>* one : {&first, &second})
        cudaMemcpyAsync(a, one->data(), 4096, cudaMemcpyHostToDevice, s);
      cudaMemcpyAsync(first.data(), a, 2048, cudaMemcpyDeviceToHost, s);
    }
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "beside") == 0) {
    std::vector<char> all(1 << 15);
    for (const int at : {8192, 12288, 14336, 18433, 7168, 8192})
      cudaMemcpyAsync(a, all.data() + at, at == 7168 ? 1024 : 4096, cudaMemcpyHostToDevice, s);
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "asks") == 0) {
    long asked = 1;
    nap<<<1, 1, 0, s>>>();
    cudaEventRecord(e, s);
    while (cudaEventQuery(e) == cudaErrorNotReady) ++asked;
    while (cudaStreamQuery(s) == cudaErrorNotReady) ++asked;
    std::printf("%ld\n", asked);
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "turns") == 0) {
    cudaEvent_t over, later;
    cudaEventCreate(&over);
    cudaEventCreate(&later);
    cudaEventRecord(over, t);
    nap<<<1, 1, 0, s>>>();
    cudaEventRecord(e, s);
    nap<<<1, 1, 0, s>>>();
    cudaEventRecord(later, s);
    long asked = 0;
    for (bool more = true; more; asked += 4) {
      more = false;
      for (const cudaEvent_t one : {over, e, later}) more |= cudaEventQuery(one) != cudaSuccess;
      more |= cudaStreamQuery(s) != cudaSuccess;
    }
    std::printf("%ld\n", asked);
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "registers") == 0) {
    std::vector<std::vector<float>> buffers(8, std::vector<float>(1024));
    for (std::vector<float>& one : buffers) {
      cudaHostRegister(one.data(), 4096, 0);
      cudaMemcpyAsync(a, one.data(), 4096, cudaMemcpyHostToDevice, s);
      small<<<1, 32, 0, s>>>(b, a);
    }
    cudaDeviceSynchronize();
    for (std::vector<float>& one : buffers) cudaHostUnregister(one.data());
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "never") == 0) {
    small<<<1, 32, 0, s>>>(a, b);
    cudaStreamWaitEvent(t, e, 0);  // nobody records it
    small<<<1, 32, 0, t>>>(b, a);
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "over") == 0 || std::strcmp(how, "before") == 0) {
    for (int i = 0; i < rounds; ++i) {
      cudaEventRecord(e, s);  // nothing is in front of it
      cudaStreamWaitEvent(t, e, 0);
      small<<<1, 32, 0, t>>>(a, b);
    }
    if (std::strcmp(how, "before") == 0) {
      for (int i = 0; i < 2; ++i) {
        cudaEvent_t f;
        cudaEventCreate(&f);
        if (i == 1) cudaStreamWaitEvent(t, f, 0);  // too early
        cudaEventRecord(f, s);                     // behind it
        cudaDeviceSynchronize();
        cudaEventDestroy(f);
      }
    }
    return cudaDeviceSynchronize();
  }
  if (std::strncmp(how, "behind", 6) == 0) {
    opens<<<1, 1, 0, s>>>();
    cudaDeviceSynchronize();
    const int zero = 0, one = 1;
    cudaMemcpyToSymbol(open_gate, &zero, sizeof zero);
    gate<<<1, 1, 0, s>>>();
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    for (int i = 0; i < rounds; ++i) {
      small<<<1, 32, 0, s>>>(a, b);
      small<<<2, 16, 0, t>>>(a + 64, i == 50 ? b + 16 : b);
      cudaEventRecord(e, s);
      cudaMemcpyAsync(a + 512, b + 512, 64, cudaMemcpyDeviceToDevice, t);
    }
    if (std::strcmp(how, "behind-kill") == 0) {
      cudaMemcpyAsync(a + 512, b + 512, 128, cudaMemcpyDeviceToDevice, t);  // as none before it
      raise(SIGKILL);
    }
    cudaStream_t u;
    cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking);
    cudaMemcpyToSymbolAsync(open_gate, &one, sizeof one, 0, cudaMemcpyHostToDevice, u);
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "graph") == 0) {  // two branches and what comes behind both
    cudaEvent_t f;
    cudaEventCreate(&f);
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    small<<<1, 32, 0, s>>>(a, b);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    small<<<2, 16, 0, t>>>(a + 64, b);
    small<<<1, 16, 0, s>>>(a, b);
    cudaEventRecord(f, t);
    cudaStreamWaitEvent(s, f, 0);
    small<<<4, 8, 0, s>>>(a, b);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&launched, graph, 0);
    for (int i = 0; i < rounds; ++i) {
      cudaGraphLaunch(launched, s);
      if (i < 4) cudaDeviceSynchronize();  // what it takes gets known
    }
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "leaves") == 0) {
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    cudaGraphCreate(&graph, 0);
    for (int i = 0; i < 3; ++i) {
      float *out = a + 64 * i, *in = b;
      void* arguments[] = {&out, &in};
      cudaKernelNodeParams kernel = {};
      kernel.func = reinterpret_cast<void*>(small);
      kernel.gridDim = kernel.blockDim = dim3(1);
      kernel.kernelParams = arguments;
      cudaGraphNode_t node;
      cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel);
    }
    cudaGraphInstantiate(&launched, graph, 0);
    for (int i = 0; i < rounds; ++i) {
      cudaGraphLaunch(launched, s);
      if (i < 4) cudaDeviceSynchronize();
    }
    return cudaDeviceSynchronize();
  }
  if (std::strcmp(how, "queues") == 0) {
    float *device, *host;
    cudaMalloc(&device, large);
    cudaMallocHost(&host, large);
    for (int i = 0; i < 4; ++i) {
      cudaStream_t u;
      cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking);
      cudaMemcpyAsync(device, host, large, cudaMemcpyHostToDevice, u);
      small<<<1, 32, 0, u>>>(a, b);
      cudaMemcpyAsync(host, device, large, cudaMemcpyDeviceToHost, u);
    }
    return cudaDeviceSynchronize();
  }
  for (int i = 0; i < 4; ++i) {  // what it takes gets known
    small<<<1, 32, 0, s>>>(a, b);
    cudaDeviceSynchronize();
  }
  for (int i = 0; i < rounds; ++i) {
    small<<<1, 32, 0, s>>>(a, b);
    small<<<2, 16, 0, t>>>(b, a);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
  }
  cudaFree(b);
  cudaMalloc(&b, 16384);
  small<<<1, 32, 0, s>>>(a, b);
  cudaDeviceSynchronize();
  if (std::strcmp(how, "many") == 0)
    for (int i = 0; i < 100'000; ++i) cudaEventRecord(e, i % 2 ? s : t);
  if (std::strcmp(how, "kill") == 0) std::raise(SIGKILL);
  if (std::strcmp(how, "fault") == 0) {
    for (int i = 0; i < 50; ++i) {
      bad<<<1, 1, 0, s>>>(a, nullptr, false);
      cudaDeviceSynchronize();
    }
    bad<<<1, 1, 0, s>>>(a, nullptr, true);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 1;
  }
  return cudaDeviceSynchronize();
}
