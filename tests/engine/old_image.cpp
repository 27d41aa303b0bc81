// A device image of another interface than the library's.
#include "base/device_abi.hpp"

namespace {
constexpr sb::abi::kernel_info other() {
  sb::abi::kernel_info info{};
  info.abi_version = sb::abi::version + 1;
  return info;
}
}  // namespace

#define SB_KERNEL(name)                                       \
  extern const sb::abi::kernel_info name __asm__(#name ".sb") \
      __attribute__((visibility("defaul"                      \
                                "t")))
SB_KERNEL(first);
SB_KERNEL(second);
const sb::abi::kernel_info first = other();
const sb::abi::kernel_info second = other();
