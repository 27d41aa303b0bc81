#include <cstring>
#include <string>

#include "gate.hpp"

namespace {

TEST(devices, there_is_one_and_it_is_an_h200) {
  int count = 0;
  ASSERT_OK(cudaGetDeviceCount(&count));
  EXPECT_EQ(1, count);
  cudaDeviceProp p;
  ASSERT_OK(cudaGetDeviceProperties(&p, 0));
  EXPECT_STREQ("NVIDIA H200", p.name);
  EXPECT_EQ(9, p.major);
  EXPECT_EQ(0, p.minor);
  EXPECT_EQ(132, p.multiProcessorCount);
  EXPECT_EQ(1, p.concurrentKernels);
  EXPECT_EQ(1, p.deviceOverlap);
  EXPECT_EQ(1024, p.maxThreadsPerBlock);
}

TEST(devices, properties_and_attributes_agree) {
  cudaDeviceProp p;
  ASSERT_OK(cudaGetDeviceProperties(&p, 0));
  const auto attribute = [](cudaDeviceAttr a) {
    int value = -1;
    EXPECT_CUDA(cudaSuccess, cudaDeviceGetAttribute(&value, a, 0));
    return value;
  };
  EXPECT_EQ(p.warpSize, attribute(cudaDevAttrWarpSize));
  EXPECT_EQ(p.clockRate, attribute(cudaDevAttrClockRate));
  EXPECT_EQ(p.pciBusID, attribute(cudaDevAttrPciBusId));
  EXPECT_EQ(p.asyncEngineCount, attribute(cudaDevAttrAsyncEngineCount));
  EXPECT_EQ(p.maxGridSize[1], attribute(cudaDevAttrMaxGridDimY));
  EXPECT_EQ(p.maxTexture3D[2], attribute(cudaDevAttrMaxTexture3DDepth));
  EXPECT_EQ(static_cast<int>(p.sharedMemPerBlockOptin),
            attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

TEST(devices, one_that_does_not_exist_is_refused) {
  int value = 0;
  cudaDeviceProp p;
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(-1));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(999));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, 999));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 9));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(149), 0));
  cudaGetLastError();
}

TEST(devices, the_bus_id_finds_the_device_again) {
  char id[32] = "";
  int device = -1;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(id, 12, 0));
  ASSERT_OK(cudaDeviceGetPCIBusId(id, 13, 0));
  EXPECT_EQ(12U, std::strlen(id));
  ASSERT_OK(cudaDeviceGetByPCIBusId(&device, id));
  EXPECT_EQ(0, device);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, "zzz"));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&device, "0000:77:00.0"));
  cudaGetLastError();
}

TEST(devices, limits_are_rounded_as_the_device_does) {
  size_t value = 0;
  ASSERT_OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(1024U, value);
  ASSERT_OK(cudaDeviceSetLimit(cudaLimitStackSize, 3001));
  ASSERT_OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(3008U, value);
  ASSERT_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 9000001));
  ASSERT_OK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
  EXPECT_EQ(9043968U, value);
  EXPECT_CUDA(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth));
  ASSERT_OK(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
  ASSERT_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8388608));
  cudaGetLastError();
}

TEST(devices, flags_say_how_to_wait) {
  unsigned flags = 0;
  ASSERT_OK(cudaDeviceReset());
  ASSERT_OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(unsigned{cudaDeviceMapHost}, flags);
  ASSERT_OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  ASSERT_OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(unsigned{cudaDeviceMapHost | cudaDeviceScheduleBlockingSync}, flags);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaSetDeviceFlags(0x1000));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaSetDeviceFlags(3));
  cudaGetLastError();
}

TEST(devices, one_is_not_its_own_peer) {
  int can = 7;
  EXPECT_CUDA(cudaSuccess, cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(0, can);
  EXPECT_CUDA(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
  EXPECT_CUDA(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(5, 0));
  cudaGetLastError();
}

TEST(devices, versions_are_those_of_cuda_13) {
  int version = 0;
  ASSERT_OK(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(13000, version);
  ASSERT_OK(cudaDriverGetVersion(&version));
  EXPECT_EQ(13000, version);
}

TEST(devices, a_reset_ends_streams_and_events_and_the_device_goes_on) {
  cudaStream_t s = nullptr;
  cudaEvent_t e = nullptr;
  ASSERT_OK(cudaStreamCreate(&s));
  ASSERT_OK(cudaEventCreate(&e));
  ASSERT_OK(cudaEventRecord(e, s));
  ASSERT_OK(cudaDeviceReset());
  EXPECT_CUDA(cudaErrorDeviceUninitialized, cudaEventQuery(e));
  EXPECT_CUDA(cudaErrorDeviceUninitialized, cudaEventDestroy(e));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventDestroy(e));
  EXPECT_CUDA(cudaErrorDeviceUninitialized, cudaStreamQuery(s));
  int ran = 0;
  cudaStream_t fresh = nullptr;
  ASSERT_OK(cudaStreamCreate(&fresh));
  ASSERT_OK(cudaLaunchHostFunc(fresh, count_up, &ran));
  ASSERT_OK(cudaLaunchHostFunc(nullptr, count_up, &ran));
  ASSERT_OK(cudaLaunchHostFunc(cudaStreamPerThread, count_up, &ran));
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(3, ran);
  ASSERT_OK(cudaStreamDestroy(fresh));
  cudaGetLastError();
}

}  // namespace
