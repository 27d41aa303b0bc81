// The texts of the profiles in devices/, compiled in. Their definition is made by CMake.
#pragma once

#include <span>
#include <string_view>

namespace sb {

struct built_in_profile {
  std::string_view key;
  std::string_view text;
};

// The H200 comes first.
[[nodiscard]] std::span<const built_in_profile> built_in_profile_texts();

}  // namespace sb
