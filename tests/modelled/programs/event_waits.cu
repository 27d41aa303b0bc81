// Streams that wait for each other's events more than they need, and the same without that
// ("applied"). "needs": the work that is held uses what is waited for. Then "timed": the time of
// all is read; "timed_by_host": the same, with a wait of the host for everything in front of the
// last event; "timed_loosely": all streams but the first begin behind the event that is timed
// itself.
#include <cstdlib>
#include <string>
#include <vector>

__global__ void step(float* a, int turns) {
  float x = a[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  a[threadIdx.x] = x;
}
__global__ void prepare(float* a, int turns) {
  float x = a[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  a[threadIdx.x] = x;
}
__global__ void use(float* a, const float* made, int turns) {
  float x = made[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  a[threadIdx.x] += x;
}

constexpr int rounds = 6, turns = 20000, bytes = 4096;

float* memory() {
  float* a;
  cudaMalloc(&a, bytes);
  return a;
}
cudaStream_t stream() {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  return s;
}
cudaEvent_t event() {
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  return e;
}
void load(float* a) {
  step<<<1, 256>>>(a, 1);
  prepare<<<1, 256>>>(a, 1);
  use<<<1, 256>>>(a, a, 1);
  cudaDeviceSynchronize();
}

enum class timing { none, timed, by_host, loosely } how_timed = timing::none;

// The first stream's events enclose the work of all.
class interval {
 public:
  explicit interval(std::vector<cudaStream_t> streams) : streams_(streams) {
    if (how_timed == timing::none) return;
    cudaEventCreate(&start_);
    cudaEventCreate(&stop_);
    cudaEventRecord(start_, streams_[0]);
    const cudaEvent_t forked = how_timed == timing::loosely ? start_ : event();
    if (forked != start_) cudaEventRecord(forked, streams_[0]);
    for (size_t i = 1; i < streams_.size(); ++i) cudaStreamWaitEvent(streams_[i], forked, 0);
  }

  void read() {
    if (how_timed == timing::none) return;
    if (how_timed == timing::by_host) cudaDeviceSynchronize();
    for (size_t i = 1; i < streams_.size() && how_timed != timing::by_host; ++i) {
      const cudaEvent_t joined = event();
      cudaEventRecord(joined, streams_[i]);
      cudaStreamWaitEvent(streams_[0], joined, 0);
    }
    cudaEventRecord(stop_, streams_[0]);
    cudaEventSynchronize(stop_);
    float ms = 0;
    cudaEventElapsedTime(&ms, start_, stop_);
  }

 private:
  std::vector<cudaStream_t> streams_;
  cudaEvent_t start_, stop_;
};

// Each round uses what the other stream has made, and prepares something of its own before that;
// applied: it waits behind that.
void early(bool applied, bool needs) {
  float *made = memory(), *own = memory();
  const cudaStream_t makes = stream(), uses = stream();
  const cudaEvent_t done = event(), used = event();
  load(made);
  interval all({makes, uses});
  for (int i = 0; i < rounds; ++i) {
    step<<<1, 256, 0, makes>>>(made, turns);
    cudaEventRecord(done, makes);
    if (!applied) cudaStreamWaitEvent(uses, done, 0);
    prepare<<<1, 256, 0, uses>>>(needs ? made : own, turns / 2);
    if (applied) cudaStreamWaitEvent(uses, done, 0);
    use<<<1, 256, 0, uses>>>(own, made, turns / 4);
    cudaEventRecord(used, uses);
    cudaStreamWaitEvent(makes, used, 0);
  }
  all.read();
  cudaDeviceSynchronize();
}

void order(cudaStream_t first, cudaEvent_t done, cudaStream_t then) {
  cudaEventRecord(done, first);
  cudaStreamWaitEvent(then, done, 0);
}

// Each round has memory of its own, and the stream that makes it waits for the other one all the
// same, at the line where that one waits for it; applied: it does not. "needs": it is the same
// memory in all rounds.
void back(bool applied, bool needs) {
  float *made = memory(), *own = memory();
  const cudaStream_t makes = stream(), uses = stream();
  const cudaEvent_t done = event(), used = event();
  load(made);
  interval all({makes, uses});
  for (int i = 0; i < rounds; ++i) {
    if (!needs) made = memory();
    step<<<1, 256, 0, makes>>>(made, turns);
    order(makes, done, uses);
    use<<<1, 256, 0, uses>>>(own, made, turns);
    if (!applied) order(uses, used, makes);
  }
  all.read();
  cudaDeviceSynchronize();
}

// Every second round uses what the other stream has made, and each waits for that; applied: those
// that use it. "needs": each uses it.
void second(bool applied, bool needs) {
  float *made = memory(), *own = memory();
  const cudaStream_t makes = stream(), uses = stream();
  const cudaEvent_t done = event(), used = event();
  load(made);
  interval all({makes, uses});
  for (int i = 0; i < 2 * rounds; ++i) {
    const bool here = needs || i % 2 == 1;
    step<<<1, 256, 0, makes>>>(made, turns);
    if (here || !applied) order(makes, done, uses);
    use<<<1, 256, 0, uses>>>(own, here ? made : own, 2 * turns);
    if (!here) continue;
    cudaEventRecord(used, uses);
    cudaStreamWaitEvent(makes, used, 0);
  }
  all.read();
  cudaDeviceSynchronize();
}

// A stream makes something and waits for work of another one; both are waited for where only the
// first is used. Applied: the event stands for that alone. "needs": both are used.
void late(bool applied, bool needs) {
  float *made = memory(), *other = memory(), *own = memory();
  const cudaStream_t makes = stream(), works = stream(), uses = stream();
  const cudaEvent_t done = event(), worked = event(), used = event();
  load(made);
  interval all({makes, works, uses});
  for (int i = 0; i < rounds; ++i) {
    prepare<<<1, 256, 0, works>>>(other, 2 * turns);
    cudaEventRecord(worked, works);
    step<<<1, 256, 0, makes>>>(made, turns);
    if (applied) cudaEventRecord(done, makes);
    cudaStreamWaitEvent(makes, worked, 0);
    if (!applied) cudaEventRecord(done, makes);
    cudaStreamWaitEvent(uses, done, 0);
    use<<<1, 256, 0, uses>>>(own, made, turns);
    use<<<1, 256, 0, uses>>>(own, needs ? other : made, turns);
    use<<<1, 256, 0, makes>>>(made, other, turns / 4);
    cudaEventRecord(used, uses);
    cudaStreamWaitEvent(makes, used, 0);
    cudaStreamWaitEvent(works, used, 0);
  }
  all.read();
  cudaDeviceSynchronize();
}

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "", how = count > 2 ? words[2] : "";
  const std::string times = count > 3 ? words[3] : "";
  if (times == "timed") how_timed = timing::timed;
  if (times == "timed_by_host") how_timed = timing::by_host;
  if (times == "timed_loosely") how_timed = timing::loosely;
  const bool applied = how == "applied", needs = how == "needs";
  if (what == "early") early(applied, needs);
  if (what == "back") back(applied, needs);
  if (what == "second") second(applied, needs);
  if (what == "late") late(applied, needs);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
