// What the tests of findings ask. Every rule has a program where it finds something and one, close
// to it, where it does not.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/explain.hpp"
#include "program_builder.hpp"

namespace sb::analysis {

inline std::vector<std::string> rules_in(const explanation& e) {
  std::vector<std::string> names;
  for (const finding& f : e.findings) names.push_back(f.rule);
  return names;
}

// The finding of that rule, which has to be there.
inline finding found(const trace::trace& t, const std::string& rule) {
  const explanation e = explain(t);
  for (const finding& f : e.findings) {
    if (f.rule != rule) continue;
    EXPECT_FALSE(f.title.empty());
    EXPECT_FALSE(f.why.empty());
    EXPECT_FALSE(f.change.empty());
    EXPECT_GT(f.count, 0U);
    EXPECT_FALSE(f.operations.empty() && f.calls.empty());
    return f;
  }
  ADD_FAILURE() << "no finding " << rule << " in\n" << text_of(t, e);
  return {};
}

inline void expect_healthy(const trace::trace& t) {
  const explanation e = explain(t);
  EXPECT_THAT(rules_in(e), testing::IsEmpty()) << text_of(t, e);
}

inline void expect_without(const trace::trace& t, const std::string& rule) {
  const explanation e = explain(t);
  EXPECT_THAT(rules_in(e), testing::Not(testing::Contains(rule))) << text_of(t, e);
}

}  // namespace sb::analysis
