// Adding two matrices, made asynchronous in four steps.
//
//   1  copies and the kernel go into a stream; the host waits for the stream
//   2  events around the kernel measure it
//   3  two streams bring in the two matrices at once; an event makes one wait for the other
//   4  a callback says when the result has arrived
#include <vector>

#include "common.h"

__global__ void add(const float* a, const float* b, float* c, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) c[y * width + x] = a[y * width + x] + b[y * width + x];
}

void CUDART_CB arrived(cudaStream_t, cudaError_t status, void* flag) {
  *static_cast<bool*>(flag) = status == cudaSuccess;
}

int main() {
  const int width = 500, height = 300;
  const size_t n = static_cast<size_t>(width) * height, bytes = n * sizeof(float);
  const dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  float *a, *b, *c, *da, *db, *dc;
  for (float** p : {&a, &b, &c}) CHECK(cudaMallocHost(p, bytes));
  for (float** p : {&da, &db, &dc}) CHECK(cudaMalloc(p, bytes));
  for (size_t i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i % 1000);
    b[i] = static_cast<float>(2 * (i % 500));
  }
  cudaStream_t s, t;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamCreate(&t));
  auto in = [&](float* to, const float* from, cudaStream_t q) {
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, q));
  };
  auto out = [&](cudaStream_t q) {
    CHECK(cudaMemcpyAsync(c, dc, bytes, cudaMemcpyDeviceToHost, q));
  };
  auto verify = [&](const char* step) {
    for (size_t i = 0; i < n; ++i) {
      EXPECT(c[i] == a[i] + b[i]);
      c[i] = -1;
    }
    CHECK(cudaMemset(dc, 0, bytes));
    std::printf("%s: right\n", step);
  };

  in(da, a, s);
  in(db, b, s);
  add<<<grid, block, 0, s>>>(da, db, dc, width, height);
  out(s);
  CHECK(cudaStreamSynchronize(s));
  verify("1 one stream");

  cudaEvent_t before, after;
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&after));
  CHECK(cudaEventRecord(before, s));
  add<<<grid, block, 0, s>>>(da, db, dc, width, height);
  CHECK(cudaEventRecord(after, s));
  out(s);
  CHECK(cudaStreamSynchronize(s));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, before, after));
  EXPECT(ms >= 0);
  std::printf("  the kernel took %.3f ms\n", ms);
  verify("2 events");

  in(da, a, s);
  in(db, b, t);
  CHECK(cudaEventRecord(after, t));
  CHECK(cudaStreamWaitEvent(s, after, 0));
  add<<<grid, block, 0, s>>>(da, db, dc, width, height);
  out(s);
  CHECK(cudaStreamSynchronize(s));
  verify("3 two streams and a wait between them");

  bool done = false;
  add<<<grid, block, 0, s>>>(da, db, dc, width, height);
  out(s);
  CHECK(cudaStreamAddCallback(s, arrived, &done, 0));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(done);
  verify("4 callback");
  std::printf("ok\n");
  return 0;
}
