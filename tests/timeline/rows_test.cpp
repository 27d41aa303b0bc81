#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_traces.hpp"
#include "tools/time_axis.hpp"
#include "tools/timeline_rows.hpp"

namespace sb::tools {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> labels(const timeline_group& group) {
  std::vector<std::string> out;
  for (const timeline_row& row : group.rows) out.push_back(row.label);
  return out;
}

TEST(TimelineRows, AreThreadsThenEnginesAndStreamsOfEachDevice) {
  const auto groups = timeline_rows(testing::small_trace());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "Host");
  EXPECT_THAT(labels(groups[0]), ElementsAre("Main thread", "Main thread"));
  EXPECT_EQ(groups[0].rows[0].kind, row_kind::ranges);
  EXPECT_EQ(groups[1].label, "Device 0");
  EXPECT_THAT(labels(groups[1]), ElementsAre("Kernels", "Copy to device", "Copy to host",
                                             "Host functions", "Stream 1", "Stream 2", "download"));
  EXPECT_EQ(groups[1].rows[5].detail, "priority -1, queue 1");
  EXPECT_EQ(groups[1].rows[6].detail, "non-blocking, queue 2");
}

TEST(TimelineRows, CopiesBetweenDevicesAreNoneOnADevice) {
  trace::trace t = testing::small_trace();
  std::vector<trace::operation*> copies;
  for (trace::operation& o : t.operations) {
    if (o.kind != trace::operation_kind::copy) continue;
    o.engine = trace::engine_kind::device_to_device;
    o.direction = copy_direction::device_to_device;
    copies.push_back(&o);
  }
  const auto row = [&] { return timeline_rows(t)[1].rows[1].label; };
  EXPECT_EQ(row(), "Copy on device");
  EXPECT_EQ(bar_name(bar_kind::on_device, t), "copy on device");
  copies[0]->direction = copy_direction::peer;
  EXPECT_EQ(row(), "Copy, also peer");
  EXPECT_EQ(bar_name(bar_kind::on_device, t), "copy on or between devices");
  for (trace::operation* o : copies) o->direction = copy_direction::peer;
  EXPECT_EQ(row(), "Peer copies");
  EXPECT_EQ(bar_name(bar_kind::on_device, t), "copy between devices");
}

TEST(TimelineRows, EventsAreMarksOfTheirStream) {
  const auto groups = timeline_rows(testing::small_trace());
  EXPECT_THAT(groups[1].rows[5].marks, ElementsAre(4));
  EXPECT_THAT(groups[1].rows[6].marks, ElementsAre(5));
}

TEST(TimelineRows, BarsOfALaneNeverOverlapAndAreInOrder) {
  const trace::trace trace = testing::large_trace(5000);
  std::size_t bars = 0;
  for (const timeline_group& group : timeline_rows(trace)) {
    for (const timeline_row& row : group.rows) {
      std::vector<trace::nanoseconds> until(row.lanes);
      for (const placed& bar : row.bars) {
        ASSERT_LT(bar.lane, row.lanes);
        const extent at = bar_extent(trace, row.kind, bar.what);
        EXPECT_LE(until[bar.lane], at.from);
        until[bar.lane] = at.to;
        ++bars;
      }
    }
  }
  EXPECT_EQ(bars, 3u * 5000);  // calls, engines, streams
}

TEST(TimelineRows, KernelsThatOverlapGetLanesOfTheirOwn) {
  const auto groups = timeline_rows(testing::large_trace(600));
  EXPECT_GE(groups[1].rows[0].lanes, 2u);
  EXPECT_LE(groups[1].rows[0].lanes, 4u);
  EXPECT_EQ(groups[1].rows[1].lanes, 1u);
}

TEST(TimelineRows, OfWhatNeverStartedAFewAreDrawnAndTheRestIsCounted) {
  const auto groups = timeline_rows(testing::hung_trace());
  const timeline_row& stream = groups[1].rows[1];
  EXPECT_EQ(stream.label, "Stream 1");
  EXPECT_EQ(stream.bars.size(), 1u + 4);
  EXPECT_EQ(stream.left_out, 2u);
}

TEST(TimelineRows, AnnotationsThatContainOthersAreAboveThem) {
  trace::trace trace = testing::small_trace();
  trace::annotation inner = trace.annotations[0];
  inner.end = inner.begin + 10;
  trace.annotations.insert(trace.annotations.begin(), inner);
  const timeline_row row = timeline_rows(trace)[0].rows[0];
  ASSERT_EQ(row.lanes, 2u);
  EXPECT_EQ(row.bars[0].what, 1u);
  EXPECT_EQ(row.bars[0].lane, 0u);
  EXPECT_EQ(row.bars[1].lane, 1u);
}

TEST(TimelineWords, AKernelsNameIsShownWithoutItsParameters) {
  EXPECT_EQ(short_name("scale(float*, int)"), "scale");
  EXPECT_EQ(short_name("void sum<float, (op)1>(float const*, int)"), "sum<float, (op)1>");
  EXPECT_EQ(short_name("(anonymous namespace)::spin(int)"), "(anonymous namespace)::spin");
  EXPECT_EQ(short_name("plain"), "plain");
}

TEST(TimelineWords, TimesAndSizesHaveFewDigits) {
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1500), "1.50 us");
  EXPECT_EQ(duration_text(999700), "1.00 ms");
  EXPECT_EQ(duration_text(46'200'000), "46.2 ms");
  EXPECT_EQ(bytes_text(65536), "64 KiB");
  EXPECT_EQ(bytes_text(3 << 19), "1.5 MiB");
  EXPECT_EQ(bytes_text(17), "17 B");
}

TEST(TimeAxis, StepsAreRoundAndInOneUnit) {
  const auto ticks = axis_ticks(410'000, 6);
  ASSERT_EQ(ticks.size(), 5u);
  EXPECT_EQ(ticks[0].label, "0");
  EXPECT_EQ(ticks[4].label, "400 us");
  EXPECT_EQ(axis_ticks(3'000'000, 8).back().label, "3.0 ms");
  EXPECT_EQ(axis_ticks(0, 8).size(), 1u);
}

}  // namespace
}  // namespace sb::tools
