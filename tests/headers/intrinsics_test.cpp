// Device functions against what an H200 answers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

extern "C" int intrinsics_run(int index, const char** name, unsigned long long* out);

namespace {

struct recorded {
  std::string limit;  // "exact", or units in the last place
  std::vector<std::uint64_t> values;
};

std::map<std::string, recorded> read_recording() {
  std::map<std::string, recorded> all;
  std::ifstream file(RECORDING);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    recorded one;
    words >> name >> one.limit;
    for (std::string word; words >> word;) {
      one.values.push_back(std::strtoull(word.c_str(), nullptr, 16));
    }
    all[name] = one;
  }
  return all;
}

std::uint64_t hash_of(const std::vector<unsigned long long>& values) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const unsigned long long value : values) {
    for (int byte = 0; byte < 8; ++byte)
      hash = (hash ^ ((value >> (8 * byte)) & 0xff)) * 0x100000001b3ull;
  }
  return hash;
}

// Neighbouring numbers have neighbouring keys, across zero too.
std::int64_t key_of(std::uint64_t bits, bool is_double) {
  const int top = is_double ? 63 : 31;
  const auto size = static_cast<std::int64_t>(bits & ((1ull << top) - 1));
  return (bits >> top) & 1 ? -size : size;
}

bool is_nan(std::uint64_t bits, bool is_double) {
  return is_double ? (bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull
                   : (bits & 0x7fffffffull) > 0x7f800000ull;
}

TEST(Intrinsics, AnswerAsTheDeviceDoesToTheBitOrWithinTheDocumentedError) {
  const std::map<std::string, recorded> recording = read_recording();
  ASSERT_GT(recording.size(), 300u);
  std::vector<unsigned long long> results(400);
  const char* name = nullptr;
  int count = 0;
  for (; intrinsics_run(count, &name, results.data()); ++count) {
    const auto found = recording.find(name);
    ASSERT_NE(found, recording.end()) << name << " is not recorded";
    if (found->second.limit == "exact") {
      EXPECT_EQ(hash_of(results), found->second.values.at(0)) << name;
      continue;
    }
    const bool is_double = name[0] == 'D';
    const std::int64_t limit = std::atoll(found->second.limit.c_str());
    for (std::size_t i = 0; i < found->second.values.size(); ++i) {
      const std::uint64_t wanted = found->second.values[i];
      if (is_nan(wanted, is_double) && is_nan(results[i], is_double)) continue;
      EXPECT_EQ(is_nan(wanted, is_double), is_nan(results[i], is_double)) << name << " input " << i;
      const std::int64_t apart = key_of(wanted, is_double) - key_of(results[i], is_double);
      EXPECT_LE(std::abs(apart), limit)
          << name << " input " << i << ": " << std::hex << results[i] << ", device " << wanted;
    }
  }
  EXPECT_EQ(static_cast<std::size_t>(count), recording.size());
}

}  // namespace
