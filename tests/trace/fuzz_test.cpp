// Files that were changed at random are read or refused, and what is read is sound.
// STREAMBED_FUZZ_RUNS=1000000 makes more of it; fuzz_trace.cpp is the same for libFuzzer.
#include <array>
#include <cstdlib>
#include <random>

#include "files.hpp"
#include "sample.hpp"
#include "sound.hpp"
#include "trace/checksum.hpp"
#include "trace/format.hpp"
#include "trace/reader.hpp"
#include "trace/store.hpp"
#include "trace/writer.hpp"

namespace sb::trace::testing {
namespace {

class TraceFuzz : public TraceFiles {
 protected:
  bytes stored(unsigned seed, ending end, sample_size size = {}) {
    trace made = sample(seed, size);
    made.head.end = end;
    EXPECT_TRUE(store_trace(made, path("seed"), existing_file::replace).ok());
    return contents(path("seed"));
  }
  static int runs() {
    const char* more = std::getenv("STREAMBED_FUZZ_RUNS");
    return more ? std::atoi(more) : 4000;
  }
  static void change(bytes& file, std::mt19937& random) {
    const auto below = [&](std::size_t limit) { return random() % limit; };
    for (std::size_t times = 1 + below(6); times > 0 && file.size() > 30; --times) {
      // Behind the header, mostly: one that is damaged is refused at once.
      const std::size_t at = below(8) ? 26 + below(file.size() - 26) : below(file.size());
      const auto where = file.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t some = std::min<std::size_t>(1 + below(8), file.size() - at);
      switch (below(6)) {
        case 0:
          *where ^= static_cast<std::uint8_t>(1u << below(8));
          break;
        case 1:
          *where = static_cast<std::uint8_t>(below(256));
          break;
        case 2:
          *where = below(2) ? 0xff : 0;
          break;
        case 3:
          file.erase(where, where + static_cast<std::ptrdiff_t>(some));
          break;
        case 4:
          file.insert(where, some, static_cast<std::uint8_t>(below(256)));
          break;
        default: {  // a piece from elsewhere
          const std::size_t from = below(file.size() - some);
          const bytes piece(file.begin() + static_cast<std::ptrdiff_t>(from),
                            file.begin() + static_cast<std::ptrdiff_t>(from + some));
          std::copy(piece.begin(), piece.end(), where);
        }
      }
    }
  }
  static void read(const bytes& file, int& good, int& refused) {
    const outcome<trace> found = parse_trace(file, "x");
    ++(found ? good : refused);
    if (found)
      expect_sound(*found);
    else
      EXPECT_NE(found.message(), "");
  }
};

TEST_F(TraceFuzz, ChangedFilesWithoutAnEndAreReadOrRefused) {
  std::mt19937 random(1);
  int good = 0, refused = 0;
  for (int run = 0; run < runs(); ++run) {
    static bytes seed;
    if (run % 100 == 0) seed = stored(static_cast<unsigned>(run / 100), ending::unknown);
    bytes file = seed;
    change(file, random);
    read(file, good, refused);
    if (HasFailure()) FAIL() << "run " << run;
  }
  EXPECT_GT(good, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(TraceFuzz, ChangedFilesWhoseChecksumIsRightAreReadOrRefused) {
  std::mt19937 random(2);
  int good = 0, refused = 0;
  for (int run = 0; run < runs(); ++run) {
    static bytes seed;
    if (run % 100 == 0) seed = stored(static_cast<unsigned>(run / 100), ending::complete);
    bytes file(seed.begin(), seed.end() - end_record_bytes);
    change(file, random);
    checksum sum;
    sum.add(file.data(), file.size());
    sum.add(end_word(ending::complete, true));
    sum.add(std::uint64_t{5});
    byte end[end_record_bytes];
    byte* at = end;
    for (const std::uint8_t value : {static_cast<std::uint8_t>(record_kind::end),
                                     static_cast<std::uint8_t>(ending::complete), std::uint8_t{1}})
      *at++ = value;
    at = put_fixed(at, std::uint64_t{5});
    at = put_fixed(at, sum.value());
    std::copy(end_magic.begin(), end_magic.end(), at);
    file.insert(file.end(), end, end + sizeof end);
    read(file, good, refused);
    if (HasFailure()) FAIL() << "run " << run;
  }
  EXPECT_GT(good, 0);
  EXPECT_GT(refused, 0);
}

// What store_trace never writes: operations that are told with a call, or again together, and ends
// of operations together.
TEST_F(TraceFuzz, ChangedFilesOfWorkThatWasToldWithItsCallAreReadOrRefused) {
  for (const call_order how : {call_order::as_returned, call_order::gathered}) {
    const std::string file = path("seed");
    const nanoseconds times = how == call_order::gathered ? 200 : 5;  // some lanes
    {
      const auto opened = writer::open(file, {}, existing_file::replace, how);
      ASSERT_TRUE(opened) << opened.message();
      writer& out = **opened;
      submitted_record r;
      r.device = out.device({});
      r.stream = out.stream({.device = r.device, .name = {}});
      for (number i = 0; i < 3; ++i) {
        const edge wait{.from = i - 1, .call = none, .cause = wait_cause::graph_edge, .until = i};
        r.called = r.queued = i;
        const number self = out.submitted(r);
        out.finished(self, {.ready = i,
                            .started = i,
                            .ended = i + 1,
                            .waits = {&wait, i > 0 ? 1u : 0u},
                            .queue = {queue_class::compute, 1}});
      }
      const std::array<nanoseconds, 3> ends = {101, 105, 107};
      for (nanoseconds i = 0; i < times; ++i) {
        const number call = out.begin_call();
        out.repeated({.like = 0, .call = call, .graph = none, .begin = 100, .ends = ends});
        call_record by;
        by.begin = 10 * i;
        by.end = by.begin + 5;
        by.done = out.begin_operations();
        by.like = 1;
        out.returned(out.begin_call(), by);
        by.done = out.begin_operations();
        by.handed_over = true;
        out.ended(by.done, {by.begin, by.begin + 1, by.begin + 2, {}});
        out.returned(out.begin_call(), by);
      }
    }
    const bytes seed = contents(file);
    std::mt19937 random(4);
    int good = 0, refused = 0;
    read(seed, good, refused);
    EXPECT_EQ(good, 1);
    for (int run = 0; run < runs() / 2; ++run) {
      bytes changed = seed;
      change(changed, random);
      read(changed, good, refused);
      if (HasFailure()) FAIL() << "run " << run;
    }
    EXPECT_GT(good, 1);
    EXPECT_GT(refused, 0);
  }
}

TEST_F(TraceFuzz, BlocksInAnyOrderAreReadOrRefused) {
  std::mt19937 random(3);
  const bytes seed = stored(1, ending::unknown, {9000, 2000});
  ASSERT_GT(seed.size(), 3 * block_bytes);
  int good = 0, refused = 0;
  for (int run = 0; run < 60; ++run) {
    bytes file = seed;
    const std::size_t slots = file.size() / block_bytes;
    const std::size_t a = random() % slots * block_bytes, b = random() % slots * block_bytes;
    switch (random() % 4) {
      case 0:
        file.resize(random() % file.size());
        break;
      case 1:
        std::swap_ranges(file.begin() + a, file.begin() + a + block_bytes, file.begin() + b);
        break;
      case 2:
        file[a + random() % block_header_bytes] ^= 1u << random() % 8;
        break;
      default:
        std::fill_n(file.begin() + a, block_bytes, 0);
        break;
    }
    const outcome<trace> found = parse_trace(file, "x");
    ++(found ? good : refused);
  }
  EXPECT_GT(good, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace sb::trace::testing
