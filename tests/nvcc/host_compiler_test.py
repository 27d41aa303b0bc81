"""What -Xcompiler hands to the host compiler, which is gcc for NVIDIA's nvcc and clang here."""

import os
import unittest

from toolkit import DOUBLING, NvccTest


class OptionsOfGcc(NvccTest):
    HARMLESS = ("-fno-tree-vectorize,-fno-tree-loop-distribute-patterns,-fvect-cost-model=unlimited,-fno-ipa-cp,"
                "-fno-var-tracking-assignments,-fno-gnu-unique,-mno-avx256-split-unaligned-load,-frounding-math,"
                "-fmax-errors=3,-finline-limit=500,-Wall,-Wlogical-op,-Wno-maybe-uninitialized,-Werror=duplicated-cond,"
                "-gno-variable-location-views,-fopt-info-vec-missed,-fconstexpr-ops-limit=1000,-static-libgcc,"
                "--param=inline-unit-growth=50")

    def test_those_that_change_no_program_are_taken_in_silence(self):
        self.write("a.cu", DOUBLING)
        self.write("b.cpp", "int main() { return 0; }\n")
        self.write("c.c", "int main(void) { return 0; }\n")
        for words in (["a.cu"], ["-rdc=true", "a.cu"], ["b.cpp"], ["c.c"], ["-E", "a.cu"], ["-M", "b.cpp"],
                      ["-Werror", "all-warnings", "a.cu"], ["-Xcompiler", "-Werror", "b.cpp"]):
            with self.subTest(words):
                done = self.nvcc("-Xcompiler", self.HARMLESS, *words, "-o", "a")
                self.assertEqual(done.stderr, "")
                if "a.cu" in words and "-E" not in words:
                    self.assertEqual(self.output("a"), "ok\n")

    def test_those_that_may_change_a_program_are_left_out_with_a_warning(self):
        self.write("a.cu", DOUBLING)
        options = ["-Xcompiler", "-fabi-version=11,-fext-numeric-literals"]
        for words in (["-forward-unknown-to-host-compiler", "-mpc64"], ["-Xcompiler", "-mpc64"]):
            said = self.nvcc(*options, *words, "a.cu", "-o", "a").stderr.splitlines()
            self.assertEqual(len(said), 3, said)
            for line, name in zip(said, ("-fabi-version=11", "-fext-numeric-literals", "-mpc64")):
                self.assertTrue(line.startswith("nvcc warning : "), line)
                self.assertIn(f"'{name}'", line)
            self.assertEqual(self.output("a"), "ok\n")
        self.assertEqual(self.nvcc("-w", *options, "a.cu", "-o", "a").stderr, "")

    def test_link_time_optimisation_by_so_many_processes(self):
        self.write("a.cu", DOUBLING)
        for option in ("-flto=4", "-flto=auto", "-flto"):
            with self.subTest(option):
                self.assertEqual(self.nvcc("-Xcompiler", option, "a.cu", "-o", "a").stderr, "")
                self.assertEqual(self.output("a"), "ok\n")

    def test_the_words_behind_options_are_no_options(self):
        self.write("a.cu", DOUBLING)
        done = self.nvcc("-dryrun", "-Xcompiler", "-Xlinker,-fabi-version=11,-mpc64", "a.cu", "-o", "a", "-w")
        link = done.stderr.splitlines()[-1]
        self.assertIn("-Xlinker -fabi-version=11 ", link)
        self.assertNotIn("-mpc64", link)

    def test_gcc_itself_gets_all_of_them(self):
        self.write("a.cpp", "#if __GXX_ABI_VERSION != 1011 || defined(__clang__)\n#error\n#endif\nint main() {}\n")
        self.nvcc("-ccbin", "g++", "-Xcompiler", "-fabi-version=11,-fno-gnu-unique,-fno-tree-vectorize", "-c", "a.cpp")

    def test_the_linker_that_build_systems_call_takes_them(self):
        self.write("a.cu", DOUBLING)
        lines = self.nvcc("-dryrun", "a.cu", "-o", "a").stderr.splitlines()
        linker = next(word for word in lines[-1].split() if word.endswith("/host-link"))
        self.nvcc("-c", "a.cu")
        directory = linker[:linker.rindex("/streambed/")]
        self.command(linker, "-fno-gnu-unique", "-flto=4", "a.o", f"-L{directory}", "-lcudart", "-o", "a")
        self.assertEqual(self.output("a"), "ok\n")


class Macros(NvccTest):
    @unittest.skipUnless(os.uname().machine == "x86_64", "macros of x86-64's instructions")
    def test_both_passes_see_the_macros_of_the_hosts_instructions(self):
        names = ("__SSE3__", "__SSE4_2__", "__AVX__", "__AVX2__", "__AVX512F__", "__FMA__", "__BMI2__")
        self.write("a.cu", "#include <cstdio>\n#include <immintrin.h>\nstruct probe {\n  char first;\n" + "".join(
            f"#ifdef {name}\n  char of{name}[{1 << bit}];\n#endif\n" for bit, name in enumerate(names)) + """};
          __global__ void measure(int* to) { *to = sizeof(probe); }
          int main() {
            int *to, size = 0;
            cudaMalloc(&to, sizeof size);
            measure<<<1, 1>>>(to);
            cudaMemcpy(&size, to, sizeof size, cudaMemcpyDefault);
            std::printf("%d %d", size, int(sizeof(probe)));
          }""")
        for options, size in (("-O2", 1), ("-mavx", 8), ("-msse4.1", 2), ("-march=x86-64-v3", 112)):
            with self.subTest(options):
                self.nvcc("-Xcompiler", options, "a.cu", "-o", "a")
                self.assertEqual(self.output("a"), f"{size} {size}")
        self.nvcc("-Xcompiler", "-march=native", "a.cu", "-o", "a")
        device, host = self.output("a").split()
        self.assertEqual(device, host)

    def test_both_passes_see_the_macros_of_the_hosts_flags(self):
        names = ("__F16C__", "__AES__", "__PCLMUL__", "__AVX2__", "__AVX512VNNI__", "__OPTIMIZE__", "__OPTIMIZE_SIZE__",
                 "__NO_INLINE__", "__EXCEPTIONS", "__GXX_RTTI", "__FAST_MATH__")
        bits = "".join(f"#ifdef {name}\n  {1 << bit} |\n#endif\n" for bit, name in enumerate(names)) + "0"
        self.write("a.cu", f"""#include <cstdio>
          constexpr int all =
          {bits};
          __global__ void ask(int* to) {{ *to = all; }}
          int main() {{
            int *to, seen = 0;
            cudaMalloc(&to, sizeof seen);
            ask<<<1, 1>>>(to);
            cudaMemcpy(&seen, to, sizeof seen, cudaMemcpyDefault);
            std::printf("%d %d", seen, all);
          }}""")
        lines = [[], ["-O2"], ["-O0"], ["-Xcompiler", "-Os"], ["-Xcompiler", "-fno-exceptions,-fno-rtti"], ["-noeh"],
                 ["-O2", "-Xcompiler", "-ffast-math"], ["-G"], ["-D__AES__"], ["-D__AVX2__"]]
        if os.uname().machine == "x86_64":
            lines += [["-Xcompiler", option] for option in ("-maes", "-march=native", "-march=sapphirerapids", "-mf16c,-mavx2")]
        for line in lines:
            with self.subTest(line):
                self.nvcc(*line, "a.cu", "-o", "a")
                device, host = self.output("a").split()
                self.assertEqual(device, host)
        if os.uname().machine == "x86_64":
            self.nvcc("-Xcompiler", "-mavx2", "a.cu", "-o", "a", STREAMBED_CPU="x86-64-v2")
            self.assertEqual(*self.output("a").split())


if __name__ == "__main__":
    unittest.main()
