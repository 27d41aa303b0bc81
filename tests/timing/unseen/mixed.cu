// Random programs: streams of several priorities, kernels that wait, copies of pinned memory,
// events, and kernels that compute or move data. A seed decides all of a program; nothing of them
// was looked at when the model was made.
#include "measure.h"

namespace {

class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 77) {
    for (int i = 0; i < 5; ++i) below(2);
  }
  unsigned below(unsigned n) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<unsigned>((state_ * 0x2545f4914f6cdd1d) >> 33) % n;
  }

 private:
  std::uint64_t state_;
};

__global__ void multiply_add(float* data, int n, int turns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = data[i];
  for (int t = 0; t < turns; ++t) x = x * 1.0001f + 0.5f;
  data[i] = x;
}
__global__ void triad(float* a, const float* b, const float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + 2 * c[i];
}

constexpr std::size_t part = 64 * mib;
constexpr int event_count = 8;
char *device, *host;

enum class what { waits, to_device, to_host, record, wait, computes, moves };
struct operation {
  what kind;
  unsigned stream, blocks, threads, microseconds, place, turns;
  std::size_t size;
};
// What programs are made of; each has what the one before it has, and more.
enum class content { waits, copies, events, work };

operation random_operation(dice& d, content made_of, unsigned streams) {
  operation o{};
  o.stream = d.below(streams);
  const unsigned kind = d.below(10);
  if (made_of == content::waits || kind < 4) {
    o.kind = what::waits;
    o.blocks = 1u << d.below(9);
    o.threads = 32u << d.below(6);
    o.microseconds = 20 + d.below(400);
  } else if (kind < 7) {
    o.kind = d.below(2) == 0 ? what::to_device : what::to_host;
    o.size = 64 * kib << d.below(9);
    o.place = d.below(4);
  } else if (kind < 9 && made_of >= content::events) {
    o.kind = d.below(2) == 0 ? what::record : what::wait;
    o.place = d.below(event_count);
  } else if (made_of == content::work) {
    o.kind = d.below(2) == 0 ? what::computes : what::moves;
    o.size = std::size_t{1} << (16 + d.below(8));
    o.turns = 50 + d.below(2000);
    o.place = d.below(4);
  } else {
    o.kind = what::waits;
    o.blocks = 4;
    o.threads = 128;
    o.microseconds = 30 + d.below(100);
  }
  return o;
}

void enqueue(const operation& o, cudaStream_t q, const std::vector<cudaEvent_t>& events) {
  const auto n = static_cast<int>(o.size);
  const unsigned blocks = (n + 255) / 256;
  float* data = reinterpret_cast<float*>(device + (4 + o.place) * part);
  switch (o.kind) {
    case what::waits:
      wait_cycles<<<o.blocks, o.threads, 0, q>>>(o.microseconds * microsecond);
      break;
    case what::to_device:
      MUST(cudaMemcpyAsync(device + o.place * part / 2, host + o.place * part / 4, o.size,
                           cudaMemcpyHostToDevice, q));
      break;
    case what::to_host:
      MUST(cudaMemcpyAsync(host + part + o.place * part / 4, device + o.place * part / 2, o.size,
                           cudaMemcpyDeviceToHost, q));
      break;
    case what::record:
      MUST(cudaEventRecord(events[o.place], q));
      break;
    case what::wait:
      MUST(cudaStreamWaitEvent(q, events[o.place], 0));
      break;
    case what::computes:
      multiply_add<<<blocks, 256, 0, q>>>(data, n, static_cast<int>(o.turns));
      break;
    case what::moves:
      triad<<<blocks, 256, 0, q>>>(data, reinterpret_cast<float*>(device + 2 * part),
                                   reinterpret_cast<float*>(device + 3 * part), n);
      break;
  }
}

void run(const char* name, content made_of, int seed) {
  dice d(seed);
  std::vector<cudaStream_t> streams(1 + d.below(8));
  for (cudaStream_t& q : streams) {
    const int priority = d.below(4) == 0 ? -static_cast<int>(d.below(6)) : 0;
    MUST(cudaStreamCreateWithPriority(&q, cudaStreamNonBlocking, priority));
  }
  std::vector<cudaEvent_t> events(event_count);
  for (cudaEvent_t& e : events) MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  std::vector<operation> operations(6 + d.below(30));
  for (operation& o : operations)
    o = random_operation(d, made_of, static_cast<unsigned>(streams.size()));
  wall(std::string(name) + "." + std::to_string(seed), [&] {
    for (const operation& o : operations) enqueue(o, streams[o.stream], events);
  });
  for (cudaStream_t q : streams) MUST(cudaStreamDestroy(q));
  for (cudaEvent_t e : events) MUST(cudaEventDestroy(e));
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(cudaMalloc(&device, 8 * part));
  MUST(cudaMallocHost(&host, 2 * part));
  MUST(cudaMemset(device, 0, 8 * part));
  for (int seed = 1; seed <= 25; ++seed) {
    run("waits", content::waits, seed);
    run("copies", content::copies, 100 + seed);
    run("events", content::events, 200 + seed);
    run("work", content::work, 300 + seed);
  }
  return end();
}
