// STREAMBED_MEMCHECK=1: an overrun faults at once instead of reaching a neighbour.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "gate.hpp"

namespace {

// A write to a pipe reads from the address: the kernel answers EFAULT where user code would fault.
bool is_readable(const void* address) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const bool readable = ::write(ends[1], address, 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return readable;
}

TEST(memory_check, the_byte_behind_an_allocation_is_out_of_reach) {
  for (const std::size_t size : {std::size_t{16}, std::size_t{4096}, std::size_t{1} << 22}) {
    void *d = nullptr, *h = nullptr;
    ASSERT_OK(cudaMalloc(&d, size));
    ASSERT_OK(cudaMallocHost(&h, size));
    for (void* p : {d, h}) {
      EXPECT_TRUE(is_readable(static_cast<char*>(p) + size - 1));
      EXPECT_FALSE(is_readable(static_cast<char*>(p) + size));
    }
    ASSERT_OK(cudaMemset(d, 1, size));
    ASSERT_OK(cudaMemcpy(h, d, size, cudaMemcpyDeviceToHost));
    EXPECT_EQ(static_cast<char*>(h)[size - 1], 1);
    ASSERT_OK(cudaFree(d));
    EXPECT_FALSE(is_readable(d));
    ASSERT_OK(cudaFreeHost(h));
  }
}

}  // namespace
