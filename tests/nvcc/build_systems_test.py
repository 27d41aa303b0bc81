"""CMake and make with nothing but the toolkit on the PATH; sanitizers and OpenMP through the compiler."""

import shutil
import subprocess
import unittest

from toolkit import DOUBLING, TOOLKIT, NvccTest
from relocatable_test import EXPECTED, LIBRARY, PROGRAM


class BuildSystems(NvccTest):
    PROJECT = """
      cmake_minimum_required(VERSION 3.25)
      project(example LANGUAGES CXX CUDA)
      find_package(CUDAToolkit 13.0 REQUIRED)
      add_executable(plain plain.cu)
      add_library(pieces STATIC library.cu)
      add_executable(separable program.cu)
      target_link_libraries(separable PRIVATE pieces)
      set_target_properties(pieces separable PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
      set_target_properties(pieces PROPERTIES POSITION_INDEPENDENT_CODE ON)
      add_library(api SHARED api.cpp)
      target_link_libraries(api PRIVATE CUDA::cudart)
      add_executable(uses_api uses_api.cpp)
      target_link_libraries(uses_api PRIVATE api)
      add_executable(static_runtime plain.cu)
      set_target_properties(static_runtime PROPERTIES CUDA_RUNTIME_LIBRARY Static)
      add_library(kernels SHARED kernels.cu)
      target_compile_features(kernels PUBLIC cuda_std_17)
      target_compile_options(kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>)
      add_executable(uses_kernels uses_kernels.cu)
      target_link_libraries(uses_kernels PRIVATE kernels)
      file(WRITE ${CMAKE_BINARY_DIR}/facts "${CUDAToolkit_VERSION} ${CMAKE_CUDA_COMPILER_ID} "
           "${CMAKE_CUDA_COMPILER_VERSION} ${CMAKE_CUDA_ARCHITECTURES}")
    """

    def write_project(self):
        self.write("CMakeLists.txt", self.PROJECT)
        self.write("plain.cu", DOUBLING)
        self.write("library.cu", LIBRARY)
        self.write("program.cu", PROGRAM)
        self.write("api.cpp", "#include <cuda_runtime.h>\n"
                              "int devices() { int n = -1; cudaGetDeviceCount(&n); return n; }")
        self.write("uses_api.cpp", "int devices(); int main() { return devices() == 1 ? 0 : 1; }")
        self.write("kernels.cu", "__global__ void five(int* p) { *p = 5; }\n"
                                 "void launch(int* p) { five<<<1, 1>>>(p); }")
        self.write("uses_kernels.cu", """
          void launch(int*);
          int main() { int *p, v; cudaMalloc(&p, 4); launch(p);
            return cudaMemcpy(&v, p, 4, cudaMemcpyDefault) != cudaSuccess || v != 5; }""")

    def build_and_run(self, generator, *flags):
        self.write_project()
        self.command("cmake", "-S", ".", "-B", "b", "-G", generator,
                     "-DCMAKE_BUILD_TYPE=Release", *flags)
        self.command("cmake", "--build", "b", "-j2")
        self.assertEqual(self.output("b/plain"), "ok\n")
        self.assertEqual(self.output("b/static_runtime"), "ok\n")
        self.assertEqual(self.output("b/separable"), EXPECTED)
        self.output("b/uses_api", STREAMBED_DEVICES="1")
        self.output("b/uses_kernels")

    def test_cmake_with_ninja(self):
        if not shutil.which("ninja", path=self.environment["PATH"]):
            self.skipTest("no ninja")
        self.build_and_run("Ninja")
        self.assertEqual((self.folder / "b/facts").read_text(), "13.0.88 NVIDIA 13.0.88 75")
        again = self.command("cmake", "--build", "b").stdout
        self.assertIn("no work to do", again)

    def test_cmake_with_make_and_a_host_compiler(self):
        self.build_and_run("Unix Makefiles", "-DCMAKE_CUDA_HOST_COMPILER=/usr/bin/g++",
                           "-DCMAKE_CUDA_ARCHITECTURES=80;90")

    def test_cmake_finds_the_toolkit_without_the_language(self):
        self.write("CMakeLists.txt", """
          cmake_minimum_required(VERSION 3.25)
          project(example LANGUAGES CXX)
          find_package(CUDAToolkit REQUIRED)
          add_executable(a a.cpp)
          target_link_libraries(a CUDA::cudart)""")
        self.write("a.cpp", "#include <cuda_runtime.h>\nint main() { return cudaFree(nullptr); }")
        said = self.command("cmake", "-S", ".", "-B", "b").stdout
        self.assertIn(str(TOOLKIT), said)
        self.command("cmake", "--build", "b")
        self.output("b/a")

    def test_a_plain_makefile(self):
        self.write("Makefile", """
NVCC ?= nvcc
NVCCFLAGS = -O3 -std=c++14 -arch=sm_80 --compiler-options -Wall
OBJECTS = program.o library.o

all: separable plain
separable: $(OBJECTS)
\t$(NVCC) $(NVCCFLAGS) -o $@ $(OBJECTS) -lcudart -lm
plain: plain.cu
\t$(NVCC) $(NVCCFLAGS) $< -o $@
%.o: %.cu
\t$(NVCC) $(NVCCFLAGS) -dc -MMD -o $@ $<
-include program.d library.d
""")
        self.write_project()
        self.command("make", "-j2")
        self.assertEqual(self.output("plain"), "ok\n")
        self.assertEqual(self.output("separable"), EXPECTED)
        self.assertIn("Nothing to be done", self.command("make").stdout)

    def test_the_lines_that_build_systems_read(self):
        said = self.nvcc("-v", "__cmake_determine_cuda", status=1).stderr
        self.assertIn(f"#$ TOP={TOOLKIT}\n", said)
        self.assertIn("Don't know what to do with '__cmake_determine_cuda'", said)


class Instrumentation(NvccTest):
    def test_address_sanitizer_in_both_passes(self):
        self.write("a.cu", DOUBLING)
        self.nvcc("-g", "-Xcompiler", "-fsanitize=address", "a.cu", "-o", "a")
        self.assertEqual(self.output("a", ASAN_OPTIONS="detect_leaks=0"), "ok\n")

    def test_openmp_in_host_code(self):
        self.write("a.cu", """
          #include <cstdio>
          #ifndef _OPENMP
          #error no OpenMP
          #endif
          #include <omp.h>
          int main() { int n = 0;
            #pragma omp parallel for reduction(+ : n)
            for (int i = 0; i < 100; ++i) n += i;
            std::printf("%d\\n", n); return omp_get_max_threads() < 1; }""")
        if not self.has_openmp():
            self.skipTest("no OpenMP for clang 19")
        self.nvcc("-Xcompiler", "-fopenmp", "a.cu", "-o", "a")
        self.assertEqual(self.output("a"), "4950\n")

    def has_openmp(self):
        self.write("probe.cpp", "#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }")
        return subprocess.run(["clang++-19", "-fopenmp", "probe.cpp", "-o", "probe"],
                              cwd=self.folder, env=self.environment,
                              capture_output=True).returncode == 0


if __name__ == "__main__":
    unittest.main()
