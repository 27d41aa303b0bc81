// Holds a stream until the test opens it, without kernels and without sleeping.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#define EXPECT_CUDA(wanted, call) EXPECT_STREQ(#wanted, cudaGetErrorName(call))
#define ASSERT_CUDA(wanted, call) ASSERT_STREQ(#wanted, cudaGetErrorName(call))
#define ASSERT_OK(call) ASSERT_STREQ("cudaSuccess", cudaGetErrorName(call))

// A host function that waits. CUDA runs host functions one at a time, so a program has one gate at
// a time; other streams are held by waiting for an event behind it.
class gate {
 public:
  gate() = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  // The function uses the gate until it returns.
  ~gate() {
    open();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return left_ || !closed_; });
  }

  cudaError_t close(cudaStream_t stream) {
    const cudaError_t answer = cudaLaunchHostFunc(stream, &gate::hold, this);
    closed_ = answer == cudaSuccess;
    return answer;
  }

  void wait_until_entered() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entered_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  static void CUDART_CB hold(void* self) {
    auto& g = *static_cast<gate*>(self);
    std::unique_lock lock(g.mutex_);
    g.entered_ = true;
    g.changed_.notify_all();
    g.changed_.wait(lock, [&] { return g.open_; });
    g.left_ = true;
    g.changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool entered_ = false;
  bool open_ = false;
  bool left_ = false;
  bool closed_ = false;
};

// Two streams, forgotten errors before and after.
class with_streams : public ::testing::Test {
 protected:
  void SetUp() override {
    cudaGetLastError();
    ASSERT_OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    ASSERT_OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  }
  void TearDown() override {
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(a));
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(b));
    EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
    cudaGetLastError();
  }
  cudaStream_t a = nullptr;
  cudaStream_t b = nullptr;
};

inline void CUDART_CB count_up(void* counter) { ++*static_cast<int*>(counter); }
