// Priorities, a wait across streams, and a callback.
//
// - A stream may have a priority: when a block of a kernel can start, blocks of higher priority go
// first.
//   Lower numbers are higher priorities. It is a preference, never a guarantee of order.
// - cudaStreamWaitEvent makes one stream wait for a point in another. The host does not wait.
// - cudaStreamAddCallback and cudaLaunchHostFunc call a function of the host when the stream comes
// to it.
#include "common.h"

__global__ void produce(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}

__global__ void square(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

struct report {
  int* result;
  int n;
  bool called = false;
  bool right = false;
};

// A callback may look at host memory, but must not call CUDA.
void CUDART_CB on_done(cudaStream_t, cudaError_t status, void* user) {
  report* r = static_cast<report*>(user);
  r->called = true;
  r->right = status == cudaSuccess;
  for (int i = 0; i < r->n; ++i) r->right = r->right && r->result[i] == i * i;
}

int main() {
  const int n = 4096;
  int least = 0, greatest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  std::printf("priorities go from %d (least) to %d (greatest)\n", least, greatest);

  cudaStream_t producer, consumer;
  CHECK(cudaStreamCreateWithPriority(&producer, cudaStreamNonBlocking, least));
  CHECK(cudaStreamCreateWithPriority(&consumer, cudaStreamNonBlocking, greatest));
  int priority = 1;
  CHECK(cudaStreamGetPriority(consumer, &priority));
  EXPECT(priority == greatest);

  int *in, *out, *host;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  cudaEvent_t produced;
  CHECK(cudaEventCreateWithFlags(&produced, cudaEventDisableTiming));

  load(produce);
  load(square);
  gate hold;
  hold.close(producer);
  produce<<<n / 256, 256, 0, producer>>>(in, n);
  CHECK(cudaEventRecord(produced, producer));

  CHECK(cudaStreamWaitEvent(consumer, produced, 0));
  square<<<n / 256, 256, 0, consumer>>>(in, out, n);
  CHECK(cudaMemcpyAsync(host, out, n * sizeof(int), cudaMemcpyDeviceToHost, consumer));
  report r{host, n};
  CHECK(cudaStreamAddCallback(consumer, on_done, &r, 0));

  // The producer is held, so the consumer cannot have started, whatever its priority.
  EXPECT(cudaStreamQuery(consumer) == cudaErrorNotReady);
  std::printf("the consumer waits for the event, though its priority is higher\n");
  hold.open();

  CHECK(cudaStreamSynchronize(consumer));
  EXPECT(r.called && r.right);
  std::printf("the callback saw %d squares, all right\n", n);

  CHECK(cudaEventDestroy(produced));
  CHECK(cudaStreamDestroy(producer));
  CHECK(cudaStreamDestroy(consumer));
  std::printf("ok\n");
  return 0;
}
