#include <gtest/gtest.h>

#include <cstring>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct sums : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/sums") + GetParam() + ".so"};
};

unsigned scattered(unsigned i) { return (i * 2654435761u) >> 7; }

TEST_P(sums, of_few_and_of_many_places_are_what_was_added) {
  for (int n : {0, 1, 40, 300, 5000}) {
    std::vector<unsigned char> in(5000);
    std::vector<int> out(256, 3), expected(256, 3);
    for (int i = 0; i < n; ++i) ++expected[in[i] = static_cast<unsigned char>(scattered(i))];
    device.run("histogram", {20}, {256}, 0, in.data(), out.data(), n);
    EXPECT_EQ(out, expected) << n;
  }
  // Places for which the table is long enough, and for which it is not.
  for (unsigned places : {1u, 50u, 1000u, 3000u, 40000u}) {
    std::vector<int> in(20000), out(places), expected(places);
    for (unsigned i = 0; i < in.size(); ++i) {
      in[i] = static_cast<int>(scattered(i) % places);
      expected[in[i]] += in[i] - 7;
    }
    for (int times = 0; times < 40; ++times) {
      device.run("in_rounds", {3}, {64}, 0, in.data(), out.data(), 20000);
      for (unsigned i = 0; i < places; ++i) {
        ASSERT_EQ(out[i], (times + 1) * expected[i]) << places << " " << times << " " << i;
      }
    }
  }
}

TEST_P(sums, of_64_bits_and_of_two_arrays_come_to_the_right_places) {
  std::vector<int> in(3000);
  std::vector<long long> out(1024), expected(1024);
  for (unsigned i = 0; i < in.size(); ++i) {
    in[i] = static_cast<int>(scattered(i));
    expected[in[i] & 1023] -= 0x123456789ll * in[i];
  }
  device.run("wide", {47}, {64}, 0, in.data(), out.data(), 3000);
  EXPECT_EQ(out, expected);
  std::vector<int> one(64), other(32), ones(64), others(32);
  for (int value : in) {
    ++ones[value & 63];
    others[value & 31] =
        static_cast<int>(static_cast<unsigned>(others[value & 31]) + static_cast<unsigned>(value));
  }
  device.run("into_two", {47}, {64}, 0, in.data(), one.data(), other.data(), 3000);
  EXPECT_EQ(one, ones);
  EXPECT_EQ(other, others);
}

TEST_P(sums, are_there_for_a_thread_that_reads_where_it_added) {
  std::vector<int> out(4), seen(512);
  device.run("and_reads", {2}, {256}, 0, out.data(), out.data(), seen.data());
  for (int i = 0; i < 512; ++i) ASSERT_GE(seen[i], 2) << i;
  EXPECT_EQ(out, std::vector<int>(4, 256));
  // Beside it there is nothing to see.
  std::vector<int> other(4, 5);
  device.run("and_reads", {2}, {256}, 0, other.data(), out.data(), seen.data());
  EXPECT_EQ(seen, std::vector<int>(512, 5));
  EXPECT_EQ(out, std::vector<int>(4, 512));
}

TEST_P(sums, are_overwritten_by_a_thread_that_stores_where_it_added) {
  // Two threads add to a number, and each sets a byte of it to 9 at its end.
  std::vector<int> out(128);
  device.run("and_stores", {1}, {256}, 0, reinterpret_cast<char*>(out.data()), out.data());
  for (int i = 0; i < 128; ++i) {
    unsigned char bytes[4];
    std::memcpy(bytes, &out[i], 4);
    ASSERT_EQ(bytes[2], 9) << i;
    ASSERT_EQ(bytes[0], 15) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(levels, sums, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
