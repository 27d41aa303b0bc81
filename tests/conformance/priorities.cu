// Priorities at block boundaries. Blocks that fill a multiprocessor wait until the host lets them end,
// one at a time; what begins in the freed place is what the hardware put first. One section a process.
#include <cstring>
#include <unistd.h>

#include "probe.h"

// begun[n] is the tag of the n-th block that began; it ends when `released` is above n.
struct board {
  int count;
  int released;
  int begun[8000];
};
static __global__ void block_kernel(volatile board* b, int tag) {
  const int n = atomicAdd((int*)&b->count, 1);
  b->begun[n] = tag;
  __threadfence_system();
  while (b->released <= n) {
  }
}
static __global__ void small_kernel(volatile int* flag, int* count) {
  atomicAdd(count, 1);
  while (*flag == 0) {
  }
}
static board* b;
static int capacity, shared_bytes, least, greatest;
static cudaStream_t level(int priority) {
  cudaStream_t q;
  MUST(cudaStreamCreateWithPriority(&q, cudaStreamNonBlocking, priority));
  return q;
}
static volatile int& count() { return b->count; }
static void launch(cudaStream_t q, int blocks, int tag) { block_kernel<<<blocks, 1, shared_bytes, q>>>(b, tag); }
static cudaError_t launch_with(cudaStream_t q, int blocks, int tag, int priority) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(1);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = q;
  cudaLaunchAttribute a;
  a.id = cudaLaunchAttributePriority;
  a.val.priority = priority;
  config.attrs = &a;
  config.numAttrs = 1;
  volatile board* at = b;
  void* args[] = {&at, &tag};
  return cudaLaunchKernelExC(&config, (const void*)block_kernel, args);
}
static void fresh() {
  MUST(cudaDeviceSynchronize());
  std::memset(b, 0, sizeof *b);
}
// Fills every multiprocessor with blocks of tag 0, and leaves `more` waiting.
static void fill(cudaStream_t q, int more) {
  fresh();
  launch(q, capacity + more, 0);
  if (!wait_until([&] { return count() >= capacity; }, 2000)) say("fill", "incomplete");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}
// Lets blocks end one at a time, and tells what began in each place, by tag.
static std::string order(int steps) {
  std::string out;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // what was launched has arrived
  for (int i = 0; i < steps; i++) {
    const int before = count();
    *(volatile int*)&b->released = i + 1;
    const bool more = wait_until([&] { return count() > before; }, 300);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    out += (i ? " " : "") + (more ? std::to_string(((volatile int*)b->begun)[before]) : std::string("-"));
  }
  *(volatile int*)&b->released = 1 << 30;
  MUST(cudaDeviceSynchronize());
  return out;
}
static std::string num(int v) { return std::to_string(v); }

static void blocks() {
  say("capacity.is.multiprocessors", capacity);
  const cudaStream_t low = level(0), low2 = level(0);
  fill(low, 3);
  launch(low2, 1, 1);
  say("equal.small.behind.full", order(5));
  fill(low, 3);
  launch(low2, 3, 1);
  say("equal.large.behind.full", order(7));
  for (int p = -1; p >= greatest; p--) {
    fill(low, 3);
    launch(level(p), 2, -p);
    say("overtakes.0.by." + num(p), order(6));
  }
  for (int p = -1; p >= greatest; p--) {
    fill(level(p + 1), 2);
    launch(level(p), 1, 9);
    say("overtakes." + num(p + 1) + ".by." + num(p), order(4));
    fill(level(p), 2);
    launch(level(p + 1), 1, 9);
    say("overtakes." + num(p) + ".by." + num(p + 1), order(4));
  }
  fill(low, 2);
  for (int p = 0; p >= greatest; p--) launch(level(p), 1, 10 - p);
  say("six.up", order(9));
}

static void launches() {
  const cudaStream_t low = level(0), low2 = level(0), high = level(greatest), mid = level(-3);
  for (int p : {0, -1, -5, -9, 3}) {
    fill(low, 3);
    const cudaError_t r = launch_with(low2, 1, 1, p);
    cudaGetLastError();
    say("launch.attr." + num(p) + ".in.0", r);
    say("launch.attr." + num(p) + ".in.0.order", order(5));
  }
  for (int p : {0, -5}) {
    fill(mid, 3);
    const cudaError_t r = launch_with(high, 1, 1, p);
    cudaGetLastError();
    say("launch.attr." + num(p) + ".in.-5.order", std::string(cudaGetErrorName(r)) + " " + order(5));
  }
  // Captured: the node's priority, and what it does.
  auto graph_of = [&](cudaStream_t q, int attr, cudaGraphNode_t* node) {
    cudaGraph_t graph;
    MUST(cudaStreamBeginCapture(q, cudaStreamCaptureModeRelaxed));
    if (attr == 99) launch(q, 1, 1); else MUST(launch_with(q, 1, 1, attr));
    MUST(cudaStreamEndCapture(q, &graph));
    size_t n = 1;
    MUST(cudaGraphGetNodes(graph, node, &n));
    return graph;
  };
  auto priority_of = [&](cudaGraphNode_t node) {
    cudaLaunchAttributeValue v = {};
    const cudaError_t r = cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &v);
    cudaGetLastError();
    return std::string(cudaGetErrorName(r)) + " " + num(v.priority);
  };
  struct { const char* name; cudaStream_t from; int attr; } made[] = {{"plain0", low2, 99}, {"plain-5", high, 99}, {"attr-5.in.0", low2, -5}, {"attr0.in.-5", high, 0}, {"attr-9.in.0", low2, -9}};
  for (auto& m : made) {
    cudaGraphNode_t node;
    cudaGraph_t graph = graph_of(m.from, m.attr, &node);
    say(std::string("graph.") + m.name + ".node", priority_of(node));
    for (unsigned flags : {0u, (unsigned)cudaGraphInstantiateFlagUseNodePriority}) {
      cudaGraphExec_t exec;
      MUST(cudaGraphInstantiate(&exec, graph, flags));
      for (int p : {0, -5}) {
        fill(level(-2), 3);
        MUST(cudaGraphLaunch(exec, p == 0 ? low2 : high));
        say(std::string("graph.") + m.name + (flags ? ".own" : ".plain") + ".launched.in." + num(p), order(5));
      }
      MUST(cudaGraphExecDestroy(exec));
    }
  }
  // Set by hand.
  {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    MUST(cudaGraphCreate(&graph, 0));
    volatile board* at = b;
    int tag = 1;
    void* args[] = {&at, &tag};
    cudaKernelNodeParams k = {};
    k.func = (void*)block_kernel;
    k.gridDim = k.blockDim = dim3(1);
    k.sharedMemBytes = shared_bytes;
    k.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &k));
    say("graph.built.node", priority_of(node));
    for (int p : {-4, 0, 7, -9}) {
      cudaLaunchAttributeValue v = {};
      v.priority = p;
      say("graph.set." + num(p), cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &v));
      cudaGetLastError();
      say("graph.set." + num(p) + ".node", priority_of(node));
      for (unsigned flags : {0u, (unsigned)cudaGraphInstantiateFlagUseNodePriority}) {
        cudaGraphExec_t exec;
        MUST(cudaGraphInstantiate(&exec, graph, flags));
        fill(level(-2), 3);
        MUST(cudaGraphLaunch(exec, low2));
        say("graph.set." + num(p) + (flags ? ".own" : ".plain"), order(5));
        MUST(cudaGraphExecDestroy(exec));
      }
    }
  }
  // A stream's attribute.
  {
    const cudaStream_t q = level(0);
    cudaLaunchAttributeValue v = {};
    say("stream.attr.get", cudaStreamGetAttribute(high, cudaLaunchAttributePriority, &v));
    say("stream.attr.value", v.priority);
    v.priority = -5;
    say("stream.attr.set", cudaStreamSetAttribute(q, cudaLaunchAttributePriority, &v));
    cudaGetLastError();
    int got = 9;
    MUST(cudaStreamGetPriority(q, &got));
    say("stream.attr.priority.after", got);
    fill(low, 3);
    launch(q, 1, 1);
    say("stream.attr.order", order(5));
    const cudaStream_t r = level(0);
    say("stream.attr.copy", cudaStreamCopyAttributes(r, high));
    MUST(cudaStreamGetPriority(r, &got));
    say("stream.attr.copy.after", got);
  }
}

static void residents() {
  int *flag, *counter;
  MUST(cudaMallocHost((void**)&flag, 64));
  MUST(cudaMallocHost((void**)&counter, 64));
  *flag = *counter = 0;
  std::vector<cudaStream_t> q(160);
  for (auto& x : q) x = level(0);
  const cudaStream_t high = level(greatest);
  small_kernel<<<1, 1, 0, high>>>(counter + 1, counter + 2);  // loaded
  counter[1] = 1;
  MUST(cudaDeviceSynchronize());
  for (auto& x : q) small_kernel<<<1, 1, 0, x>>>(flag, counter);
  wait_until([&] { return *(volatile int*)counter >= 160; }, 400);
  say("resident.low", *counter);
  counter[2] = 0;
  small_kernel<<<1, 1, 0, high>>>(flag, counter + 2);
  say("resident.high.begins", wait_until([&] { return ((volatile int*)counter)[2] == 1; }, 300));
  *(volatile int*)flag = 1;
  MUST(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  const std::string section = argc > 1 ? argv[1] : "";
  watchdog(170);
  MUST(cudaFree(0));
  cudaDeviceProp p;
  MUST(cudaGetDeviceProperties(&p, 0));
  capacity = p.multiProcessorCount;
  shared_bytes = 200 << 10;
  MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  MUST(cudaFuncSetAttribute((const void*)block_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  MUST(cudaHostAlloc((void**)&b, sizeof *b, cudaHostAllocMapped));
  std::memset(b, 0, sizeof *b);
  b->released = 1 << 30;
  launch(0, 1, 0);
  MUST(cudaDeviceSynchronize());
  if (section == "blocks") blocks();
  if (section == "launches") launches();
  if (section == "residents") residents();
  if (section != "blocks") say(section + ".end", "ok");
  std::fflush(stdout);
  _exit(0);
}
