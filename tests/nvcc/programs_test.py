"""What programs do around their kernels: constructors, fork, signal handlers, pointers that only travel."""

import unittest

from toolkit import NvccTest


class Pointers(NvccTest):
    def test_a_device_function_pointer_is_an_argument(self):
        self.write("a.cu", """
          #include <cstdio>
          typedef int (*operation)(int, int);
          __device__ int multiply(int a, int b) { return a * b; }
          __device__ operation chosen = multiply;
          __global__ void call(operation f, int* out) { *out = f(5, 6); }
          int main() {
            operation f;
            int *out, host = 0;
            cudaMalloc(&out, sizeof host);
            cudaMemcpyFromSymbol(&f, chosen, sizeof f);
            call<<<1, 1>>>(f, out);
            cudaError_t e = cudaMemcpy(&host, out, sizeof host, cudaMemcpyDefault);
            std::printf("%d %s\\n", host, cudaGetErrorName(e));
          }""")
        self.nvcc("-o", "a", "a.cu")
        self.assertEqual(self.output("a"), "30 cudaSuccess\n")

    def test_a_pointer_to_a_constant_of_device_code_is_an_argument(self):
        self.write("a.cu", """
          #include <cstdio>
          __device__ const char* word = "device";
          __global__ void length(const char* text, int* out) {
            int n = 0;
            while (text[n]) ++n;
            *out = n;
          }
          int main() {
            const char* text;
            int *out, host = 0;
            cudaMalloc(&out, sizeof host);
            cudaMemcpyFromSymbol(&text, word, sizeof text);
            length<<<1, 1>>>(text, out);
            cudaError_t e = cudaMemcpy(&host, out, sizeof host, cudaMemcpyDefault);
            std::printf("%d %s\\n", host, cudaGetErrorName(e));
          }""")
        self.nvcc("-o", "a", "a.cu")
        self.assertEqual(self.output("a"), "6 cudaSuccess\n")

    CARRIED = """
      #include <cstdio>
      __global__ void store(void* p, void** out) { *out = p; }
      __global__ void equal(int* p, unsigned long long v, void** out) {
        *out = (void*)(size_t)((unsigned long long)p == v);
      }
      __global__ void same(int* p, int* q, void** out) { *out = p == q ? p : 0; }
      __global__ void in_struct(int* p, void** out) { struct { int* a[2]; } s{{p, 0}}; *out = s.a[0]; }
      // The empty range is never followed.
      __global__ void range(int* begin, int* end, void** out) {
        int sum = 0;
        for (; begin != end; ++begin) sum += *begin;
        *out = (void*)(size_t)sum;
      }
      __global__ void follow(int* p, void** out) { *out = (void*)(size_t)*p; }
      int main() {
        int value = 5, *p = &value;
        void **out, *host[5];
        cudaMalloc(&out, sizeof host);
        store<<<1, 1>>>(p, out);
        equal<<<1, 1>>>(p, (unsigned long long)p, out + 1);
        same<<<1, 1>>>(p, p, out + 2);
        in_struct<<<1, 1>>>(p, out + 3);
        range<<<1, 1>>>(p, p, out + 4);
        cudaError_t e = cudaMemcpy(host, out, sizeof host, cudaMemcpyDefault);
        std::printf("%s %d %d %d %d %d\\n", cudaGetErrorName(e), host[0] == p, host[1] == (void*)1,
                    host[2] == p, host[3] == p, host[4] == 0);
        follow<<<1, 1>>>(p, out);
        std::printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
      }"""

    def test_a_host_pointer_that_is_only_carried_arrives_as_it_was_sent(self):
        self.write("a.cu", self.CARRIED)
        for level in ("-O0", "-O2", "-G"):
            with self.subTest(level):
                self.nvcc(level, "-o", "a", "a.cu")
                self.assertEqual(self.output("a"),
                                 "cudaSuccess 1 1 1 1 1\ncudaErrorIllegalAddress\n")


class Processes(NvccTest):
    FORK = """
      #include <cstdio>
      #include <sys/wait.h>
      #include <unistd.h>
      __global__ void five(int* out) { *out = 5; }
      void use(const char* who) {
        int *p = nullptr, value = 0, count = -1, version = 0;
        cudaStream_t stream;
        const char* counted = cudaGetErrorName(cudaGetDeviceCount(&count));
        const char* allocated = cudaGetErrorName(cudaMalloc(&p, 4));
        five<<<1, 1>>>(p);
        const char* launched = cudaGetErrorName(cudaGetLastError());
        const char* copied = cudaGetErrorName(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
        const char* created = cudaGetErrorName(cudaStreamCreate(&stream));
        cudaGetLastError();
        cudaRuntimeGetVersion(&version);
        std::printf("%s %s %s %s %s %s %d %d\\n", who, counted, allocated, launched, copied, created,
                    value, version);
        std::fflush(stdout);
      }
      int main(int count, char**) {
        if (count > 1) use("before");
        const pid_t child = fork();
        if (child == 0) {
          use("child");
          return 7;
        }
        int status = 0;
        waitpid(child, &status, 0);
        std::printf("exit %d\\n", WEXITSTATUS(status));
        std::fflush(stdout);
        use("parent");
      }"""
    WORKS = "cudaSuccess " * 5 + "5 13000\n"
    REFUSED = "cudaErrorInitializationError " * 5 + "0 13000\n"

    def test_a_child_forked_before_the_first_call_has_its_own_device(self):
        self.write("a.cu", self.FORK)
        self.nvcc("-o", "a", "a.cu")
        self.assertEqual(self.output("a"),
                         f"child {self.WORKS}exit 7\nparent {self.WORKS}")

    def test_a_child_forked_after_the_first_call_is_refused(self):
        self.write("a.cu", self.FORK)
        for runtime in ("shared", "static"):
            with self.subTest(runtime):
                self.nvcc("-cudart", runtime, "-o", "a", "a.cu")
                self.assertEqual(self.output("a", "used"),
                                 f"before {self.WORKS}child {self.REFUSED}exit 7\n"
                                 f"parent {self.WORKS}")

    def test_static_constructors_launch_kernels_of_their_own_file(self):
        self.write("a.cu", """
          #include <cstdio>
          __device__ int variable = 3;
          __managed__ int managed = 4;
          __global__ void read(int* out) { *out = variable + managed; }
          struct user {
            const char* name;
            user(const char* n) : name(n) { use("begins"); }
            ~user() { use("ends"); }
            void use(const char* what) {
              int *out, value = 0;
              cudaMalloc(&out, 4);
              read<<<1, 1>>>(out);
              cudaError_t launched = cudaGetLastError();
              cudaMemcpy(&value, out, 4, cudaMemcpyDefault);
              std::printf("%s %s %s %d\\n", name, what, cudaGetErrorName(launched), value);
            }
          };
          static user object("static");
          int main() { user("main"); }""")
        lines = "".join(f"{line} cudaSuccess 7\n"
                        for line in ("static begins", "main begins", "main ends", "static ends"))
        for flags in ([], ["-O2"], ["-cudart", "static"], ["-rdc=true"]):
            with self.subTest(flags):
                self.nvcc(*flags, "-o", "a", "a.cu")
                self.assertEqual(self.output("a"), lines)


if __name__ == "__main__":
    unittest.main()
