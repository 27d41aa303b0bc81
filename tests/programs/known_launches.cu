// A launch that was made thousands of times before is not checked again: everything that its checks
// would see now must be seen all the same. With two devices.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#define CHECK(call) expect(#call, (call), cudaSuccess, __LINE__)
#define EXPECT(call, error) expect(#call, (call), error, __LINE__)

static void expect(const char* what, cudaError_t is, cudaError_t wanted, int line) {
  if (is == wanted) return;
  std::printf("%d: %s: %s, not %s\n", line, what, cudaGetErrorName(is), cudaGetErrorName(wanted));
  std::exit(1);
}
static void expect(const char* what, long is, long wanted, int line) {
  if (is == wanted) return;
  std::printf("%d: %s: %ld, not %ld\n", line, what, is, wanted);
  std::exit(1);
}

__global__ void add(int* sum, int n) { *sum += n; }
__global__ void add_up(int* sum, long long a, int b, short c, char d, float e) {
  *sum += static_cast<int>(a) + b + c + d + static_cast<int>(e);
}
__global__ void note(int* at) { at[threadIdx.x] = blockDim.x * 100 + blockIdx.x; }
__global__ void wide(int* sum) { *sum += 1; }

constexpr int often = 2000;
static int* sum;

static cudaError_t launch(cudaStream_t s, int n = 1) {
  add<<<1, 1, 0, s>>>(sum, n);
  return cudaGetLastError();
}
static void get_known(cudaStream_t s) {
  *sum = 0;
  for (int i = 0; i < often; ++i) CHECK(launch(s));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(*sum, often);
}
static cudaStream_t stream() {
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}

static void arguments_and_shapes() {
  const cudaStream_t s = stream();
  get_known(s);
  *sum = 0;
  for (int i = 0; i < often; ++i) CHECK(launch(s, i));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(*sum, often * (often - 1) / 2);
  *sum = 0;
  for (int i = 0; i < often; ++i) add_up<<<1, 1, 0, s>>>(sum, i, 1, short(2), char(3), 4.0f);
  CHECK(cudaStreamSynchronize(s));
  EXPECT(*sum, often * (often - 1) / 2 + often * 10);
  int* at;
  CHECK(cudaMallocManaged(&at, 64 * sizeof(int)));
  for (int i = 0; i < often; ++i) {
    const int threads = 1 + i % 64, blocks = 1 + i % 3;
    note<<<blocks, threads, 0, s>>>(at);
    CHECK(cudaStreamSynchronize(s));
    EXPECT(at[threads - 1] / 100, threads);
    EXPECT(at[threads - 1] % 100 < blocks, true);
  }
  // Too much of everything is refused as ever.
  for (int i = 0; i < often; ++i) wide<<<1, 1, 0, s>>>(sum);
  wide<<<1, 2048, 0, s>>>(sum);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  wide<<<1, 1, 1 << 20, s>>>(sum);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  wide<<<0, 1, 0, s>>>(sum);
  EXPECT(cudaGetLastError() != cudaSuccess, true);
  CHECK(cudaStreamSynchronize(s));
}

static void streams_that_end() {
  const cudaStream_t s = stream();
  get_known(s);
  CHECK(cudaStreamDestroy(s));
  EXPECT(launch(s), cudaErrorInvalidResourceHandle);
  // The next one may have its handle.
  const cudaStream_t t = stream();
  get_known(t);
  CHECK(cudaStreamDestroy(t));
}

static void order(cudaStream_t s, cudaStream_t before) {
  static std::atomic<bool> open;
  open = false;
  get_known(s);
  *sum = 0;
  CHECK(cudaLaunchHostFunc(
      before,
      [](void*) {
        while (!open) std::this_thread::yield();
      },
      nullptr));
  for (int i = 0; i < 100; ++i) CHECK(launch(s));
  EXPECT(*static_cast<volatile int*>(sum), 0);
  open = true;
  CHECK(cudaDeviceSynchronize());
  EXPECT(*sum, 100);
}

static void captures() {
  const cudaStream_t s = stream(), other = stream();
  cudaStream_t blocking;
  CHECK(cudaStreamCreate(&blocking));
  get_known(s);
  get_known(nullptr);
  *sum = 0;
  cudaGraph_t graph;
  size_t nodes = 0;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < 3; ++i) CHECK(launch(s));
  CHECK(cudaStreamEndCapture(s, &graph));
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(static_cast<long>(nodes), 3);
  EXPECT(*sum, 0);
  CHECK(cudaGraphDestroy(graph));
  get_known(s);
  // Beside a capture others go on, but for the legacy stream.
  CHECK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
  get_known(other);
  EXPECT(launch(nullptr), cudaErrorStreamCaptureImplicit);
  EXPECT(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
  get_known(nullptr);
}

static void two_devices() {
  const cudaStream_t s = stream();
  get_known(s);
  get_known(nullptr);
  CHECK(cudaSetDevice(1));
  EXPECT(launch(s), cudaErrorInvalidResourceHandle);
  get_known(nullptr);  // the other device's
  CHECK(cudaSetDevice(0));
  CHECK(launch(s));
  CHECK(cudaStreamSynchronize(s));
}

static void threads_until_their_end() {
  struct at_end {
    ~at_end() { CHECK(launch(cudaStreamPerThread)); }
  };
  get_known(cudaStreamPerThread);
  *sum = 0;
  std::thread([] {
    thread_local at_end last;
    (void)&last;
    for (int i = 0; i < often; ++i) CHECK(launch(cudaStreamPerThread));
  }).join();
  CHECK(cudaDeviceSynchronize());
  EXPECT(*sum, often + 1);
}

static void failures(const char* how) {
  const cudaStream_t s = stream();
  get_known(s);
  if (*how == 'f') {  // one fault, of a launch that is known: all that come later fail
    add<<<1, 1, 0, s>>>(reinterpret_cast<int*>(0x10000), 1);
    EXPECT(cudaStreamSynchronize(s), cudaErrorIllegalAddress);
    EXPECT(launch(s), cudaErrorIllegalAddress);
  } else if (*how == 'h') {  // a pointer to memory of the host
    static int own;
    add<<<1, 1, 0, s>>>(&own, 1);
    EXPECT(cudaStreamSynchronize(s), cudaErrorIllegalAddress);
    EXPECT(own, 0);
  } else {
    CHECK(cudaDeviceReset());
    EXPECT(launch(s) != cudaSuccess, true);
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    get_known(stream());
    get_known(nullptr);
  }
}

int main(int argc, char** argv) {
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  if (argc > 1) {
    failures(argv[1]);
  } else {
    arguments_and_shapes();
    streams_that_end();
    const cudaStream_t s = stream();
    cudaStream_t blocking;
    CHECK(cudaStreamCreate(&blocking));
    order(s, s);
    order(blocking, nullptr);
    order(nullptr, blocking);
    captures();
    two_devices();
    threads_until_their_end();
  }
  std::puts("ok");
}
