// What nvcc changes in a source before clang sees it, and what it leaves alone.
#include "compiler/nvcc/rewrite.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/nvcc/lexer.hpp"

namespace {

using sb::nvcc::rewritten;

std::string on_arm(std::string_view source) { return rewritten(source, 'w'); }

TEST(Rewrite, LeavesOrdinarySourcesAlone) {
  for (const char* source : {
           "k<<<1, 2>>>(x);",
           "k<<<dim3(1, 2), n, 0, s>>>(x, y);",
           "std::cout << a << b; int c = 1 << 3; c >>= 1; x = a < b > c;",
           "std::vector<std::vector<std::vector<int> > > v;",
           "a.operator<< <int>(b);",
           "f<A<B<C>>>(x);",
           "// k << <1, 1>> >(x)\n/* k<<<{1}, 1>>>(x) */",
           "const char* s = \"k << <1, 1>> >(x)\"; char c = '\"'; int n = 1'000'000;",
           "auto r = R\"x(k << <1, 1>> >(x) \" )\")x\"; int i;",
       })
    EXPECT_EQ(on_arm(source), "") << source;
}

TEST(Rewrite, ClosesLaunchBrackets) {
  EXPECT_EQ(on_arm("k << <1, 1>> >(x);"), "k <<<1, 1>>>(x);");
  EXPECT_EQ(on_arm("k<int> < < <g, b > > > (x);"), "k<int> <<<g, b >>> (x);");
}

TEST(Rewrite, KeepsTheNumberOfLines) {
  const std::string source = "k <<\n<1,\n 1>>\n>(x);\nint y;";
  const std::string changed = on_arm(source);
  EXPECT_EQ(std::count(changed.begin(), changed.end(), '\n'),
            std::count(source.begin(), source.end(), '\n'));
  EXPECT_NE(changed.find("\nint y;"), std::string::npos);
}

TEST(Rewrite, NamesTheTypeOfBracesInTheFirstTwoArguments) {
  EXPECT_EQ(on_arm("k<<<{x, y, 1}, {4}, 0, s>>>(p);"), "k<<<dim3(x, y, 1), dim3(4), 0, s>>>(p);");
  EXPECT_EQ(on_arm("k<<<f({1, 2}), {g({3}), 4}>>>(p);"), "k<<<f({1, 2}), dim3(g({3}), 4)>>>(p);");
  EXPECT_EQ(on_arm("k<<<1, 2, 0, {}>>>(p);"), "");
}

TEST(Rewrite, GivesPtxTheConstraintsOfTheProcessor) {
  EXPECT_EQ(on_arm(R"(asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t) :: "memory");)"),
            R"(asm volatile("mov.u64 %0, %%globaltimer;" : "=r"(t) :: "memory");)");
  EXPECT_EQ(on_arm(R"(asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));)"),
            R"(asm("fma.rn.f32 %0, %1, %2, %3;" : "=w"(d) : "w"(a), "w"(b), "w"(c));)");
  EXPECT_EQ(rewritten(R"(asm("{add.f64 %0, %1, %2;}" : "=d"(d) : "d"(a), "h"(b));)", 'x'),
            R"(asm("%{add.f64 %0, %1, %2;%}" : "=x"(d) : "x"(a), "r"(b));)");
}

TEST(Rewrite, TranslatesConstraintsOfAnEmptyTemplate) {
  EXPECT_EQ(on_arm(R"(asm volatile("" : "+f"(x), "+l"(y) : "r"(z) : "memory");)"),
            R"(asm volatile("" : "+w"(x), "+r"(y) : "r"(z) : "memory");)");
  EXPECT_EQ(on_arm(R"(asm volatile(""::"l"(p):"memory");)"),
            R"(asm volatile(""::"r"(p):"memory");)");
}

TEST(Rewrite, JoinsTheLinesOfATemplate) {
  EXPECT_EQ(on_arm("asm(\"{\\n\\t\"\n\".reg .pred p;\\n\\t\"\n\"}\" : \"=l\"(x));"),
            "asm(\"{\\n\\t\"\n\".reg .pred p;\\n\\t\"\n\"}\" : \"=r\"(x));");
}

TEST(Rewrite, LeavesTheHostsAssemblyAlone) {
  for (const char* source : {
           R"(asm volatile("rdtsc" : "=a"(lo), "=d"(hi));)",
           R"(asm volatile("mrs %0, cntvct_el0" : "=r"(t));)",
           R"(asm volatile("" ::: "memory");)",
           R"(asm("mov %w0, %w1" : "=r"(x) : "r"(y));)",
           R"(asm("b.ne 1f" : : "d"(x));)",
       })
    EXPECT_EQ(on_arm(source), "") << source;
}

TEST(Rewrite, PutsAnAlignmentInFrontOfTheMemorySpace) {
  EXPECT_EQ(on_arm("__shared__ alignas(16) int x[4];"), "alignas(16) __shared__ int x[4];");
  EXPECT_EQ(on_arm("__device__\nalignas(alignof(\nfloat4)) char x[64];"),
            "alignas(alignof(\nfloat4))\n__device__ char x[64];");
  EXPECT_EQ(on_arm("alignas(16) __shared__ int x[4];"), "");
  EXPECT_EQ(on_arm("__shared__ alignas(16"), "");
}

TEST(Lexer, FindsIncludes) {
  const auto names = sb::nvcc::includes_of(
      "#include \"a.h\"\n # include <b/c.cuh> // x\nint include;\n#define X\n");
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0], "\"a.h\"");
  EXPECT_EQ(names[1], "<b/c.cuh>");
}

TEST(Lexer, EndsOnUnfinishedText) {
  for (const char* source :
       {"\"abc", "'", "/* x", "R\"(x", "// x\\", "\"a\\", "R\"", "asm(\"add.u32"})
    EXPECT_EQ(on_arm(source), "") << source;
}

}  // namespace
