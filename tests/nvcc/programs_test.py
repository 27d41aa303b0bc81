"""What programs do around their kernels: constructors, fork, signal handlers, pointers that only travel."""

import re
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


    NULL = """
      #include <cstdio>
      __global__ void at_times(int* out) { if (threadIdx.x == 3) *static_cast<int*>(nullptr) = 1; out[threadIdx.x] = 1; }
      __global__ void always(int* out) { int* p = nullptr; *p = out[0]; }
      int main(int count, char**) {
        int* out;
        cudaMalloc(&out, 32 * sizeof(int));
        count > 1 ? always<<<1, 32>>>(out) : at_times<<<1, 32>>>(out);
        std::printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
      }"""

    def test_an_access_of_the_null_pointer_is_one(self):
        self.write("a.cu", self.NULL)
        for level in ("-O0", "-O2", "-G"):
            for arguments in ([], ["always"]):
                with self.subTest(level=level, arguments=arguments):
                    self.nvcc(level, "-w", "-o", "a", "a.cu")
                    self.assertEqual(self.output("a", *arguments), "cudaErrorIllegalAddress\n")


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
    REFUSED = "cudaSuccess " + "cudaErrorInitializationError " * 4 + "0 13000\n"

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


class Signals(NvccTest):
    # Device faults become errors, and the program's own faults go to the program's own handler,
    # whenever it was installed and however.
    SOURCE = """
      #include <csetjmp>
      #include <csignal>
      #include <cstdio>
      #include <cstring>
      #include <unistd.h>
      static sigjmp_buf back;
      static void by_signal(int) { siglongjmp(back, 1); }
      static void by_action(int, siginfo_t* info, void*) {
        siglongjmp(back, info->si_addr == (void*)64 ? 2 : 3);
      }
      static void install(bool action) {
        if (!action) {
          signal(SIGSEGV, by_signal);
          return;
        }
        struct sigaction a {};
        a.sa_sigaction = by_action;
        a.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &a, nullptr);
      }
      __global__ void fault(int* p) { *p = 1; }
      int main(int, char** v) {
        const bool early = std::strchr(v[1], 'e'), action = std::strchr(v[1], 'a');
        if (early) install(action);
        cudaFree(nullptr);
        if (!early) install(action);
        struct sigaction now {};
        sigaction(SIGSEGV, nullptr, &now);
        const bool own = action ? now.sa_sigaction == by_action : now.sa_handler == by_signal;
        for (int i = 0; i < 2; ++i) {
          const int how = sigsetjmp(back, 1);
          if (how == 0) *(volatile int*)64 = 1;
          std::printf("%d ", how);
        }
        fault<<<1, 1>>>((int*)8);
        std::printf("%s own %d\\n", cudaGetErrorName(cudaDeviceSynchronize()), own);
        std::fflush(stdout);
        signal(SIGSEGV, SIG_DFL);
        *(volatile int*)64 = 1;
      }"""

    def test_device_faults_are_errors_beside_a_handler_of_the_program(self):
        self.write("a.cu", self.SOURCE)
        for runtime in ("shared", "static"):
            self.nvcc("-cudart", runtime, "-o", "a", "a.cu")
            for how, said in (("es", "1 1"), ("s", "1 1"), ("ea", "2 2"), ("a", "2 2")):
                with self.subTest(runtime=runtime, how=how):
                    done = self.command(self.folder / "a", how, status=-11)
                    self.assertEqual(done.stdout, f"{said} cudaErrorIllegalAddress own 1\n")


class Assertions(NvccTest):
    LINE = r".*a\.cu:\d+: .*: block: \[(\d+),0,0\], thread: \[(\d+),0,0\] Assertion `.*` failed\."

    def lines(self, source):
        self.write("a.cu", source)
        self.nvcc("-o", "a", "a.cu")
        done = self.command(self.folder / "a", STREAMBED_FAULT_REPORT="0")
        found = [re.fullmatch(self.LINE, line) for line in done.stderr.splitlines()]
        self.assertTrue(all(found), done.stderr)
        return sorted((int(one[1]), int(one[2])) for one in found)

    END = "int main() { k<<<2, 32>>>(60, out()); return cudaDeviceSynchronize() != cudaErrorAssert; }"
    START = "#include <cassert>\nint* out() { int* p; cudaMalloc(&p, 1024); return p; }\n"
    FAILING = [(1, 28), (1, 29), (1, 30), (1, 31)]

    def test_every_thread_whose_assertion_fails_says_so(self):
        self.assertEqual(self.lines(self.START + """
          __device__ void check(int t, int n) { assert(t < n); }
          __global__ void k(int n, int* out) {
            int t = blockIdx.x * blockDim.x + threadIdx.x;
            for (int i = 0; i < 2; ++i) check(t, n);
            out[t] = t;
          }""" + self.END), self.FAILING)

    def test_so_do_threads_with_a_barrier_before_it(self):
        self.assertEqual(self.lines(self.START + """
          __global__ void k(int n, int* out) {
            int t = blockIdx.x * blockDim.x + threadIdx.x;
            __syncthreads();
            assert(t < n);
            out[t] = t;
            __syncthreads();
            assert(t < n);
          }""" + self.END), self.FAILING)

    def test_so_do_the_threads_of_a_warp_that_shuffled(self):
        self.assertEqual(self.lines(self.START + """
          __global__ void k(int n, int* out) {
            int t = blockIdx.x * blockDim.x + threadIdx.x;
            int last = __shfl_sync(~0u, t, 31);
            assert(t < n || last < n);
            out[t] = __shfl_down_sync(~0u, last, 1);
          }""" + self.END), self.FAILING)

    def test_so_do_the_threads_of_blocks_beside_it(self):
        for head in ("", "__syncthreads();"):
            with self.subTest(head):
                self.assertEqual(self.lines(self.START + f"""
                  __global__ void k(int n, int* out) {{
                    {head}
                    assert(threadIdx.x < 30);
                    out[threadIdx.x] = n;
                  }}""" + self.END), [(block, thread) for block in (0, 1) for thread in (30, 31)])

    def test_so_do_they_when_the_kernel_is_known_to_be_short(self):
        body = """
          __global__ void k(int n, const int* in) { assert(in[threadIdx.x] == n); }
          int main() {
            int* in;
            cudaMallocManaged(&in, 1024);
            for (int i = 0; i < 300; ++i) { k<<<4, 2>>>(0, in); cudaDeviceSynchronize(); }
            k<<<4, 2>>>(1, in);
            return cudaDeviceSynchronize() != cudaErrorAssert;
          }"""
        self.assertEqual(self.lines("#include <cassert>" + body),
                         [(block, thread) for block in range(4) for thread in (0, 1)])

    def test_a_block_that_waits_for_one_that_failed_ends(self):
        self.assertEqual(self.lines(self.START + """
          __global__ void k(int n, int* out) {
            volatile int* flag = out;
            assert(blockIdx.x == 1 || threadIdx.x < 31);
            if (blockIdx.x == 0 && threadIdx.x == 31) *flag = n;
            while (*flag != n) {}
          }""" + self.END.replace("k<<<2, 32>>>(60, out())",
                                  "int* flag = out(); cudaMemset(flag, 0, 4); k<<<2, 32>>>(60, flag)")),
                         [(0, 31)])


if __name__ == "__main__":
    unittest.main()
