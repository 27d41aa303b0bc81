#include <gtest/gtest.h>

#include "sample_traces.hpp"
#include "tools/text_timeline.hpp"

namespace sb::tools {
namespace {

TEST(TextTimeline, DrawsEachRowWithItsWorkAndItsShare) {
  EXPECT_EQ(draw_text(testing::small_trace(), 72, charset::ascii),
            R"(three_way: 410 us modelled, 9 operations, NVIDIA H200
               |0          |100 us      |200 us      |300 us
Main thread     ...------------------------------------------------  95%
Kernels                    #####################################     68%
Copy to device  >>>>>>>>>>>>>>>>>>>>>>                               39%
Copy to host                                                   <<     2%
Host functions                                                   *    1%
Stream 1        >>>>>>>>>>>################                          49%
Stream 2                   >>>>>>>>>>>    ################           49%
download                                                  #####<<*   13%
# kernel   > copy to device   < copy to host   * host function
. host call   - call waits
)");
}

TEST(TextTimeline, DrawsBlocksAndArrowsWhereTheTerminalHasThem) {
  EXPECT_EQ(draw_text(testing::small_trace(), 72, charset::utf8),
            R"(three_way: 410 µs modelled, 9 operations, NVIDIA H200
               │0          │100 µs      │200 µs      │300 µs
Main thread     ···────────────────────────────────────────────────  95%
Kernels                    █████████████████████████████████████     68%
Copy to device  ▶▶▶▶▶▶▶▶▶▶▶▶▶▶▶▶▶▶▶▶▶▶                               39%
Copy to host                                                   ◀◀     2%
Host functions                                                   ●    1%
Stream 1        ▶▶▶▶▶▶▶▶▶▶▶████████████████                          49%
Stream 2                   ▶▶▶▶▶▶▶▶▶▶▶    ████████████████           49%
download                                                  █████◀◀●   13%
█ kernel   ▶ copy to device   ◀ copy to host   ● host function
· host call   ─ call waits
)");
}

TEST(TextTimeline, SaysHowManyKernelsOverlap) {
  const std::string text = draw_text(testing::large_trace(60), 72, charset::ascii);
  EXPECT_NE(
      text.find("\nKernels         ###2222####222####222##2222####2222###2222####222##  95%\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("2-9 so many at once\n"), std::string::npos);
}

TEST(TextTimeline, ShowsWorkThatNeverEndedUntilTheEndAndNotWhatNeverBegan) {
  EXPECT_EQ(draw_text(testing::hung_trace(), 64, charset::ascii),
            R"(hang: 100 us modelled, 7 operations, NVIDIA H200, hung
            |0                     |50 us
Main thread     ...............----------------------------  86%
Kernels              ######################################  80%
Stream 1             ######################################  80%
# kernel   . host call   - call waits
)");
}

TEST(TextTimeline, ATraceWithoutAnythingIsATitleAndAnAxis) {
  EXPECT_EQ(draw_text(trace::trace{}, 60, charset::ascii),
            "run: 0 ns, 0 operations, recording ends early\n |0\n");
}

TEST(TextTimeline, NoLineIsWiderThanTheTerminal) {
  for (const int width : {30, 31, 40, 60, 61, 80, 133, 200}) {
    const std::string text = draw_text(testing::large_trace(500), width, charset::ascii);
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      EXPECT_LE(end - begin, static_cast<std::size_t>(width)) << text.substr(begin, end - begin);
    }
  }
}

TEST(TextTimeline, ManyStreamsAreCountedAndNotAllDrawn) {
  trace::trace many = testing::large_trace(300);
  trace::stream more = many.streams.back();
  for (int i = 0; i < 10; ++i) many.streams.push_back(more);
  const std::string text = draw_text(many, 80, charset::ascii);
  EXPECT_NE(text.find("\nStream 16 "), std::string::npos);
  EXPECT_EQ(text.find("\nStream 17 "), std::string::npos);
  EXPECT_NE(text.find("\n... 10 more streams\n"), std::string::npos);
}

}  // namespace
}  // namespace sb::tools
