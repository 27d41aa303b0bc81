// Stream-ordered memory through the C API.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "gate.hpp"

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

class pool_calls : public with_streams {
 protected:
  void SetUp() override {
    with_streams::SetUp();
    ASSERT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  }
  unsigned long long get(cudaMemPoolAttr which) {
    unsigned long long value = 0;
    EXPECT_CUDA(cudaSuccess, cudaMemPoolGetAttribute(pool, which, &value));
    return value;
  }
  cudaMemPool_t pool = nullptr;
};

TEST_F(pool_calls, the_pointer_is_there_when_the_call_returns) {
  gate g;
  ASSERT_OK(g.close(a));
  void* p = nullptr;
  ASSERT_OK(cudaMallocAsync(&p, 4096, a));
  EXPECT_NE(p, nullptr);
  std::vector<char> back(4096);
  ASSERT_OK(cudaMemsetAsync(p, 6, 4096, a));
  g.open();
  ASSERT_OK(cudaMemcpyAsync(back.data(), p, 4096, cudaMemcpyDeviceToHost, a));
  EXPECT_EQ(back, std::vector<char>(4096, 6));
  ASSERT_OK(cudaFreeAsync(p, a));
}

TEST_F(pool_calls, work_before_the_free_may_use_the_memory_although_the_call_returned) {
  gate g;
  ASSERT_OK(g.close(a));
  void *p = nullptr, *h = nullptr;
  ASSERT_OK(cudaMallocHost(&h, mib));
  ASSERT_OK(cudaMallocAsync(&p, mib, a));
  ASSERT_OK(cudaMemsetAsync(p, 6, mib, a));
  ASSERT_OK(cudaMemcpyAsync(h, p, mib, cudaMemcpyDeviceToHost, a));
  ASSERT_OK(cudaFreeAsync(p, a));
  ASSERT_OK(cudaMemPoolTrimTo(pool, 0));
  g.open();
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(static_cast<char*>(h)[mib - 1], 6);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemCurrent), 0u);
  ASSERT_OK(cudaFreeHost(h));
}

TEST_F(pool_calls, memory_of_cuda_malloc_freed_in_a_stream_stays_until_its_turn) {
  gate g;
  ASSERT_OK(g.close(a));
  void *d = nullptr, *h = nullptr;
  ASSERT_OK(cudaMalloc(&d, 4 * mib));
  ASSERT_OK(cudaMallocHost(&h, 4 * mib));
  ASSERT_OK(cudaMemsetAsync(d, 3, 4 * mib, a));
  ASSERT_OK(cudaMemcpyAsync(h, d, 4 * mib, cudaMemcpyDeviceToHost, a));
  ASSERT_OK(cudaFreeAsync(d, a));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeAsync(d, a));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(d));
  g.open();
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(static_cast<char*>(h)[4 * mib - 1], 3);
  ASSERT_OK(cudaFreeHost(h));
}

TEST_F(pool_calls, a_wait_for_an_event_after_the_free_lets_another_stream_reuse) {
  cudaEvent_t e = nullptr;
  ASSERT_OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  gate g;
  void *p = nullptr, *q = nullptr, *r = nullptr;
  ASSERT_OK(cudaMallocAsync(&p, 40 * mib, a));
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaFreeAsync(p, a));
  ASSERT_OK(cudaMallocAsync(&q, 40 * mib, b));
  EXPECT_NE(p, q);
  ASSERT_OK(cudaEventRecord(e, a));
  ASSERT_OK(cudaStreamWaitEvent(b, e, 0));
  ASSERT_OK(cudaMallocAsync(&r, 40 * mib, b));
  EXPECT_EQ(p, r);
  g.open();
  ASSERT_OK(cudaFreeAsync(q, b));
  ASSERT_OK(cudaFreeAsync(r, b));
  ASSERT_OK(cudaEventDestroy(e));
}

TEST_F(pool_calls, a_pool_with_a_limit_hands_out_what_is_still_to_be_freed_in_order) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = 64 * mib;
  cudaMemPool_t own = nullptr;
  ASSERT_OK(cudaMemPoolCreate(&own, &properties));
  void *p = nullptr, *q = nullptr;
  ASSERT_OK(cudaMallocFromPoolAsync(&p, 64 * mib, own, a));
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaFreeAsync(p, a));
  ASSERT_OK(cudaMallocFromPoolAsync(&q, 64 * mib, own, b));
  EXPECT_EQ(p, q);
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(b));
  g.open();
  ASSERT_OK(cudaStreamSynchronize(b));
  ASSERT_OK(cudaFreeAsync(q, b));
  ASSERT_OK(cudaMemPoolDestroy(own));
}

TEST_F(pool_calls, streams_on_many_threads_share_a_pool) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([t] {
      cudaStream_t s = nullptr;
      EXPECT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      void* h = nullptr;
      EXPECT_CUDA(cudaSuccess, cudaMallocHost(&h, 64));
      for (int round = 0; round < 60; ++round) {
        const std::size_t n = 1 + (static_cast<std::size_t>(t) * 7919 + round * 104729) % 300000;
        const char value = static_cast<char>(t * 31 + round);
        void *p = nullptr, *q = nullptr;
        EXPECT_CUDA(cudaSuccess, cudaMallocAsync(&p, n, s));
        EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(p, value, n, s));
        EXPECT_CUDA(cudaSuccess, cudaMallocAsync(&q, n, s));
        EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(q, p, n, cudaMemcpyDeviceToDevice, s));
        EXPECT_CUDA(cudaSuccess, cudaFreeAsync(p, s));
        EXPECT_CUDA(cudaSuccess,
                    cudaMemcpyAsync(h, static_cast<char*>(q) + n - 1, 1, cudaMemcpyDefault, s));
        EXPECT_CUDA(cudaSuccess, cudaFreeAsync(q, s));
        EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
        EXPECT_EQ(*static_cast<char*>(h), value);
      }
      EXPECT_CUDA(cudaSuccess, cudaFreeHost(h));
      EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
    });
  }
  for (auto& t : threads) t.join();
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemCurrent), 0u);
}

}  // namespace
