#include <gtest/gtest.h>

#include <climits>
#include <functional>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct guards : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/guards") + GetParam() + ".so"};
};

using condition = std::function<bool(int i, int n, int m)>;

const std::pair<const char*, condition> conditions[] = {
    {"less", [](int i, int n, int) { return i < n; }},
    {"less_equal", [](int i, int n, int) { return i <= n; }},
    {"greater", [](int i, int n, int) { return i > n; }},
    {"greater_equal", [](int i, int n, int) { return i >= n; }},
    {"equal", [](int i, int n, int) { return i == n; }},
    {"not_equal", [](int i, int n, int) { return i != n; }},
    {"unsigned_less", [](int i, int n, int) { return unsigned(i) < unsigned(n); }},
    {"shifted", [](int i, int n, int m) { return i + m < n; }},
    {"wraps", [](int i, int n, int m) { return int(unsigned(i) + unsigned(m)) < n; }},
    {"wide", [](int i, int n, int m) { return i + static_cast<long long>(m) < n; }},
    {"between", [](int i, int n, int m) { return i >= n && i < m; }},
    {"outside", [](int i, int n, int m) { return i < n || i >= m; }},
    {"two_points", [](int i, int n, int m) { return i == n || i == m; }},
    {"outside_numbers", [](int i, int, int) { return i < 1 || i >= 97; }},
    {"outside_wrapping",
     [](int i, int, int m) {
       return unsigned(i) + unsigned(m) < 5 || unsigned(i) + unsigned(m) >= 70;
     }},
    {"two_wrapping_points",
     [](int i, int n, int m) {
       unsigned sum = unsigned(i) + unsigned(m);
       return sum == unsigned(n) || sum == unsigned(n) + 3;
     }},
    {"all_but_points", [](int i, int n, int m) { return i != 0 && i != n && i != m; }},
    {"points_before_an_end", [](int i, int n, int m) { return i < n && (i == 0 || i == m); }},
    {"points_or_behind", [](int i, int n, int m) { return i == 3 || i == m || i + 5 > n; }},
    {"inverted", [](int i, int n, int m) { return !(i < n && m > 3); }},
    {"swapped", [](int i, int n, int) { return n > i; }},
};

TEST_P(guards, a_guard_divides_the_threads_where_it_changes) {
  const int limits[] = {INT_MIN, -5, 0, 1, 17, 63, 64, 65, 100, 127, 128, 200, INT_MAX};
  for (const auto& [name, holds] : conditions) {
    for (int n : limits) {
      for (int m : limits) {
        // i + m must not overflow where it is signed.
        if (std::string(name) == "shifted" && m > INT_MAX - 200) continue;
        std::vector<int> out(128, 5), expected;
        for (int i = 0; i < 128; ++i) expected.push_back(holds(i, n, m) ? 2 * i + 1 : 4);
        device.run(name, {2}, {64}, 0, out.data(), n, m);
        ASSERT_EQ(out, expected) << name << " " << n << " " << m;
      }
    }
  }
}

TEST_P(guards, guards_inside_guards_divide_again) {
  for (int n : {-1, 0, 5, 60, 200}) {
    for (int m : {-1, 0, 3, 40, 99, 200}) {
      std::vector<int> out(100), expected(100);
      for (int i = 0; i < 100; ++i) {
        int value = i < n ? i + 1 : 7;
        if (i < n && i > m) value *= 3;
        out[i] = i;
        expected[i] = i != m ? value : i;
      }
      device.run("nested", {2}, {50}, 0, out.data(), n, m);
      ASSERT_EQ(out, expected) << n << " " << m;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(levels, guards, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
