#include <cstring>

#include "gate.hpp"

namespace {

TEST(two_devices, are_counted_and_told_apart) {
  int count = 0;
  ASSERT_OK(cudaGetDeviceCount(&count));
  ASSERT_EQ(2, count);
  cudaDeviceProp p[2];
  for (int d = 0; d < 2; ++d) ASSERT_OK(cudaGetDeviceProperties(&p[d], d));
  EXPECT_NE(p[0].pciBusID, p[1].pciBusID);
  EXPECT_NE(0, std::memcmp(&p[0].uuid, &p[1].uuid, sizeof p[0].uuid));
}

TEST(two_devices, a_stream_belongs_to_the_device_that_was_current) {
  cudaStream_t s = nullptr;
  ASSERT_OK(cudaSetDevice(1));
  ASSERT_OK(cudaStreamCreate(&s));
  ASSERT_OK(cudaSetDevice(0));
  int device = -1;
  ASSERT_OK(cudaStreamGetDevice(s, &device));
  EXPECT_EQ(1, device);
  cudaEvent_t e = nullptr;
  ASSERT_OK(cudaEventCreate(&e));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventRecord(e, s));
  ASSERT_OK(cudaEventDestroy(e));
  ASSERT_OK(cudaStreamDestroy(s));
  cudaGetLastError();
}

TEST(two_devices, one_waits_for_an_event_of_the_other) {
  cudaStream_t s[2] = {};
  cudaEvent_t e = nullptr;
  for (int d = 0; d < 2; ++d) {
    ASSERT_OK(cudaSetDevice(d));
    ASSERT_OK(cudaStreamCreate(&s[d]));
  }
  ASSERT_OK(cudaSetDevice(0));
  ASSERT_OK(cudaEventCreate(&e));
  gate g;
  ASSERT_OK(g.close(s[0]));
  ASSERT_OK(cudaEventRecord(e, s[0]));
  ASSERT_OK(cudaStreamWaitEvent(s[1], e, 0));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(s[1]));
  g.open();
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s[1]));
  ASSERT_OK(cudaEventDestroy(e));
  for (cudaStream_t stream : s) ASSERT_OK(cudaStreamDestroy(stream));
}

TEST(two_devices, synchronising_one_does_not_wait_for_the_other) {
  gate g;
  ASSERT_OK(cudaSetDevice(1));
  ASSERT_OK(g.close(nullptr));
  ASSERT_OK(cudaSetDevice(0));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_CUDA(cudaSuccess, cudaStreamQuery(nullptr));
  g.open();
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  ASSERT_OK(cudaSetDevice(0));
}

TEST(two_devices, peer_access_is_switched_on_once_and_off_once) {
  int can = 0;
  ASSERT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(1, can);
  EXPECT_CUDA(cudaSuccess, cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_CUDA(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_CUDA(cudaSuccess, cudaDeviceDisablePeerAccess(1));
  EXPECT_CUDA(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
  cudaGetLastError();
}

}  // namespace
