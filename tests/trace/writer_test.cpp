// The writer as a running program uses it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "written.hpp"

namespace sb::trace::testing {
namespace {

class TraceWriter : public WrittenTraces {};

TEST_F(TraceWriter, AKilledProgramLeavesWhatItDid) {
  const pid_t child = ::fork();
  if (child == 0) {
    header head;
    auto out = writer::open(path("killed"), head);
    (*out)->device({"device", 132, 2048, 32, 0, 0, 0, 128, 3});
    (*out)->stream({0, stream_kind::legacy, false, 0, none, ""});
    const number name = (*out)->name("kernel");
    // Over several steps of the file.
    for (number i = 0; i < 100'000; ++i) {
      const number op = (*out)->submitted(kernel(name, 10 * i));
      (*out)->finished(op, {10 * i + 1, 10 * i + 2, 10 * i + 3, {}});
    }
    (*out)->submitted(kernel(name, 5'000'000));
    const number call = (*out)->begin_call();
    call_record blocked;
    blocked.thread = (*out)->thread("main");
    blocked.name = (*out)->name("cudaDeviceSynchronize");
    blocked.begin = 5'000'100;
    (*out)->blocks(call, blocked);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const trace found = read("killed");
  EXPECT_EQ(found.head.end, ending::unknown);
  ASSERT_EQ(found.operations.size(), 100'001u);
  EXPECT_EQ(found.operations[99'999].ended, 999'993u);
  EXPECT_EQ(found.operations[100'000].ended, never);
  EXPECT_EQ(found.operations[100'000].queued, 5'000'000u);
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_EQ(found.calls[0].name, "cudaDeviceSynchronize");
  EXPECT_FALSE(found.calls[0].returned);
  EXPECT_EQ(found.calls[0].end, found.end);
}

TEST_F(TraceWriter, AFileCanBeReadWhileItIsWritten) {
  auto out = opened("live");
  const number name = out->name("kernel");
  // Long names: the beginning of the file is old when its end is read.
  constexpr number operations = 3'000, first_read = 1'000;
  std::atomic<number> written{0};
  std::thread program([&] {
    for (number i = 0; i < operations; ++i) {
      out->name(std::string(30'000, 'x') + std::to_string(i));
      const number op = out->submitted(kernel(name, 10 * i));
      out->finished(op, {10 * i + 1, 10 * i + 2, 10 * i + 3, {}});
      written.store(i + 1);
    }
  });
  for (number least = first_read; least != operations; least = written.load()) {
    while (written.load() < least) std::this_thread::yield();
    const trace found = read("live");
    EXPECT_EQ(found.head.end, ending::unknown);
    for (number i = 0; i < found.operations.size(); ++i)
      EXPECT_EQ(found.operations[i].queued, 10 * i);
  }
  program.join();
  EXPECT_EQ(read("live").operations.size(), operations);
}

TEST_F(TraceWriter, CallsThatReturnedAreLeftByAKilledProgramWhenTheyAreGathered) {
  constexpr number calls = 40;  // a lane that was full once, and some more
  const pid_t child = ::fork();
  if (child == 0) {
    header head;
    auto out = writer::open(path("gathered"), head, existing_file::refuse, call_order::gathered);
    call_record call;
    call.thread = (*out)->thread("main");
    call.name = (*out)->name("cudaLaunchKernel");
    call.place = (*out)->place("a.cu", 7);
    for (number i = 0; i < calls; ++i) {
      const number which = (*out)->begin_call();
      call.begin = 10 * i;
      call.end = 10 * i + 5;
      call.status = i == 35 ? 600 : 0;
      (*out)->returned(which, call);
    }
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const trace found = read("gathered");
  ASSERT_EQ(found.calls.size(), calls);
  for (number i = 0; i < calls; ++i) {
    EXPECT_TRUE(found.calls[i].returned);
    EXPECT_EQ(found.calls[i].name, "cudaLaunchKernel");
    EXPECT_EQ(found.calls[i].place, 0u);
    EXPECT_EQ(found.calls[i].begin, 10 * i);
    EXPECT_EQ(found.calls[i].end, 10 * i + 5);
    EXPECT_EQ(found.calls[i].status, i == 35 ? 600 : 0);
  }
}

// A kernel, then calls each of which does one like it.
void write_repeated(writer& out, number calls) {
  const number stream = out.stream({0, stream_kind::non_blocking, false, 0, 1, ""});
  submitted_record first = kernel(out.name("small"), 5);
  first.stream = stream;
  first.grid[0] = 7;
  const byte_range range{out.allocated(memory_kind::device, 0, 64, 0, none), 0, 64, access::write,
                         false};
  first.ranges = {&range, 1};
  const number like = out.submitted(first);
  const edge waited{none, none, wait_cause::loading, 6};
  out.finished(like, {6, 7, 8, {&waited, 1}, 0});
  call_record call;
  call.thread = out.thread("main");
  call.name = out.name("cudaLaunchKernel");
  call.place = out.place("a.cu", 7);
  for (number i = 0; i < calls; ++i) {
    const number which = out.begin_call();
    call.begin = 10 * i + 10;
    call.end = 10 * i + 15;
    call.done = out.begin_operations();
    call.like = like;
    out.returned(which, call);
  }
}

void expect_repeated(const trace& found, number calls) {
  ASSERT_EQ(found.operations.size(), calls + 1);
  for (number i = 0; i < calls; ++i) {
    const operation& op = found.operations[i + 1];
    EXPECT_EQ(op.kind, operation_kind::kernel);
    EXPECT_EQ(found.names[op.name], "small");
    EXPECT_EQ(op.stream, 1u);
    EXPECT_EQ(op.grid[0], 7u);
    EXPECT_EQ(op.call, i);
    EXPECT_EQ(op.called, 10 * i + 10);
    EXPECT_EQ(op.started, 10 * i + 10);
    EXPECT_EQ(op.ended, 10 * i + 15);
    EXPECT_TRUE(op.waits.empty());
    ASSERT_EQ(op.ranges.size(), 1u);
    EXPECT_EQ(op.ranges[0].bytes, 64u);
  }
}

TEST_F(TraceWriter, AnOperationThatIsDoneInItsCallIsLikeOneBefore) {
  constexpr number calls = 70;
  for (const call_order order : {call_order::as_returned, call_order::gathered}) {
    const std::string name = order == call_order::gathered ? "done_gathered" : "done";
    auto out = opened(name, order);
    write_repeated(*out, calls);
    out->close(ending::complete, false, 10'000);
    EXPECT_LT(out->bytes() / calls, 20u);
    expect_repeated(read(name), calls);
  }
}

TEST_F(TraceWriter, OperationsThatWereDoneInTheirCallsAreLeftByAKilledProgram) {
  constexpr number calls = 40;
  const pid_t child = ::fork();
  if (child == 0) {
    header head;
    auto out = writer::open(path("done_killed"), head, existing_file::refuse, call_order::gathered);
    (*out)->device({"device", 132, 2048, 32, 0, 0, 0, 128, 3});
    (*out)->stream({0, stream_kind::legacy, false, 0, none, ""});
    write_repeated(**out, calls);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  expect_repeated(read("done_killed"), calls);
}

// A graph of three, told as a whole and then again.
TEST_F(TraceWriter, OperationsInARowAreToldAgainTogether) {
  const std::string file = path("run.sbt");
  auto opened = writer::open(file, {});
  ASSERT_TRUE(opened) << opened.message();
  const std::unique_ptr<writer> out = std::move(*opened);
  const number device = out->device({});
  const number stream = out->stream({.device = device, .name = {}});
  submitted_record r;
  r.device = device;
  r.stream = stream;
  r.graph = 0;
  r.called = r.queued = 10;
  const hardware_queue queue{queue_class::compute, 3};
  const number first = out->submitted(r);
  out->finished(first, {.ready = 10, .started = 10, .ended = 11, .waits = {}, .queue = queue});
  for (number i = 1; i < 3; ++i) {
    const number before = first + i - 1;
    const edge wait{.from = before, .call = none, .cause = wait_cause::graph_edge, .until = 10 + i};
    r.after = {&before, 1};
    const number self = out->submitted(r);
    out->finished(self, {10 + i, 10 + i, 11 + i, {&wait, 1}});
  }
  r.after = {};
  const number between = out->submitted(r);
  const std::array<nanoseconds, 3> ends = {101, 105, 107};
  const number again = out->repeated(
      {.like = first, .call = out->begin_call(), .graph = 1, .begin = 100, .ends = ends});
  const number behind = out->submitted(r);
  out->finished(behind, {200, 201, 202, {}});
  out->close(ending::complete, false, 300);
  EXPECT_EQ(again, between + 1);
  EXPECT_EQ(behind, again + 3);

  const outcome<trace> read = read_trace(file);
  ASSERT_TRUE(read) << read.message();
  ASSERT_EQ(read->operations.size(), 8u);
  for (number i = 0; i < 3; ++i) {
    const operation& op = read->operations[again + i];
    EXPECT_EQ(op.graph, 1u);
    EXPECT_EQ(op.call, 0u);
    EXPECT_EQ(op.queued, 100u);
    EXPECT_EQ(op.started, i == 0 ? 100u : ends[i - 1]);
    EXPECT_EQ(op.ended, ends[i]);
    ASSERT_EQ(op.waits.size(), i == 0 ? 0u : 1u);
    if (i == 0) continue;
    EXPECT_EQ(op.after, std::vector<number>{again + i - 1});
    EXPECT_EQ(op.waits[0].from, again + i - 1);
    EXPECT_EQ(op.waits[0].until, ends[i - 1]);
  }
  EXPECT_EQ(read->operations[again].queue, queue);
  EXPECT_EQ(read->operations[behind].ended, 202u);
}

// A record of them has fewer bytes than operations.
TEST_F(TraceWriter, RowsCanBeToldAgainManyTimes) {
  constexpr number parts = 60, times = 3000;
  auto out = opened("rows");
  const number name = out->name("kernel");
  for (number i = 0; i < parts; ++i) out->finished(out->submitted(kernel(name, 1)), {1, 1, 2, {}});
  std::array<nanoseconds, parts> ends;
  for (number round = 1; round < times; ++round) {
    for (number i = 0; i < parts; ++i) ends[i] = round * 100 + i;
    const number call = out->begin_call();
    out->repeated({.like = 0, .call = call, .graph = round, .begin = round * 100, .ends = ends});
  }
  out->close(ending::complete, false, times * 100);
  const trace found = read("rows");
  ASSERT_EQ(found.operations.size(), std::size_t{parts} * times);
  EXPECT_EQ(found.operations.back().ended, (times - 1) * 100 + parts - 1);
}

TEST_F(TraceWriter, NumbersOfOperationsThatNeverCameAreLeftOut) {
  auto out = opened("gaps");
  const number name = out->name("kernel");
  const number first = out->submitted(kernel(name, 1));
  (void)out->begin_operations();
  const number second = out->submitted(kernel(name, 2));
  const edge order{first, none, wait_cause::stream_order, 3};
  out->finished(first, {1, 1, 3, {}, 0});
  out->finished(second, {3, 3, 4, {&order, 1}, 0});
  (void)out->begin_operations();
  submitted_record wait = kernel(none, 5);
  wait.kind = operation_kind::event_wait;
  wait.record = second;
  out->submitted(wait);
  out->close(ending::complete, false, 10);
  const trace found = read("gaps");
  ASSERT_EQ(found.operations.size(), 3u);
  ASSERT_EQ(found.operations[1].waits.size(), 1u);
  EXPECT_EQ(found.operations[1].waits[0].from, 0u);
  EXPECT_EQ(found.operations[2].record, 1u);
}

// What is half written by a thread that goes on is not there.
TEST(PendingCalls, AnEntryThatIsBeingWrittenDoesNotCount) {
  alignas(8) byte entry[pending_entry_bytes] = {};
  call_record call;
  call.thread = 0;
  call.name = 1;
  call.begin = 100;
  call.end = 200;
  put_pending(entry, 7, call);
  pending_call found;
  ASSERT_TRUE(get_pending(entry, found));
  EXPECT_EQ(found.self, 7u);
  EXPECT_EQ(found.call.end, 200u);
  for (std::size_t at = 0; at < pending_entry_bytes; ++at) {
    entry[at] ^= 0x10;
    EXPECT_FALSE(get_pending(entry, found)) << at;
    entry[at] ^= 0x10;
  }
  clear_pending(entry);
  EXPECT_FALSE(get_pending(entry, found));
}

TEST(PendingCalls, AnEntryThatGetsItsEndIsAsIfItHadBeenWrittenWithIt) {
  alignas(8) byte entry[pending_entry_bytes] = {}, whole[pending_entry_bytes] = {};
  call_record call;
  call.thread = 3;
  call.name = 1;
  call.begin = 100;
  call.done = 17;
  call.like = 5;
  call.handed_over = true;
  for (const nanoseconds end : {nanoseconds{101}, nanoseconds{0x123456789abcdef}}) {
    call.end = never;
    put_pending(entry, 7, call);
    end_pending(entry, end);
    call.end = end;
    put_pending(whole, 7, call);
    EXPECT_TRUE(std::equal(std::begin(entry), std::end(entry), std::begin(whole)));
  }
}

// More threads than there are lanes, one after another and at once; some end before the writer
// does.
TEST_F(TraceWriter, ManyThreadsGatherTheirCalls) {
  header head;
  auto out = writer::open(path("many"), head, existing_file::refuse, call_order::gathered);
  constexpr number rounds = 2, threads = 80, each = 70;
  for (number round = 0; round < rounds; ++round) {
    std::vector<std::thread> running;
    for (number t = 0; t < threads; ++t) {
      running.emplace_back([&out] {
        call_record call;
        call.thread = (*out)->thread();
        for (number i = 0; i < each; ++i) {
          const number which = (*out)->begin_call();
          call.begin = call.end = which;
          (*out)->returned(which, call);
        }
      });
    }
    for (std::thread& one : running) one.join();
  }
  call_record last;
  last.begin = last.end = 7;
  (*out)->returned((*out)->begin_call(), last);
  (*out)->close(ending::complete, false, 1'000'000);
  // A thread that goes on harms nobody.
  for (int i = 0; i < 100; ++i) (*out)->returned((*out)->begin_call(), last);
  const trace found = read("many");
  ASSERT_EQ(found.calls.size(), rounds * threads * each + 1);
  for (number i = 0; i + 1 < found.calls.size(); ++i) {
    ASSERT_TRUE(found.calls[i].returned);
    ASSERT_EQ(found.calls[i].begin, i);
  }
}

class Ordered : public TraceWriter, public ::testing::WithParamInterface<call_order> {};
INSTANTIATE_TEST_SUITE_P(Calls, Ordered,
                         ::testing::Values(call_order::as_returned, call_order::gathered));

TEST_P(Ordered, ThreadsWriteTogether) {
  const auto out = opened("threads", GetParam());
  constexpr number threads = 4, each = 5000;
  std::vector<std::thread> running;
  for (number t = 0; t < threads; ++t) {
    running.emplace_back([&out] {
      const number self = out->thread();
      for (number i = 0; i < each; ++i) {
        call_record call;
        call.thread = self;
        const number which = out->begin_call();
        call.name = out->name(i % 2 ? "cudaLaunchKernel" : "cudaMemcpyAsync");
        call.place = out->place("a.cu", i % 7);
        call.begin = call.end = which;
        submitted_record op = kernel(out->name("kernel"), which);
        op.call = which;
        const number number_of_it = out->submitted(op);
        out->finished(number_of_it, {which + 1, which + 2, which + 3, {}});
        out->returned(which, call);
      }
    });
  }
  for (std::thread& one : running) one.join();
  out->close(ending::complete, false, 1'000'000);
  const trace found = read("threads");
  EXPECT_EQ(found.threads.size(), threads);
  EXPECT_EQ(found.places.size(), 7u);
  ASSERT_EQ(found.calls.size(), threads * each);
  ASSERT_EQ(found.operations.size(), threads * each);
  for (number i = 0; i < found.calls.size(); ++i) ASSERT_EQ(found.calls[i].begin, i);
  for (const operation& op : found.operations) {
    ASSERT_EQ(op.called, op.call);
    ASSERT_EQ(op.ended, op.call + 3);
  }
}

TEST_F(TraceWriter, ACallThatOthersNameIsThereBeforeItReturns) {
  {
    const auto out = opened("open");
    const number first = out->begin_call(), second = out->begin_call();
    submitted_record op = kernel(out->name("kernel"), 50);
    op.call = second;
    out->submitted(op);
    call_record done;
    done.begin = 10;
    done.end = 90;
    out->returned(first, done);
  }
  const trace found = read("open");
  ASSERT_EQ(found.calls.size(), 2u);
  EXPECT_TRUE(found.calls[0].returned);
  EXPECT_FALSE(found.calls[1].returned);
  EXPECT_EQ(found.calls[1].begin, 50u);
  EXPECT_EQ(found.calls[1].end, 90u);
}

TEST_F(TraceWriter, ALaterRecordOfAnOperationReplacesTheEarlier) {
  const auto out = opened("twice");
  const number op = out->submitted(kernel(out->name("kernel"), 1));
  const edge wait{none, none, wait_cause::device_full, 7};
  out->finished(op, {5, never, never, {}});
  out->finished(op, {5, 8, never, {&wait, 1}});
  out->close(ending::hung, true, 100);
  const trace found = read("twice");
  EXPECT_EQ(found.head.end, ending::hung);
  EXPECT_TRUE(found.head.deterministic);
  EXPECT_EQ(found.end, 100u);
  EXPECT_EQ(found.operations[0].started, 8u);
  EXPECT_EQ(found.operations[0].ended, never);
  ASSERT_EQ(found.operations[0].waits.size(), 1u);
}

TEST_F(TraceWriter, PlacesAreTheSameWhenTheirTextIs) {
  const auto out = opened("places");
  const std::string one = "x.cu", other = "x.cu";
  EXPECT_EQ(out->place(one.c_str(), 3), out->place(other.c_str(), 3));
  EXPECT_NE(out->place(one.c_str(), 3), out->place(one.c_str(), 4));
  out->close(ending::complete, false, 0);
  EXPECT_EQ(read("places").places.size(), 2u);
}

TEST_F(TraceWriter, TheChildOfAForkLeavesTheFileAlone) {
  const auto out = opened("forked");
  const number name = out->name("kernel");
  out->submitted(kernel(name, 1));
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 1000; ++i) out->submitted(kernel(name, 2));
    out->close(ending::complete, false, 3);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  out->submitted(kernel(name, 4));
  out->close(ending::complete, false, 5);
  const trace found = read("forked");
  ASSERT_EQ(found.operations.size(), 2u);
  EXPECT_EQ(found.operations[1].called, 4u);
}

// The lock of a file belongs to everyone who has it open.
TEST_F(TraceWriter, AChildThatOutlivesItsParentDoesNotHoldTheFile) {
  int ready[2], over[2];
  ASSERT_EQ(::pipe(ready) | ::pipe(over), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const auto out = opened("outlived");
    if (::fork() != 0) ::_exit(0);
    char byte = 0;
    ::close(over[1]);
    if (::write(ready[1], &byte, 1) == 1) (void)!::read(over[0], &byte, 1);
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto again = writer::open(path("outlived"), header{}, existing_file::replace);
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ((*again)->path(), path("outlived"));
  for (const int end : {over[0], over[1], ready[0], ready[1]}) ::close(end);
}

TEST_F(TraceWriter, AFileThatIsBeingWrittenStaysAndTheNewOneHasANumber) {
  const auto first = opened("x.sbt");
  for (const auto policy : {existing_file::replace, existing_file::beside}) {
    const auto other = writer::open(path("x.sbt"), header{}, policy);
    ASSERT_TRUE(other) << other.message();
    EXPECT_EQ((*other)->path(), path("x.1.sbt"));
    std::filesystem::remove(path("x.1.sbt"));
  }
  first->close(ending::complete, false, 5);
  EXPECT_EQ(read("x.sbt").head.program, "program");
}

TEST_F(TraceWriter, OnlyATraceIsReplaced) {
  opened("x.sbt")->close(ending::complete, false, 5);
  EXPECT_TRUE(writer::open(path("x.sbt"), header{}, existing_file::replace));
  const std::string source = "int main() {}\n";
  for (const std::string& text : {source, std::string("\x89")}) {
    std::ofstream(path("program.cu")) << text;
    const auto out = writer::open(path("program.cu"), header{}, existing_file::replace);
    ASSERT_FALSE(out);
    EXPECT_NE(out.message().find("is no trace"), std::string::npos) << out.message();
    EXPECT_EQ(std::filesystem::file_size(path("program.cu")), text.size());
  }
}

TEST_F(TraceWriter, AFileThatCannotBeMadeEmptySaysWhy) {
  const int sealed = ::memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::write(sealed, file_magic.data(), file_magic.size()), ssize_t{file_magic.size()});
  ASSERT_EQ(::fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  const auto out =
      writer::open("/proc/self/fd/" + std::to_string(sealed), header{}, existing_file::replace);
  ASSERT_FALSE(out);
  EXPECT_NE(out.message().find(std::strerror(EPERM)), std::string::npos) << out.message();
  ::close(sealed);
}

TEST_F(TraceWriter, AFullDiskStopsTheRecordingAndNotTheProgram) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{3 << 20, 3 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    header head;
    auto out = writer::open(path("full"), head);
    (*out)->device({"device", 132, 2048, 32, 0, 0, 0, 128, 3});
    (*out)->stream({0, stream_kind::legacy, false, 0, none, ""});
    const number name = (*out)->name("kernel");
    number last = 0;
    for (number i = 0; i < 1'000'000; ++i) last = (*out)->submitted(kernel(name, 10 * i));
    (*out)->close(ending::complete, false, 0);
    ::_exit(last == 999'999 && !(*out)->problem().empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const trace found = read("full");
  EXPECT_EQ(found.head.end, ending::cut);
  EXPECT_GT(found.operations.size(), 100'000u);
}

TEST_F(TraceWriter, ListsAndTextsThatAreTooLongAreCut) {
  const auto out = opened("long");
  submitted_record op = kernel(out->name(std::string(100'000, 'k')), 1);
  const std::vector<byte_range> ranges(
      100'000, {none, ~std::uint64_t{0}, ~std::uint64_t{0}, access::read_write, true});
  op.ranges = ranges;
  out->submitted(op);
  const std::vector<edge> waits(100'000, {0, none, wait_cause::event, 5});
  out->finished(0, {1, 2, 3, waits});
  out->close(ending::complete, false, 3);
  const trace found = read("long");
  ASSERT_EQ(found.operations.size(), 1u);
  EXPECT_EQ(found.names[1].size(), text_limit);
  EXPECT_EQ(found.operations[0].ranges.size(), list_limit);
  EXPECT_EQ(found.operations[0].waits.size(), list_limit);
  EXPECT_EQ(found.operations[0].ended, 3u);
}

}  // namespace
}  // namespace sb::trace::testing
