#include "engine/images.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/checked_state.hpp"
#include "engine/device_calls.hpp"
#include "engine/found_kernels.hpp"
#include "engine/memory.hpp"

namespace sb::engine {

namespace {

// An image on one device. Its file descriptor stays open: the dynamic linker knows a library by its
// path, and a second one under the same number would be taken for the first.
struct loaded_image {
  int file = -1;
  void* handle = nullptr;
  const void* base = nullptr;  // where it lies
};

struct kernel_entry {
  image* owner = nullptr;
  std::string name;
  std::map<device_id, const abi::kernel_info*> found;
};

struct variable_entry {
  image* owner = nullptr;
  void* host = nullptr;
  std::string name;
  std::size_t bytes = 0;
  bool managed = false;
  std::map<device_id, void*> found;
};

}  // namespace

struct image {
  const void* elf = nullptr;
  std::map<device_id, loaded_image> loaded;
};

namespace {

// Lock order: registry, then memory's own.
struct registry {
  std::shared_mutex mutex;
  std::mutex lately;  // who writes what was found lately, beside others who hold `mutex` shared
  std::vector<std::unique_ptr<image>> images;
  std::unordered_map<const void*, kernel_entry> kernels;      // by launch stub
  std::unordered_map<const void*, variable_entry> variables;  // by the host's variable
  bool told_of_interface = false;  // that kernels were compiled for another one
};

constinit found_kernels lately;

registry& the_registry() {
  static registry* const one =
      new registry;  // static destructors of the program may still come here
  return *one;
}

std::size_t elf_bytes(const void* elf) {
  const auto* bytes = static_cast<const char*>(elf);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  std::size_t end = header.e_shoff + std::size_t{header.e_shentsize} * header.e_shnum;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes + header.e_phoff + i * header.e_phentsize, sizeof segment);
    end = std::max<std::size_t>(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

bool write_all(int file, const char* bytes, std::size_t count) {
  while (count != 0) {
    const ssize_t n = write(file, bytes, count);
    if (n <= 0) return false;
    bytes += n;
    count -= static_cast<std::size_t>(n);
  }
  return true;
}

void* open_image(const image& i, int& file) {
  file = memfd_create("streambed-device-image", MFD_CLOEXEC);
  if (file < 0 || !write_all(file, static_cast<const char*>(i.elf), elf_bytes(i.elf))) {
    std::perror("streambed: no memory for a device image");
    return nullptr;
  }
  // Not /proc/self: debuggers and sanitizers read the name from outside. A process whose first
  // thread is over has its files by way of the others.
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(getpid()), file);
  if (access(path, F_OK) != 0)
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/fd/%d", static_cast<int>(getpid()),
                  static_cast<int>(gettid()), file);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    std::fprintf(stderr, "streambed: device code does not load: %s\n", dlerror());
  return handle;
}

// With the registry locked.
void* load(registry& r, image& i, device_id device) {
  if (const auto found = i.loaded.find(device); found != i.loaded.end())
    return found->second.handle;
  loaded_image l;
  l.handle = open_image(i, l.file);
  if (l.handle == nullptr) {
    if (l.file >= 0) close(l.file);
    return nullptr;
  }
  if (auto* table = static_cast<const abi::device_table**>(dlsym(l.handle, "__sb_table")))
    *table = &device_calls();
  if (link_map* map = nullptr; dlinfo(l.handle, RTLD_DI_LINKMAP, &map) == 0)
    l.base = reinterpret_cast<const void*>(map->l_addr);
  for (auto& [host, v] : r.variables) {
    if (v.owner != &i) continue;
    if (v.managed) {
      if (auto* place = static_cast<void**>(dlsym(l.handle, (v.name + ".sb_managed").c_str())))
        *place = v.host;
      v.found[device] = v.host;
      memory::instance().add_image_variable(device, v.host, v.bytes, memory_kind::managed);
    } else if (void* address = dlsym(l.handle, v.name.c_str())) {
      v.found[device] = address;
      memory::instance().add_image_variable(device, address, v.bytes);
    }
  }
  i.loaded.emplace(device, l);
  return l.handle;
}

void unload(loaded_image& l) {
  dlclose(l.handle);
  close(l.file);
}

}  // namespace

image* register_image(const void* elf) {
  registry& r = the_registry();
  std::unique_lock lock(r.mutex);
  r.images.push_back(std::make_unique<image>());
  r.images.back()->elf = elf;
  return r.images.back().get();
}

void register_kernel(image* owner, const void* host_stub, const char* device_name) {
  registry& r = the_registry();
  std::unique_lock lock(r.mutex);
  checked_state::changed();
  r.kernels[host_stub] = {owner, device_name, {}};
}

void register_variable(image* owner, void* host_variable, const char* device_name,
                       std::size_t bytes, bool /*constant*/, bool managed) {
  registry& r = the_registry();
  std::unique_lock lock(r.mutex);
  checked_state::changed();  // a managed one is loaded by the next call
  r.variables[host_variable] = {owner, host_variable, device_name, bytes, managed, {}};
}

// The code stays mapped: at the end of a process a kernel of it may still be running.
void unregister_image(image* owner) {
  registry& r = the_registry();
  std::unique_lock lock(r.mutex);
  lately.forget();
  checked_state::changed();
  std::erase_if(r.kernels, [&](const auto& k) { return k.second.owner == owner; });
  std::erase_if(r.variables, [&](const auto& v) { return v.second.owner == owner; });
  std::erase_if(r.images, [&](const auto& i) { return i.get() == owner; });
}

result<const abi::kernel_info*> find_kernel(const void* host_stub, device_id device) {
  if (const abi::kernel_info* info = lately.find(host_stub, device); info != nullptr) return info;
  registry& r = the_registry();
  {
    std::shared_lock lock(r.mutex);
    const auto entry = r.kernels.find(host_stub);
    if (entry == r.kernels.end()) return status::invalid_device_function;
    const auto found = entry->second.found.find(device);
    if (found != entry->second.found.end()) {
      const std::lock_guard one_at_a_time(r.lately);
      lately.note(host_stub, device, found->second);
      return found->second;
    }
  }
  std::unique_lock lock(r.mutex);
  const auto entry = r.kernels.find(host_stub);
  if (entry == r.kernels.end()) return status::invalid_device_function;
  kernel_entry& k = entry->second;
  void* handle = load(r, *k.owner, device);
  if (handle == nullptr) return status::no_kernel_image;
  const auto* info = static_cast<const abi::kernel_info*>(dlsym(handle, (k.name + ".sb").c_str()));
  if (info == nullptr) return status::invalid_device_function;
  if (info->abi_version != abi::version) {
    if (!std::exchange(r.told_of_interface, true))
      std::fprintf(stderr,
                   "streambed: kernel %s was compiled for device interface %u, this library has "
                   "%u. Compile the program again with the nvcc beside this library.\n",
                   k.name.c_str(), info->abi_version, abi::version);
    return status::no_kernel_image;
  }
  k.found[device] = info;
  return info;
}

result<variable_info> find_variable(const void* host_variable, device_id device) {
  registry& r = the_registry();
  std::unique_lock lock(r.mutex);
  const auto entry = r.variables.find(host_variable);
  if (entry == r.variables.end()) return status::invalid_symbol;
  variable_entry& v = entry->second;
  if (load(r, *v.owner, device) == nullptr) return status::no_kernel_image;
  const auto found = v.found.find(device);
  if (found == v.found.end()) return status::invalid_symbol;
  return variable_info{found->second, v.bytes};
}

bool is_in_loaded_image(const void* address) {
  Dl_info found;
  if (dladdr(address, &found) == 0) return false;
  registry& r = the_registry();
  std::shared_lock lock(r.mutex);
  return std::any_of(r.images.begin(), r.images.end(), [&](const auto& i) {
    return std::any_of(i->loaded.begin(), i->loaded.end(),
                       [&](const auto& each) { return each.second.base == found.dli_fbase; });
  });
}

void unload_images(device_id device) {
  registry& r = the_registry();
  std::unique_lock lock(r.mutex);
  lately.forget();
  checked_state::changed();
  memory::instance().remove_image_variables(device);
  for (auto& [stub, k] : r.kernels) k.found.erase(device);
  for (auto& [host, v] : r.variables) v.found.erase(device);
  for (const auto& i : r.images) {
    if (const auto found = i->loaded.find(device); found != i->loaded.end()) {
      unload(found->second);
      i->loaded.erase(found);
    }
  }
}

}  // namespace sb::engine
