// The driver's rules without running anything: messages, processors, architectures, device code in
// objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/nvcc/cpu.hpp"
#include "compiler/nvcc/device_object.hpp"
#include "compiler/nvcc/diagnostics.hpp"
#include "compiler/nvcc/gcc_options.hpp"
#include "compiler/nvcc/options.hpp"
#include "compiler/nvcc/process.hpp"

namespace {

using namespace sb::nvcc;

TEST(Outputs, OfAFailedCompilationAreRemovedUnlessTheyAreNoFiles) {
  const auto folder = std::filesystem::temp_directory_path() / "streambed-outputs-test";
  std::filesystem::create_directories(folder);
  const std::string file = folder / "a.o";
  const std::string pipe = folder / "pipe";
  std::ofstream(file) << "x";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  remove_output(file);
  remove_output(pipe);
  remove_output(file);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  std::filesystem::remove_all(folder);
}

TEST(Diagnostics, SaysWhatBothPassesSayOnce) {
  const std::string shared =
      "a.cu:3:9: warning: unused [-Wunused]\n    3 | int x;\n      |     ^\na.cu:1:1: note: here\n";
  const std::string host = "a.cu:9:1: warning: only host\n";
  EXPECT_EQ(merge_diagnostics(shared + "1 warning generated when compiling for generic.\n",
                              shared + host + "2 warnings generated.\n"),
            shared + host);
}

TEST(Diagnostics, KeepsTheIncludeStackWithItsMessage) {
  const std::string first = "In file included from a.cu:1:\nb.h:2:3: error: x\n";
  const std::string second = "In file included from a.cu:2:\nb.h:2:3: error: x\n";
  EXPECT_EQ(merge_diagnostics(first, first + second), first + second);
}

TEST(Diagnostics, SeesThroughColours) {
  const std::string plain = "a.cu:1:1: error: x\n";
  const std::string coloured = "\033[1ma.cu:1:1: \033[0m\033[31merror: \033[0mx\n";
  EXPECT_EQ(merge_diagnostics(coloured, plain), coloured);
}

TEST(Diagnostics, KeepsWordsOfOtherTools) {
  EXPECT_EQ(merge_diagnostics("ld.lld: error: undefined symbol: f()\n>>> referenced by a.cu\n", ""),
            "ld.lld: error: undefined symbol: f()\n>>> referenced by a.cu\n");
}

TEST(Processor, UsesOnlyWhatItReports) {
  EXPECT_EQ(aarch64_march("fp asimd evtstrm"), "armv8-a");
  EXPECT_EQ(aarch64_march("fp asimd atomics asimdhp sve sve2 asimddp"),
            "armv8-a+lse+fp16+dotprod");  // and never SVE
  EXPECT_EQ(x86_64_march("sse sse2"), "x86-64");
  const std::string v2 = "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3";
  EXPECT_EQ(x86_64_march(v2), "x86-64-v2");
  const std::string v3 = v2 + " avx avx2 bmi1 bmi2 f16c fma abm movbe xsave";
  EXPECT_EQ(x86_64_march(v3), "x86-64-v3");
  EXPECT_EQ(x86_64_march(v3 + " avx512f avx512bw avx512cd avx512dq avx512vl"), "x86-64-v4");
}

TEST(Options, ChooseTheArchitectureThatAnH200WouldLoad) {
  const auto chosen = [](std::vector<int> list) {
    options o;
    o.architectures = std::move(list);
    return chosen_architecture(o);
  };
  EXPECT_EQ(chosen({}), 75);
  EXPECT_EQ(chosen({75, 80}), 80);
  EXPECT_EQ(chosen({120, 80, 90, 100}), 90);
  EXPECT_EQ(chosen({120, 100}), 100);
}

TEST(Options, NamesAreUnique) {
  std::vector<std::string> names;
  for (const option_spec& spec : option_table()) {
    names.push_back(spec.long_name);
    if (std::string(spec.short_name) != spec.long_name) names.push_back(spec.short_name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Options, AreAllInTheDocumentation) {
  std::ifstream in(STREAMBED_DOCS "/nvcc.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  for (const option_spec& spec : option_table())
    EXPECT_NE(text.find("`" + std::string(spec.long_name) + "`"), std::string::npos)
        << spec.long_name << " is missing in docs/nvcc.md";
}

TEST(Options, ListsSplitAtCommasThatAreNotEscaped) {
  EXPECT_THAT(split_list("a,b\\,c,,d"), testing::ElementsAre("a", "b,c", "d"));
  EXPECT_THAT(split_words("a 'b c' \"d\\\"e\" f\\ g"),
              testing::ElementsAre("a", "b c", "d\"e", "f g"));
}

TEST(OptionsOfGcc, ThatChangeNoProgramAreTold) {
  for (const char* option : {"-Wlogical-op", "-gstatement-frontiers", "-fno-tree-pre", "-fgcse-lm",
                             "-fno-gnu-unique", "-fvect-cost-model=cheap", "-mno-align-stringops",
                             "-fno-var-tracking", "-malign-data=cacheline", "-fipa-pta"})
    EXPECT_TRUE(is_without_meaning(option)) << option;
  for (const char* option :
       {"-fabi-version=11", "-mpc64", "-m128bit-long-double", "-pthreads", "-fext-numeric-literals",
        "-fconcepts", "-ftypo", "-fabi-version=tree"})
    EXPECT_FALSE(is_without_meaning(option)) << option;
}

class device_code : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "nvcc-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = (folder_ / name).string();
    write_file(path, bytes);
    return path;
  }
  std::filesystem::path folder_;
};

TEST_F(device_code, IsFoundInNothingElse) {
  EXPECT_TRUE(read_device_units(write("a.o", "not an object")).empty());
  EXPECT_TRUE(read_device_units(write("b.o", "")).empty());
  EXPECT_TRUE(read_device_units(write("c.o", std::string("\x7f"
                                                         "ELF\2\1\1",
                                                         7)))
                  .empty());
  EXPECT_TRUE(read_device_units(write("d.a", "!<arch>\n")).empty());
  EXPECT_THROW((void)read_device_units("/nowhere/x.o"), fatal_error);
}

TEST_F(device_code, SurvivesBrokenObjects) {
  // A header that points outside the file everywhere.
  std::string bytes(64, '\xff');
  bytes.replace(0, 7,
                std::string("\x7f"
                            "ELF\2\1\1",
                            7));
  EXPECT_TRUE(read_device_units(write("a.o", bytes)).empty());
}

TEST_F(device_code, IsPaddedSoThatUnitsCanFollowEachOther) {
  EXPECT_EQ(wrap_device_code("abc").size() % 8, 0u);
  EXPECT_EQ(wrap_device_code("abc").substr(0, 8), "SBDEVBC1");
}

}  // namespace
