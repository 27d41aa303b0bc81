// Whatever the reader lets through is drawn: damaged traces may have any time and any order.
#include <gtest/gtest.h>

#include <random>

#include "../trace/sample.hpp"
#include "tools/svg_timeline.hpp"
#include "tools/text_timeline.hpp"
#include "tools/time_axis.hpp"
#include "tools/timeline_page.hpp"
#include "tools/timeline_rows.hpp"

namespace sb::tools {
namespace {

// Times of any size in any order.
void disturb(trace::trace& trace, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto any = [&](trace::nanoseconds& time) {
    if (random() % 4 == 0) time = random() >> random() % 64;
  };
  for (trace::operation& one : trace.operations) {
    for (auto* time : {&one.called, &one.queued, &one.ready, &one.started, &one.ended}) any(*time);
    for (trace::edge& edge : one.waits) any(edge.until);
  }
  for (trace::call& one : trace.calls) {
    for (auto* time : {&one.begin, &one.end, &one.blocked}) any(*time);
  }
  for (trace::annotation& one : trace.annotations) {
    any(one.begin);
    any(one.end);
  }
  any(trace.end);
}

TEST(AnyTrace, IsDrawnInEveryWay) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    trace::trace trace = trace::testing::sample(seed);
    if (seed % 3 != 0) disturb(trace, seed);
    SCOPED_TRACE(seed);
    EXPECT_NE(draw_text(trace, 80, charset::utf8), "");
    EXPECT_EQ(draw_svg(trace, {}, {}).svg.rfind("<svg", 0), 0u);
    EXPECT_EQ(timeline_data(trace, {}).rfind("{\"version\":1", 0), 0u);
  }
}

TEST(AnyTrace, BarsOfALaneDoNotOverlap) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    trace::trace trace = trace::testing::sample(seed);
    disturb(trace, seed);
    for (const timeline_group& group : timeline_rows(trace)) {
      for (const timeline_row& row : group.rows) {
        std::vector<trace::nanoseconds> until(row.lanes);
        for (const placed& bar : row.bars) {
          const extent at = bar_extent(trace, row.kind, bar.what);
          EXPECT_LE(until.at(bar.lane), at.from);
          EXPECT_LE(at.from, at.to);
          until[bar.lane] = at.to;
        }
      }
    }
  }
}

TEST(AnyTrace, AnAxisOfAnyLengthHasFewTicks) {
  for (int shift = 0; shift < 64; ++shift) {
    const trace::nanoseconds end = ~trace::nanoseconds{0} >> shift;
    EXPECT_LE(axis_ticks(end, 9).size(), 9u) << end;
    EXPECT_GE(axis_ticks(end, 9).size(), 2u) << end;
  }
}

}  // namespace
}  // namespace sb::tools
