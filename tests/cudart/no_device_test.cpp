#include "gate.hpp"

namespace {

TEST(no_device, every_call_says_so) {
  int count = -1;
  EXPECT_CUDA(cudaErrorNoDevice, cudaGetDeviceCount(&count));
  EXPECT_EQ(0, count);
  void* memory = nullptr;
  cudaStream_t s = nullptr;
  EXPECT_CUDA(cudaErrorNoDevice, cudaMalloc(&memory, 16));
  EXPECT_CUDA(cudaErrorNoDevice, cudaStreamCreate(&s));
  EXPECT_CUDA(cudaErrorNoDevice, cudaDeviceSynchronize());
  EXPECT_CUDA(cudaErrorNoDevice, cudaDeviceReset());
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(0));
}

}  // namespace
