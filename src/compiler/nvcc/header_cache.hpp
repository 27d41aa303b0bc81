// Precompiled forms of cuda_runtime.h, which every .cu includes first.
//
// Parsing it takes longer than parsing most programs. One precompiled header per set of flags lies
// in $XDG_CACHE_HOME/streambed (~/.cache/streambed); STREAMBED_CACHE_DIR names another folder, and
// "off" turns the cache off. A key covers everything that the header's meaning depends on, clang
// itself checks that no header has changed since, hidden_headers.hpp that none has come, and
// whatever goes wrong with the cache, the compilation is done without it. Safe with several nvcc at
// once: entries appear by renaming.
#pragma once

#include <string>

#include "text.hpp"
#include "toolchain.hpp"

namespace sb::nvcc {

class header_cache {
 public:
  header_cache() = default;  // no cache
  explicit header_cache(const toolchain& tools);

  // Precompiled headers for the command lines `device` and `host` (clang and its flags, without the
  // source, its output, and -include cuda_runtime.h), made now if they are new. Empty: none.
  struct pair {
    std::string device, host;
  };
  [[nodiscard]] pair get(const arguments& device, const arguments& host);

  // Both entries are bad.
  static void forget(const pair& entries);

  // Flags that use an entry in place of -include cuda_runtime.h.
  [[nodiscard]] static arguments flags(const std::string& entry);

 private:
  [[nodiscard]] std::string place_of(const arguments& line) const;
  void drop_old_entries() const;

  std::string directory_;  // empty: no cache
  std::string state_;      // of clang and of the toolkit's headers
};

// clang lists the source of the precompiled header in make rules; it is nobody's business. With -MP
// it takes it for the source itself, and writes a rule for `source` too.
void remove_from_rule(const std::string& dependency_file, const std::string& source);

}  // namespace sb::nvcc
