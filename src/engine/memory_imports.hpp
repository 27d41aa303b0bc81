// Memory of other processes that is mapped here, and how often each piece was opened.
//
// Thread safety: all members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/status.hpp"
#include "engine/shared_region.hpp"

namespace sb::engine {

class memory_imports {
 public:
  static constexpr std::uint64_t not_one = ~std::uint64_t{0};

  memory_imports() = default;
  ~memory_imports();
  memory_imports(const memory_imports&) = delete;
  memory_imports& operator=(const memory_imports&) = delete;

  // The address of a piece of a file of another process; one more use of it.
  result<void*> open(const file_address& file, std::uint64_t offset, std::uint64_t bytes);
  // One use less; answers how many are left. What has none left stays mapped until unmap.
  std::uint64_t drop(void* base);
  void unmap(void* base);
  void forget(void* base);  // all uses, and unmaps

 private:
  struct mapping {
    char* begin = nullptr;
    std::size_t bytes = 0;
    std::uint64_t pieces = 0;
  };
  struct piece {
    std::uint64_t inode = 0;
    std::uint64_t uses = 0;
  };

  void end(std::map<void*, piece>::iterator gone);

  std::mutex mutex_;                           // guards the rest
  std::map<std::uint64_t, mapping> mappings_;  // by inode
  std::map<void*, piece> pieces_;
};

}  // namespace sb::engine
