"""Compiling and linking with nvcc: inputs, phases, outputs, host options."""

import os
import shlex
import shutil
import signal
import subprocess
import unittest

from toolkit import DOUBLING, TOOLKIT, NvccTest, device_value


class Phases(NvccTest):
    def test_one_source_becomes_a_program_that_runs(self):
        self.write("a.cu", DOUBLING)
        self.nvcc("-o", "a", "a.cu")
        self.assertEqual(self.output("a"), "ok\n")
        self.assert_temporaries_are_gone()

    def test_the_default_output_is_a_out(self):
        self.write("a.cu", DOUBLING)
        self.nvcc("a.cu")
        self.assertEqual(self.output("a.out"), "ok\n")

    def test_compiling_and_linking_apart(self):
        self.write("a.cu", DOUBLING)
        self.nvcc("-c", "a.cu")
        self.nvcc("a.o", "-o", "a")
        self.assertEqual(self.output("a"), "ok\n")

    def test_several_inputs_of_all_kinds(self):
        self.write("main.cu", """
          #include <cstdio>
          int from_cpp(); extern "C" int from_c(void); int from_object(); int from_archive();
          int from_shared();
          __global__ void seven(int* p) { *p = 7; }
          int main() {
            int *p, v = 0;
            cudaMalloc(&p, 4);
            seven<<<1, 1>>>(p);
            cudaMemcpy(&v, p, 4, cudaMemcpyDefault);
            std::printf("%d\\n", v + from_cpp() + from_c() + from_object() + from_archive() +
                                     from_shared());
          }""")
        self.write("plain.cpp", "#include <cuda_runtime.h>\n"
                                "int from_cpp() { int n; cudaGetDeviceCount(&n); return 10 * n; }")
        self.write("plain.c", "#include <cuda_runtime_api.h>\n"
                              "int from_c(void) { int n; cudaGetDeviceCount(&n); return 100 * n; }")
        self.write("object.cc", "int from_object() { return 1000; }")
        self.write("archive.cxx", "int from_archive() { return 10000; }")
        self.write("shared.cpp", "int from_shared() { return 100000; }")
        self.nvcc("-c", "object.cc")
        self.nvcc("-lib", "archive.cxx", "-o", "libarchive.a")
        self.nvcc("-shared", "-Xcompiler", "-fPIC", "shared.cpp", "-o", "libshared.so")
        self.nvcc("-t", "2", "main.cu", "plain.cpp", "plain.c", "object.o", "libarchive.a",
                  "libshared.so", "-Xlinker", f"-rpath,{self.folder}", "-o", "a")
        self.assertEqual(self.output("a", STREAMBED_DEVICES="1"), "111117\n")

    def test_kernels_in_a_shared_library(self):
        self.write("l.cu", "__global__ void five(int* p) { *p = 5; }\n"
                           "void launch(int* p) { five<<<1, 1>>>(p); }")
        self.write("m.cu", """
          #include <cstdio>
          void launch(int*);
          int main() { int *p, v; cudaMalloc(&p, 4); launch(p);
            cudaMemcpy(&v, p, 4, cudaMemcpyDefault); std::printf("%d\\n", v); }""")
        self.nvcc("-shared", "-Xcompiler", "-fPIC", "-o", "libl.so", "l.cu")
        self.nvcc("m.cu", "-L.", "-ll", "-Xlinker", f"-rpath={self.folder}", "-o", "m")
        self.assertEqual(self.output("m"), "5\n")

    # Enough kernels for two processes; what they share is there once.
    MANY_KERNELS = """
      #include <cstdio>
      __device__ int counter = 5;
      static __device__ int hidden;
      __constant__ int given[3] = {1, 2, 3};
      __constant__ int set[2];
      static __device__ const int table[4] = {10, 20, 30, 40};
      inline __device__ int also_inline = 7;
      template <int I> __device__ int of_template = I;
      __managed__ int managed = 3;
      template <int I> struct with_static { static __device__ int own; };
      template <int I> __device__ int with_static<I>::own = I;
      __noinline__ __device__ int deep(int n) { return n <= 0 ? 1 : n + deep(n - 2); }
      template <int I> __global__ void tree(int* out) {
        __shared__ int part[128];
        int t = threadIdx.x;
        part[t] = t * I + table[t % 4] + given[I % 3] + set[I % 2];
        __syncthreads();
        for (int half = 64; half > 0; half /= 2) {
          if (t < half) part[t] += part[t + half];
          __syncthreads();
        }
        if (t == 0) {
          counter += I;
          hidden += 10 * I;
          also_inline += 100 * I;
          of_template<4> += I;
          with_static<2>::own += I;
          managed += I;
          if (I % 5 == 0) printf("tree %d\\n", I);
          out[I] = part[0] + deep(I);
        }
      }
      __global__ void last(int* out) {
        out[0] = counter + hidden + also_inline + of_template<4> + with_static<2>::own + managed;
      }
      template <int I> void all(int* out) {
        tree<I><<<1, 128>>>(out);
        if constexpr (I > 1) all<I - 1>(out);
      }
      int main() {
        int *out, sum = 0, here[13], two[2] = {50, 60};
        cudaMalloc(&out, sizeof here);
        cudaMemcpyToSymbol(set, two, sizeof two);
        all<12>(out);
        last<<<1, 1>>>(out);
        cudaMemcpy(here, out, sizeof here, cudaMemcpyDefault);
        for (int i = 1; i < 13; ++i) sum += here[i] * i;
        std::printf("%d %d %d\\n", here[0], sum, managed);
      }"""

    def test_a_file_of_many_kernels_is_divided_and_is_one_program(self):
        self.write("a.cu", self.MANY_KERNELS)
        self.nvcc("-keep", "-c", "a.cu")
        self.assertTrue(os.path.exists(os.path.join(self.folder, "a.dev2.o")))
        self.nvcc("a.o", "-o", "a")
        sums = 0
        for i in range(1, 13):
            depth = 1 + sum(range(i, 0, -2))
            sums += i * (sum(t * i + (10, 20, 30, 40)[t % 4] for t in range(128))
                         + 128 * ((1, 2, 3)[i % 3] + (50, 60)[i % 2]) + depth)
        steps = 12 * 13 // 2
        shared = (5 + steps) + 10 * steps + (7 + 100 * steps) + (4 + steps) + (2 + steps) + (3 + steps)
        self.assertEqual(self.output("a"), f"tree 10\ntree 5\n{shared} {sums} {3 + steps}\n")

    def test_a_divided_file_gives_the_same_object_every_time(self):
        self.write("a.cu", self.MANY_KERNELS)
        objects = []
        for _ in range(2):
            self.nvcc("-c", "a.cu", "-o", "a.o")
            with open(os.path.join(self.folder, "a.o"), "rb") as file:
                objects.append(file.read())
        self.assertEqual(objects[0], objects[1])
        self.assert_temporaries_are_gone()

    def test_warnings_of_a_divided_file_come_once(self):
        self.write("a.cu", self.MANY_KERNELS + "\n__global__ void w(int* p) { p[0] == 1; }\n")
        for _ in range(6):  # two processes that end at the same time mixed their last words now and then
            done = self.nvcc("-c", "a.cu")
            self.assertEqual(done.stderr.count("warning:"), 1, done.stderr)
            self.assertLessEqual(done.stderr.count("generated"), 1, done.stderr)

    def test_a_second_process_that_fails_fails_the_compilation(self):
        self.write("a.cu", self.MANY_KERNELS)
        lines = self.nvcc("-dryrun", "-c", "a.cu").stderr.splitlines()
        line = shlex.split(next(line for line in lines if "-fpass-plugin" in line)[3:])
        line[line.index("-o") + 1] = "-"
        for second, is_there in ((self.folder / "b.o", True), ("/dev/full", False)):
            with open(self.folder / "a.o", "wb") as first:
                done = subprocess.run(line, cwd=self.folder, stdout=first, stderr=subprocess.DEVNULL,
                                      env={**self.environment, "SB_SECOND_PART": str(second)})
            self.assertEqual(done.returncode == 0, is_there)
        self.assertGreater((self.folder / "b.o").stat().st_size, 0)

    def test_functions_that_kernels_hand_to_each_other_are_the_same(self):
        text = self.MANY_KERNELS.replace("__global__ void last(int* out) {", """
      __device__ int twice(int v) { return 2 * v; }
      __device__ int (*kept)(int);
      __global__ void keep() { kept = twice; }
      __global__ void last(int* out) {
        if (kept != twice || kept(4) != 8) return;""").replace("last<<<", "keep<<<1, 1>>>(); last<<<")
        self.write("a.cu", self.MANY_KERNELS)
        self.nvcc("a.cu", "-o", "a")
        self.write("b.cu", text)
        self.nvcc("b.cu", "-o", "b")
        self.assertEqual(self.output("a"), self.output("b"))

    def test_an_object_has_its_image_whatever_the_host_compiler_is_told(self):
        self.write("a.cu", DOUBLING)
        for options in (["-g"], ["-Xcompiler", "-fsanitize=address"], ["-Xcompiler", "-ffunction-sections"],
                        ["-Xcompiler", "--coverage"], ["-Xcompiler", "-gsplit-dwarf", "-g"]):
            self.nvcc(*options, "-c", "a.cu", "-o", "b.o")
            self.nvcc(*options, "b.o", "-o", "b")
            self.assertEqual(self.output("b", ASAN_OPTIONS="detect_leaks=0"), "ok\n", options)
        self.assertTrue((self.folder / "b.gcno").exists())
        self.assertTrue((self.folder / "b.dwo").exists())
        self.assert_temporaries_are_gone()

    # LLVM 19 by itself has 3, 6 and 168 of them wrong.
    def test_host_code_reads_places_that_go_round(self):
        self.write("a.cu", """
          #include <cstdio>
          int from[128], to[128];
          template <int Step> __attribute__((noinline)) void gather(int n) {
            for (int t = 0; t < n; ++t) to[t] = from[t * Step % 128];
          }
          __attribute__((noinline)) int inverse(int t) {
            for (int q = 0; q < 256; ++q)
              if ((q * 3 & 255) == t) return q;
            return -1;
          }
          template <int Step> int wrong() {
            gather<Step>(128);
            int n = 0;
            for (volatile int t = 0; t < 128; t = t + 1) n += to[t] != Step * t % 128;
            return n;
          }
          int main() {
            for (volatile int t = 0; t < 128; t = t + 1) from[t] = t;
            int n = 0;
            for (volatile int t = 0; t < 256; t = t + 1) n += inverse(t) < 0;
            std::printf("%d %d %d\\n", wrong<3>(), wrong<5>(), n);
          }""")
        for level in ("-O2", "-O3"):
            self.nvcc(level, "a.cu", "-o", "a")
            self.assertEqual(self.output("a"), "0 0 0\n", level)

    def test_a_failed_compilation_leaves_no_object(self):
        for error in ("__global__ void k() { undeclared(); }\n", "void f() { undeclared(); }\n"):
            self.write("a.cu", DOUBLING)
            self.nvcc("-c", "a.cu")
            self.write("a.cu", error + DOUBLING)
            self.refused("-c", "a.cu")
            self.assertFalse((self.folder / "a.o").exists(), error)
        self.assert_temporaries_are_gone()

    def test_any_suffix_with_x_cu(self):
        self.write("a.cpp", DOUBLING)
        self.nvcc("-x", "cu", "a.cpp", "-o", "a")
        self.assertEqual(self.output("a"), "ok\n")

    def test_run_gives_arguments_and_passes_the_status_on(self):
        self.write("a.cu", "#include <cstdio>\nint main(int n, char** v) "
                           "{ for (int i = 1; i < n; ++i) std::puts(v[i]); return n; }")
        done = self.nvcc("-run", "-run-args", "one,two", "a.cu", status=3)
        self.assertEqual(done.stdout, "one\ntwo\n")

    def test_dryrun_runs_nothing(self):
        self.write("a.cu", DOUBLING)
        done = self.nvcc("-dryrun", "a.cu", "-o", "a")
        self.assertFalse((self.folder / "a").exists())
        self.assertIn("-fcuda-is-device", done.stderr)
        self.assertTrue(all(line.startswith("#$ ") for line in done.stderr.splitlines()))

    def test_keep_leaves_the_intermediate_files(self):
        self.write("a.cu", DOUBLING)
        self.nvcc("--keep", "--keep-dir", "kept", "a.cu", "-c")
        self.assertIn("a.dev.so", os.listdir(self.folder / "kept"))

    def test_clean_removes_what_the_command_made(self):
        self.write("a.cu", DOUBLING)
        self.nvcc("-c", "a.cu")
        self.nvcc("-clean", "-c", "a.cu")
        self.assertFalse((self.folder / "a.o").exists())

    def test_preprocess_shows_device_code(self):
        self.write("a.cu", "#ifdef __CUDA_ARCH__\nint in_device_code;\n#endif\n")
        self.assertIn("in_device_code", self.nvcc("-E", "a.cu").stdout)

    def test_the_earliest_phase_of_several_counts(self):
        self.write("a.cu", "#ifdef __CUDA_ARCH__\nint in_device_code;\n#endif\n")
        for words in (["-E", "-c"], ["-c", "-E"], ["-E", "-lib"]):
            self.assertIn("in_device_code", self.nvcc(*words, "a.cu").stdout)
        self.assertTrue(self.nvcc("-c", "-E", "-M", "a.cu").stdout.startswith("a.o:"))
        self.assertFalse((self.folder / "a.o").exists())

    def test_a_source_from_standard_input(self):
        for words in (["-o", "a"], ["-o", "a", "-rdc=true"]):
            done = subprocess.run(["nvcc", "-x", "cu", "-", *words], cwd=self.folder, text=True,
                                  env=self.environment, input=DOUBLING, capture_output=True,
                                  timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.output("a"), "ok\n")
        self.assert_temporaries_are_gone()
        self.assertIn("Don't know what to do with '-'", self.refused("-c", "-"))

    def test_an_object_directory(self):
        self.write("a.cu", DOUBLING)
        (self.folder / "objects").mkdir()
        self.nvcc("-c", "-odir", "objects", "a.cu")
        self.assertTrue((self.folder / "objects/a.o").exists())


class Dependencies(NvccTest):
    def setUp(self):
        super().setUp()
        self.write("a.cu", '#include "b.h"\n__global__ void k() { int x = B; (void)x; }\n')
        self.write("b.h", "#define B 1\n")

    def test_M_prints_a_rule_with_system_headers(self):
        text = self.nvcc("-M", "a.cu").stdout
        self.assertTrue(text.startswith("a.o:"), text)
        self.assertIn("b.h", text)
        self.assertIn("cuda_runtime.h", text)

    def test_MM_leaves_system_headers_out(self):
        words = self.nvcc("-MM", "a.cu").stdout.replace("\\\n", " ").split()
        self.assertEqual(words, ["a.o:", "a.cu", "b.h"])

    def test_MD_compiles_too_and_names_the_file_after_the_output(self):
        self.nvcc("-MD", "-c", "a.cu", "-o", "x.o")
        self.assertTrue((self.folder / "x.o").exists())
        text = (self.folder / "x.d").read_text()
        self.assertIn("x.o:", text)
        self.assertIn("b.h", text)
        self.assertIn(str(TOOLKIT / "include/cuda_runtime.h"), text)

    def test_MMD_MF_MT_MP(self):
        self.nvcc("-MMD", "-MF", "rule.d", "-MT", "target", "-MP", "-c", "a.cu")
        self.assertEqual((self.folder / "rule.d").read_text().replace("\\\n", "").split(),
                         ["target:", "a.cu", "b.h", "b.h:"])

    def test_a_rewritten_source_appears_under_its_own_name(self):
        self.write("a.cu", '#include "b.h"\n__global__ void k() {}\nvoid f() { k << <1, B>> >(); }')
        self.nvcc("-MMD", "-c", "a.cu")
        self.assertEqual((self.folder / "a.d").read_text().replace("\\\n", "").split(),
                         ["a.o:", "a.cu", "b.h"])


class HostOptions(NvccTest):
    def test_defines_includes_and_the_options_that_take_them_apart_or_joined(self):
        self.write("i/one.h", "#define ONE 1\n")
        self.write("s/two.h", "#define TWO 2\n")
        self.write("first.h", "#define FIRST 4\n")
        self.write("a.cu", device_value("result = ONE + TWO + FIRST + MACRO_A + MACRO_B + MACRO_C;",
                                        "#include <one.h>\n#include <two.h>\n"
                                        "#ifdef __USER__\n#error\n#endif\n"))
        self.nvcc("-I", "i", "-isystem=s", "-include", "first.h", "-DMACRO_A=8", "-D", "MACRO_B=16,MACRO_C=32",
                  "-D__USER__", "-U__USER__", "a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "63\n")

    def test_options_from_a_file_and_from_the_environment(self):
        self.write("a.cu", device_value("result = MACRO_A + MACRO_B + MACRO_C;"))
        self.write("options", "-DMACRO_A=1 -o 'the program'\n")
        self.nvcc("--options-file", "options", "a.cu", NVCC_PREPEND_FLAGS="-DMACRO_B=2",
                  NVCC_APPEND_FLAGS="-DMACRO_C=4")
        self.assertEqual(self.output("the program"), "7\n")

    def test_Xcompiler_takes_lists_and_blanks(self):
        self.write("a.cu", "#if !defined(MACRO_A) || !defined(MACRO_B) || !defined(MACRO_C)\n#error\n#endif\n"
                           "int main() {}")
        self.nvcc("-Xcompiler", "-DMACRO_A,-DMACRO_B", "--compiler-options=-DMACRO_C -O1", "a.cu")

    def test_Xcompiler_keeps_escaped_commas(self):
        self.write("a.cu", "int main() {}")
        self.nvcc("-Xcompiler", "-Wl\\,-rpath\\,/somewhere", "a.cu", "-o", "a")
        self.assertIn("/somewhere", self.command("readelf", "-d", "a").stdout)

    def test_unknown_options_can_be_forwarded(self):
        self.write("a.cu", "#ifndef _REENTRANT\n#error\n#endif\nint main() {}")
        self.nvcc("-forward-unknown-to-host-compiler", "-pthread", "a.cu")

    def test_every_level_of_optimisation(self):
        self.write("a.cu", DOUBLING)
        for flags in (["-O0"], ["-O", "1"], ["-O2"], ["-O3"], ["-O4"], ["-g"], ["-G", "-g"],
                      ["-lineinfo"]):
            with self.subTest(flags):
                self.nvcc(*flags, "a.cu", "-o", "a")
                self.assertEqual(self.output("a"), "ok\n")

    def test_device_code_knows_its_lines_where_they_are_asked_for(self):
        self.write("a.cu", DOUBLING)

        def tables(*flags):
            self.nvcc(*flags, "a.cu", "-o", "a")
            return (self.folder / "a").read_bytes().count(b".debug_line\0")
        self.assertEqual(tables("-lineinfo"), tables() + 1)
        self.assertEqual(tables("-G"), tables() + 1)

    def test_standards(self):
        self.write("a.cu", device_value("result = __cplusplus;"))
        for flags, value in ((["-std=c++11"], 201103), (["-std", "c++14"], 201402), ([], 201703),
                             (["--std=c++17"], 201703), (["-std=c++20"], 202002)):
            with self.subTest(flags):
                self.nvcc(*flags, "a.cu", "-o", "a")
                self.assertEqual(self.output("a"), f"{value}\n")

    def test_every_standard_with_the_parsed_header_and_the_standard_library_behind_it(self):
        newest = ["concepts", "numbers", "ranges", "span"]
        self.write("a.cu", "".join(f"#include <{name}>\n" for name in (
            "algorithm", "array", "atomic", "chrono", "cmath", "cstdio", "functional", "iostream",
            "map", "memory", "mutex", "random", "string", "thread", "tuple", "unordered_map",
            "vector")) + "#if __cplusplus >= 202002L\n" + "".join(
                f"#include <{name}>\n" for name in newest) + """#endif
          __global__ void standard(long* p) { *p = __cplusplus; }
          int main() {
            std::vector<std::string> words(1, "device");
            long *p, value = 0;
            cudaMalloc(&p, sizeof value);
            std::thread([&] { standard<<<1, 1>>>(p); }).join();
            cudaMemcpy(&value, p, sizeof value, cudaMemcpyDefault);
            std::cout << words[0] << ' ' << value << std::endl;
          }""")
        cache = self.environment["STREAMBED_CACHE_DIR"]
        cache = self.folder / "cache" if cache == "off" else cache
        for standard, value in (("c++03", 201103), ("c++11", 201103), ("c++14", 201402),
                                ("c++17", 201703), ("c++20", 202002)):
            with self.subTest(standard):
                done = self.nvcc(f"-std={standard}", "-o", "a", "a.cu", STREAMBED_CACHE_DIR=cache)
                self.assertEqual(done.stderr, "")
                self.assertEqual(self.output("a"), f"device {value}\n")

    def test_the_hosts_compiler_may_be_told_to_compute_quickly(self):
        self.write("a.cu", DOUBLING)
        for option in ("-ffast-math", "-funsafe-math-optimizations", "-freciprocal-math"):
            self.nvcc("-Xcompiler", option, "-o", "a", "a.cu")

    def test_ccbin_compiles_plain_sources(self):
        self.write("a.cpp", "#ifdef __clang__\n#error\n#endif\nint main() {}\n")
        self.nvcc("-ccbin", "g++", "a.cpp", "-o", "a")
        self.nvcc("-ccbin", "/usr/bin", "a.cpp", "-o", "a")
        self.assertIn("'nowhere'", self.refused("-ccbin", "nowhere", "a.cpp"))

    def test_the_runtime_is_shared_static_or_left_out(self):
        self.write("a.cu", DOUBLING)
        for kind, needed in (([], True), (["-cudart", "shared"], True), (["-cudart=static"], False)):
            with self.subTest(kind):
                self.nvcc(*kind, "a.cu", "-o", "a")
                self.assertEqual(self.output("a"), "ok\n")
                dynamic = self.command("readelf", "-d", "a").stdout
                self.assertEqual("libcudart.so" in dynamic, needed)
        self.assertIn("cudaMalloc", self.refused("-cudart", "none", "a.cu", "-o", "a"))

    def test_every_option_that_has_no_effect_is_accepted(self):
        self.write("a.cu", DOUBLING)
        self.nvcc("-m64", "-Xptxas", "-v,-O3", "-Xptxas=-dlcm=ca", "-Xcudafe",
                  "--diag_suppress=177", "-Xnvlink", "-v", "-maxrregcount", "32", "-ftz=true",
                  "-Wno-deprecated-gpu-targets", "-allow-unsupported-compiler", "-res-usage",
                  "--diag-suppress", "20012", "-src-in-ptx", "-extra-device-vectorization",
                  "-lineinfo", "-cudadevrt", "none", "-split-compile=0", "-dlto", "a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "ok\n")


class Interruption(NvccTest):
    def test_a_signal_ends_the_compilers_and_removes_temporary_files(self):
        # The compiler blocks on a header that never comes; opening the other end says it has begun.
        os.mkfifo(self.folder / "never.h")
        self.write("a.cu", '#include "never.h"\n')
        nvcc = subprocess.Popen(["nvcc", "-c", "a.cu"], cwd=self.folder, env=self.environment)
        with open(self.folder / "never.h", "w"):
            nvcc.send_signal(signal.SIGTERM)
            self.assertEqual(nvcc.wait(timeout=60), -signal.SIGTERM)
        self.assert_temporaries_are_gone()
        self.assertFalse((self.folder / "a.o").exists())


class Relocation(NvccTest):
    def test_a_moved_toolkit_works(self):
        moved = self.folder / "else where"
        shutil.copytree(TOOLKIT, moved, symlinks=True)
        self.write("a.cu", DOUBLING)
        self.command(moved / "bin/nvcc", "a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "ok\n")
        self.assertIn(str(moved), self.command("readelf", "-d", "a").stdout)

    def test_a_link_to_nvcc_finds_the_toolkit(self):
        os.symlink(TOOLKIT / "bin/nvcc", self.folder / "my-nvcc")
        self.write("a.cu", DOUBLING)
        self.command(self.folder / "my-nvcc", "a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "ok\n")


class OtherTargets(NvccTest):
    def test_a_cu_compiles_for_the_other_architecture(self):
        other = "x86_64" if os.uname().machine == "aarch64" else "aarch64"
        if not shutil.which(f"{other}-linux-gnu-gcc"):
            self.skipTest(f"no cross compiler for {other}")
        self.write("a.cu", DOUBLING)
        self.nvcc("-c", "a.cu", STREAMBED_TARGET=f"{other}-linux-gnu")
        machine = {"x86_64": "X86-64", "aarch64": "AArch64"}[other]
        self.assertIn(machine, self.command("readelf", "-h", "a.o").stdout)


if __name__ == "__main__":
    unittest.main()
