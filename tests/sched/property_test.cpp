// Random programs against the oracle.
//   STREAMBED_PROGRAMS=1000000   how many
//   STREAMBED_SEED=12345         only this one, with everything that happened
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "program.hpp"

namespace sb::sched {
namespace {

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string explain(std::uint64_t seed, const program& p) {
  const program small =
      shrink(p, [](const program& candidate) { return !check(candidate).empty(); });
  std::string trace;
  const std::string wrong = check(small, &trace);
  return "seed " + std::to_string(seed) + ": " + wrong + "\n" + print(small) + trace +
         "Again: STREAMBED_SEED=" + std::to_string(seed);
}

TEST(random_programs, keep_the_rules_and_lose_nothing) {
  std::uint64_t first = 0;
  std::uint64_t count = number_from("STREAMBED_PROGRAMS", SB_PROGRAMS);
  if (std::getenv("STREAMBED_SEED") != nullptr) {
    first = number_from("STREAMBED_SEED", 0);
    count = 1;
    std::string trace;
    const std::string wrong = check(random_program(first), &trace);
    std::printf("%s%s\n", trace.c_str(), wrong.c_str());
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const program p = random_program(seed);
    const std::string wrong = check(p);
    ASSERT_EQ(wrong, "") << explain(seed, p);
  }
}

TEST(random_programs, lose_nothing_where_streams_move_to_other_connections) {
  for (std::uint64_t seed = 0; seed < SB_PROGRAMS / 10; ++seed) {
    program p = random_program(seed);
    p.grace = 1;
    if (p.connections != 1) {
      ASSERT_EQ(check(p), "") << explain(seed, p);
    }
  }
}

TEST(random_programs, the_same_calls_give_the_same_actions) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const program p = random_program(seed);
    std::string once;
    std::string again;
    ASSERT_EQ(check(p, &once), "");
    ASSERT_EQ(check(p, &again), "");
    ASSERT_EQ(once, again) << "seed " << seed;
  }
}

// The judge itself: shrinking keeps a failure and leaves out what does not belong to it.
TEST(random_programs, shrinking_finds_the_steps_that_matter) {
  const program p = random_program(7);
  const auto has_both = [](const program& q) {
    int records = 0;
    int fills = 0;
    for (const step& s : q.steps) {
      records += s.kind == step_kind::record;
      fills += s.kind == step_kind::fill;
    }
    return records >= 1 && fills >= 1;
  };
  program big = p;
  big.steps.push_back({.kind = step_kind::record});
  big.steps.push_back({.kind = step_kind::fill});
  EXPECT_EQ(shrink(big, has_both).steps.size(), 2U);
}

}  // namespace
}  // namespace sb::sched
