// Memory and events between processes. The other process is this program again, in a role; the two
// talk through a pair of sockets, so that nobody waits for time to pass.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "gate.hpp"

namespace {

// --- talking

template <class T>
void put(int to, const T& value) {
  ASSERT_EQ(static_cast<ssize_t>(sizeof value), ::send(to, &value, sizeof value, MSG_NOSIGNAL));
}
template <class T>
T get(int from) {
  T value{};
  EXPECT_EQ(static_cast<ssize_t>(sizeof value), ::recv(from, &value, sizeof value, MSG_WAITALL));
  return value;
}
void step(int with) { put(with, 's'); }
void await_step(int with) { EXPECT_EQ('s', get<char>(with)); }

class peer {
 public:
  explicit peer(const char* role) {
    int ends[2];
    EXPECT_EQ(0, ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    talk = ends[0];
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      const std::string end = std::to_string(ends[1]);
      ::execl("/proc/self/exe", "ipc_test", "peer", role, end.c_str(), nullptr);
      ::_exit(99);
    }
    ::close(ends[1]);
  }
  ~peer() {
    ::close(talk);
    if (process_ > 0) {
      EXPECT_EQ(0, ended());
    }
  }
  // The exit status; -1 for a signal.
  int ended() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void kill() {
    ::kill(process_, SIGKILL);
    EXPECT_EQ(-1, ended());
  }
  int talk = -1;

 private:
  pid_t process_ = -1;
};

std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
  std::vector<unsigned char> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<unsigned char>(seed + i * 7);
  return all;
}
std::vector<unsigned char> read_back(const void* device, std::size_t bytes) {
  std::vector<unsigned char> all(bytes);
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(all.data(), device, bytes, cudaMemcpyDeviceToHost));
  return all;
}

// --- the other process

void* open_memory(int talk) {
  void* pointer = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaIpcOpenMemHandle(&pointer, get<cudaIpcMemHandle_t>(talk),
                                                cudaIpcMemLazyEnablePeerAccess));
  return pointer;
}
cudaEvent_t open_event(int talk) {
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaIpcOpenEventHandle(&event, get<cudaIpcEventHandle_t>(talk)));
  return event;
}

// Looks at the memory, then changes it.
void role_memory(int talk) {
  for (int i = 0; i < 2; ++i) {
    const auto bytes = get<std::size_t>(talk);
    void* pointer = open_memory(talk);
    cudaPointerAttributes about{};
    EXPECT_CUDA(cudaSuccess, cudaPointerGetAttributes(&about, pointer));
    EXPECT_EQ(cudaMemoryTypeDevice, about.type);
    EXPECT_EQ(pattern(bytes, 1), read_back(pointer, bytes));
    const auto other = pattern(bytes, 2);
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(pointer, other.data(), bytes, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(pointer));
    EXPECT_CUDA(cudaSuccess, cudaIpcCloseMemHandle(pointer));
    step(talk);
  }
}

// Opened twice it is one pointer, closed twice it is none.
void role_twice(int talk) {
  const auto handle = get<cudaIpcMemHandle_t>(talk);
  void* first = nullptr;
  void* second = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcOpenMemHandle(&first, handle, 0));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaIpcOpenMemHandle(nullptr, handle, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_CUDA(cudaSuccess, cudaIpcOpenMemHandle(&first, handle, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_CUDA(cudaSuccess, cudaIpcOpenMemHandle(&second, handle, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_EQ(first, second);
  EXPECT_CUDA(cudaSuccess, cudaIpcCloseMemHandle(first));
  EXPECT_CUDA(cudaSuccess, cudaMemset(first, 5, 16));
  EXPECT_CUDA(cudaSuccess, cudaIpcCloseMemHandle(first));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcCloseMemHandle(first));
}

// Exports and ends.
void role_exporter(int talk) {
  void* memory = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&memory, 1 << 16));
  EXPECT_CUDA(cudaSuccess, cudaMemset(memory, 0x33, 1 << 16));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  cudaIpcMemHandle_t handle;
  EXPECT_CUDA(cudaSuccess, cudaIpcGetMemHandle(&handle, memory));
  put(talk, handle);
  await_step(talk);
}

// Records behind a gate, which it opens when it is told to.
void role_recorder(int talk) {
  cudaEvent_t event = open_event(talk);
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  gate held;
  EXPECT_CUDA(cudaSuccess, held.close(stream));
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(event, stream));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(event));
  step(talk);
  await_step(talk);
  held.open();
  EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(event));
  // The event's newest record may be that of the other process by now. Ours has to be reached
  // before this process ends: it never would be afterwards.
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaSuccess, cudaEventDestroy(event));
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(stream));
}

// Waits for a record that the other process makes after the first step.
void role_waiter(int talk) {
  cudaEvent_t event = open_event(talk);
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  step(talk);
  await_step(talk);
  EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(stream, event, 0));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(stream));
  step(talk);
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaSuccess, cudaEventDestroy(event));
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(stream));
}

// A descriptor of another process comes with a message.
void put_descriptor(int to, int descriptor) {
  char byte = 'd';
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  EXPECT_EQ(1, ::sendmsg(to, &message, MSG_NOSIGNAL));
}
int get_descriptor(int from) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  EXPECT_EQ(1, ::recvmsg(from, &message, 0));
  int descriptor = -1;
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head != nullptr) std::memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
  return descriptor;
}

// Imports a pool and two of its allocations; looks at them and changes them.
void role_pool(int talk) {
  const int descriptor = get_descriptor(talk);
  cudaMemPool_t pool = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMemPoolImportFromShareableHandle(
                               &pool, reinterpret_cast<void*>(std::intptr_t{descriptor}),
                               cudaMemHandleTypePosixFileDescriptor, 0));
  ::close(descriptor);
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaStreamCreate(&stream));
  void* none = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMallocFromPoolAsync(&none, 64, pool, stream));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaDeviceSetMemPool(0, pool));
  for (int i = 0; i < 2; ++i) {
    auto data = get<cudaMemPoolPtrExportData>(talk);
    void* memory = nullptr;
    EXPECT_CUDA(cudaSuccess, cudaMemPoolImportPointer(&memory, pool, &data));
    EXPECT_EQ(pattern(5000, 3), read_back(memory, 5000));
    EXPECT_CUDA(cudaSuccess, cudaMemset(memory, 0x44, 5000));
    EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_CUDA(cudaErrorInvalidValue, cudaMemPoolExportPointer(&data, memory));
    EXPECT_CUDA(cudaSuccess, i == 0 ? cudaFree(memory) : cudaFreeAsync(memory, stream));
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(stream));
    step(talk);
  }
  EXPECT_CUDA(cudaSuccess, cudaMemPoolDestroy(pool));
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(stream));
}

int run_role(const std::string& role, int talk) {
  if (role == "pool") role_pool(talk);
  if (role == "waiter") role_waiter(talk);
  if (role == "memory") role_memory(talk);
  if (role == "twice") role_twice(talk);
  if (role == "exporter") role_exporter(talk);
  if (role == "recorder") role_recorder(talk);
  return ::testing::Test::HasFailure() ? 1 : 0;
}

// --- this process

class ipc : public with_streams {};

TEST_F(ipc, memory_is_the_same_in_both_processes) {
  peer other("memory");
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{5} << 20}) {
    void* before = nullptr;  // so that small memory does not begin its granule
    void* memory = nullptr;
    ASSERT_OK(cudaMalloc(&before, 512));
    ASSERT_OK(cudaMalloc(&memory, bytes));
    const auto first = pattern(bytes, 1);
    ASSERT_OK(cudaMemcpy(memory, first.data(), bytes, cudaMemcpyHostToDevice));
    cudaIpcMemHandle_t handle;
    ASSERT_OK(cudaIpcGetMemHandle(&handle, memory));
    put(other.talk, bytes);
    put(other.talk, handle);
    await_step(other.talk);
    EXPECT_EQ(pattern(bytes, 2), read_back(memory, bytes));
    ASSERT_OK(cudaFree(memory));
    ASSERT_OK(cudaFree(before));
  }
}

TEST_F(ipc, memory_opened_twice_is_closed_twice) {
  void* memory = nullptr;
  ASSERT_OK(cudaMalloc(&memory, 4096));
  cudaIpcMemHandle_t handle;
  ASSERT_OK(cudaIpcGetMemHandle(&handle, memory));
  cudaIpcMemHandle_t again;
  ASSERT_OK(cudaIpcGetMemHandle(&again, memory));
  EXPECT_EQ(0, std::memcmp(&handle, &again, sizeof handle));
  {
    peer other("twice");
    put(other.talk, handle);
  }
  EXPECT_EQ(5, read_back(memory, 1)[0]);
  ASSERT_OK(cudaFree(memory));
}

TEST_F(ipc, memory_outlives_the_process_that_made_it) {
  peer other("exporter");
  const auto handle = get<cudaIpcMemHandle_t>(other.talk);
  void* memory = nullptr;
  ASSERT_OK(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess));
  other.kill();
  EXPECT_EQ(std::vector<unsigned char>(1 << 16, 0x33), read_back(memory, 1 << 16));
  // Still mapped, so still there; not any more when it is closed.
  void* again = nullptr;
  ASSERT_OK(cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess));
  ASSERT_OK(cudaIpcCloseMemHandle(memory));
  ASSERT_OK(cudaIpcCloseMemHandle(memory));
  EXPECT_CUDA(cudaErrorNotPermitted,
              cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess));
}

TEST_F(ipc, what_is_not_device_memory_has_no_handle) {
  cudaIpcMemHandle_t handle;
  void* pinned = nullptr;
  void* pool = nullptr;
  int own = 0;
  ASSERT_OK(cudaMallocHost(&pinned, 64));
  ASSERT_OK(cudaMallocAsync(&pool, 64, a));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, &own));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, pinned));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, pool));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetMemHandle(nullptr, pool));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcCloseMemHandle(&own));
  ASSERT_OK(cudaFreeAsync(pool, a));
  ASSERT_OK(cudaFreeHost(pinned));
}

TEST_F(ipc, a_process_does_not_open_its_own) {
  void* memory = nullptr;
  void* opened = nullptr;
  cudaEvent_t event = nullptr;
  cudaEvent_t other = nullptr;
  cudaIpcMemHandle_t memory_handle;
  cudaIpcEventHandle_t event_handle;
  ASSERT_OK(cudaMalloc(&memory, 4096));
  ASSERT_OK(cudaIpcGetMemHandle(&memory_handle, memory));
  EXPECT_CUDA(cudaErrorDeviceUninitialized,
              cudaIpcOpenMemHandle(&opened, memory_handle, cudaIpcMemLazyEnablePeerAccess));
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  ASSERT_OK(cudaIpcGetEventHandle(&event_handle, event));
  EXPECT_CUDA(cudaErrorDeviceUninitialized, cudaIpcOpenEventHandle(&other, event_handle));
  ASSERT_OK(cudaEventDestroy(event));
  ASSERT_OK(cudaFree(memory));
}

// The host may touch device memory here, so a thread of the test can be the one that writes.
TEST_F(ipc, nothing_that_is_written_during_an_export_is_lost) {
  constexpr std::size_t bytes = std::size_t{4} << 20;
  void* memory = nullptr;
  ASSERT_OK(cudaMalloc(&memory, bytes));
  ASSERT_OK(cudaMemset(memory, 0, bytes));
  ASSERT_OK(cudaDeviceSynchronize());
  auto* words = static_cast<volatile unsigned*>(memory);
  std::atomic<bool> running{false};
  std::atomic<bool> stop{false};
  unsigned rounds = 0;
  std::thread writer([&] {
    while (!stop) {
      ++rounds;
      for (std::size_t i = 0; i < bytes / sizeof(unsigned); i += 1024) words[i] = words[i] + 1;
      running = true;
    }
  });
  while (!running) std::this_thread::yield();
  cudaIpcMemHandle_t handle;
  ASSERT_OK(cudaIpcGetMemHandle(&handle, memory));
  stop = true;
  writer.join();
  for (std::size_t i = 0; i < bytes / sizeof(unsigned); i += 1024) ASSERT_EQ(rounds, words[i]);
  ASSERT_OK(cudaFree(memory));
}

TEST_F(ipc, a_stream_waits_for_a_record_of_another_process) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcEventHandle_t handle;
  ASSERT_OK(cudaIpcGetEventHandle(&handle, event));
  ASSERT_OK(cudaStreamWaitEvent(a, event, 0));  // nothing is recorded yet: nothing to wait for
  ASSERT_OK(cudaStreamSynchronize(a));
  peer other("recorder");
  put(other.talk, handle);
  await_step(other.talk);
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(event));
  int after = 0;
  int beside = 0;
  ASSERT_OK(cudaStreamWaitEvent(a, event, 0));
  ASSERT_OK(cudaLaunchHostFunc(a, count_up, &after));
  ASSERT_OK(cudaLaunchHostFunc(b, count_up, &beside));
  ASSERT_OK(cudaStreamSynchronize(b));
  EXPECT_EQ(1, beside);
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(a));
  // A newer record of our own does not move the wait.
  ASSERT_OK(cudaEventRecord(event, b));
  ASSERT_OK(cudaEventSynchronize(event));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(a));
  step(other.talk);
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(1, after);
  EXPECT_EQ(0, other.ended());
  ASSERT_OK(cudaEventDestroy(event));
}

TEST_F(ipc, the_host_waits_for_a_record_of_another_process) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcEventHandle_t handle;
  ASSERT_OK(cudaIpcGetEventHandle(&handle, event));
  peer other("recorder");
  put(other.talk, handle);
  await_step(other.talk);
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(event));
  step(other.talk);
  ASSERT_OK(cudaEventSynchronize(event));
  EXPECT_CUDA(cudaSuccess, cudaEventQuery(event));
  ASSERT_OK(cudaEventDestroy(event));
}

// As on the hardware: h200/ipc.tsv parent.stream.after.kill
TEST_F(ipc, the_record_of_a_process_that_is_killed_never_completes) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcEventHandle_t handle;
  ASSERT_OK(cudaIpcGetEventHandle(&handle, event));
  peer other("recorder");
  put(other.talk, handle);
  await_step(other.talk);
  ASSERT_OK(cudaStreamWaitEvent(a, event, 0));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(a));
  other.kill();
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(a));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(event));
  // Nothing but newer records in its place lets go of it.
  for (int i = 0; i < 128; ++i) ASSERT_OK(cudaEventRecord(event, b));
  ASSERT_OK(cudaStreamSynchronize(a));
  ASSERT_OK(cudaEventDestroy(event));
}

// The other way round: its stream waits for our record, and we destroy the event.
TEST_F(ipc, an_event_that_is_destroyed_holds_nobody) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcEventHandle_t handle;
  ASSERT_OK(cudaIpcGetEventHandle(&handle, event));
  peer other("waiter");
  put(other.talk, handle);
  await_step(other.talk);
  gate held;
  ASSERT_OK(held.close(a));
  ASSERT_OK(cudaEventRecord(event, a));
  step(other.talk);
  await_step(other.talk);  // its stream waits
  ASSERT_OK(cudaEventDestroy(event));
  held.open();
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(0, other.ended());
}

TEST_F(ipc, a_graph_waits_for_and_records_events_of_other_processes) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcEventHandle_t handle;
  ASSERT_OK(cudaIpcGetEventHandle(&handle, event));
  peer other("recorder");
  put(other.talk, handle);
  await_step(other.talk);
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t wait = nullptr;
  cudaGraphNode_t record = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  ASSERT_OK(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, event));
  ASSERT_OK(cudaGraphAddEventRecordNode(&record, graph, &wait, 1, event));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(a));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(event));
  step(other.talk);
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_CUDA(cudaSuccess, cudaEventQuery(event));
  ASSERT_OK(cudaGraphExecDestroy(exec));
  ASSERT_OK(cudaGraphDestroy(graph));
  ASSERT_OK(cudaEventDestroy(event));
}

TEST_F(ipc, a_pool_is_shared_by_a_descriptor) {
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  props.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  ASSERT_OK(cudaMemPoolCreate(&pool, &props));
  int descriptor = -1;
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypeFabric, 0));
  ASSERT_OK(cudaMemPoolExportToShareableHandle(&descriptor, pool,
                                               cudaMemHandleTypePosixFileDescriptor, 0));
  peer other("pool");
  put_descriptor(other.talk, descriptor);
  ::close(descriptor);
  for (int i = 0; i < 2; ++i) {
    void* memory = nullptr;
    ASSERT_OK(cudaMallocFromPoolAsync(&memory, 5000, pool, a));
    const auto first = pattern(5000, 3);
    ASSERT_OK(cudaMemcpyAsync(memory, first.data(), 5000, cudaMemcpyHostToDevice, a));
    ASSERT_OK(cudaStreamSynchronize(a));
    cudaMemPoolPtrExportData data;
    ASSERT_OK(cudaMemPoolExportPointer(&data, memory));
    put(other.talk, data);
    await_step(other.talk);
    EXPECT_EQ(std::vector<unsigned char>(5000, 0x44), read_back(memory, 5000));
    ASSERT_OK(cudaFreeAsync(memory, a));
    ASSERT_OK(cudaStreamSynchronize(a));
  }
  EXPECT_EQ(0, other.ended());
  ASSERT_OK(cudaMemPoolDestroy(pool));
}

TEST_F(ipc, only_a_pool_that_was_made_for_it_is_shared) {
  cudaMemPool_t pool = nullptr;
  ASSERT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  int descriptor = -1;
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemPoolExportToShareableHandle(&descriptor, pool,
                                                 cudaMemHandleTypePosixFileDescriptor, 0));
  void* memory = nullptr;
  ASSERT_OK(cudaMallocAsync(&memory, 64, a));
  cudaMemPoolPtrExportData data;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemPoolExportPointer(&data, memory));
  ASSERT_OK(cudaFreeAsync(memory, a));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(std::intptr_t{0}),
                                                   cudaMemHandleTypePosixFileDescriptor, 0));
}

TEST_F(ipc, only_an_interprocess_event_has_a_handle) {
  cudaEvent_t event = nullptr;
  cudaIpcEventHandle_t handle{};
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaIpcGetEventHandle(&handle, event));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetEventHandle(nullptr, event));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaIpcGetEventHandle(&handle, nullptr));
  cudaEvent_t opened = nullptr;
  EXPECT_CUDA(cudaErrorMapBufferObjectFailed, cudaIpcOpenEventHandle(&opened, handle));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcOpenEventHandle(nullptr, handle));
  ASSERT_OK(cudaEventDestroy(event));
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc == 4 && std::string(argv[1]) == "peer") return run_role(argv[2], std::atoi(argv[3]));
  return RUN_ALL_TESTS();
}
