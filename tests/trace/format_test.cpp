// What is written is read, also when the file stops anywhere.
#include <gmock/gmock.h>

#include <algorithm>

#include "files.hpp"
#include "same.hpp"
#include "sample.hpp"
#include "trace/format.hpp"
#include "trace/reader.hpp"
#include "trace/store.hpp"
#include "version4.hpp"

namespace sb::trace::testing {
namespace {

using ::testing::HasSubstr;

class TraceFormat : public TraceFiles {
 protected:
  bytes stored(const trace& what) {
    const std::string file = path("stored.sbt");
    EXPECT_TRUE(store_trace(what, file, existing_file::replace).ok());
    return contents(file);
  }
  static std::string problem(const bytes& file) {
    const outcome<trace> read = parse_trace(file, "x.sbt");
    return read ? "" : read.message();
  }
};

TEST_F(TraceFormat, ATraceIsReadAsItWasStored) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const trace made = sample(seed);
    const outcome<trace> read = parse_trace(stored(made), "x.sbt");
    ASSERT_TRUE(read) << read.message();
    ASSERT_EQ(everything(*read), everything(made)) << "seed " << seed;
  }
}

TEST_F(TraceFormat, TextsAreReadAsUtf8) {
  const std::string no = "\xef\xbf\xbd";
  const std::pair<std::string, std::string> texts[] = {
      {"plain", "plain"},
      {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"caf\xe9", "caf" + no},                  // Latin 1
      {"\xe2\x82", no + no},                    // stops within a character
      {"\xc0\xaf", no + no},                    // longer than it has to be
      {"\xed\xa0\x80", no + no + no},           // half of a pair of UTF-16
      {"\xf4\x90\x80\x80", no + no + no + no},  // beyond the last character
      {"\xef\xbf\xbf", no + no + no},           // no character
  };
  for (const auto& [stored_text, wanted] : texts) {
    trace made = sample(1);
    made.head.program = made.names[0] = stored_text;
    const outcome<trace> read = parse_trace(stored(made), "x.sbt");
    ASSERT_TRUE(read) << read.message();
    EXPECT_EQ(read->head.program, wanted);
    EXPECT_EQ(read->names[0], wanted);
  }
}

TEST_F(TraceFormat, TheSameTraceIsTheSameBytes) {
  EXPECT_EQ(stored(sample(1)), stored(sample(1)));
  EXPECT_NE(stored(sample(1)), stored(sample(2)));
}

TEST_F(TraceFormat, AFileOfTheFormatBeforeHasNoQueues) {
  const outcome<trace> read = parse_trace(version4, "x.sbt");
  ASSERT_TRUE(read) << read.message();
  ASSERT_EQ(read->operations.size(), 4u);
  EXPECT_EQ(read->head.end, ending::complete);
  for (const operation& op : read->operations) EXPECT_EQ(op.queue, hardware_queue{});
  const operation& last = read->operations[3];
  EXPECT_EQ(last.ended, 232867u);
  ASSERT_EQ(last.waits.size(), 1u);
  EXPECT_EQ(last.waits[0].cause, wait_cause::legacy_barrier);
  EXPECT_EQ(last.waits[0].from, 2u);
}

TEST_F(TraceFormat, StoringWhatWasReadGivesTheSameTrace) {
  const outcome<trace> first = parse_trace(stored(sample(3)), "x");
  const bytes again = stored(*first);
  const outcome<trace> second = parse_trace(again, "x");
  EXPECT_EQ(everything(*second), everything(*first));
  EXPECT_EQ(second->names, first->names);
  EXPECT_EQ(stored(*second), again);
}

TEST_F(TraceFormat, AFileThatStopsAnywhereIsReadUpToThere) {
  const bytes whole = stored(sample(4));
  std::size_t header = 0;
  std::size_t operations = 0;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const outcome<trace> read = parse_trace(part, "x.sbt");
    if (!read) {
      ASSERT_EQ(header, 0u) << "byte " << size << ": " << read.message();
      ASSERT_THAT(read.message(), HasSubstr("nothing was recorded"));
      continue;
    }
    if (header == 0) header = size;
    ASSERT_EQ(read->head.end, ending::unknown);
    ASSERT_GE(read->operations.size(), operations);
    operations = read->operations.size();
    // As a killed writer leaves it: the rest of the step is 0.
    bytes killed = part;
    killed.resize(size + 5000);
    const outcome<trace> again = parse_trace(killed, "x.sbt");
    ASSERT_TRUE(again) << again.message();
    ASSERT_LE(again->operations.size(), operations + 1);
  }
  EXPECT_LT(header, 40u);
  EXPECT_EQ(operations, sample(4).operations.size());
}

TEST_F(TraceFormat, AnyFlippedBitOfACompleteFileIsFound) {
  const bytes whole = stored(sample(5));
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    bytes flipped = whole;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    ASSERT_NE(problem(flipped), "") << "bit " << bit;
  }
}

TEST_F(TraceFormat, OtherFilesAreRefusedWithAReason) {
  EXPECT_EQ(problem({}), "x.sbt is empty: nothing was recorded.");
  EXPECT_EQ(problem({'P', 'K', 3, 4}), "x.sbt is not a Streambed trace.");
  bytes newer = stored(sample(6));
  newer[8] = format_version + 1;
  EXPECT_THAT(problem(newer),
              HasSubstr("newer Streambed: its format is " + std::to_string(format_version + 1) +
                        ", this one reads up to " + std::to_string(format_version)));
  bytes older = stored(sample(6));
  older[8] = 3;
  EXPECT_THAT(problem(older),
              HasSubstr("older Streambed: its format is 3, this one reads 4 and later"));
  EXPECT_THAT(read_trace(path("none")).message(), HasSubstr("cannot open"));
  EXPECT_THAT(read_trace(path("")).message(), HasSubstr("cannot read"));
}

TEST_F(TraceFormat, ADamagedFileWithoutAnEndSaysWhere) {
  trace open = sample(7);
  open.head.end = ending::unknown;
  bytes file = stored(open);
  const bytes good = file;
  ASSERT_TRUE(parse_trace(good, "x"));
  // The first record after the header is a name; there is no record 200.
  const std::size_t first = 8 + 4 + 1 + 1 + 6 + 7 + 5;
  ASSERT_EQ(file[first], static_cast<std::uint8_t>(record_kind::name));
  file[first] = 200;
  EXPECT_EQ(problem(file), "x.sbt is damaged at byte 32: no record begins with 200.");
}

TEST_F(TraceFormat, AFileToWhichSomethingWasAddedSaysSo) {
  const bytes good = stored(sample(7));
  ASSERT_TRUE(parse_trace(good, "x"));
  bytes longer = good;
  longer.push_back(7);
  EXPECT_EQ(problem(longer), "x.sbt is damaged at byte " +
                                 std::to_string(good.size() - end_record_bytes) +
                                 ": its end record is there, and more follows. Something was added "
                                 "to the file.");
}

TEST_F(TraceFormat, WhatExistsIsNotReplacedUnasked) {
  const std::string file = path("a.sbt");
  put(file, {1, 2, 3});
  const auto refused = store_trace(sample(8), file);
  EXPECT_FALSE(refused);
  EXPECT_THAT(refused.message(), HasSubstr("exists already"));
  EXPECT_EQ(contents(file), (bytes{1, 2, 3}));
  EXPECT_TRUE(store_trace(sample(8), file, existing_file::replace).ok());
  EXPECT_TRUE(read_trace(file).ok());
}

TEST_F(TraceFormat, ReadingReportsProgressUpToTheEnd) {
  const std::string file = path("big.sbt");
  ASSERT_TRUE(store_trace(sample(9, {60'000, 1000}), file).ok());
  std::vector<std::uint64_t> seen;
  std::uint64_t total = 0;
  const auto read = read_trace(file, [&](std::uint64_t done, std::uint64_t of) {
    seen.push_back(done);
    total = of;
  });
  ASSERT_TRUE(read);
  EXPECT_EQ(total, std::filesystem::file_size(file));
  ASSERT_GT(seen.size(), 2u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), total);
}

}  // namespace
}  // namespace sb::trace::testing
