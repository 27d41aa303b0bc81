#include <thread>

#include "cudart/error_texts.hpp"
#include "gate.hpp"

namespace {

TEST(errors, the_last_one_is_handed_out_once) {
  cudaGetLastError();
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(999));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaPeekAtLastError());
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetLastError());
  EXPECT_CUDA(cudaSuccess, cudaGetLastError());
}

TEST(errors, a_success_does_not_clear_the_last_one) {
  cudaGetLastError();
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(-1));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetLastError());
}

TEST(errors, each_thread_has_its_own_last_one) {
  cudaGetLastError();
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(-1));
  std::thread([] { EXPECT_CUDA(cudaSuccess, cudaGetLastError()); }).join();
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetLastError());
}

TEST(errors, every_code_of_the_header_has_a_name_and_a_description) {
  for (const auto& text : sb::cudart::error_texts) {
    EXPECT_STREQ(text.name, cudaGetErrorName(static_cast<cudaError_t>(text.code)));
    EXPECT_STREQ(text.description, cudaGetErrorString(static_cast<cudaError_t>(text.code)));
  }
  EXPECT_STREQ("no error", cudaGetErrorString(cudaSuccess));
  EXPECT_STREQ("cudaErrorExternalDevice", cudaGetErrorName(cudaErrorExternalDevice));
}

TEST(errors, an_unknown_code_is_called_so) {
  EXPECT_STREQ("unrecognized error code", cudaGetErrorName(static_cast<cudaError_t>(507)));
  EXPECT_STREQ("unrecognized error code", cudaGetErrorString(static_cast<cudaError_t>(507)));
}

TEST(errors, the_table_is_sorted) {
  int before = -1;
  for (const auto& text : sb::cudart::error_texts) {
    EXPECT_LT(before, text.code);
    before = text.code;
  }
}

TEST(errors, what_is_no_kernel_cannot_be_launched) {
  cudaGetLastError();
  int not_a_kernel = 0;
  EXPECT_CUDA(cudaErrorInvalidDeviceFunction,
              cudaLaunchKernel(nullptr, dim3{1, 1, 1}, dim3{1, 1, 1}, nullptr, 0, nullptr));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle,
              cudaLaunchKernel(&not_a_kernel, dim3{1, 1, 1}, dim3{1, 1, 1}, nullptr, 0, nullptr));
  cudaFuncAttributes attributes;
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaFuncGetAttributes(&attributes, &not_a_kernel));
  cudaGetLastError();
}

}  // namespace
