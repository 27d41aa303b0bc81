// Copies between two virtual devices.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "gate.hpp"

namespace {

constexpr std::size_t size = 100000;

class two_devices : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int d = 0; d < 2; ++d) {
      ASSERT_OK(cudaSetDevice(d));
      void* p = nullptr;
      ASSERT_OK(cudaMalloc(&p, size));
      memory[d] = static_cast<char*>(p);
      ASSERT_OK(cudaMemset(memory[d], d + 1, size));
    }
    ASSERT_OK(cudaSetDevice(0));
  }
  void TearDown() override {
    for (char* p : memory) EXPECT_CUDA(cudaSuccess, cudaFree(p));
    cudaSetDevice(0);
    cudaGetLastError();
  }
  std::vector<char> read(int device) {
    std::vector<char> out(size);
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(out.data(), memory[device], size, cudaMemcpyDefault));
    return out;
  }
  char* memory[2] = {};
};

TEST_F(two_devices, a_pointer_knows_its_device) {
  for (int d = 0; d < 2; ++d) {
    cudaPointerAttributes a{};
    ASSERT_OK(cudaPointerGetAttributes(&a, memory[d]));
    EXPECT_EQ(a.device, d);
  }
}

TEST_F(two_devices, a_peer_copy_needs_no_peer_access) {
  ASSERT_OK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, size));
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_EQ(read(1), std::vector<char>(size, 1));
}

TEST_F(two_devices, a_plain_copy_finds_the_devices_by_the_pointers) {
  ASSERT_OK(cudaMemcpy(memory[0], memory[1], size, cudaMemcpyDeviceToDevice));
  EXPECT_EQ(read(0), std::vector<char>(size, 2));
}

TEST_F(two_devices, a_peer_copy_comes_after_earlier_and_before_later_work_of_both) {
  cudaStream_t other = nullptr;
  ASSERT_OK(cudaSetDevice(1));
  ASSERT_OK(cudaStreamCreate(&other));
  gate g;
  ASSERT_OK(g.close(other));
  ASSERT_OK(cudaMemsetAsync(memory[1], 7, size, other));
  ASSERT_OK(cudaSetDevice(0));
  ASSERT_OK(cudaMemcpyPeer(memory[0], 0, memory[1], 1, size));
  ASSERT_OK(cudaSetDevice(1));
  ASSERT_OK(cudaMemsetAsync(memory[1], 9, size, other));
  g.open();
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(read(1), std::vector<char>(size, 9));
  ASSERT_OK(cudaStreamDestroy(other));
  ASSERT_OK(cudaSetDevice(0));
  EXPECT_EQ(read(0), std::vector<char>(size, 7));
}

TEST_F(two_devices, an_asynchronous_peer_copy_keeps_to_its_stream) {
  cudaStream_t s = nullptr;
  ASSERT_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  gate g;
  ASSERT_OK(g.close(s));
  ASSERT_OK(cudaMemsetAsync(memory[0], 5, size, s));
  ASSERT_OK(cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, size, s));
  g.open();
  ASSERT_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(read(1), std::vector<char>(size, 5));
  ASSERT_OK(cudaStreamDestroy(s));
}

TEST_F(two_devices, each_has_memory_of_its_own) {
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_OK(cudaMemGetInfo(&before, &total));
  ASSERT_OK(cudaSetDevice(1));
  void* p = nullptr;
  ASSERT_OK(cudaMalloc(&p, std::size_t{64} << 20));
  ASSERT_OK(cudaSetDevice(0));
  ASSERT_OK(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
  ASSERT_OK(cudaFree(p));
}

TEST_F(two_devices, unknown_devices_are_refused) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaMemcpyPeer(memory[0], 2, memory[1], 1, 4));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaMemcpyPeer(memory[0], 0, memory[1], -1, 4));
}

}  // namespace
