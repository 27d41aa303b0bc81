#include "engine/pool_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/shared_region.hpp"

namespace sb::engine {

namespace {

constexpr std::size_t label_bytes = 4096;

struct label {
  static constexpr std::uint64_t known = 0x6c6f6f7062647473;  // "stdbpool"
  std::uint64_t mark;
  std::uint64_t device;
  std::uint64_t bytes;
};

}  // namespace

shared_pool_file::shared_pool_file(device_id device, std::size_t bytes) {
  const int file = make_file(bytes + label_bytes);
  if (file < 0) return;
  const label l{label::known, device.value, bytes};
  if (::pwrite(file, &l, sizeof l, static_cast<off_t>(bytes)) != sizeof l) {
    ::close(file);
    return;
  }
  descriptor_ = file;
  device_ = device;
  bytes_ = bytes;
}

shared_pool_file::shared_pool_file(int descriptor) {
  struct stat about{};
  if (descriptor < 0 || ::fstat(descriptor, &about) != 0) return;
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size <= label_bytes) return;
  label l{};
  const auto at = static_cast<off_t>(size - label_bytes);
  if (::pread(descriptor, &l, sizeof l, at) != sizeof l) return;
  if (l.mark != label::known || l.bytes != size - label_bytes) return;
  descriptor_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  device_ = device_id{static_cast<std::uint32_t>(l.device)};
  bytes_ = l.bytes;
}

shared_pool_file::shared_pool_file(const shared_pool_file& other)
    : descriptor_(other.duplicate()), device_(other.device_), bytes_(other.bytes_) {}

shared_pool_file::~shared_pool_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int shared_pool_file::duplicate() const {
  return descriptor_ < 0 ? -1 : ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
}

std::uint64_t shared_pool_file::inode() const {
  struct stat about{};
  return descriptor_ >= 0 && ::fstat(descriptor_, &about) == 0 ? about.st_ino : 0;
}

}  // namespace sb::engine
