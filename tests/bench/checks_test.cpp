// Benchmarks look at every element of every run's result: one that is wrong, or that nobody wrote,
// is seen wherever it is.
#include <gtest/gtest.h>

#include "bench/kernels/problems.hpp"

namespace {

using namespace bench;

template <class T>
T unwritten() {
  T value;
  std::memcpy(&value, &cleared, sizeof value);
  return value;
}

template <class T>
void expect_every_element_to_count(const char* name, const expected<T>& want) {
  std::vector<T> got = want.values;
  const std::size_t n = got.size();
  for (T& each : got) {
    if (each != each) each = unwritten<T>();
  }
  ASSERT_TRUE(want.is(got)) << name;
  for (std::size_t at : {std::size_t{0}, n / 3 + 1, n / 2, n - 1}) {
    const T right = got[at];
    got[at] = right != right ? T{1} : static_cast<T>(right + 1 + std::abs(right) / 64);
    EXPECT_FALSE(want.is(got)) << name << ", element " << at;
    got[at] = right != right ? T{0} : unwritten<T>();
    EXPECT_FALSE(want.is(got)) << name << ", element " << at << " not written";
    got[at] = right;
  }
  got.pop_back();
  EXPECT_FALSE(want.is(got)) << name << ", one less";
}

TEST(BenchmarkChecks, EachElementOfEachProblemCounts) {
  const floats x = numbers(stream_n, 1000), y = numbers(stream_n, 77);
  for (const char* kind : {"saxpy", "copy", "triad"})
    expect_every_element_to_count(kind, right_stream(kind, x, y));
  expect_every_element_to_count("matmul", right_product(numbers(matrix * matrix, 100, 0.01f),
                                                        numbers(matrix * matrix, 33, 0.1f)));
  expect_every_element_to_count("scan", right_scan(whole_numbers(scan_n)));
  expect_every_element_to_count("transpose", right_transpose(numbers(side * side, 65521)));
  expect_every_element_to_count("histogram", right_histogram(letters()));
  expect_every_element_to_count("stencil", right_stencil(numbers(side * side, 1009)));
  expect_every_element_to_count("columns", right_columns(numbers(side * side, 1009)));
  const auto forces = right_forces(numbers(bodies, 101, 0.1f), numbers(bodies, 103, 0.1f),
                                   numbers(bodies, 107, 0.1f));
  for (const auto* each : {&forces.x, &forces.y, &forces.z})
    expect_every_element_to_count("nbody", *each);
  const auto prices =
      right_prices(numbers(options_n, 251, 0.1f, 5), numbers(options_n, 991, 0.1f, 1),
                   numbers(options_n, 97, 0.1f, 0.25f));
  for (const auto* each : {&prices.call, &prices.put})
    expect_every_element_to_count("black_scholes", *each);
  for (const maths_problem& problem : maths_problems)
    expect_every_element_to_count(problem.name, right_maths(problem, maths_arguments()));
}

TEST(BenchmarkChecks, ASumMissesNoNumber) {
  floats x = summands();
  const auto want = right_sum(x);
  // In two orders, in floats.
  float forward = 0, backward = 0;
  for (float v : x) forward += v;
  for (auto v = x.rbegin(); v != x.rend(); ++v) backward += *v;
  EXPECT_TRUE(want.is({forward}));
  EXPECT_TRUE(want.is({backward}));
  EXPECT_FALSE(want.is({forward - 1}));
  EXPECT_FALSE(want.is({unwritten<float>()}));
}

TEST(BenchmarkChecks, WhatIsWrongInOneRunOnlyIsSaid) {
  const expected<int> want{{1, 2, 3}};
  std::vector<int> out(3);
  struct outputs {
    std::vector<int>& out;
    void clear() const { std::fill(out.begin(), out.end(), unwritten<int>()); }
  };
  const auto said = [&](int run_without_its_last) {
    int run = 0;
    testing::internal::CaptureStdout();
    measure(
        "problem",
        [&] {
          out[0] = 1, out[1] = 2;
          if (run++ != run_without_its_last) out[2] = 3;
        },
        outputs{out}, [&] { return want.is(out); });
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_EQ(said(0), "problem\twrong in run 0\n");
  EXPECT_EQ(said(7), "problem\twrong in run 7\n");
  EXPECT_EQ(said(-1).find("wrong"), std::string::npos);
}

}  // namespace
