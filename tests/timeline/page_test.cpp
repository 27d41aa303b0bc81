#include <gtest/gtest.h>

#include "sample_traces.hpp"
#include "tools/columns.hpp"
#include "tools/svg_timeline.hpp"
#include "tools/timeline_page.hpp"

namespace sb::tools {
namespace {

// The test of web/src/columns.ts has the same texts and reads them back.
TEST(Columns, DifferencesRunsAndNoneAreWritten) {
  column_writer mixed;
  for (const std::uint64_t value : {5u, 5u, 5u, 300u, 2u}) mixed.add(value);
  mixed.add_none();
  EXPECT_EQ(mixed.text(), "DAACzgTTBAU=");
  column_writer large;
  large.add_time(1ull << 40);
  large.add_time(trace::never);
  large.add_number(trace::none);
  EXPECT_EQ(large.text(), "goCAgIBAgYCAgIBAAAE=");
  EXPECT_EQ(column_writer().text(), "");
}

TEST(TimelinePage, TheDataTakesThePlaceOfTheMark) {
  const std::string page = std::string("<a>") + std::string(page_data_mark) + "</a>";
  const std::string made = timeline_page(page, testing::small_trace(), testing::small_notes());
  EXPECT_EQ(made.substr(0, 15), "<a>{\"version\":1");
  EXPECT_EQ(made.substr(made.size() - 5), "}</a>");
}

TEST(TimelinePage, APageWithoutAPlaceForTheDataIsRefused) {
  EXPECT_THROW((void)timeline_page("<html>", trace::trace{}, {}), std::runtime_error);
}

// A kernel's name could otherwise end the script element.
TEST(TimelinePage, NoNameCanEndTheScript) {
  trace::trace trace = testing::small_trace();
  trace.names[0] = "</script><script>alert(1)</script>\"\\\x01";
  const std::string data = timeline_data(trace, {});
  EXPECT_EQ(data.find("</script"), std::string::npos);
  EXPECT_NE(data.find(R"("\u003c/script>\u003cscript>alert(1)\u003c/script>\"\\\u0001")"),
            std::string::npos);
}

TEST(TimelinePage, AnOperationTakesFewBytes) {
  EXPECT_LT(timeline_data(testing::large_trace(20000), {}).size(), 20000u * 80);
}

TEST(SvgTimeline, NamesAreEscaped) {
  trace::trace trace = testing::small_trace();
  trace.head.program = "a<b>&\"c\"";
  trace.names[0] = "less<&>";
  const std::string svg = draw_svg(trace, {}, {}).svg;
  EXPECT_NE(svg.find("a&lt;b&gt;&amp;&quot;c&quot;"), std::string::npos);
  EXPECT_EQ(svg.find("less<&>"), std::string::npos);
}

TEST(SvgTimeline, APictureOfVeryManyOperationsStaysSmall) {
  EXPECT_LT(draw_svg(testing::large_trace(50000), {}, {}).svg.size(), 2u << 20);
}

}  // namespace
}  // namespace sb::tools
