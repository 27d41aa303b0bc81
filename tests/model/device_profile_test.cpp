#include "model/device_profile.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "model/occupancy.hpp"
#include "model/profile.hpp"

namespace sb {
namespace {

std::map<std::string, std::string> recorded(const std::string& file) {
  std::map<std::string, std::string> lines;
  std::ifstream in(std::string(SB_RECORDINGS) + "/" + file);
  for (std::string line; std::getline(in, line);) {
    const auto tab = line.find('\t');
    if (tab != std::string::npos) {
      lines[line.substr(0, tab)] = line.substr(tab + 1);
    }
  }
  return lines;
}

TEST(device_profile, every_attribute_of_the_h200_answers_as_recorded) {
  const auto lines = recorded("props.tsv");
  int compared = 0;
  for (int a = 1; a < 200; ++a) {
    const auto line = lines.find("attr." + std::to_string(a));
    if (line == lines.end()) {
      continue;
    }
    const std::optional<int> value = device_attribute(h200_profile(), a);
    EXPECT_EQ(value ? std::to_string(*value) : "cudaErrorInvalidValue", line->second)
        << "attribute " << a;
    ++compared;
  }
  EXPECT_EQ(compared, 199);
  EXPECT_EQ(device_attribute(h200_profile(), 0), std::nullopt);
  EXPECT_EQ(device_attribute(h200_profile(), -1), std::nullopt);
}

TEST(device_profile, the_names_of_profiles_are_found_and_others_are_not) {
  EXPECT_EQ(find_profile("h200"), &h200());
  EXPECT_EQ(find_profile("h2000"), nullptr);
  EXPECT_EQ(find_profile(""), nullptr);
}

TEST(device_profile, occupancy_of_a_plain_kernel_is_as_recorded) {
  const multiprocessor_limits limits = multiprocessor_of(h200_profile());
  int compared = 0;
  for (const auto& [name, value] : recorded("props.tsv")) {
    unsigned threads = 0;
    unsigned shared = 0;
    if (std::sscanf(name.c_str(), "occupancy.plain.%u.%u", &threads, &shared) == 2) {
      EXPECT_EQ(std::to_string(
                    blocks_per_multiprocessor(limits, footprint_of(limits, threads, shared, 8))),
                value)
          << name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 40);
}

TEST(device_profile, registers_limit_occupancy_in_portions_of_a_warp) {
  const multiprocessor_limits limits = multiprocessor_of(h200_profile());
  const auto fit = [&](unsigned threads, unsigned registers) {
    return blocks_per_multiprocessor(limits, footprint_of(limits, threads, 0, registers));
  };
  EXPECT_EQ(fit(1024, 32), 2U);
  EXPECT_EQ(fit(1024, 33), 1U);
  EXPECT_EQ(fit(256, 64), 4U);
  EXPECT_EQ(fit(1024, 65), 0U);
}

}  // namespace
}  // namespace sb
