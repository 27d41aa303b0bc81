// Private arrays of a block's threads that are too large for the stack of a loop-mode block: a
// piece of memory for each array, with a place for every thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sb::engine {

class private_space {
 public:
  private_space() = default;
  ~private_space();
  private_space(const private_space&) = delete;
  private_space& operator=(const private_space&) = delete;

  // The piece of that number, at least so many bytes. It stays where it is as long as nobody asks
  // for more. Null: no memory.
  char* hold(std::uint32_t number, std::size_t bytes);
  // Nobody needs what is there any more; the memory stays for the next block.
  void release();

 private:
  struct piece {
    char* data = nullptr;
    std::size_t bytes = 0;
  };
  static void drop(piece& one);

  std::vector<piece> pieces_;
};

}  // namespace sb::engine
