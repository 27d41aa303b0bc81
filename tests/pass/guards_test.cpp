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

int remainder_of(int i, int n) {
  return n == 0 ? i : static_cast<int>(i % static_cast<long long>(n));
}
unsigned unsigned_remainder(unsigned u, unsigned n) { return n == 0 ? u : u % n; }

const std::pair<const char*, bool (*)(int, int, int)> steps[] = {
    {"masked", [](int i, int n, int m) { return (unsigned(i) & unsigned(n)) == unsigned(m); }},
    {"masked_from",
     [](int i, int n, int m) { return ((unsigned(i) + unsigned(m)) & (unsigned(n) - 1)) == 0; }},
    {"remainder",
     [](int i, int n, int m) {
       return unsigned_remainder(unsigned(i), unsigned(n)) == unsigned(m);
     }},
    {"signed_remainder", [](int i, int n, int m) { return remainder_of(i, n) == m; }},
    {"remainder_from",
     [](int i, int n, int m) {
       return unsigned_remainder(unsigned(i) + unsigned(m), unsigned(n)) == 3;
     }},
    {"signed_remainder_from",
     [](int i, int n, int m) { return remainder_of(int(unsigned(i) + unsigned(m)), n) == 0; }},
    {"every_third", [](int i, int, int) { return i % 3 == 1; }},
    {"every_odd", [](int i, int, int) { return i % 2 == 1; }},
    {"every_warp", [](int i, int, int) { return i % 64 % 32 == 0; }},
    {"no_mask", [](int i, int, int) { return (i & 6) == 2; }},
    {"every_fifth_below", [](int i, int n, int) { return i % 5 == 2 && i < n; }},
    {"every_other_step",
     [](int i, int n, int m) {
       return unsigned_remainder(unsigned(i), unsigned(n)) == 0 &&
              int(unsigned(i) + unsigned(m)) < 90;
     }},
    {"product", [](int i, int n, int m) { return int(unsigned(i) * unsigned(n)) < m; }},
    {"unsigned_product",
     [](int i, int n, int m) { return unsigned(i) * unsigned(n) < unsigned(m); }},
    {"product_from", [](int i, int n, int m) { return int(unsigned(i) * unsigned(n) + 7) > m; }},
    {"unsigned_product_from",
     [](int i, int n, int m) { return unsigned(i) * unsigned(n) + 7 >= unsigned(m); }},
    {"product_at_most",
     [](int i, int n, int m) { return unsigned(i) * unsigned(n) <= unsigned(m); }},
    {"constant_product",
     [](int i, int n, int m) { return int(unsigned(i) * 6 + unsigned(n)) < m; }},
    {"falling", [](int i, int n, int m) { return int(unsigned(n) - 3 * unsigned(i)) > m; }},
    {"unsigned_falling",
     [](int i, int n, int m) { return unsigned(n) - 3 * unsigned(i) <= unsigned(m); }},
    {"falling_by",
     [](int i, int n, int m) { return int(unsigned(n) - unsigned(i) * unsigned(m)) < 40; }},
    {"wide_product", [](int i, int n, int m) { return static_cast<long long>(i) * n < m; }},
    {"wide_falling", [](int i, int n, int m) { return n - 5ll * i >= m; }},
    {"wide_unsigned",
     [](int i, int n, int m) {
       return static_cast<unsigned long long>(static_cast<long long>(i)) *
                      static_cast<unsigned long long>(static_cast<long long>(n)) +
                  static_cast<unsigned long long>(static_cast<long long>(m)) <
              1000;
     }},
    {"stretch_of_products", [](int i, int n, int m) { return 2 * i >= n && 3 * i < m; }},
};

TEST_P(guards, guards_of_every_so_many_threads_and_of_products_skip_the_others) {
  const int limits[] = {INT_MIN, -3, -1,  0,   1,       2,          3,      5,
                        7,       16, 100, 127, 1 << 24, 0x55555556, INT_MAX};
  for (const auto& [name, holds] : steps) {
    for (int n : limits) {
      for (int m : limits) {
        std::vector<int> out(128, 5), expected;
        for (int i = 0; i < 128; ++i) expected.push_back(holds(i, n, m) ? 2 * i + 1 : 4);
        device.run(name, {2}, {64}, 0, out.data(), n, m);
        ASSERT_EQ(out, expected) << name << " " << n << " " << m;
        std::fill(out.begin(), out.end(), 5);
        device.run(std::string("only_") + name, {2}, {64}, 0, out.data(), n, m);
        ASSERT_EQ(out, expected) << "only_" << name << " " << n << " " << m;
      }
    }
  }
}

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
