// Loops in which several lines make the host wait, so that leaving out one of them gains little.
// several_waits steps|again|streams|helpers|textbook as_is|applied
#include <cstring>
#include <string_view>
#include <vector>

namespace {

constexpr int turns = 20, streams = 4;
constexpr std::size_t floats = 1 << 16, bytes = floats * sizeof(float);

__global__ void work(const float* in, float* out, int steps) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < steps; ++k) x = x * 0.5f + 1;
  out[i] = x;
}

__global__ void add(const float* a, const float* b, float* out, int steps) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i] + b[i];
  for (int k = 0; k < steps; ++k) x = x * 0.5f + 1;
  out[i] = x;
}

float* on_device(std::size_t size = bytes) {
  float* memory;
  cudaMalloc(&memory, size);
  return memory;
}

float* pinned(std::size_t size) {
  float* memory;
  cudaMallocHost(&memory, size);
  return memory;
}

// A wait behind everything. Each turn has its own part of the host's memory.
void steps(bool applied) {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  float *in = on_device(), *out = on_device();
  float *from = pinned(turns * bytes), *to = pinned(turns * bytes);
  cudaEvent_t done[2];
  for (cudaEvent_t& e : done) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  work<<<floats / 256, 256, 0, s>>>(in, out, 1);
  cudaDeviceSynchronize();
  for (int i = 0; i < turns; ++i) {
    cudaMemcpyAsync(in, from + i * floats, bytes, cudaMemcpyHostToDevice, s);
    if (!applied) cudaStreamSynchronize(s);
    work<<<floats / 256, 256, 0, s>>>(in, out, 2000);
    if (!applied) cudaStreamSynchronize(s);
    cudaMemcpyAsync(to + i * floats, out, bytes, cudaMemcpyDeviceToHost, s);
    if (!applied) cudaStreamSynchronize(s);
    if (applied) cudaEventRecord(done[i % 2], s);
    if (applied && i > 0) cudaEventSynchronize(done[(i + 1) % 2]);
  }
  cudaDeviceSynchronize();
}

// The same with one buffer each way, which the host uses in each turn: the wait between two kernels
// gives it nothing, the others do.
void again(bool applied) {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  float *in = on_device(), *out = on_device();
  float *from = pinned(bytes), *to = pinned(bytes);
  work<<<floats / 256, 256, 0, s>>>(in, out, 1);
  cudaDeviceSynchronize();
  for (int i = 0; i < turns; ++i) {
    std::memset(from, i, bytes);
    cudaMemcpyAsync(in, from, bytes, cudaMemcpyHostToDevice, s);
    cudaStreamSynchronize(s);
    work<<<floats / 256, 256, 0, s>>>(in, out, 500);
    if (!applied) cudaStreamSynchronize(s);
    work<<<floats / 256, 256, 0, s>>>(out, in, 500);
    if (!applied) cudaStreamSynchronize(s);
    work<<<floats / 256, 256, 0, s>>>(in, out, 500);
    cudaMemcpyAsync(to, out, bytes, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    if (to[0] < 0) break;
  }
  cudaDeviceSynchronize();
}

// A line for each stream.
void each_stream(bool applied) {
  cudaStream_t s[streams];
  float* memory[streams];
  for (int k = 0; k < streams; ++k) {
    cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
    memory[k] = on_device();
    work<<<16, 256, 0, s[k]>>>(memory[k], memory[k], 1);
  }
  cudaDeviceSynchronize();
  for (int i = 0; i < turns; ++i) {
    for (int k = 0; k < streams; ++k)
      work<<<16, 256, 0, s[k]>>>(memory[k], memory[k], 500 + 300 * k);
    if (applied && i + 1 < turns) continue;
    cudaStreamSynchronize(s[0]);
    cudaStreamSynchronize(s[1]);
    cudaStreamSynchronize(s[2]);
    cudaStreamSynchronize(s[3]);
  }
}

cudaStream_t copies;
void upload(float* to, const float* from, bool applied) {
  if (applied)
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, copies);
  else
    cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}
void download(float* to, const float* from, bool applied) {
  if (applied)
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, copies);
  else
    cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}

// Two copies by one function and one by another. Each turn has its own parts of the memory.
void helpers(bool applied) {
  cudaStreamCreate(&copies);
  float *a = on_device(), *b = on_device(), *out = on_device();
  float *x = pinned(turns * bytes), *y = pinned(turns * bytes), *z = pinned(turns * bytes);
  add<<<floats / 256, 256, 0, copies>>>(a, b, out, 1);
  cudaDeviceSynchronize();
  for (int i = 0; i < turns; ++i) {
    upload(a, x + i * floats, applied);
    upload(b, y + i * floats, applied);
    add<<<floats / 256, 256, 0, copies>>>(a, b, out, 1000);
    download(z + i * floats, out, applied);
  }
  cudaDeviceSynchronize();
}

// As in a first lesson: copy, launch, wait, copy back.
void textbook(bool applied) {
  float *in = on_device(), *out = on_device();
  std::vector<float> from(turns * floats), to(turns * floats);
  work<<<floats / 256, 256>>>(in, out, 1);
  cudaDeviceSynchronize();
  if (applied) {
    cudaHostRegister(from.data(), turns * bytes, cudaHostRegisterDefault);
    cudaHostRegister(to.data(), turns * bytes, cudaHostRegisterDefault);
  }
  for (int i = 0; i < turns; ++i) {
    if (applied) {
      cudaMemcpyAsync(in, from.data() + i * floats, bytes, cudaMemcpyHostToDevice);
      work<<<floats / 256, 256>>>(in, out, 1000);
      cudaMemcpyAsync(to.data() + i * floats, out, bytes, cudaMemcpyDeviceToHost);
    } else {
      cudaMemcpy(in, from.data() + i * floats, bytes, cudaMemcpyHostToDevice);
      work<<<floats / 256, 256>>>(in, out, 1000);
      cudaDeviceSynchronize();
      cudaMemcpy(to.data() + i * floats, out, bytes, cudaMemcpyDeviceToHost);
    }
  }
  cudaDeviceSynchronize();
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string_view what = words[1];
  const bool applied = std::string_view(words[2]) == "applied";
  if (what == "steps") steps(applied);
  if (what == "again") again(applied);
  if (what == "streams") each_stream(applied);
  if (what == "helpers") helpers(applied);
  if (what == "textbook") textbook(applied);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
