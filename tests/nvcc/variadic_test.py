"""Functions with arguments that have no names, of the host, of the device and of both."""

import unittest

from toolkit import NvccTest


class VariadicFunctions(NvccTest):
    def test_va_arg_of_the_host_stands_in_lambdas_and_templates(self):
        self.write("a.cu", r"""
          #include <cstdarg>
          #include <cstdio>
          #include <string>
          template <class... T> std::string text(const char* format, ...) {
            char out[100];
            va_list list;
            va_start(list, format);
            vsnprintf(out, sizeof out, format, list);
            va_end(list);
            return out;
          }
          template <class T> constexpr T next(va_list list) { return va_arg(list, T); }
          int main() {
            auto say = [](const char* format, ...) {
              va_list list, again;
              va_start(list, format);
              va_copy(again, list);
              vprintf(format, again);
              va_end(again);
              int first = va_arg(list, int);
              va_end(list);
              return first;
            };
            auto sum = [&](auto count, ...) {
              va_list list;
              va_start(list, count);
              auto one = [&] { return va_arg(list, int); };
              int total = 0;
              while (count-- > 1) total += one();
              total += next<int>(list);
              va_end(list);
              return total;
            };
            int first = say("%d %s\n", 7, "eight");
            std::printf("%d %d %s\n", first, sum(3, 10, 20, 30), text<int>("%d-%s", 5, "x").c_str());
          }""")
        for words in (["-std=c++14"], ["-std=c++17"], ["-std=c++20"], ["-rdc=true"]):
            with self.subTest(words):
                self.assertEqual(self.nvcc(*words, "-Xcompiler", "-Wall", "a.cu", "-o", "a").stderr, "")
                self.assertEqual(self.output("a"), "7 eight\n7 60 5-x\n")

    def test_functions_of_the_device_take_arguments_without_names(self):
        self.write("a.cu", """
          #include <cstdarg>
          #include <cstdio>
          struct pair { int a; double b; };
          struct large { long values[5]; };
          __host__ __device__ long scaled(int factor, va_list list) { return factor * va_arg(list, int); }
          __host__ __device__ long both(int factor, ...) {
            va_list list, again;
            va_start(list, factor);
            va_copy(again, list);
            long result = scaled(factor, list) + scaled(factor, again);
            va_end(again);
            va_end(list);
            return result;
          }
          __device__ long meet(int* shared, int count, ...) {
            va_list list;
            va_start(list, count);
            shared[threadIdx.x] = va_arg(list, int);
            __syncthreads();
            long sum = shared[(threadIdx.x + 1) % blockDim.x];
            for (int i = 0; i < count; ++i) sum += va_arg(list, pair).b;
            sum += va_arg(list, large).values[4];
            [&] { sum += va_arg(list, double); }();
            va_end(list);
            return sum;
          }
          __global__ void compute(long* out) {
            __shared__ int shared[64];
            pair p{1, 20};
            large l{{1, 2, 3, 4, 1000}};
            out[threadIdx.x] = meet(shared, 2, (int)threadIdx.x, p, p, l, 300.0) + both(5, 10000);
          }
          int main() {
            long* out;
            cudaMallocManaged(&out, 64 * sizeof *out);
            compute<<<1, 64>>>(out);
            int status = cudaDeviceSynchronize();
            std::printf("%d %ld %ld %ld", status, out[0], out[63], both(1, 2));
          }""")
        for words in (["-O3"], ["-G"]):
            with self.subTest(words):
                self.nvcc(*words, "a.cu", "-o", "a")
                self.assertEqual(self.output("a"), "0 101341 101340 4")

    def test_a_kernel_is_never_variadic(self):
        self.write("a.cu", "__global__ void k(int n, ...) {}\nint main() {}\n")
        self.assertIn("a.cu:1:1: error: a __global__ function cannot have ellipsis", self.refused("a.cu"))


if __name__ == "__main__":
    unittest.main()
