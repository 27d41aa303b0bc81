// What compiled programs call before main: device images, their kernels and variables.
//
// Runs from static constructors of the program, possibly before those of this library: everything
// here lives in function-local statics and is never destroyed.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cudart/context.hpp"
#include "cudart/device_image.hpp"
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

// What the program passes back with each kernel and variable of an image.
struct registered_image {
  engine::image* loaded = nullptr;  // null: not one of ours
  const void* elf = nullptr;
  std::vector<std::string> managed;
  std::size_t constant_bytes = 0;
};

// Links signals.cpp into every program that has device code, also from the archive.
[[gnu::used]] const auto program_sigaction = &::sigaction;

registered_image* image_of(void** handle) {
  auto* image = reinterpret_cast<registered_image*>(handle);
  return image != nullptr && image->loaded != nullptr ? image : nullptr;
}

struct name_book {
  std::shared_mutex mutex;
  struct kernel {
    const char* name;
    const registered_image* image;
  };
  std::unordered_map<const void*, kernel> by_stub;
};
name_book& names() {
  static auto* book = new name_book;
  return *book;
}

// Host addresses of managed variables whose image nobody loaded yet.
struct managed_book {
  std::atomic<bool> pending{false};
  std::mutex mutex;
  std::vector<const void*> variables;
};
managed_book& managed() {
  static auto* book = new managed_book;
  return *book;
}

}  // namespace

const char* registered_name(const void* stub) {
  name_book& book = names();
  const std::shared_lock lock(book.mutex);
  const auto found = book.by_stub.find(stub);
  return found != book.by_stub.end() ? found->second.name : nullptr;
}

std::size_t constant_bytes_beside(const void* stub) {
  name_book& book = names();
  const std::shared_lock lock(book.mutex);
  const auto found = book.by_stub.find(stub);
  return found != book.by_stub.end() ? found->second.image->constant_bytes : 0;
}

void load_managed_variables() {
  managed_book& book = managed();
  if (!book.pending.load(std::memory_order_acquire)) return;
  std::vector<const void*> variables;
  {
    const std::lock_guard lock(book.mutex);
    variables.swap(book.variables);
    book.pending.store(false, std::memory_order_release);
  }
  for (const void* variable : variables) (void)engine::find_variable(variable, current_device());
}

SB_API void** CUDARTAPI __cudaRegisterFatBinary(void* wrapper) {
  const auto* frame = static_cast<const image_wrapper*>(wrapper);
  auto* image = new registered_image;
  auto** handle = reinterpret_cast<void**>(image);
  if (frame->magic != wrapper_magic || frame->data == nullptr ||
      std::memcmp(frame->data, elf_magic, sizeof elf_magic) != 0) {
    std::fputs(
        "streambed: the program holds device code that this runtime cannot run: it was compiled by "
        "another nvcc. Compile it with the nvcc beside this libcudart.\n",
        stderr);
    return handle;
  }
  image->loaded = engine::register_image(frame->data);
  image->elf = frame->data;
  image->managed = managed_variables(frame->data);
  return handle;
}

SB_API void CUDARTAPI __cudaRegisterFatBinaryEnd(void**) {}

SB_API void CUDARTAPI __cudaRegisterFunction(void** handle, const char* stub, char*,
                                             const char* device_name, int, void*, void*, void*,
                                             void*, int*) {
  registered_image* image = image_of(handle);
  if (image == nullptr) return;
  {
    name_book& book = names();
    const std::unique_lock lock(book.mutex);
    book.by_stub[stub] = {device_name, image};
  }
  engine::register_kernel(image->loaded, stub, device_name);
}

SB_API void CUDARTAPI __cudaRegisterVar(void** handle, char* host_variable, char*,
                                        const char* device_name, int, size_t bytes, int constant,
                                        int) {
  registered_image* image = image_of(handle);
  if (image == nullptr) return;
  if (constant != 0) image->constant_bytes += bytes;
  const bool is_managed =
      std::find(image->managed.begin(), image->managed.end(), device_name) != image->managed.end();
  engine::register_variable(image->loaded, host_variable, device_name, bytes, constant != 0,
                            is_managed);
  if (is_managed) {
    // The host's variable is the only one, and the compiler left its initial value to the image.
    copy_initial_value(image->elf, device_name, host_variable, bytes);
    managed_book& book = managed();
    const std::lock_guard lock(book.mutex);
    book.variables.push_back(host_variable);
    book.pending.store(true, std::memory_order_release);
  }
}

SB_API char CUDARTAPI __cudaInitModule(void**) { return 1; }

SB_API void CUDARTAPI __cudaUnregisterFatBinary(void** handle) {
  auto* image = reinterpret_cast<registered_image*>(handle);
  if (image == nullptr || engine::forked_away()) return;
  {
    name_book& book = names();
    const std::unique_lock lock(book.mutex);
    std::erase_if(book.by_stub, [&](const auto& entry) { return entry.second.image == image; });
  }
  if (image->loaded != nullptr) engine::unregister_image(image->loaded);
  delete image;
}

}  // namespace sb::cudart
