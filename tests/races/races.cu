// One case per run, named on the command line; built with -fsanitize=thread. The names that begin
// with "race" miss a synchronisation, which ThreadSanitizer must report; the others are in order
// and must stay silent.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>

constexpr int count = 256;
constexpr size_t bytes = count * sizeof(int);

__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }
__global__ void increase(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x] + 1; }
// Its own arrays and the block's memory are nobody else's.
__global__ void reverse(int* out) {
  __shared__ int mine[count];
  int local[8];
  for (int i = 0; i < 8; ++i) local[(i * out[0] + threadIdx.x) & 7] = i;
  mine[threadIdx.x] = local[threadIdx.x & 7];
  __syncthreads();
  out[threadIdx.x] = mine[count - 1 - threadIdx.x];
}

// A function that is not inlined: the engine tells it which thread it is in.
__device__ __noinline__ int own_place() { return static_cast<int>(threadIdx.x); }
__global__ void place(int* out) { out[own_place()] = own_place(); }
__global__ void write_surface(cudaSurfaceObject_t s, int value) {
  surf1Dwrite(value, s, static_cast<int>(threadIdx.x * sizeof(int)));
}
__global__ void read_texture(int* out, cudaTextureObject_t t) {
  out[threadIdx.x] = tex1D<int>(t, static_cast<float>(threadIdx.x) + 0.5f);
}

struct streams {
  cudaStream_t a, b, free;
  streams() {
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking);
  }
};

template <typename Allocate>
static int* get(Allocate allocate) {
  void* p = nullptr;
  if (allocate(&p, bytes) != cudaSuccess) std::abort();
  return static_cast<int*>(p);
}
static int* managed() {
  return get([](void** p, size_t n) { return cudaMallocManaged(p, n); });
}
static int* device() {
  return get([](void** p, size_t n) { return cudaMalloc(p, n); });
}
static int* pinned() {
  return get([](void** p, size_t n) { return cudaMallocHost(p, n); });
}
static int sum(const int* p) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += p[i];
  return total;
}
static void expect(int got, int wanted) {
  if (got != wanted) std::printf("wrong result: %d, not %d\n", got, wanted);
}

static void race_host_reads_without_waiting() {
  int* p = managed();
  fill<<<1, count>>>(p, 1);
  std::printf("%d\n", sum(p) > 0);
  cudaDeviceSynchronize();
}
static void race_host_reads_after_the_wrong_event() {
  streams s;
  int* p = managed();
  cudaEvent_t early;
  cudaEventCreate(&early);
  cudaEventRecord(early, s.a);
  fill<<<1, count, 0, s.a>>>(p, 1);
  cudaEventSynchronize(early);
  std::printf("%d\n", sum(p) > 0);
  cudaDeviceSynchronize();
}
static void race_two_streams() {
  streams s;
  int* p = device();
  fill<<<1, count, 0, s.a>>>(p, 1);
  fill<<<1, count, 0, s.b>>>(p, 2);
  cudaDeviceSynchronize();
}
static void race_default_and_non_blocking_stream() {
  streams s;
  int *p = device(), *q = device();
  fill<<<1, count>>>(p, 1);
  increase<<<1, count, 0, s.free>>>(q, p);
  cudaDeviceSynchronize();
}
static void race_source_is_changed_during_a_copy() {
  streams s;
  int *p = device(), *h = pinned();
  std::memset(h, 0, bytes);
  cudaMemcpyAsync(p, h, bytes, cudaMemcpyHostToDevice, s.a);
  h[3] = 7;
  cudaDeviceSynchronize();
}
static void race_copy_and_kernel_in_two_streams() {
  streams s;
  int *p = device(), *h = pinned();
  fill<<<1, count, 0, s.a>>>(p, 1);
  cudaMemcpyAsync(h, p, bytes, cudaMemcpyDeviceToHost, s.b);
  cudaDeviceSynchronize();
}
static void race_host_function_and_host() {
  streams s;
  static int shared = 0;
  cudaLaunchHostFunc(s.a, [](void* p) { *static_cast<int*>(p) += 1; }, &shared);
  shared += 1;
  cudaDeviceSynchronize();
}
static void race_memset_of_what_a_kernel_reads() {
  streams s;
  int *p = device(), *q = device();
  increase<<<1, count, 0, s.a>>>(q, p);
  cudaMemsetAsync(p, 0, bytes, s.b);
  cudaDeviceSynchronize();
}

static void one_stream() {
  streams s;
  int *p = device(), *q = managed();
  fill<<<1, count, 0, s.a>>>(p, 1);
  increase<<<1, count, 0, s.a>>>(q, p);
  cudaStreamSynchronize(s.a);
  expect(sum(q), 2 * count);
  q[0] = 0;
  increase<<<1, count, 0, s.b>>>(p, q);
  cudaDeviceSynchronize();
}
static void event_between_streams() {
  streams s;
  int *p = device(), *q = managed();
  cudaEvent_t filled;
  cudaEventCreate(&filled);
  for (int i = 0; i < 3; ++i) {
    fill<<<1, count, 0, s.a>>>(p, i);
    cudaEventRecord(filled, s.a);
    cudaStreamWaitEvent(s.free, filled, 0);
    increase<<<1, count, 0, s.free>>>(q, p);
    cudaEventRecord(filled, s.free);
    cudaStreamWaitEvent(s.a, filled, 0);
  }
  cudaEventSynchronize(filled);
  expect(sum(q), 3 * count);
}
static void legacy_stream_between_streams() {
  streams s;
  int *p = device(), *q = managed();
  fill<<<1, count, 0, s.a>>>(p, 1);
  increase<<<1, count>>>(q, p);
  increase<<<1, count, 0, s.b>>>(p, q);
  cudaMemcpy(q, p, bytes, cudaMemcpyDefault);
  expect(sum(q), 3 * count);
}
static void queries() {
  streams s;
  int* p = managed();
  cudaEvent_t filled;
  cudaEventCreate(&filled);
  fill<<<1, count, 0, s.a>>>(p, 1);
  cudaEventRecord(filled, s.a);
  while (cudaEventQuery(filled) != cudaSuccess) {
  }
  expect(sum(p), count);
  fill<<<1, count, 0, s.a>>>(p, 2);
  while (cudaStreamQuery(s.a) != cudaSuccess) {
  }
  expect(sum(p), 2 * count);
}
static void copies() {
  streams s;
  int *p = device(), *h = pinned(), pageable[count];
  for (int i = 0; i < count; ++i) h[i] = pageable[i] = i;
  cudaMemcpyAsync(p, pageable, bytes, cudaMemcpyHostToDevice, s.a);
  pageable[0] = 100;  // the call took a snapshot
  cudaMemcpyAsync(h, p, bytes, cudaMemcpyDeviceToHost, s.a);
  cudaStreamSynchronize(s.a);
  h[1] = 0;
  cudaMemcpy(pageable, p, bytes, cudaMemcpyDeviceToHost);
  expect(sum(pageable), count * (count - 1) / 2);
}
static void host_function() {
  streams s;
  int* p = managed();
  static int seen = 0;
  fill<<<1, count, 0, s.a>>>(p, 1);
  cudaLaunchHostFunc(s.a, [](void* q) { seen = sum(static_cast<int*>(q)); }, p);
  fill<<<1, count, 0, s.a>>>(p, 2);
  cudaStreamSynchronize(s.a);
  expect(seen, count);
}
static void own_memory_of_blocks() {
  streams s;
  int *p = device(), *q = device();
  cudaMemset(p, 0, bytes);
  cudaMemset(q, 0, bytes);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; ++i) {
    reverse<<<1, count, 0, s.a>>>(p);
    reverse<<<1, count, 0, s.free>>>(q);
  }
  cudaDeviceSynchronize();
}
static void graph() {
  streams s;
  int *p = device(), *q = device(), *r = managed();
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal);
  fill<<<1, count, 0, s.a>>>(p, 1);
  cudaEventRecord(fork, s.a);
  cudaStreamWaitEvent(s.b, fork, 0);
  increase<<<1, count, 0, s.b>>>(q, p);
  cudaEventRecord(join, s.b);
  cudaStreamWaitEvent(s.a, join, 0);
  increase<<<1, count, 0, s.a>>>(r, q);
  cudaStreamEndCapture(s.a, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, s.free);
  cudaStreamSynchronize(s.free);
  expect(sum(r), 3 * count);
}
__global__ void again(cudaGraphConditionalHandle handle, const int* p) {
  cudaGraphSetConditional(handle, p[0] < 5);
}
// p = 1; while (p < 5) p = p + 1; q = p + 1
static void conditional_graph() {
  streams s;
  int *p = device(), *q = managed();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphConditionalHandle handle;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
  auto add = [](cudaGraph_t to, cudaGraphNode_t after, void* function, void** arguments,
                int threads) {
    cudaKernelNodeParams k{};
    k.func = function;
    k.gridDim = dim3(1);
    k.blockDim = dim3(threads);
    k.kernelParams = arguments;
    cudaGraphNode_t node;
    if (cudaGraphAddKernelNode(&node, to, &after, after ? 1 : 0, &k) != cudaSuccess) std::abort();
    return node;
  };
  int one = 1;
  void *fill_arguments[] = {&p, &one}, *step[] = {&p, &p}, *look[] = {&handle, &p},
       *last[] = {&q, &p};
  const cudaGraphNode_t first =
      add(graph, nullptr, reinterpret_cast<void*>(&fill), fill_arguments, count);
  cudaGraphNodeParams loop{};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = handle;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node;
  if (cudaGraphAddNode(&node, graph, &first, nullptr, 1, &loop) != cudaSuccess) std::abort();
  const cudaGraph_t body = loop.conditional.phGraph_out[0];
  const cudaGraphNode_t increased =
      add(body, nullptr, reinterpret_cast<void*>(&increase), step, count);
  add(body, increased, reinterpret_cast<void*>(&again), look, 1);
  add(graph, node, reinterpret_cast<void*>(&increase), last, count);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, s.free);
  cudaStreamSynchronize(s.free);
  expect(sum(q), 6 * count);
}
static void two_host_threads() {
  int* p = device();
  std::thread([&] {
    fill<<<1, count>>>(p, 1);
    cudaStreamSynchronize(nullptr);
  }).join();
  std::thread([&] {
    increase<<<1, count>>>(p, p);
    cudaDeviceSynchronize();
    cudaFree(p);
  }).join();
  std::thread([] {
    fill<<<1, count>>>(device(), 1);
    cudaDeviceSynchronize();
  }).join();
}
static void memory_of_pools() {
  streams s;
  for (int i = 0; i < 8; ++i) {
    void* p = nullptr;
    const cudaStream_t stream = i % 2 ? s.a : s.free;
    cudaMallocAsync(&p, bytes, stream);
    fill<<<1, count, 0, stream>>>(static_cast<int*>(p), i);
    cudaFreeAsync(p, stream);
    cudaStreamSynchronize(stream);
  }
}

static void functions_that_are_called() {
  streams s;
  for (int i = 0; i < 8; ++i) {
    place<<<1, count, 0, s.a>>>(device());
    place<<<1, count, 0, s.free>>>(device());
    cudaDeviceSynchronize();
  }
}

struct image {
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  image() {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaResourceDesc resource{};
    if (cudaMallocArray(&resource.res.array.array, &format, count, 0, cudaArraySurfaceLoadStore) !=
        cudaSuccess)
      std::abort();
    const cudaTextureDesc how{};
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
  }
};
static void race_texture_and_surface_in_two_streams() {
  streams s;
  image i;
  int* out = device();
  write_surface<<<1, count, 0, s.a>>>(i.surface, 1);
  read_texture<<<1, count, 0, s.free>>>(out, i.texture);
  cudaDeviceSynchronize();
}
static void texture_after_surface() {
  streams s;
  image i;
  int* out = managed();
  for (int round = 0; round < 4; ++round) {
    write_surface<<<1, count, 0, s.a>>>(i.surface, round);
    read_texture<<<1, count, 0, s.a>>>(out, i.texture);
    cudaDeviceSynchronize();
    expect(sum(out), round * count);
  }
}

#define CASE(name) {#name, name}
int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> cases = {CASE(race_host_reads_without_waiting),
                                                   CASE(race_host_reads_after_the_wrong_event),
                                                   CASE(race_two_streams),
                                                   CASE(race_default_and_non_blocking_stream),
                                                   CASE(race_source_is_changed_during_a_copy),
                                                   CASE(race_copy_and_kernel_in_two_streams),
                                                   CASE(race_host_function_and_host),
                                                   CASE(race_memset_of_what_a_kernel_reads),
                                                   CASE(one_stream),
                                                   CASE(event_between_streams),
                                                   CASE(legacy_stream_between_streams),
                                                   CASE(queries),
                                                   CASE(copies),
                                                   CASE(host_function),
                                                   CASE(own_memory_of_blocks),
                                                   CASE(graph),
                                                   CASE(conditional_graph),
                                                   CASE(two_host_threads),
                                                   CASE(memory_of_pools),
                                                   CASE(functions_that_are_called),
                                                   CASE(race_texture_and_surface_in_two_streams),
                                                   CASE(texture_after_surface)};
  if (argc < 2) {
    for (const auto& [name, run] : cases) std::printf("%s\n", name.c_str());
    return 0;
  }
  cases.at(argv[1])();
  return 0;
}
