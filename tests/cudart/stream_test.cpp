#include <atomic>
#include <set>
#include <string>

#include "gate.hpp"

extern "C" cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id);

namespace {

using streams = with_streams;

TEST_F(streams, a_held_stream_is_busy_and_another_is_not) {
  gate g;
  ASSERT_OK(g.close(a));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(a));
  EXPECT_CUDA(cudaSuccess, cudaPeekAtLastError());  // not ready is no failure
  EXPECT_CUDA(cudaSuccess, cudaStreamQuery(b));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(b));
  g.open();
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(a));
  EXPECT_CUDA(cudaSuccess, cudaStreamQuery(a));
}

TEST_F(streams, a_host_function_does_not_block_its_caller) {
  gate g;
  int ran = 0;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaLaunchHostFunc(a, count_up, &ran));  // returns although the stream is held
  g.wait_until_entered();
  EXPECT_EQ(0, ran);
  g.open();
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(1, ran);
}

TEST_F(streams, work_of_a_destroyed_stream_still_runs) {
  cudaStream_t s = nullptr;
  cudaEvent_t done = nullptr;
  ASSERT_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  ASSERT_OK(cudaEventCreate(&done));
  int ran = 0;
  {
    gate g;
    ASSERT_OK(g.close(s));
    ASSERT_OK(cudaLaunchHostFunc(s, count_up, &ran));
    ASSERT_OK(cudaEventRecord(done, s));
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));  // at once, although work is pending
    g.wait_until_entered();
    g.open();
    ASSERT_OK(cudaEventSynchronize(done));
  }
  EXPECT_EQ(1, ran);
  ASSERT_OK(cudaEventDestroy(done));
}

TEST_F(streams, a_destroyed_handle_is_recognised) {
  cudaStream_t s = nullptr;
  ASSERT_OK(cudaStreamCreate(&s));
  ASSERT_OK(cudaStreamDestroy(s));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamQuery(s));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamDestroy(s));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

TEST_F(streams, the_default_streams_cannot_be_destroyed) {
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamDestroy(nullptr));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamDestroy(cudaStreamLegacy));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamDestroy(cudaStreamPerThread));
}

TEST_F(streams, priorities_are_brought_into_the_range_of_the_device) {
  int least = 9;
  int greatest = 9;
  ASSERT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_LT(greatest, least);
  for (const auto& [wanted, given] : {std::pair{-100, greatest}, {-1, -1}, {100, least}}) {
    cudaStream_t s = nullptr;
    int priority = 99;
    ASSERT_OK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, wanted));
    ASSERT_OK(cudaStreamGetPriority(s, &priority));
    EXPECT_EQ(given, priority);
    ASSERT_OK(cudaStreamDestroy(s));
  }
}

TEST_F(streams, every_stream_has_an_id_of_its_own) {
  std::set<unsigned long long> ids;
  for (cudaStream_t s : {cudaStreamLegacy, cudaStreamPerThread, a, b}) {
    unsigned long long id = 0;
    ASSERT_OK(cudaStreamGetId(s, &id));
    ids.insert(id);
  }
  EXPECT_EQ(4U, ids.size());
}

TEST_F(streams, the_legacy_stream_waits_for_blocking_streams_and_not_for_others) {
  cudaStream_t blocking = nullptr;
  ASSERT_OK(cudaStreamCreate(&blocking));
  {
    gate g;
    ASSERT_OK(g.close(blocking));
    EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(nullptr));
    EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(cudaStreamLegacy));
    g.open();
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(nullptr));
  }
  {
    gate g;
    ASSERT_OK(g.close(a));
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(nullptr));
    g.open();
  }
  ASSERT_OK(cudaStreamDestroy(blocking));
}

TEST_F(streams, stream_0_of_a_per_thread_entry_point_is_the_threads_own) {
  unsigned long long own = 0;
  unsigned long long zero = 0;
  unsigned long long legacy = 0;
  ASSERT_OK(cudaStreamGetId(cudaStreamPerThread, &own));
  ASSERT_OK(cudaStreamGetId_ptsz(nullptr, &zero));
  ASSERT_OK(cudaStreamGetId(nullptr, &legacy));
  EXPECT_EQ(own, zero);
  EXPECT_NE(own, legacy);
}

struct callback_seen {
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaErrorUnknown;
};

TEST_F(streams, a_callback_gets_its_stream_and_no_error) {
  callback_seen seen;
  ASSERT_OK(cudaStreamAddCallback(
      a,
      [](cudaStream_t stream, cudaError_t error, void* data) {
        *static_cast<callback_seen*>(data) = {stream, error};
      },
      &seen, 0));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(a, seen.stream);
  EXPECT_CUDA(cudaSuccess, seen.error);
}

TEST_F(streams, a_host_function_may_not_call_the_runtime) {
  struct answers {
    cudaError_t malloc, query, count, sync, device;
  } seen{};
  ASSERT_OK(cudaLaunchHostFunc(
      a,
      [](void* data) {
        auto& out = *static_cast<answers*>(data);
        void* memory = nullptr;
        int n = 0;
        out.malloc = cudaMalloc(&memory, 16);
        out.query = cudaStreamQuery(nullptr);
        out.count = cudaGetDeviceCount(&n);
        out.sync = cudaDeviceSynchronize();
        out.device = cudaGetDevice(&n);
      },
      &seen));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_CUDA(cudaErrorNotPermitted, seen.malloc);
  EXPECT_CUDA(cudaErrorNotPermitted, seen.query);
  EXPECT_CUDA(cudaSuccess, seen.count);
  EXPECT_CUDA(cudaErrorNotPermitted, seen.sync);
  EXPECT_CUDA(cudaErrorNotPermitted, seen.device);
}

TEST_F(streams, attributes_are_kept_and_copied) {
  cudaLaunchAttributeValue value{};
  value.syncPolicy = cudaSyncPolicyYield;
  ASSERT_OK(cudaStreamSetAttribute(a, cudaLaunchAttributeSynchronizationPolicy, &value));
  ASSERT_OK(cudaStreamCopyAttributes(b, a));
  cudaLaunchAttributeValue got{};
  ASSERT_OK(cudaStreamGetAttribute(b, cudaLaunchAttributeSynchronizationPolicy, &got));
  EXPECT_EQ(cudaSyncPolicyYield, got.syncPolicy);
}

// priorities.tsv stream.attr.*
TEST_F(streams, a_priority_is_an_attribute_that_can_be_set_and_copied) {
  cudaLaunchAttributeValue value{};
  value.priority = -9;
  ASSERT_OK(cudaStreamSetAttribute(a, cudaLaunchAttributePriority, &value));
  int priority = 9;
  ASSERT_OK(cudaStreamGetPriority(a, &priority));
  EXPECT_EQ(-5, priority);
  ASSERT_OK(cudaStreamCopyAttributes(b, a));
  ASSERT_OK(cudaStreamGetPriority(b, &priority));
  EXPECT_EQ(-5, priority);
  cudaLaunchAttributeValue got{};
  ASSERT_OK(cudaStreamGetAttribute(b, cudaLaunchAttributePriority, &got));
  EXPECT_EQ(-5, got.priority);
}

}  // namespace
