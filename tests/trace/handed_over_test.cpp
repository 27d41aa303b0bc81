// Operations that calls hand over, and ends of operations, as a running program tells of them.
#include <sys/wait.h>

#include <array>
#include <csignal>

#include "written.hpp"

namespace sb::trace::testing {
namespace {

class HandedOver : public WrittenTraces {
 protected:
  std::unique_ptr<writer> opened(const std::string& name) {
    return WrittenTraces::opened(name, call_order::gathered);
  }
};

// One operation that is told as a whole, and others like it that calls hand over; every third is
// over before its call returns. The last call does not return.
void write_handed_over(writer& out, number calls) {
  call_record call;
  call.thread = out.thread("main");
  call.name = out.name("cudaLaunchKernel");
  thread_local pending_lane lane;  // lives as long as its thread, as those of calls
  submitted_record loads = kernel(out.name("large"), 5);
  loads.first_use = true;
  const number first = out.submitted(loads);
  out.ended(first, {5, 6, 7, {}, 0, {queue_class::compute, 2}});
  const auto end = [&](number operation, nanoseconds at) {
    const edge order{operation - 1, none, wait_cause::stream_order, at};
    out.ended(operation, {at, at + 1, at + 2, {&order, 1}, 0, {queue_class::compute, 1}});
  };
  for (number i = 0; i < calls; ++i) {
    const number which = out.begin_call();
    call.begin = 10 * i + 10;
    call.end = never;
    call.done = out.begin_operations();
    call.like = first;
    call.handed_over = true;
    ASSERT_TRUE(out.hand_over(lane, which, call));
    if (i % 3 == 0) end(call.done, call.begin + 1);
    if (i + 1 == calls) break;
    call.end = call.begin + 4;
    // Where the lane becomes records it is told as a whole.
    if (i % 2 == 0 || !out.returned_as_handed_over(lane, which, call.end))
      out.returned(lane, which, call);
    if (i % 3 == 1) end(call.done, call.begin + 5);  // i % 3 == 2: it is never over
  }
}

void expect_handed_over(const trace& found, number calls) {
  ASSERT_EQ(found.operations.size(), calls + 1);
  ASSERT_EQ(found.calls.size(), calls);
  EXPECT_TRUE(found.operations[0].first_use);
  for (number i = 0; i < calls; ++i) {
    const operation& op = found.operations[i + 1];
    EXPECT_FALSE(op.first_use);
    EXPECT_EQ(op.kind, operation_kind::kernel);
    EXPECT_EQ(found.names[op.name], "large");
    EXPECT_EQ(op.call, i);
    EXPECT_EQ(op.called, 10 * i + 10);
    EXPECT_EQ(op.queued, 10 * i + 10);
    EXPECT_EQ(found.calls[i].name, "cudaLaunchKernel");
    EXPECT_EQ(found.calls[i].begin, op.called);
    EXPECT_EQ(found.calls[i].returned, i + 1 != calls);
    if (i % 3 == 2 || (i % 3 == 1 && i + 1 == calls)) {
      EXPECT_EQ(op.ended, never);
      EXPECT_EQ(op.queue, hardware_queue{});
      EXPECT_TRUE(op.waits.empty());
      continue;
    }
    EXPECT_EQ(op.ready, op.called + (i % 3 == 0 ? 1 : 5));
    EXPECT_EQ(op.ended, op.ready + 2);
    EXPECT_EQ(op.queue, (hardware_queue{queue_class::compute, 1}));
    ASSERT_EQ(op.waits.size(), 1u);
    EXPECT_EQ(op.waits[0].from, i);
  }
}

TEST_F(HandedOver, AnOperationThatItsCallHandsOverIsLikeOneBefore) {
  for (const number calls : {1u, 20u, 64u, 1000u}) {
    const std::string name = "handed_over_" + std::to_string(calls);
    auto out = opened(name);
    write_handed_over(*out, calls);
    out->close(ending::complete, false, 100'000);
    if (calls == 1000) {
      EXPECT_LT(out->bytes() / calls, 32u);
    }
    expect_handed_over(read(name), calls);
  }
}

TEST_F(HandedOver, OperationsThatWereHandedOverAreLeftByAKilledProgram) {
  for (const number calls : {1u, 20u, 64u, 1000u}) {
    const std::string name = "handed_over_killed_" + std::to_string(calls);
    const pid_t child = ::fork();
    if (child == 0) {
      auto out = opened(name);
      write_handed_over(*out, calls);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    expect_handed_over(read(name), calls);
  }
}

// A wait for an event that is like another one has its record as far before it.
TEST_F(HandedOver, AWaitThatIsLikeOneBeforeHasItsOwnRecord) {
  auto out = opened("waits");
  const auto told = [&](operation_kind kind, number record) {
    submitted_record r;
    r.kind = kind;
    r.record = record;
    return out->submitted(r);
  };
  const number record = told(operation_kind::event_record, none);
  const number between = told(operation_kind::marker, none);
  const number wait = told(operation_kind::event_wait, record);
  call_record call;
  call.thread = out->thread("main");
  call.name = out->name("cudaStreamWaitEvent");
  call.handed_over = true;
  thread_local pending_lane lane;
  constexpr number more = 100;
  const auto hand_over = [&](number like) {
    call.done = out->begin_operations();
    call.like = like;
    const number which = out->begin_call();
    ASSERT_TRUE(out->hand_over(lane, which, call));
    out->returned(lane, which, call);
  };
  for (number i = 0; i < more; ++i)
    for (const number like : {record, between, wait}) hand_over(like);
  out->close(ending::complete, false, 10);
  const trace found = read("waits");
  ASSERT_EQ(found.operations.size(), 3 * (more + 1));
  for (number i = 0; i < found.operations.size(); i += 3) {
    EXPECT_EQ(found.operations[i].record, none);
    EXPECT_EQ(found.operations[i + 1].record, none);
    EXPECT_EQ(found.operations[i + 2].record, i);
  }
}

// What most ends are told by is shorter to run, not another record.
TEST_F(HandedOver, APlainEndIsTheSameBytesAsOneWithEverything) {
  codec_state plain_state, whole_state;
  plain_state.clock = whole_state.clock = 1'000'000;
  constexpr hardware_queue queues[] = {
      {}, {queue_class::compute, 31}, {queue_class::device_to_host, 1}};
  number self = 7;
  for (const nanoseconds ready : {1'000'000u, 1'000'063u, 900'000u, 400'000'000u})
    for (const nanoseconds ran : {0u, 1u, 64u, 9'000u, 3'000'000u})
      for (const hardware_queue queue : queues)
        for (const number before : {none, self - 1, number{0}}) {
          self += 1 + self % 70;
          const edge order{before, none, wait_cause::stream_order, ready};
          const plain_end plain{ready, ready + ran / 2, ready + ran, before, queue};
          const finished_record whole{plain.ready, plain.started,
                                      plain.ended, {&order, before != none ? 1u : 0u},
                                      0,           queue};
          std::array<byte, 128> a{}, b{};
          const auto a_bytes = put_finished(a.data(), self, plain, plain_state) - a.data();
          const auto b_bytes = put_finished(b.data(), self, whole, whole_state) - b.data();
          ASSERT_EQ(a_bytes, b_bytes);
          ASSERT_EQ(a, b);
          ASSERT_EQ(plain_state.clock, whole_state.clock);
          ASSERT_EQ(plain_state.finished, whole_state.finished);
        }
}

// The end of an operation whose call was never told of.
TEST_F(HandedOver, AnEndWithoutAnOperationIsLeftOut) {
  auto out = opened("end_only");
  const number first = out->submitted(kernel(out->name("kernel"), 1));
  const number lost = out->begin_operations();
  const number last = out->submitted(kernel(none, 2));
  const edge order{lost, none, wait_cause::stream_order, 6};
  out->ended(first, {1, 2, 3, {}});
  out->ended(lost, {3, 4, 6, {}});
  out->ended(last, {6, 6, 7, {&order, 1}});
  out->close(ending::complete, false, 10);
  const trace found = read("end_only");
  ASSERT_EQ(found.operations.size(), 2u);
  EXPECT_EQ(found.operations[0].ended, 3u);
  EXPECT_EQ(found.operations[1].ended, 7u);
  EXPECT_TRUE(found.operations[1].waits.empty());
}

// --- questions

// Some that are asked again and again, with other calls in between.
void write_questions(writer& out, number rounds, std::uint32_t times) {
  call_record other, question;
  other.thread = question.thread = out.thread("main");
  other.name = out.name("cudaLaunchKernel");
  question.name = out.name("cudaEventQuery");
  question.status = 600;
  thread_local pending_lane lane;
  for (number i = 0; i < rounds; ++i) {
    other.begin = 1000 * i;
    other.end = other.begin + 1;
    out.returned(lane, out.begin_call(), other);
    const number which = out.begin_call();
    question.begin = 1000 * i + 10;
    question.end = question.begin + 2;
    question.times = 1;
    out.returned(lane, which, question);
    for (question.times = 2; question.times <= times; ++question.times) {
      question.end += 5;
      // The last call of a full lane is a record at once.
      if (!out.returned_again(lane, which, question)) {
        EXPECT_EQ((2 * i + 2) % pending_lane_entries, 0U) << i;
        break;
      }
    }
  }
}

void expect_questions(const trace& found, number rounds, std::uint32_t times) {
  ASSERT_EQ(found.calls.size(), 2 * rounds);
  for (number i = 0; i < rounds; ++i) {
    const call &other = found.calls[2 * i], &question = found.calls[2 * i + 1];
    EXPECT_EQ(other.times, 1U);
    EXPECT_EQ(question.name, "cudaEventQuery");
    EXPECT_EQ(question.status, 600);
    EXPECT_EQ(question.begin, 1000 * i + 10);
    const bool was_full = (2 * i + 2) % pending_lane_entries == 0;
    EXPECT_EQ(question.times, was_full ? 1 : times);
    EXPECT_EQ(question.end, question.begin + 2 + 5 * (question.times - 1));
  }
}

TEST_F(HandedOver, QuestionsThatAreAskedAgainAreOneCall) {
  auto out = opened("questions");
  write_questions(*out, 100, 50);
  out->close(ending::complete, false, 1'000'000);
  EXPECT_LT(out->bytes(), 100 * 64u);
  expect_questions(read("questions"), 100, 50);
}

TEST_F(HandedOver, QuestionsOfAKilledProgramAreThereUpToTheLast) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto out = opened("questions_killed");
    write_questions(*out, 10, 50);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  expect_questions(read("questions_killed"), 10, 50);
}

}  // namespace
}  // namespace sb::trace::testing
