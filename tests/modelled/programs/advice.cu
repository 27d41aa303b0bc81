// Programs with something to change, and the same with the change that explain asks for
// ("applied").
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

__global__ void touch(float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1;
}
__global__ void tiny(float* a) { a[threadIdx.x] += 1; }

constexpr int turns = 32, part = 1 << 16;

// Each turn copies a part of its own to the device and waits; applied: waits behind the loop.
void parts_in(bool applied) {
  float *host, *device;
  cudaMallocHost(&host, turns * part * sizeof(float));
  cudaMalloc(&device, part * sizeof(float));
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  touch<<<part / 256, 256, 0, s>>>(device, part);
  cudaStreamSynchronize(s);
  for (int k = 0; k < turns; ++k) {
    cudaMemcpyAsync(device, host + k * part, part * sizeof(float), cudaMemcpyHostToDevice, s);
    touch<<<part / 256, 256, 0, s>>>(device, part);
    if (!applied || k + 1 == turns) cudaStreamSynchronize(s);
  }
}

// Each turn has results of its own; applied: waited for one turn later.
void parts_out(bool applied) {
  float *host, *device;
  cudaMallocHost(&host, turns * part * sizeof(float));
  cudaMalloc(&device, part * sizeof(float));
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaEvent_t done[2];
  for (cudaEvent_t& e : done) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  touch<<<part / 256, 256, 0, s>>>(device, part);
  cudaStreamSynchronize(s);
  for (int k = 0; k < turns; ++k) {
    touch<<<part / 256, 256, 0, s>>>(device, part);
    cudaMemcpyAsync(host + k * part, device, part * sizeof(float), cudaMemcpyDeviceToHost, s);
    if (applied) cudaEventRecord(done[k % 2], s);
    if (applied && k > 0 && k + 1 < turns) cudaEventSynchronize(done[(k + 1) % 2]);
    if (!applied || k + 1 == turns) cudaStreamSynchronize(s);
  }
}

// Kernels and a wait; `polls`: the host asks until they are done.
void kernels(bool applied, bool polls) {
  float* device;
  cudaMalloc(&device, part * sizeof(float));
  cudaStream_t s;
  cudaStreamCreate(&s);
  tiny<<<1, 32, 0, s>>>(device);
  cudaStreamSynchronize(s);
  for (int k = 0; k < turns; ++k) {
    for (int i = 0; i < 3; ++i) touch<<<part / 256, 256, 0, s>>>(device, part);
    if (applied && k + 1 < turns) continue;
    while (polls && cudaStreamQuery(s) == cudaErrorNotReady) {
    }
    if (!polls) cudaStreamSynchronize(s);
  }
}

// Short copies and kernels again and again; applied: a graph.
void sequence(bool applied, int times, int length, bool copies) {
  float *host, *device;
  cudaMallocHost(&host, part * sizeof(float));
  cudaMalloc(&device, part * sizeof(float));
  cudaStream_t s;
  cudaStreamCreate(&s);
  tiny<<<1, 32, 0, s>>>(device);
  cudaStreamSynchronize(s);
  const auto body = [&] {
    if (copies) cudaMemcpyAsync(device, host, 1024, cudaMemcpyHostToDevice, s);
    for (int i = 0; i < length; ++i) tiny<<<1, 32, 0, s>>>(device);
    if (copies) cudaMemcpyAsync(host + 1024, device, 1024, cudaMemcpyDeviceToHost, s);
  };
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  if (applied) {
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    body();
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
  }
  for (int k = 0; k < times; ++k) {
    if (applied)
      cudaGraphLaunch(exec, s);
    else
      body();
  }
  cudaStreamSynchronize(s);
}

// Several sequences, one behind the other; applied: a graph for each, of which only the first takes
// long to make.
void sequences(bool applied, int times, int length) {
  constexpr int kinds = 3;
  float* device;
  cudaMalloc(&device, part * sizeof(float));
  cudaStream_t s;
  cudaStreamCreate(&s);
  tiny<<<1, 32, 0, s>>>(device);
  cudaStreamSynchronize(s);
  for (int kind = 0; kind < kinds; ++kind) {
    const auto body = [&] {
      for (int i = 0; i < length + kind; ++i) tiny<<<1 + kind, 32, 0, s>>>(device);
    };
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    if (applied) {
      cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
      body();
      cudaStreamEndCapture(s, &graph);
      cudaGraphInstantiate(&exec, graph, 0);
    }
    for (int k = 0; k < times; ++k) {
      if (applied)
        cudaGraphLaunch(exec, s);
      else
        body();
    }
    cudaStreamSynchronize(s);
  }
}

// Short kernels, for each stream in turn; applied: a graph that has a branch for each.
void streams_in_turn(bool applied, int times, int length) {
  constexpr int streams = 3;
  float* device[streams];
  cudaStream_t s[streams];
  cudaEvent_t fork, done[streams];
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  for (int i = 0; i < streams; ++i) {
    cudaMalloc(&device[i], part * sizeof(float));
    cudaStreamCreate(&s[i]);
    cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
  }
  tiny<<<1, 32, 0, s[0]>>>(device[0]);
  cudaStreamSynchronize(s[0]);
  const auto body = [&] {
    for (int k = 0; k < length; ++k)
      for (int i = 0; i < streams; ++i) tiny<<<1, 32, 0, s[i]>>>(device[i]);
  };
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  if (applied) {
    cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, s[0]);
    for (int i = 1; i < streams; ++i) cudaStreamWaitEvent(s[i], fork, 0);
    body();
    for (int i = 1; i < streams; ++i) {
      cudaEventRecord(done[i], s[i]);
      cudaStreamWaitEvent(s[0], done[i], 0);
    }
    cudaStreamEndCapture(s[0], &graph);
    cudaGraphInstantiate(&exec, graph, 0);
  }
  for (int k = 0; k < times; ++k) {
    if (applied)
      cudaGraphLaunch(exec, s[0]);
    else
      body();
  }
  cudaDeviceSynchronize();
}

// A synchronous copy behind each kernel; applied: asynchronous, in the kernel's stream.
void copies_back(bool applied) {
  constexpr int streams = 4, n = 1 << 20;
  cudaStream_t s[streams];
  float *device[streams], *host[streams];
  for (int i = 0; i < streams; ++i) {
    cudaStreamCreate(&s[i]);
    cudaMalloc(&device[i], n * sizeof(float));
    cudaMallocHost(&host[i], n * sizeof(float));
  }
  for (int k = 0; k < 8; ++k) {
    const int i = k % streams;
    for (int l = 0; l < 4; ++l) touch<<<n / 256, 256, 0, s[i]>>>(device[i], n);
    if (applied)
      cudaMemcpyAsync(host[i], device[i], n * sizeof(float), cudaMemcpyDeviceToHost, s[i]);
    else
      cudaMemcpy(host[i], device[i], n * sizeof(float), cudaMemcpyDeviceToHost);
  }
  cudaDeviceSynchronize();
}

// The host fills the buffer of each turn and reads the results of the one that had it before.
void pipeline(int buffers) {
  constexpr int most = 2;
  float *in[most], *out[most], *device[most];
  cudaStream_t s[most];
  cudaEvent_t done[most];
  for (int i = 0; i < buffers; ++i) {
    cudaMallocHost(&in[i], part * sizeof(float));
    cudaMallocHost(&out[i], part * sizeof(float));
    cudaMalloc(&device[i], part * sizeof(float));
    cudaStreamCreate(&s[i]);
    cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
  }
  double sum = 0;
  for (int k = 0; k < turns; ++k) {
    const int i = k % buffers;
    if (k >= buffers) {
      cudaEventSynchronize(done[i]);
      sum += out[i][0];
    }
    in[i][0] = static_cast<float>(k);
    cudaMemcpyAsync(device[i], in[i], part * sizeof(float), cudaMemcpyHostToDevice, s[i]);
    touch<<<part / 256, 256, 0, s[i]>>>(device[i], part);
    cudaMemcpyAsync(out[i], device[i], part * sizeof(float), cudaMemcpyDeviceToHost, s[i]);
    cudaEventRecord(done[i], s[i]);
  }
  cudaDeviceSynchronize();
  std::printf("%.0f\n", sum);
}

// The results of each turn are sent back on a stream of their own, for whose end the next turn
// waits; applied: it does not. With one buffer for all turns it has to.
void send_back(bool applied, int buffers) {
  constexpr int parts = 8, n = 1 << 20;
  float *host, *device;
  cudaMallocHost(&host, parts * n * sizeof(float));
  float* own[parts];
  for (int k = 0; k < parts; ++k) {
    if (k < buffers) cudaMalloc(&device, n * sizeof(float));
    own[k] = device;
  }
  cudaStream_t works, sends;
  cudaStreamCreateWithFlags(&works, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&sends, cudaStreamNonBlocking);
  cudaEvent_t done, sent;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&sent, cudaEventDisableTiming);
  touch<<<n / 256, 256, 0, works>>>(own[0], n);
  cudaStreamSynchronize(works);
  for (int k = 0; k < parts; ++k) {
    for (int i = 0; i < 40; ++i) touch<<<n / 256, 256, 0, works>>>(own[k], n);
    cudaEventRecord(done, works);
    cudaStreamWaitEvent(sends, done, 0);
    cudaMemcpyAsync(host + k * n, own[k], n * sizeof(float), cudaMemcpyDeviceToHost, sends);
    if (applied) continue;
    cudaEventRecord(sent, sends);
    cudaStreamWaitEvent(works, sent, 0);
  }
  cudaDeviceSynchronize();
}

__global__ void compute(float* out, int turns) {
  float x = threadIdx.x, y = 1, z = 2, w = 3;
  for (int i = 0; i < turns; ++i) {
    x = x * 0.999f + 0.5f;
    y = y * 0.999f + 0.5f;
    z = z * 0.999f + 0.5f;
    w = w * 0.999f + 0.5f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}

// Kernels that have nothing to do with each other, in one stream; applied: in four.
void independent(bool applied, int blocks) {
  float* device[12];
  for (float*& one : device) cudaMalloc(&one, part * sizeof(float) * 4);
  cudaStream_t s[4];
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  compute<<<1, 32, 0, s[0]>>>(device[0], 1);
  cudaStreamSynchronize(s[0]);
  for (int i = 0; i < 12; ++i) compute<<<blocks, 256, 0, s[applied ? i % 4 : 0]>>>(device[i], 8000);
  cudaDeviceSynchronize();
}

// The same kernels in two streams, which take equally long; applied: in eight.
void equal_streams(bool applied) {
  float* device[8];
  for (float*& one : device) cudaMalloc(&one, part * sizeof(float));
  cudaStream_t s[8];
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  compute<<<1, 32, 0, s[0]>>>(device[0], 1);
  cudaStreamSynchronize(s[0]);
  for (int i = 0; i < 8; ++i) compute<<<8, 128, 0, s[applied ? i : i % 2]>>>(device[i], 8000);
  cudaDeviceSynchronize();
}

// A long copy in pieces, and a short one that a kernel waits for; applied: that one first.
void pieces(bool applied) {
  constexpr int count = 16, piece = 1 << 20;
  float *host, *device, *few, *few_on_host;
  cudaMallocHost(&host, count * piece * sizeof(float));
  cudaMalloc(&device, count * piece * sizeof(float));
  cudaMallocHost(&few_on_host, part * sizeof(float));
  cudaMalloc(&few, part * sizeof(float));
  cudaStream_t s[2];
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  compute<<<1, 32, 0, s[1]>>>(few, 1);
  cudaStreamSynchronize(s[1]);
  const auto little = [&] {
    cudaMemcpyAsync(few, few_on_host, part * sizeof(float), cudaMemcpyHostToDevice, s[1]);
    compute<<<8, 128, 0, s[1]>>>(few, 40000);
  };
  if (applied) little();
  for (int i = 0; i < count; ++i)
    cudaMemcpyAsync(device + i * piece, host + i * piece, piece * sizeof(float),
                    cudaMemcpyHostToDevice, s[0]);
  if (!applied) little();
  cudaDeviceSynchronize();
}

__global__ void chain(float* a, int turns) {
  float& mine = a[blockIdx.x * blockDim.x + threadIdx.x];
  float x = mine;
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  mine = x;
}

// Chunks in four streams in turn, with memory of their own, that keep the multiprocessors busy; or
// all in one.
void chunks_in_turn(bool one_stream, int chunks, int iterations) {
  constexpr int blocks = 512, threads = 256;
  float *host, *device;
  cudaMallocHost(&host, blocks * threads * sizeof(float));
  cudaMalloc(&device, chunks * blocks * threads * sizeof(float));
  cudaStream_t s[4];
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  chain<<<1, 32, 0, s[0]>>>(device, 1);
  cudaDeviceSynchronize();
  for (int i = 0; i < chunks; ++i) {
    const cudaStream_t in = s[one_stream ? 0 : i % 4];
    float* chunk = device + i * blocks * threads;
    cudaMemcpyAsync(chunk, host, blocks * threads * sizeof(float), cudaMemcpyHostToDevice, in);
    chain<<<blocks, threads, 0, in>>>(chunk, iterations);
  }
  cudaDeviceSynchronize();
}

// Kernels in two streams with parts of one allocation, and a wait in each turn; applied: behind
// all.
void slices(bool applied) {
  float* device;
  cudaMalloc(&device, 2 * part * sizeof(float));
  cudaStream_t s[2];
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  compute<<<1, 32, 0, s[0]>>>(device, 1);
  cudaDeviceSynchronize();
  for (int k = 0; k < turns; ++k) {
    for (int i = 0; i < 2; ++i)
      compute<<<4, 64, 0, s[i]>>>(device + i * part, i == 0 ? 6000 : 4000);
    if (!applied) cudaDeviceSynchronize();
  }
  cudaDeviceSynchronize();
}

// One stream brings parts, the other uses them, and waits for all of them; applied: for each.
void brought(bool applied) {
  constexpr int parts = 6, n = 1 << 20;
  float *host, *device;
  cudaMallocHost(&host, parts * n * sizeof(float));
  cudaMalloc(&device, parts * n * sizeof(float));
  cudaStream_t brings, uses;
  cudaStreamCreateWithFlags(&brings, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&uses, cudaStreamNonBlocking);
  cudaEvent_t here[parts];
  for (cudaEvent_t& one : here) cudaEventCreateWithFlags(&one, cudaEventDisableTiming);
  compute<<<1, 32, 0, uses>>>(device, 1);
  cudaDeviceSynchronize();
  for (int k = 0; k < parts; ++k) {
    cudaMemcpyAsync(device + k * n, host + k * n, n * sizeof(float), cudaMemcpyHostToDevice,
                    brings);
    if (applied || k + 1 == parts) cudaEventRecord(here[k], brings);
  }
  for (int k = 0; k < parts; ++k) {
    cudaStreamWaitEvent(uses, here[applied ? k : parts - 1], 0);
    compute<<<8, 128, 0, uses>>>(device + k * n, 8000);
  }
  cudaDeviceSynchronize();
}

// A graph is captured in each turn and made executable; applied: it updates the first one.
void graph_anew(bool applied) {
  float* device;
  cudaMalloc(&device, part * sizeof(float));
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  compute<<<1, 32, 0, s>>>(device, 1);
  cudaStreamSynchronize(s);
  cudaGraphExec_t exec = nullptr;
  for (int k = 0; k < 20; ++k) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < 4; ++i) compute<<<4, 64, 0, s>>>(device, 100 + k);
    cudaStreamEndCapture(s, &graph);
    if (k == 0 || !applied) {
      if (k > 0) cudaGraphExecDestroy(exec);
      cudaGraphInstantiate(&exec, graph, 0);
    } else {
      cudaGraphExecUpdateResultInfo how;
      cudaGraphExecUpdate(exec, graph, &how);
    }
    cudaGraphLaunch(exec, s);
    cudaGraphDestroy(graph);
  }
  cudaStreamSynchronize(s);
}

// Pageable memory, in parts or the same each time, to the device and back; applied: pinned where it
// is. Synchronous copies become asynchronous ones then.
void pageable(bool applied, int parts, bool same, bool synchronous) {
  constexpr std::size_t n = 1 << 18, bytes = n * sizeof(float);
  const std::size_t whole = same ? n : parts * n;
  float* in = static_cast<float*>(std::calloc(whole, sizeof(float)));
  float* out = static_cast<float*>(std::calloc(whole, sizeof(float)));
  float* device;
  cudaMalloc(&device, bytes);
  cudaStream_t s;
  cudaStreamCreate(&s);
  compute<<<1, 32, 0, s>>>(device, 1);
  cudaStreamSynchronize(s);
  for (float* memory : {in, out})
    if (applied) cudaHostRegister(memory, whole * sizeof(float), 0);
  for (int k = 0; k < parts; ++k) {
    const std::size_t at = same ? 0 : k * n;
    if (synchronous && !applied)
      cudaMemcpy(device, in + at, bytes, cudaMemcpyHostToDevice);
    else
      cudaMemcpyAsync(device, in + at, bytes, cudaMemcpyHostToDevice, s);
    compute<<<8, 256, 0, s>>>(device, 4000);
    if (synchronous && !applied)
      cudaMemcpy(out + at, device, bytes, cudaMemcpyDeviceToHost);
    else
      cudaMemcpyAsync(out + at, device, bytes, cudaMemcpyDeviceToHost, s);
  }
  cudaStreamSynchronize(s);
}

__global__ void add(float* sum, const float* a, const float* b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = a[i] + b[i];
}
__global__ void advance(float* to, const float* from, int turns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = from[i];
  for (int k = 0; k < turns; ++k) x = x * 0.999f + 0.5f;
  to[i] = x;
}

// A stream waits for two results, of which it needs the first at once; applied: for each by itself.
void two_results(bool applied, int times, int length) {
  float *x, *a, *b, *sum;
  for (float** memory : {&x, &a, &b, &sum}) cudaMalloc(memory, 8 * 256 * sizeof(float));
  cudaStream_t s, t;
  for (cudaStream_t* one : {&s, &t}) cudaStreamCreateWithFlags(one, cudaStreamNonBlocking);
  cudaEvent_t first, both, joined;
  for (cudaEvent_t* one : {&first, &both, &joined})
    cudaEventCreateWithFlags(one, cudaEventDisableTiming);
  advance<<<1, 32, 0, s>>>(a, x, 1);
  add<<<1, 32, 0, s>>>(sum, a, b);
  cudaDeviceSynchronize();
  for (int k = 0; k < times; ++k) {
    advance<<<8, 256, 0, s>>>(x, sum, length);
    if (applied) cudaEventRecord(first, s);
    advance<<<8, 256, 0, s>>>(a, x, length);
    cudaEventRecord(both, s);
    cudaStreamWaitEvent(t, applied ? first : both, 0);
    advance<<<8, 256, 0, t>>>(b, x, length);
    if (applied) cudaStreamWaitEvent(t, both, 0);
    add<<<8, 256, 0, t>>>(sum, a, b);
    cudaEventRecord(joined, t);
    cudaStreamWaitEvent(s, joined, 0);
  }
  cudaDeviceSynchronize();
}

// Threads of a pool, each of which waits for its stream in every turn; applied: at its end.
void pool(bool applied, int threads, int jobs) {
  std::atomic<int> next{0};
  const auto work = [&] {
    float* device;
    cudaMalloc(&device, 8 * 256 * sizeof(float));
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    while (next++ < jobs) {
      for (int i = 0; i < 2; ++i) compute<<<8, 256, 0, s>>>(device, 1000);
      if (!applied) cudaStreamSynchronize(s);
    }
    cudaStreamSynchronize(s);
  };
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work);
  for (std::thread& one : all) one.join();
}

// Threads with streams of their own and one lock, which they hold until their work is done;
// applied: only while they issue it. `staged`: all of them fill the same memory of the host, with
// the lock.
void locked(bool applied, int threads, bool staged) {
  std::mutex lock;
  float* staging;
  cudaMallocHost(&staging, part * sizeof(float));
  const auto work = [&] {
    float* device;
    cudaMalloc(&device, part * sizeof(float));
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    for (int k = 0; k < 6; ++k) {
      std::unique_lock held(lock);
      if (staged) cudaMemcpyAsync(device, staging, part * sizeof(float), cudaMemcpyHostToDevice, s);
      compute<<<8, 256, 0, s>>>(device, 20000);
      if (applied) held.unlock();
      cudaStreamSynchronize(s);
    }
  };
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work);
  for (std::thread& one : all) one.join();
}

// Three kernels for each stream, which find room beside each other for a part of their blocks;
// applied: one of each stream in turn.
void in_order(bool applied, int streams, int blocks) {
  constexpr int most = 8, kernels = 3;
  float* device[most];
  cudaStream_t s[most];
  for (int i = 0; i < streams; ++i) {
    cudaMalloc(&device[i], blocks * 256 * sizeof(float));
    cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
  }
  chain<<<1, 32, 0, s[0]>>>(device[0], 1);
  cudaDeviceSynchronize();
  for (int k = 0; k < streams * kernels; ++k) {
    const int i = applied ? k % streams : k / kernels;
    chain<<<blocks, 256, 0, s[i]>>>(device[i], 5000);
  }
  cudaDeviceSynchronize();
}

// Copies to the device and, of other memory, to the host in one stream; applied: in two. Each
// direction is slower while the other is busy.
void both_ways(bool applied) {
  constexpr std::size_t bytes = 32 << 20;
  constexpr int copies = 6;
  char *in, *out, *first, *second;
  cudaMallocHost(&in, bytes);
  cudaMallocHost(&out, bytes);
  cudaMalloc(&first, bytes);
  cudaMalloc(&second, bytes);
  cudaStream_t s[2];
  for (cudaStream_t& each : s) cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking);
  for (int k = 0; k < copies; ++k) {
    cudaMemcpyAsync(first, in, bytes, cudaMemcpyHostToDevice, s[0]);
    cudaMemcpyAsync(out, second, bytes, cudaMemcpyDeviceToHost, s[applied ? 1 : 0]);
  }
  cudaDeviceSynchronize();
}

int main(int count, char** words) {
  const std::string what = words[1];
  const bool applied = count > 2 && words[2] == std::string("applied");
  const int times = count > 4 ? std::atoi(words[3]) : 0;
  const int length = count > 4 ? std::atoi(words[4]) : 0;
  if (what == "parts_in") parts_in(applied);
  if (what == "parts_out") parts_out(applied);
  if (what == "kernels") kernels(applied, false);
  if (what == "polled") kernels(applied, true);
  if (what == "sequence") sequence(applied, times, length, false);
  if (what == "sequences") sequences(applied, times, length);
  if (what == "copy_sequence") sequence(applied, times, length, true);
  if (what == "streams_in_turn") streams_in_turn(applied, times, length);
  if (what == "copies_back") copies_back(applied);
  if (what == "pipeline") pipeline(times);
  if (what == "send_back") send_back(applied, times);
  if (what == "chunks_in_turn") chunks_in_turn(!applied, times, length);
  if (what == "slices") slices(applied);
  if (what == "brought") brought(applied);
  if (what == "graph_anew") graph_anew(applied);
  if (what == "equal_streams") equal_streams(applied);
  if (what == "pieces") pieces(applied);
  if (what == "both_ways") both_ways(applied);
  if (what == "two_results") two_results(applied, times, length);
  if (what == "pool") pool(applied, times, length);
  if (what == "locked") locked(applied, times, length == 1);
  if (what == "in_order") in_order(applied, times, length);
  if (what == "pageable") pageable(applied, times, length == 1, false);
  if (what == "synchronous") pageable(applied, times, false, true);
  if (what == "independent") independent(applied, std::atoi(words[3]));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
