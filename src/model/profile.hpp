// A device as a profile describes it: its properties and its timing, by name.
//
// Profiles are text files, `key = value` in each line (docs/devices.md). Those of the folder
// devices/ are compiled in, so that a program needs no file; others are read from where the user
// keeps them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/device_profile.hpp"
#include "model/timing_profile.hpp"

namespace sb {

struct profile {
  std::string key;     // the name used in settings, or the file
  std::string origin;  // where the numbers come from
  device_profile device;
  timing_profile timing;
};

// The profile that is active unless another one is asked for.
[[nodiscard]] const profile& h200();

// Those that are compiled in; the H200 is the first.
[[nodiscard]] std::span<const profile> built_in_profiles();

// By the name used in settings ("h200"); null when there is none.
[[nodiscard]] const profile* find_profile(std::string_view key);

// Nothing when the text is not a profile; `error` then says where (file:line: key) and why.
[[nodiscard]] std::optional<profile> parse_profile(std::string_view text, const std::string& file,
                                                   std::string& error);

// The text of a profile that has `base` and every value in which `p` differs from it.
[[nodiscard]] std::string print_profile(const profile& p, const profile& base);

// A name, or the path of a file (it has a '/' or ends in .profile).
[[nodiscard]] std::optional<profile> load_profile(const std::string& name_or_path,
                                                  std::string& error);

// The text of the profile that is compiled in, as it lies in devices/.
[[nodiscard]] std::string_view built_in_text(std::string_view key);

}  // namespace sb
