"""What nvcc defines, what it changes in the source for clang, and how it speaks about errors."""

import re
import unittest

from toolkit import DOUBLING, NvccTest, device_value


class Macros(NvccTest):
    def test_the_version_macros(self):
        self.write("a.cu", """
          #if !defined(__NVCC__) || !defined(__CUDACC__)
          #error not a CUDA compilation
          #endif
          #if __CUDACC_VER_MAJOR__ != 13 || __CUDACC_VER_MINOR__ != 0 || __CUDACC_VER_BUILD__ != 88
          #error version
          #endif
          #if CUDART_VERSION != 13000
          #error runtime
          #endif
          #if defined(__CUDACC_RDC__) || defined(__CUDACC_EXTENDED_LAMBDA__) || \\
              defined(__CUDACC_RELAXED_CONSTEXPR__)
          #error modes
          #endif
          int main() {}""")
        self.nvcc("a.cu")

    def test_plain_sources_see_nvcc_but_not_cuda(self):
        self.write("a.cpp", "#if !defined(__NVCC__) || defined(__CUDACC__)\n#error\n#endif\n"
                            "int main() {}")
        self.nvcc("a.cpp")

    def test_the_architecture_is_a_macro_of_device_code_only(self):
        self.write("a.cu", device_value("""
          #ifdef __CUDA_ARCH__
            result = __CUDA_ARCH__;
          #endif
          """.replace("          #", "\n#")))
        for flags, value in (
                ([], 750), (["-arch=sm_90"], 900), (["-arch", "compute_80"], 800),
                (["--gpu-architecture=sm_90a"], 900), (["-arch=native"], 900),
                (["-arch=all-major"], 900), (["-arch=sm_120"], 1200),
                (["-gencode", "arch=compute_80,code=sm_80"], 800),
                (["-gencode=arch=compute_75,code=sm_75", "-gencode",
                  "arch=compute_86,code=[sm_86,compute_86]"], 860)):
            with self.subTest(flags):
                self.nvcc(*flags, "a.cu", "-o", "a")
                self.assertEqual(self.output("a"), f"{value}\n")

    def test_the_host_does_not_see_the_architecture(self):
        self.write("a.cu", """
          __host__ __device__ int where() {
          #ifdef __CUDA_ARCH__
            return 1;
          #else
            return 0;
          #endif
          }
          int main() { return where(); }""")
        self.nvcc("a.cu", "-o", "a")
        self.output("a")

    def test_the_list_of_architectures(self):
        self.write("a.cu", "#include <cstdio>\n#define S(...) #__VA_ARGS__\n#define T(x) S(x)\n"
                           "int main() { std::puts(T((__CUDA_ARCH_LIST__))); }")
        self.nvcc("-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_80,code=sm_80",
                  "a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "(800,900)\n")

    def test_modes_define_their_macros(self):
        self.write("a.cu", "#if !defined(__CUDACC_EXTENDED_LAMBDA__) || "
                           "!defined(__CUDACC_RELAXED_CONSTEXPR__) || !defined(__CUDACC_RDC__)\n"
                           "#error\n#endif\nint main() {}")
        self.nvcc("--extended-lambda", "--expt-relaxed-constexpr", "-rdc=true", "a.cu")

    def test_default_stream_per_thread(self):
        source = """
          #include <cstdio>
          __global__ void k() {}
          int main() {
            cudaStreamCaptureStatus status;
            cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal);
            k<<<1, 1>>>();
            cudaStreamIsCapturing(cudaStreamPerThread, &status);
            cudaGraph_t graph = nullptr;
            cudaStreamEndCapture(cudaStreamPerThread, &graph);
            size_t nodes = 0;
            if (graph) cudaGraphGetNodes(graph, nullptr, &nodes);
            std::printf("%zu\\n", nodes);
          }"""
        self.write("a.cu", source)
        for flags, nodes in ((["--default-stream", "per-thread"], 1),
                             (["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"], 1),
                             (["--default-stream=legacy"], 0), ([], 0)):
            with self.subTest(flags):
                self.nvcc(*flags, "a.cu", "-o", "a")
                self.assertEqual(self.output("a"), f"{nodes}\n")


class Arithmetic(NvccTest):
    # 1/3 * 3 - 1 is 0 when rounded in between, not when fused.
    FUSED = device_value("""
      volatile double third = 1.0 / 3; double a = third, r = a * 3.0 - 1.0;
      result = r == 0 ? 0 : 1;""")

    def test_device_code_contracts_unless_told_not_to(self):
        self.write("a.cu", self.FUSED)
        for flags, fused in (([], 1), (["-fmad=true"], 1), (["--fmad=false"], 0), (["-G"], 0)):
            with self.subTest(flags):
                self.nvcc(*flags, "a.cu", "-o", "a")
                self.assertEqual(self.output("a"), f"{fused}\n")

    def test_host_code_does_not_contract(self):
        self.write("a.cu", "int main() { volatile double third = 1.0 / 3; double a = third;"
                           " return a * 3.0 - 1.0 != 0; }")
        self.nvcc("-O3", "a.cu", "-o", "a")
        self.output("a")

    def test_fast_math_keeps_infinities(self):
        self.write("a.cu", device_value(
            "volatile float z = 0.0f; float r = 1.0f / z; result = isinf(r) + 2 * isnan(z / z);"))
        self.nvcc("--use_fast_math", "a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "3\n")


class Rewriting(NvccTest):
    def test_launches_that_clang_does_not_parse(self):
        self.write("kernels.cuh", """
          __global__ void count(int* p) { atomicAdd(p, 1); }
          inline void from_header(int* p) { count<<<{2, 1, 1}, {4}>>>(p); }""")
        self.write("a.cu", """
          #include <cstdio>
          #include "kernels.cuh"
          // count << <1, 1>> >(p) in a comment stays, like "<<<{1}, 2>>>" in a string
          template <class T> __global__ void also(T* p) { atomicAdd(p, 1); }
          int main() {
            int *p, v = 0, x = 3;
            cudaStream_t s;
            cudaStreamCreate(&s);
            cudaMalloc(&p, 4);
            cudaMemset(p, 0, 4);
            count << <1, 1>> >(p);
            count<<<{unsigned(x), 2, 1}, {2, 2}, 0, s>>>(p);
            also<int><<<{2}, dim3{3, 1}>>>(p);
            from_header(p);
            cudaDeviceSynchronize();
            cudaMemcpy(&v, p, 4, cudaMemcpyDefault);
            std::puts("<<<{1}, 2>>>");
            std::printf("%d\\n", v);
          }""")
        self.nvcc("a.cu", "-o", "a")
        self.assertEqual(self.output("a"), f"<<<{{1}}, 2>>>\n{1 + 24 + 6 + 8}\n")

    def test_an_alignment_behind_the_memory_space(self):
        self.write("a.cu", """#include <cstdio>
__device__ alignas(64) char far[3];
__global__ void addresses() {
  __shared__ char one;
  __shared__ alignas(128) char tile[1024];
  one = tile[threadIdx.x] = 0;
  printf("%d %d %d\\n", int((size_t)tile % 128), int((size_t)far % 64), one);
}
int main() {
  addresses<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
""")
        self.nvcc("a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "0 0 0\n")

    def test_inline_ptx_keeps_its_constraints_apart_from_the_hosts(self):
        self.write("a.cu", device_value("""
          unsigned lane; unsigned long long time; float f; double d;
          asm("mov.u32 %0, %laneid;" : "=r"(lane));
          asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
          asm("add.f32 %0, %1, %2;" : "=f"(f) : "f"(1.5f), "f"(2.0f));
          asm("mul.f64 %0, %1, %2;" : "=d"(d) : "d"(1.5), "d"(4.0));
          result = lane == 0 && time != 0 && f == 3.5f && d == 6.0;"""))
        self.nvcc("a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "1\n")

    def test_errors_after_a_rewrite_are_at_the_users_line_and_file(self):
        self.write("a.cu", "__global__ void k() {}\nvoid f() {\n  k<<<{1, 1}, 1>>>();\n"
                           "  int x = nothing;\n}\n")
        self.assertIn("a.cu:4:11: error: use of undeclared identifier 'nothing'",
                      self.refused("-c", "a.cu"))

    def test_unknown_ptx_is_refused_by_name(self):
        self.write("a.cu", device_value('asm("frobnicate.u32 %0, 1;" : "=l"(result));'))
        self.assertIn("frobnicate", self.refused("a.cu"))


class Diagnostics(NvccTest):
    def test_an_error_is_said_once_and_names_the_line(self):
        self.write("a.cu", "int main() {\n  return nothing;\n}\n")
        said = self.refused("a.cu", "-o", "a")
        self.assertEqual(said.count("a.cu:2:10: error: use of undeclared identifier 'nothing'"), 1)
        self.assertEqual(said.count("error"), 1, said)
        self.assertFalse((self.folder / "a").exists())
        self.assert_temporaries_are_gone()

    def test_an_error_in_device_code_only(self):
        self.write("a.cu", "#ifdef __CUDA_ARCH__\n#error device only\n#endif\nint main() {}")
        self.assertEqual(self.refused("a.cu").count("device only"), 2)  # the message and the source

    def test_an_error_in_host_code_only(self):
        self.write("a.cu", "#ifndef __CUDA_ARCH__\n#error host only\n#endif\nint main() {}")
        self.assertIn("a.cu:2:2: error: host only", self.refused("a.cu"))

    def test_a_warning_is_said_once(self):
        self.write("a.cu", "int main() {\n  int x = 1;\n  if (x = 0) return 1;\n}\n")
        said = self.nvcc("a.cu").stderr
        self.assertEqual(said.count("warning:"), 1, said)

    def test_w_silences_and_Werror_stops(self):
        self.write("a.cu", "int main() {\n  int x = 1;\n  if (x = 0) return 1;\n}\n")
        self.assertEqual(self.nvcc("-w", "a.cu").stderr, "")
        self.assertIn("error", self.refused("-Werror", "all-warnings", "a.cu"))

    def test_warnings_asked_for_with_Xcompiler(self):
        self.write("a.cu", "static int unused() { return 1; }\nint main() {}")
        self.assertEqual(self.nvcc("a.cu").stderr, "")
        said = self.nvcc("-Xcompiler", "-Wall", "a.cu").stderr
        self.assertEqual(said.count("-Wunused-function"), 1, said)

    def test_our_headers_are_silent(self):
        self.write("a.cu", DOUBLING + "#include <cooperative_groups.h>\n")
        self.assertEqual(self.nvcc("-Xcompiler", "-Wall,-Wextra", "a.cu").stderr, "")

    def test_an_undefined_device_function_is_named(self):
        self.write("a.cu", "__device__ int absent(int);\n"
                           "__global__ void k(int* p) { *p = absent(1); }\nint main() {}")
        self.assertRegex(self.refused("a.cu"), r"absent\(int\)")

    def test_dynamic_parallelism_is_refused(self):
        self.write("a.cu", "__global__ void inner() {}\n"
                           "__global__ void outer() { inner<<<1, 1>>>(); }\nint main() {}")
        said = self.refused("-rdc=true", "a.cu")
        self.assertIn("a.cu:2:", said)
        self.assertIn("dynamic parallelism", said)

    def test_what_is_not_there_is_said_in_plain_words(self):
        for text, words in (
                ("#include <mma.h>", "'mma.h' file not found: tensor-core fragments (nvcuda::wmma) are not supported"),
                ("texture<float, 1> t;", "no template named 'texture': texture references are gone since CUDA 12"),
                ("#include <cooperative_groups.h>\n"
                 "__global__ void k() { cooperative_groups::this_cluster().sync(); }",
                 "'this_cluster' in namespace 'cooperative_groups': thread-block clusters are not supported"),
                ("#include <cooperative_groups.h>\n"
                 "__global__ void k() { cooperative_groups::cluster_group* c = nullptr; }",
                 "'cluster_group' in namespace 'cooperative_groups': thread-block clusters are not supported"),
                ("__global__ void k() { __cluster_barrier_arrive(); }",
                 "'__cluster_barrier_arrive': thread-block clusters are not supported"),
                ('__global__ void k(int* p) { asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(*p)); }',
                 "inline PTX register '%cluster_ctarank' is not supported: thread-block clusters are not supported"),
                ('__global__ void k() { asm volatile("barrier.cluster.arrive.aligned;"); }',
                 "'barrier.cluster.arrive.aligned' is not supported: thread-block clusters are not supported"),
                ("#include <curand_kernel.h>", "'curand_kernel.h' file not found: cuRAND is not included"),
                ("#include <curand.h>", "'curand.h' file not found: cuRAND is not included"),
                ("#include <cub/cub.cuh>", "'cub/cub.cuh' file not found: the libraries CUB and Thrust are not included"),
                ("#include <thrust/device_vector.h>",
                 "'thrust/device_vector.h' file not found: the libraries CUB and Thrust are not included"),
                ("#include <cuda/latch>", "'cuda/latch' file not found: not included; cuda/barrier"),
                ("#include <cuda/ptx>", "'cuda/ptx' file not found: the functions of cuda::ptx are not included"),
                ("#include <cuda.h>\n__global__ void k(const __grid_constant__ CUtensorMap map) {}",
                 "'CUtensorMap': copies of tensors by the device's own engine (TMA)")):
            with self.subTest(text):
                self.write("a.cu", text + "\nint main() {}\n")
                self.assertIn(words, self.refused("a.cu"))

    def test_code_is_chosen_by_where_it_runs(self):
        self.write("a.cu", r'''
            #include <nv/target>
            #include <cstdio>
            __host__ __device__ int where() {
              NV_IF_TARGET(NV_IS_DEVICE, (int one = 0, x = 1; return one + x;), (return 2;))
            }
            __host__ __device__ int which() {
              int found = 0;
              NV_DISPATCH_TARGET(NV_PROVIDES_SM_90, (found = 90;), NV_IS_EXACTLY_SM_80, (found = 8;),
                                 NV_PROVIDES_SM_80, (found = 80;), NV_IS_DEVICE, (found = 1;),
                                 NV_ANY_TARGET, (NV_IF_TARGET(NV_IS_HOST, (found = 7;))))
              NV_IF_ELSE_TARGET(NV_NO_TARGET, (found = -1;), (found += 100;))
              NV_DISPATCH_TARGET(NV_NO_TARGET, (found = -1;))
              return found;
            }
            __global__ void ask(int* to) { to[0] = where(); to[1] = which(); }
            int main() {
              int* to;
              cudaMallocManaged(&to, 8);
              ask<<<1, 1>>>(to);
              cudaDeviceSynchronize();
              std::printf("%d %d %d %d", to[0], to[1], where(), which());
            }''')
        for architecture, found in (("sm_90", 190), ("sm_86", 180), ("sm_80", 108), ("sm_75", 101)):
            with self.subTest(architecture):
                self.nvcc("-arch=" + architecture, "a.cu", "-o", "a")
                self.assertEqual(self.output("a"), f"1 {found} 2 107")

    def test_a_kernel_that_may_begin_early_begins_behind_the_one_before_it(self):
        self.write("a.cu", r'''
            #include <cstdio>
            __managed__ int first, seen;
            __global__ void primary() {
              cudaTriggerProgrammaticLaunchCompletion();
              asm volatile("griddepcontrol.launch_dependents;");
              for (long long end = clock64() + 1000000; clock64() < end;) {}
              first = 5;
            }
            __global__ void secondary() {
              asm volatile("griddepcontrol.wait;" ::: "memory");
              cudaGridDependencySynchronize();
              seen = first;
            }
            int main() {
              cudaStream_t s;
              cudaStreamCreate(&s);
              primary<<<1, 1, 0, s>>>();
              cudaLaunchAttribute early = {};
              early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
              early.val.programmaticStreamSerializationAllowed = 1;
              cudaLaunchConfig_t how = {};
              how.gridDim = how.blockDim = 1;
              how.stream = s;
              how.attrs = &early;
              how.numAttrs = 1;
              const cudaError_t launched = cudaLaunchKernelEx(&how, secondary);
              const cudaError_t ended = cudaDeviceSynchronize();
              std::printf("%d %d %d", launched, ended, seen);
            }''')
        self.nvcc("a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "0 0 5")

    def test_a_kernel_that_does_not_ask_for_its_cluster_may_have_one(self):
        self.write("a.cu", "#include <cstdio>\n__managed__ int sum;\n"
                           "__global__ void __cluster_dims__(2, 1, 1) k() { atomicAdd(&sum, blockIdx.x + 1); }\n"
                           'int main() { k<<<4, 1>>>(); cudaDeviceSynchronize(); std::printf("%d\\n", sum); }\n')
        self.nvcc("a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "10\n")

    # What NVIDIA's nvcc 13.0 says of the same sources.
    def test_too_much_shared_or_constant_memory_is_refused_as_by_ptxas(self):
        shared = ("__global__ void k(float* p) {{ __shared__ float a[{}]; a[threadIdx.x] = *p;"
                  " __syncthreads(); *p = a[5 - threadIdx.x]; }}\nint main() {{}}")
        constant = "__constant__ float c[{}];\n__global__ void k(float* p) {{ *p = c[3]; }}\nint main() {{}}"
        unused = "__global__ void k(float* p) {{ __shared__ float a[{}]; *p = 1; }}\nint main() {{}}"
        entry = "Entry function '_Z1kPf' uses too much shared data (0xc004 bytes, 0xc000 max)\n"
        file = "File uses too much global constant data (0x10004 bytes, 0x10000 max)\n"
        for text, most, said, linked in (
                (shared, 12288, "ptxas error   : " + entry, "nvlink error   : " + entry),
                (constant, 16384, "ptxas error   : " + file, "ptxas error   : " + file)):
            self.write("a.cu", text.format(most))
            self.assertEqual(self.nvcc("a.cu", "-o", "a").stderr, "")
            self.write("a.cu", text.format(most + 1))
            self.assertEqual(self.nvcc("-c", "a.cu", status=255).stderr, said)
            self.assertEqual(self.nvcc("-rdc=true", "a.cu", "-o", "a", status=255).stderr, linked)
        self.write("a.cu", unused.format(20000))
        self.nvcc("a.cu", "-o", "a")

    def test_calls_of_host_functions_in_device_code_are_told_in_nvccs_words(self):
        for code, name, kind in (
                ("__global__ void k() { f(1); }", "f", "__global__"),
                ("__device__ int d() { return f(1); }", "f", "__device__"),
                ("__global__ void k() { cudaDeviceSynchronize(); }", "cudaDeviceSynchronize", "__global__"),
                ("#include <algorithm>\n__global__ void k(int* p) { std::sort(p, p + 4); }",
                 "sort", "__global__"),
                ("struct s { s(int) {} };\n__global__ void k() { s a(1); }", "s", "__global__"),
                ("__host__ __device__ int g() { return f(2); }\n__global__ void k(int* p) { *p = g(); }",
                 "f", "__host__ __device__")):
            with self.subTest(code):
                self.write("a.cu", "int f(int x) { return x; }\n" + code + "\nint main() {}\n")
                said = self.nvcc("a.cu", status=1).stderr
                self.assertRegex(said, r"a\.cu:\d+:\d+: error: " + re.escape(
                    f'calling a __host__ function("{name}") from a {kind} function is not allowed'))
                self.assertNotIn("requires", said)  # other functions of that name
        # Not called in device code.
        self.write("a.cu", "int f(int x) { return x; }\n"
                           "inline __host__ __device__ int g() { return f(2); }\n"
                           "int main() { return g() - 2; }\n")
        self.assertEqual(self.nvcc("a.cu", "-o", "a").stderr, "")
        self.write("a.cu", "int f(int x) { return x; }\n__global__ void k() { f(1); g(2); }\nint main() {}")
        self.nvcc("a.cu", status=2)

    def test_the_exit_status_tells_a_wrong_program_from_one_that_cannot_be_read(self):
        for text, status in (("int main() { return x }", 2),
                             ("__global__ void k() { int x = y; }\nint main() {}", 2),
                             ("#include <vector>\nint main() { std::vector<void> v; }", 2),
                             ("#error no\nint main() {}", 1),
                             ('#include "absent.h"\nint main() {}', 1),
                             ("int f();\nint main() { return f(); }", 1)):
            with self.subTest(text):
                self.write("a.cu", text)
                self.nvcc("a.cu", "-o", "a", status=status)
        self.write("a.cpp", "int main() { return x; }")
        self.nvcc("a.cpp", "-o", "a", status=1)

    def test_a_loop_that_only_waits_is_no_warning(self):
        self.write("a.cu", """
          __device__ int lock;
          __global__ void k() { while (atomicCAS(&lock, 0, 1) != 0); atomicExch(&lock, 0); }
          int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }""")
        self.assertEqual(self.nvcc("a.cu", "-o", "a").stderr, "")


class CommandLine(NvccTest):
    def test_an_unknown_option_is_named_in_nvccs_words(self):
        self.write("a.cu", DOUBLING)
        for flag in ("-foo", "--gencode=arch=compute_90,code=sm_90", "-Wall", "-fPIC", "-m32",
                     "-static"):
            self.assertEqual(self.refused(flag, "a.cu"), f"nvcc fatal   : Unknown option '{flag}'\n")

    def test_wrong_values_are_named_in_nvccs_words(self):
        self.write("a.cu", DOUBLING)
        for words, message in (
                (["-arch=sm_70"], "Unsupported gpu architecture 'sm_70'"),
                (["-std=c++23"], "Value 'c++23' is not defined for option 'std'"),
                (["-x", "cuda"], "Value 'cuda' is not defined for option 'x'"),
                (["-cudart=foo"], "Value 'foo' is not defined for option 'cudart'"),
                (["-rdc=yes"], "'yes': expected true or false"),
                (["-Ofast"], "'fast': expected a number"),
                (["-c=x"], "no argument expected after '-c'"),
                (["-gencode", "foo"], "'foo' is not in 'keyword=value' format"),
                (["-gencode", "arch=compute_90"],
                 "Option '--generate-code arch=compute_90', missing code"),
                (["-gencode", "code=sm_90"],
                 "Option '--generate-code code=sm_90', missing architecture"),
                (["-gencode", "arch=compute_90,code=sm_80"],
                 "Incompatible code generation requested: arch='compute_90', code='sm_80'"),
                (["-gencode", "arch=compute_80,code=compute_90"],
                 "Incompatible code generation requested: arch='compute_80', code='compute_90'"),
                (["-arch=compute_90a", "-code=sm_90"],
                 "Incompatible code generation requested: arch='compute_90a', code='sm_90'"),
                (["-arch=sm_90", "-code=sm_80"],
                 "Value of -arch option ('sm_90') must be a virtual code architecture"),
                (["-arch=sm_90", "-code=sm_90"],
                 "Value of -arch option ('sm_90') must be a virtual code architecture"),
                (["-arch=all", "-code=sm_90"], "Cannot use '-arch=all' with '--gpu-code (-code)'"),
                (["-code=sm_90"], "-arch option not specified"),
                (["-Werror", "foo"], "Value 'foo' is not defined for option 'Werror'")):
            self.assertEqual(self.refused(*words, "a.cu"), f"nvcc fatal   : {message}\n")
        self.assertEqual(self.refused("a.cu", "-o"), "nvcc fatal   : argument expected after '-o'\n")

    def test_code_for_the_architecture_and_newer_ones_is_accepted(self):
        self.write("a.cu", "int main() {}")
        for words in (["-arch=compute_80", "-code=sm_90,compute_80"], ["-arch=compute_90"],
                      ["-arch=compute_90", "-code=sm_90a"], ["-arch=sm_90a"],
                      ["-gencode", "arch=compute_80,code=[sm_80,compute_80]", "-gencode",
                       "arch=compute_90a,code=sm_90a"]):
            self.nvcc(*words, "-dryrun", "a.cu")

    def test_wrong_inputs_are_named(self):
        self.assertIn("No input files specified", self.refused())
        self.assertIn("Don't know what to do with 'a.foo'", self.refused("a.foo"))
        self.assertIn("'absent.cu'", self.refused("absent.cu"))
        self.assertIn("module.ptx", self.refused("module.ptx"))
        self.write("a.cu", DOUBLING)
        self.write("b.cu", "")
        self.assertIn("A single input file is required for a non-link phase",
                      self.refused("-c", "a.cu", "b.cu", "-o", "x.o"))

    def test_an_input_is_no_output(self):
        source = "int main() {}\n"
        path = self.write("a.cu", source)
        (path.parent / "link").symlink_to("a.cu")
        for words in (["-o", "a.cu"], ["-c", "-o", "a.cu"], ["-o", "link"], ["-MMD", "-MF", "a.cu"],
                      ["-E", "-o", "./a.cu"]):
            with self.subTest(words):
                self.assertIn("is the input file 'a.cu'", self.refused(*words, "a.cu"))
                self.assertEqual(path.read_text(), source)
        for words in (["-o", "a"], ["-c", "-o", "a.o"], ["-o", "a"]):
            self.nvcc(*words, "a.cu")

    def test_files_of_NVIDIAs_processors_are_refused(self):
        self.write("a.cu", DOUBLING)
        for flag in ("-ptx", "-cubin", "-fatbin", "--ptx", "-optix-ir"):
            self.assertIn("Streambed compiles device code for", self.refused(flag, "a.cu"))

    def test_libraries_that_do_not_exist_here_are_named(self):
        self.write("a.cu", DOUBLING)
        for library in ("cublas", "curand", "cufft", "nppig", "cusparse", "cusolver", "cudnn",
                        "nvrtc"):
            said = self.refused("a.cu", f"-l{library}")
            self.assertIn(f"'-l{library}'", said)
            self.assertIn("not part of Streambed", said)
        self.nvcc("a.cu", "-lcudart", "-lcudadevrt", "-lrt", "-lpthread", "-ldl", "-lm")

    def test_a_library_of_the_users_own_may_have_any_name(self):
        self.write("l.cpp", "int f() { return 0; }")
        self.nvcc("-lib", "l.cpp", "-o", "libcublas.a")
        self.write("a.cu", "int f(); int main() { return f(); }")
        self.nvcc("a.cu", "-L.", "-lcublas")

    def test_the_version_is_what_build_systems_parse(self):
        text = self.nvcc("--version").stdout
        self.assertIn("nvcc: NVIDIA (R) Cuda compiler driver", text)
        self.assertTrue(re.search(r"Cuda compilation tools, release 13\.0, V13\.0\.88", text))

    def test_help_names_every_treatment(self):
        text = self.nvcc("--help").stdout
        for words in ("--gpu-architecture (-arch)", "shared by default", "have no effect",
                      "refused"):
            self.assertIn(words, text)

    def test_architectures_can_be_listed(self):
        self.assertIn("sm_90\n", self.nvcc("-code-ls").stdout)
        self.assertIn("compute_90\n", self.nvcc("--list-gpu-arch").stdout)


if __name__ == "__main__":
    unittest.main()
