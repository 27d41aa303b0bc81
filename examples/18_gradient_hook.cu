// The gradient hook: communication that should hide behind computation.
//
// A backward pass computes one gradient per layer. A hook sends each away (here: adds the other
// rank's share) and post-processes it. Run on the compute stream, every layer waits for the last
// hook. On a stream of its own the hooks run beside the next layers. With
// CUDA_DEVICE_MAX_CONNECTIONS=1 both streams share one hardware queue, and a hook that is not ready
// holds the next layer all the same.
//
//   18_gradient_hook [compute|own]      one form; without an argument, both
#include <cstring>

#include "common.h"

const int layers = 8, n = 512;

__global__ void backward(float* gradient, int layer, long long cycles) {
  gradient[blockIdx.x * blockDim.x + threadIdx.x] = layer + 1.0f;
  wait_cycles(cycles);
}
__global__ void communicate(float* gradient, long long cycles) {
  gradient[blockIdx.x * blockDim.x + threadIdx.x] += 100.0f;
  wait_cycles(cycles);
}
__global__ void post_process(float* gradient, long long cycles) {
  gradient[blockIdx.x * blockDim.x + threadIdx.x] *= 0.5f;
  wait_cycles(cycles);
}

int main(int argc, char** argv) {
  const char* form = argc > 1 ? argv[1] : "both";
  const long long us = cycles_per_microsecond();
  float *gradients, host[layers * n];
  CHECK(cudaMalloc(&gradients, sizeof host));
  cudaStream_t compute, side;
  CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  cudaEvent_t gradient_ready, communicated;
  CHECK(cudaEventCreateWithFlags(&gradient_ready, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&communicated, cudaEventDisableTiming));

  auto step = [&](bool own_stream) {
    for (int layer = 0; layer < layers; ++layer) {
      float* gradient = gradients + layer * n;
      backward<<<n / 128, 128, 0, compute>>>(gradient, layer, 505 * us);
      CHECK(cudaEventRecord(gradient_ready, compute));
      CHECK(cudaStreamWaitEvent(side, gradient_ready, 0));
      communicate<<<n / 128, 128, 0, side>>>(gradient, 455 * us);
      if (own_stream) {
        post_process<<<n / 128, 128, 0, side>>>(gradient, 50 * us);
      } else {
        CHECK(cudaEventRecord(communicated, side));
        CHECK(cudaStreamWaitEvent(compute, communicated, 0));
        post_process<<<n / 128, 128, 0, compute>>>(gradient, 50 * us);
      }
    }
  };
  auto run = [&](const char* name, bool own_stream) {
    CHECK(cudaMemset(gradients, 0, sizeof host));
    double ms = milliseconds([&] { step(own_stream); });
    CHECK(cudaMemcpy(host, gradients, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < layers * n; ++i) EXPECT(host[i] == (i / n + 101.0f) * 0.5f);
    std::printf("hook on %-18s %7.2f ms for %d layers of 0.5 ms\n", name, ms, layers);
  };

  const char* connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  std::printf("CUDA_DEVICE_MAX_CONNECTIONS is %s\n", connections ? connections : "not set");
  load(backward);
  load(communicate);
  load(post_process);
  if (std::strcmp(form, "own") != 0) run("the compute stream", false);
  if (std::strcmp(form, "compute") != 0) run("its own stream", true);

  CHECK(cudaFree(gradients));
  CHECK(cudaStreamDestroy(compute));
  CHECK(cudaStreamDestroy(side));
  std::printf("ok\n");
  return 0;
}
