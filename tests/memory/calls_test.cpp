// Copies and fills through the C API, with streams held by host functions.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "gate.hpp"

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

class memory_calls : public with_streams {
 protected:
  char* device(std::size_t bytes) {
    void* p = nullptr;
    EXPECT_CUDA(cudaSuccess, cudaMalloc(&p, bytes));
    return static_cast<char*>(p);
  }
  char* pinned(std::size_t bytes) {
    void* p = nullptr;
    EXPECT_CUDA(cudaSuccess, cudaMallocHost(&p, bytes));
    return static_cast<char*>(p);
  }
};

TEST_F(memory_calls, an_asynchronous_copy_from_pageable_memory_keeps_what_it_saw) {
  std::vector<char> host(mib, 7), back(mib);
  char* d = device(mib);
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaMemcpyAsync(d, host.data(), mib, cudaMemcpyHostToDevice, a));
  host.assign(mib, 9);
  g.open();
  ASSERT_OK(cudaStreamSynchronize(a));
  ASSERT_OK(cudaMemcpy(back.data(), d, mib, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back, std::vector<char>(mib, 7));
  EXPECT_CUDA(cudaSuccess, cudaFree(d));
}

TEST_F(memory_calls, a_copy_of_rows_from_pageable_memory_keeps_what_it_saw) {
  constexpr std::size_t rows = 50, width = 33, pitch = 64;
  std::vector<char> host(rows * pitch), back(rows * width);
  std::iota(host.begin(), host.end(), char{1});
  const std::vector<char> before = host;
  char* d = device(rows * width);
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(
      cudaMemcpy2DAsync(d, width, host.data(), pitch, width, rows, cudaMemcpyHostToDevice, a));
  host.assign(host.size(), 0);
  g.open();
  ASSERT_OK(cudaStreamSynchronize(a));
  ASSERT_OK(cudaMemcpy(back.data(), d, back.size(), cudaMemcpyDeviceToHost));
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < width; ++x) ASSERT_EQ(back[y * width + x], before[y * pitch + x]);
  }
  EXPECT_CUDA(cudaSuccess, cudaFree(d));
}

TEST_F(memory_calls, an_asynchronous_copy_from_pinned_memory_sees_later_writes) {
  char* h = pinned(64);
  char* d = device(64);
  h[0] = 7;
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaMemcpyAsync(d, h, 1, cudaMemcpyHostToDevice, a));
  h[0] = 9;
  g.open();
  ASSERT_OK(cudaStreamSynchronize(a));
  char back = 0;
  ASSERT_OK(cudaMemcpy(&back, d, 1, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back, 9);
  EXPECT_CUDA(cudaSuccess, cudaFree(d));
  EXPECT_CUDA(cudaSuccess, cudaFreeHost(h));
}

TEST_F(memory_calls, a_copy_to_pageable_memory_is_done_when_the_call_returns) {
  std::vector<char> back(mib);
  char* d = device(mib);
  ASSERT_OK(cudaMemsetAsync(d, 5, mib, a));
  ASSERT_OK(cudaMemcpyAsync(back.data(), d, mib, cudaMemcpyDeviceToHost, a));
  EXPECT_EQ(back, std::vector<char>(mib, 5));
  EXPECT_CUDA(cudaSuccess, cudaFree(d));
}

TEST_F(memory_calls, a_box_is_copied_between_two_places_of_larger_ones) {
  cudaPitchedPtr box{};
  ASSERT_OK(cudaMalloc3D(&box, {20, 10, 6}));
  ASSERT_OK(cudaMemset3D(box, 0, {20, 10, 6}));
  std::vector<char> host(8 * 5 * 4), back(20 * 10 * 6);
  std::iota(host.begin(), host.end(), char{1});
  cudaMemcpy3DParms in{};
  in.srcPtr = {host.data(), 8, 8, 5};
  in.dstPtr = box;
  in.dstPos = {3, 2, 1};
  in.extent = {8, 5, 4};
  in.kind = cudaMemcpyHostToDevice;
  ASSERT_OK(cudaMemcpy3D(&in));
  cudaMemcpy3DParms out{};
  out.srcPtr = box;
  out.dstPtr = {back.data(), 20, 20, 10};
  out.extent = {20, 10, 6};
  out.kind = cudaMemcpyDefault;
  ASSERT_OK(cudaMemcpy3D(&out));
  for (std::size_t z = 0; z < 6; ++z) {
    for (std::size_t y = 0; y < 10; ++y) {
      for (std::size_t x = 0; x < 20; ++x) {
        const bool inside = x >= 3 && x < 11 && y >= 2 && y < 7 && z >= 1 && z < 5;
        const char wanted = inside ? host[((z - 1) * 5 + y - 2) * 8 + x - 3] : char{0};
        ASSERT_EQ(back[(z * 10 + y) * 20 + x], wanted) << x << ' ' << y << ' ' << z;
      }
    }
  }
  EXPECT_CUDA(cudaSuccess, cudaFree(box.ptr));
}

TEST_F(memory_calls, overflowing_shapes_are_refused) {
  char* d = device(4096);
  std::vector<char> host(4096);
  const std::size_t huge = ~std::size_t{0} / 2;
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemcpy2D(d, huge, host.data(), huge, 16, 5, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemset2D(d, huge, 0, 16, 5));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(d, host.data(), huge, cudaMemcpyHostToDevice));
  void* p = nullptr;
  std::size_t pitch = 0;
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaMallocPitch(&p, &pitch, huge, huge));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaHostRegister(host.data(), ~std::size_t{0}, 0));
  EXPECT_CUDA(cudaSuccess, cudaFree(d));
}

TEST_F(memory_calls, registered_memory_is_pinned_until_it_is_unregistered) {
  std::vector<char> host(8192, 1);
  char* d = device(8192);
  ASSERT_OK(cudaHostRegister(host.data(), host.size(), cudaHostRegisterDefault));
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaMemcpyAsync(d, host.data(), 1, cudaMemcpyHostToDevice, a));
  host[0] = 3;
  g.open();
  ASSERT_OK(cudaStreamSynchronize(a));
  char back = 0;
  ASSERT_OK(cudaMemcpy(&back, d, 1, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back, 3);
  ASSERT_OK(cudaHostUnregister(host.data()));
  cudaPointerAttributes attributes{};
  ASSERT_OK(cudaPointerGetAttributes(&attributes, host.data()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_CUDA(cudaSuccess, cudaFree(d));
}

TEST_F(memory_calls, of_threads_each_sees_its_own_bytes) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      cudaStream_t s = nullptr;
      EXPECT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      for (int round = 0; round < 30; ++round) {
        const std::size_t n = 1 + (static_cast<std::size_t>(t) * 7919 + round * 104729) % 200000;
        const char value = static_cast<char>(t * 31 + round);
        void *d = nullptr, *e = nullptr, *h = nullptr;
        EXPECT_CUDA(cudaSuccess, cudaMalloc(&d, n));
        EXPECT_CUDA(cudaSuccess, cudaMalloc(&e, n));
        EXPECT_CUDA(cudaSuccess, cudaMallocHost(&h, n));
        EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(d, value, n, s));
        EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(e, d, n, cudaMemcpyDeviceToDevice, s));
        EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(h, e, n, cudaMemcpyDeviceToHost, s));
        EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
        EXPECT_EQ(static_cast<char*>(h)[0], value);
        EXPECT_EQ(static_cast<char*>(h)[n - 1], value);
        EXPECT_CUDA(cudaSuccess, cudaFree(d));
        EXPECT_CUDA(cudaSuccess, cudaFree(e));
        EXPECT_CUDA(cudaSuccess, cudaFreeHost(h));
      }
      EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
    });
  }
  for (auto& t : threads) t.join();
}

}  // namespace
