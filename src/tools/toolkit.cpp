#include "toolkit.hpp"

namespace sb::tools {

toolkit own_toolkit() {
  const auto executable = std::filesystem::read_symlink("/proc/self/exe");
  return toolkit{executable.parent_path().parent_path()};
}

}  // namespace sb::tools
