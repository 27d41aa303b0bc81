// What lies in a device image. How its kernels run is machine.cpp.
#include <dlfcn.h>

#include <stdexcept>

#include "machine.hpp"

namespace sb::test {

image::~image() { dlclose(handle_); }

void* image::symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

const abi::kernel_info& image::kernel(const std::string& name) const {
  void* info = symbol(name + ".sb");
  if (!info) {
    throw std::runtime_error("no kernel " + name);
  }
  return *static_cast<const abi::kernel_info*>(info);
}

}  // namespace sb::test
