#include "engine/memory_imports.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace sb::engine {

memory_imports::~memory_imports() {
  for (const auto& [inode, m] : mappings_) ::munmap(m.begin, m.bytes);
}

result<void*> memory_imports::open(const file_address& file, std::uint64_t offset,
                                   std::uint64_t bytes) {
  if (bytes == 0 || offset > file.bytes || bytes > file.bytes - offset) {
    return status::invalid_value;
  }
  const std::lock_guard lock(mutex_);
  auto found = mappings_.find(file.inode);
  if (found == mappings_.end()) {
    const int descriptor = open_file(file);
    // The process that exported it is gone, or has freed it.
    if (descriptor < 0) return status::not_permitted;  // ipc.tsv child.open.freed
    void* at = ::mmap(nullptr, file.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    ::close(descriptor);
    if (at == MAP_FAILED) return status::map_buffer_object_failed;
    found = mappings_.emplace(file.inode, mapping{static_cast<char*>(at), file.bytes, 0}).first;
  }
  void* base = found->second.begin + offset;
  const auto [at, fresh] = pieces_.try_emplace(base, piece{file.inode, 0});
  if (fresh) ++found->second.pieces;
  ++at->second.uses;
  return base;
}

std::uint64_t memory_imports::drop(void* base) {
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(base);
  if (found == pieces_.end() || found->second.uses == 0) return not_one;
  return --found->second.uses;
}

void memory_imports::unmap(void* base) {
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(base);
  if (found != pieces_.end() && found->second.uses == 0) end(found);
}

void memory_imports::forget(void* base) {
  const std::lock_guard lock(mutex_);
  if (const auto found = pieces_.find(base); found != pieces_.end()) end(found);
}

void memory_imports::end(std::map<void*, piece>::iterator found) {
  const auto m = mappings_.find(found->second.inode);
  pieces_.erase(found);
  if (m == mappings_.end() || --m->second.pieces != 0) return;
  ::munmap(m->second.begin, m->second.bytes);
  mappings_.erase(m);
}

}  // namespace sb::engine
