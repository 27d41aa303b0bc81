// What compiled programs call before main: device images, their kernels and variables.
//
// Runs from static constructors of the program, possibly before those of this library: everything
// here lives in function-local statics and is never destroyed.
#include <cstdio>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "cudart/context.hpp"
#include "cudart/functions.hpp"
#include "engine/images.hpp"

namespace sb::cudart {
namespace {

// The frame that the compiler puts around an embedded image.
struct image_wrapper {
  int magic;
  int version;
  const void* data;
  void* unused;
};
constexpr int wrapper_magic = 0x466243b1;
constexpr char elf_magic[] = {0x7f, 'E', 'L', 'F'};

struct name_book {
  std::shared_mutex mutex;
  std::unordered_map<const void*, const char*> by_stub;
};
name_book& names() {
  static auto* book = new name_book;
  return *book;
}

// The handle of a registered image: what the program passes back with each of its kernels.
engine::image* image_of(void** handle) {
  return handle != nullptr ? static_cast<engine::image*>(*handle) : nullptr;
}

}  // namespace

const char* registered_name(const void* stub) {
  name_book& book = names();
  const std::shared_lock lock(book.mutex);
  const auto found = book.by_stub.find(stub);
  return found != book.by_stub.end() ? found->second : nullptr;
}

SB_API void** CUDARTAPI __cudaRegisterFatBinary(void* wrapper) {
  const auto* frame = static_cast<const image_wrapper*>(wrapper);
  auto* handle = new void*(nullptr);
  if (frame->magic != wrapper_magic || frame->data == nullptr ||
      std::memcmp(frame->data, elf_magic, sizeof elf_magic) != 0) {
    std::fputs(
        "streambed: the program holds device code that this runtime cannot run: it was compiled by "
        "another nvcc. Compile it with the nvcc beside this libcudart.\n",
        stderr);
    return handle;
  }
  *handle = engine::register_image(frame->data);
  return handle;
}

SB_API void CUDARTAPI __cudaRegisterFatBinaryEnd(void**) {}

SB_API void CUDARTAPI __cudaRegisterFunction(void** handle, const char* stub, char*,
                                             const char* device_name, int, void*, void*, void*,
                                             void*, int*) {
  engine::image* image = image_of(handle);
  if (image == nullptr) return;
  {
    name_book& book = names();
    const std::unique_lock lock(book.mutex);
    book.by_stub[stub] = device_name;
  }
  engine::register_kernel(image, stub, device_name);
}

SB_API void CUDARTAPI __cudaRegisterVar(void** handle, char* host_variable, char*,
                                        const char* device_name, int, size_t bytes, int constant,
                                        int) {
  engine::image* image = image_of(handle);
  if (image == nullptr) return;
  engine::register_variable(image, host_variable, device_name, bytes, constant != 0, false);
}

SB_API void CUDARTAPI __cudaRegisterManagedVar(void** handle, void** host_variable, char*,
                                               const char* device_name, int, size_t bytes,
                                               int constant, int) {
  engine::image* image = image_of(handle);
  if (image == nullptr) return;
  engine::register_variable(image, host_variable, device_name, bytes, constant != 0, true);
}

SB_API char CUDARTAPI __cudaInitModule(void**) { return 1; }

SB_API void CUDARTAPI __cudaUnregisterFatBinary(void** handle) {
  if (engine::image* image = image_of(handle)) engine::unregister_image(image);
  delete handle;
}

}  // namespace sb::cudart
