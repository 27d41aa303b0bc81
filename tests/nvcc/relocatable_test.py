"""Relocatable device code: -rdc=true, -dc, -dlink, archives."""

import unittest

from toolkit import NvccTest

# A function and a variable of one file, used in another; names that are static in both.
LIBRARY = """
static __device__ int hidden = 30;
static __global__ void kernel(int* p) { p[1] = hidden; }
__device__ int shared_variable = 4;
__constant__ int table[2] = {7, 8};
__device__ int add_hidden(int x) { return x + hidden; }
void run_library(int* p) { kernel<<<1, 1>>>(p); }
__global__ void called_from_afar(int* p) { p[2] = shared_variable; }
"""

PROGRAM = """
#include <cstdio>
extern __device__ int shared_variable;
extern __constant__ int table[2];
__device__ int add_hidden(int);
void run_library(int*);
__global__ void called_from_afar(int*);
static __device__ int hidden = 100;
static __global__ void kernel(int* p) { p[0] = add_hidden(shared_variable) + hidden + table[1]; }
int main() {
  int *p, v[3], five = 5;
  cudaMalloc(&p, sizeof v);
  kernel<<<1, 1>>>(p);
  run_library(p);
  cudaMemcpyToSymbol(shared_variable, &five, sizeof five);
  called_from_afar<<<1, 1>>>(p);
  if (cudaMemcpy(v, p, sizeof v, cudaMemcpyDefault) != cudaSuccess) return 1;
  int in_host = 0;
  cudaMemcpyFromSymbol(&in_host, hidden, sizeof in_host);
  std::printf("%d %d %d %d\\n", v[0], v[1], v[2], in_host);
}
"""

EXPECTED = f"{4 + 30 + 100 + 8} 30 5 100\n"


class Relocatable(NvccTest):
    def setUp(self):
        super().setUp()
        self.write("library.cu", LIBRARY)
        self.write("program.cu", PROGRAM)

    def test_in_one_command(self):
        self.nvcc("-rdc=true", "program.cu", "library.cu", "-o", "a")
        self.assertEqual(self.output("a"), EXPECTED)

    def test_compiled_apart_and_linked_by_nvcc(self):
        self.nvcc("-dc", "program.cu", "library.cu")
        self.nvcc("program.o", "library.o", "-o", "a")
        self.assertEqual(self.output("a"), EXPECTED)
        self.assert_temporaries_are_gone()

    def test_device_code_in_an_archive(self):
        self.nvcc("-dc", "library.cu")
        self.nvcc("-lib", "library.o", "-o", "library.a")
        self.nvcc("-rdc=true", "program.cu", "library.a", "-o", "a")
        self.assertEqual(self.output("a"), EXPECTED)

    def test_device_code_in_a_library_found_by_L_and_l(self):
        self.nvcc("-dc", "library.cu")
        self.nvcc("-lib", "library.o", "-o", "liblibrary.a")
        self.nvcc("-rdc=true", "program.cu", "-L.", "-llibrary", "-o", "a")
        self.assertEqual(self.output("a"), EXPECTED)

    def test_device_link_for_another_linker(self):
        self.nvcc("-dc", "program.cu", "library.cu")
        self.nvcc("-dlink", "program.o", "library.o", "-o", "device.o")
        where = self.command("sh", "-c", "dirname $(dirname $(command -v nvcc))").stdout.strip()
        self.command("g++", "program.o", "library.o", "device.o", f"-L{where}/lib64", "-lcudart",
                     f"-Wl,-rpath,{where}/lib64", "-o", "a")
        self.assertEqual(self.output("a"), EXPECTED)

    def test_the_same_source_twice_with_other_options(self):
        self.write("unit.cu", """
          static __device__ int value = VALUE;
          static __global__ void kernel(int* p) { *p += value; }
          void NAME(int* p) { kernel<<<1, 1>>>(p); }""")
        self.write("main.cu", """
          #include <cstdio>
          void one(int*); void two(int*);
          int main() { int *p, v; cudaMalloc(&p, 4); cudaMemset(p, 0, 4); one(p); two(p);
            cudaMemcpy(&v, p, 4, cudaMemcpyDefault); std::printf("%d\\n", v); }""")
        self.nvcc("-dc", "-DVALUE=1", "-DNAME=one", "unit.cu", "-o", "one.o")
        self.nvcc("-dc", "-DVALUE=20", "-DNAME=two", "unit.cu", "-o", "two.o")
        self.nvcc("-rdc=true", "main.cu", "one.o", "two.o", "-o", "a")
        self.assertEqual(self.output("a"), "21\n")

    def test_whole_and_relocatable_objects_together(self):
        self.write("whole.cu", """
          #include <cstdio>
          __device__ int add_hidden(int x) { return -x; }
          __global__ void k(int* p) { *p = add_hidden(1); }
          void whole() { int *p, v; cudaMalloc(&p, 4); k<<<1, 1>>>(p);
            cudaMemcpy(&v, p, 4, cudaMemcpyDefault); std::printf("%d\\n", v); }""")
        self.write("program.cu", PROGRAM.replace("int main() {", "void whole();\nint main() { whole();"))
        self.nvcc("-c", "whole.cu")
        self.nvcc("-dc", "program.cu", "library.cu")
        self.nvcc("program.o", "library.o", "whole.o", "-o", "a")
        self.assertEqual(self.output("a"), "-1\n" + EXPECTED)

    def test_a_template_kernel_in_two_files(self):
        self.write("t.cuh", "template <class T> __global__ void set(T* p, T v) { *p = v; }")
        self.write("one.cu", '#include "t.cuh"\nvoid one(int* p) { set<<<1, 1>>>(p, 3); }')
        self.write("two.cu", """
          #include <cstdio>
          #include "t.cuh"
          void one(int*);
          int main() { int *p, v, w; cudaMalloc(&p, 4); one(p);
            cudaMemcpy(&v, p, 4, cudaMemcpyDefault); set<<<1, 1>>>(p, 4);
            cudaMemcpy(&w, p, 4, cudaMemcpyDefault); std::printf("%d %d\\n", v, w); }""")
        for flags in (["-rdc=true"], []):
            with self.subTest(flags):
                self.nvcc(*flags, "one.cu", "two.cu", "-o", "a")
                self.assertEqual(self.output("a"), "3 4\n")

    def test_a_shared_library_with_relocatable_code(self):
        self.nvcc("-rdc=true", "-Xcompiler", "-fPIC", "-shared", "library.cu", "-o", "liblibrary.so")
        self.write("main.cu", """
          #include <cstdio>
          void run_library(int*);
          int main() { int *p, v[2]; cudaMalloc(&p, 8); run_library(p);
            cudaMemcpy(v, p, 8, cudaMemcpyDefault); std::printf("%d\\n", v[1]); }""")
        self.nvcc("-rdc=true", "main.cu", "-L.", "-llibrary", "-Xlinker", f"-rpath={self.folder}",
                  "-o", "a")
        self.assertEqual(self.output("a"), "30\n")

    def test_a_barrier_inside_a_function_of_another_file(self):
        self.write("one.cu", """
          __device__ int sum_of_block(int x) {
            __shared__ int sum;
            if (threadIdx.x == 0) sum = 0;
            __syncthreads();
            atomicAdd(&sum, x);
            __syncthreads();
            return sum;
          }""")
        self.write("two.cu", """
          #include <cstdio>
          __device__ int sum_of_block(int);
          __global__ void k(int* p) { p[threadIdx.x] = sum_of_block(threadIdx.x); }
          int main() { int *p, v[64]; cudaMalloc(&p, sizeof v); k<<<1, 64>>>(p);
            cudaMemcpy(v, p, sizeof v, cudaMemcpyDefault);
            for (int x : v) if (x != 63 * 32) return 1; std::puts("ok"); }""")
        self.nvcc("-rdc=true", "one.cu", "two.cu", "-o", "a")
        self.assertEqual(self.output("a"), "ok\n")

    def test_a_missing_function_and_variable_are_named(self):
        self.nvcc("-dc", "program.cu")
        said = self.refused("program.o", "-o", "a")
        self.assertIn("shared_variable", said)
        self.write("only.cu", "__device__ int absent(int);\n"
                              "__global__ void k(int* p) { *p = absent(1); }\nint main() {}")
        self.assertIn("absent", self.refused("-rdc=true", "only.cu"))

    def test_a_name_defined_twice_is_named_with_both_files(self):
        self.write("again.cu", "__device__ int shared_variable;")
        self.nvcc("-dc", "program.cu", "library.cu", "again.cu")
        self.assertIn("Multiple definition of 'shared_variable' in 'again.o', first defined in "
                      "'library.o'", self.refused("program.o", "library.o", "again.o"))

    def test_device_link_without_device_code_gives_an_object(self):
        self.write("plain.cpp", "int f() { return 1; }")
        self.nvcc("-c", "plain.cpp")
        self.nvcc("-dlink", "plain.o", "-o", "device.o")
        self.assertTrue((self.folder / "device.o").exists())


if __name__ == "__main__":
    unittest.main()
