#include "model/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "model/profile_fields.hpp"

namespace sb {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const std::string& text) {
  std::string error;
  EXPECT_FALSE(parse_profile(text, "my.profile", error)) << text;
  return error;
}

profile derived(const std::string& lines) {
  std::string error;
  const auto p = parse_profile("base = h200\norigin = a test\n" + lines, "my.profile", error);
  EXPECT_TRUE(p) << error;
  return p.value_or(h200());
}

TEST(profile, the_built_in_ones_are_those_of_the_folder_and_the_h200_is_the_first) {
  std::set<std::string> keys;
  for (const profile& p : built_in_profiles()) keys.insert(p.key);
  EXPECT_EQ(keys, (std::set<std::string>{"h200", "v100", "gtx1050", "fermi", "no-overlap"}));
  EXPECT_EQ(built_in_profiles().front().key, "h200");
}

TEST(profile, the_h200_says_that_it_was_measured_and_the_others_name_their_sources) {
  for (const profile& p : built_in_profiles())
    EXPECT_THAT(p.origin, StartsWith(p.key == "h200" ? "measured" : "published figures: "));
}

TEST(profile, the_built_in_ones_have_the_limits_that_decide_about_overlap) {
  const auto device = [](const char* key) { return find_profile(key)->device; };
  EXPECT_EQ(device("v100").multiprocessors, 80);
  EXPECT_EQ(device("gtx1050").multiprocessors, 6);
  EXPECT_EQ(device("fermi").default_connections, 1);
  EXPECT_EQ(device("fermi").hardware_queues, 1);
  EXPECT_EQ(device("fermi").resident_kernels, 16);
  EXPECT_EQ(device("no-overlap").async_engines, 0);
  EXPECT_EQ(device_attribute(device("no-overlap"), 15), 0);  // cudaDevAttrGpuOverlap
}

TEST(profile, what_a_derived_one_does_not_say_is_as_in_its_base) {
  const profile p = derived("multiprocessors = 7\ncall.cudaMalloc = 5\n");
  EXPECT_EQ(p.device.multiprocessors, 7);
  EXPECT_EQ(p.device.clock_khz, h200().device.clock_khz);
  EXPECT_EQ(p.timing.calls.at("cudaMalloc"), 5);
  EXPECT_EQ(p.timing.calls.at("cudaLaunchKernel"), h200().timing.calls.at("cudaLaunchKernel"));
}

// What a profile leaves to its base must still fit to what it says itself.
TEST(profile, nothing_is_quicker_than_the_memory_and_the_links_it_goes_through) {
  for (const profile& p : built_in_profiles()) {
    const timing_profile& t = p.timing;
    EXPECT_LE(t.fill_bytes_per_ns, 1.5 * t.memory_bytes_per_ns) << p.key;
    EXPECT_LE(t.copy_bytes_per_ns, 1.5 * t.memory_bytes_per_ns) << p.key;
    EXPECT_LE(t.memory_bytes_per_ns, t.l2_bytes_per_ns) << p.key;
    EXPECT_LT(t.l1_load_ns, t.l2_load_ns) << p.key;
    EXPECT_LT(t.l2_load_ns, t.memory_load_ns) << p.key;
    EXPECT_LE(t.address_float_atomics_per_ns, t.address_atomics_per_ns) << p.key;
    EXPECT_LE(t.address_atomics_per_ns, t.atomics_per_ns) << p.key;
    EXPECT_LE(t.fp32_per_ns, 2.01 * t.issue_per_ns) << p.key;
    EXPECT_LE(t.integer_per_ns, t.issue_per_ns) << p.key;
    EXPECT_LE(t.special_per_ns, t.issue_per_ns) << p.key;
    EXPECT_LE(t.stage_bytes_per_ns, t.to_device.pinned_bytes_per_ns) << p.key;
    for (const link_timing* l : {&t.to_device, &t.to_host}) {
      EXPECT_LE(l->small_bytes_per_ns, l->pinned_bytes_per_ns) << p.key;
      EXPECT_LE(l->pageable_bytes_per_ns, l->pinned_bytes_per_ns) << p.key;
    }
  }
}

TEST(profile, values_are_numbers_words_extents_and_text_with_comments_after_them) {
  const profile p = derived(
      "name = A device   # not this\n\n  # nor this\necc = no\nmax_grid = 1 2 3\n"
      "pci_device_id = 0x1b\nto_host.pinned_bytes_per_ns = 1.25e1\r\n");
  EXPECT_EQ(p.device.name, "A device");
  EXPECT_FALSE(p.device.ecc);
  EXPECT_EQ(p.device.max_grid, (extent3{1, 2, 3}));
  EXPECT_EQ(p.device.pci_device_id, 27U);
  EXPECT_EQ(p.timing.to_host.pinned_bytes_per_ns, 12.5);
}

TEST(profile, an_error_names_the_file_the_line_and_the_key) {
  const std::string head = "base = h200\norigin = a test\n";
  EXPECT_EQ(error_of(head + "multiprocesors = 3\n"),
            "my.profile:3: multiprocesors: there is no such key");
  EXPECT_THAT(error_of(head + "\n# comment\nclock_khz = fast\n"),
              StartsWith("my.profile:5: clock_khz: 'fast' is not a number"));
  EXPECT_THAT(error_of(head + "multiprocessors = 0"), HasSubstr("multiprocessors: '0' is out of"));
  EXPECT_THAT(error_of(head + "multiprocessors = 1.5"), HasSubstr("without a fraction"));
  EXPECT_THAT(error_of(head + "multiprocessors = 99999999999"), HasSubstr("too large"));
  EXPECT_THAT(error_of(head + "fp32_per_ns = 0"), HasSubstr("fp32_per_ns: '0' is out of range"));
  EXPECT_THAT(error_of(head + "l2_bytes = 0"), HasSubstr("l2_bytes: '0' is out of range"));
  EXPECT_THAT(error_of(head + "fp32_per_ns = nan"), HasSubstr("fp32_per_ns"));
  EXPECT_THAT(error_of(head + "fp32_per_ns = inf"), HasSubstr("fp32_per_ns"));
  EXPECT_THAT(error_of(head + "ecc = maybe"), HasSubstr("ecc: it is 'yes' or 'no'"));
  EXPECT_THAT(error_of(head + "max_grid = 1 2"), HasSubstr("max_grid: it takes 3 numbers"));
  EXPECT_THAT(error_of(head + "max_grid = 1 2 3 4"), HasSubstr("max_grid: it takes 3 numbers"));
  EXPECT_THAT(error_of(head + "clock_khz ="),
              HasSubstr("my.profile:3: clock_khz: it has no value"));
  EXPECT_THAT(error_of(head + "just words"), HasSubstr("my.profile:3: just words: a line is"));
  EXPECT_EQ(error_of(head + "name = a\x1b[31mb\n"), "my.profile:3: this is not text");
  EXPECT_THAT(error_of(std::string(" \0\x01", 3)), StartsWith("my.profile:1: this is not text"));
  EXPECT_THAT(error_of(head + "ecc = no\necc = yes\n"),
              HasSubstr("my.profile:4: ecc: it stands in line 3"));
  EXPECT_THAT(error_of(head + "call.cudaMalloc = -1"), HasSubstr("call.cudaMalloc: '-1'"));
  EXPECT_THAT(error_of(head + "greatest_priority = 0\nleast_priority = -2"),
              HasSubstr("my.profile:3: greatest_priority"));
  EXPECT_THAT(error_of(head + "hardware_queues = 4\n"), HasSubstr("connections: there are only 4"));
  EXPECT_THAT(error_of("base = h300\norigin = x\n"), HasSubstr("my.profile:1: base: there is no"));
  EXPECT_THAT(error_of("base = h200\n"), HasSubstr("origin: it is missing"));
}

TEST(profile, what_is_so_large_that_no_run_would_end_is_refused) {
  const std::string head = "base = h200\norigin = a test\n";
  for (const char* value : {"1e20", "1e300", "1.1e12", "inf"}) {
    for (const char* key : {"call.cudaLaunchKernel", "call.ofMyOwn", "kernel_ns", "fp32_per_ns",
                            "to_host.pinned_ns"}) {
      const std::string line = std::string(key) + " = " + value + "\n";
      EXPECT_THAT(error_of(head + line), HasSubstr(std::string("my.profile:3: ") + key + ": '" +
                                                   value + "' is out of range: the most is 1e+12"));
    }
  }
  EXPECT_EQ(derived("kernel_ns = 1e12\n").timing.kernel_ns, 1e12);
  EXPECT_THAT(error_of(head + "multiprocessors = 2147483647\n"),
              HasSubstr("my.profile:3: multiprocessors: there are 10000 at most"));
}

TEST(profile, without_a_base_every_key_has_to_be_there) {
  EXPECT_THAT(error_of("origin = a test\nname = x\n"),
              HasSubstr("compute_major: it is missing; a profile without `base` has every key"));
  std::string text(built_in_text("h200"));
  visit_fields(h200(), [&](const std::string& key, const auto&, double) {
    const std::size_t at = text.find("\n" + key + " = ");
    ASSERT_NE(at, std::string::npos) << key;
    std::string without = text;
    without.erase(at, text.find('\n', at + 1) - at);
    EXPECT_THAT(error_of(without), HasSubstr(key + ": it is missing")) << key;
  });
}

TEST(profile, what_is_printed_reads_back_as_the_same) {
  profile p = *find_profile("v100");
  p.timing.calls["cudaFree"] = 1.0 / 3;
  std::string error;
  const auto again = parse_profile(print_profile(p, h200()), "v100", error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(print_profile(*again, h200()), print_profile(p, h200()));
  EXPECT_EQ(again->timing.calls, p.timing.calls);
  EXPECT_EQ(again->device.multiprocessors, 80);
}

TEST(profile, a_name_that_is_not_known_is_told_with_those_that_are) {
  std::string error;
  EXPECT_FALSE(load_profile("h2000", error));
  EXPECT_THAT(error, HasSubstr("'h2000'"));
  EXPECT_THAT(error, HasSubstr("v100"));
  EXPECT_FALSE(load_profile("/nowhere/at.all", error));
  EXPECT_THAT(error, HasSubstr("/nowhere/at.all: the profile cannot be read"));
  EXPECT_FALSE(load_profile("/dev/zero", error));
  EXPECT_THAT(error, HasSubstr("/dev/zero: it is too long for a profile"));
}

}  // namespace
}  // namespace sb
