#include "gate.hpp"

namespace {

class events : public with_streams {
 protected:
  void SetUp() override {
    with_streams::SetUp();
    ASSERT_OK(cudaEventCreate(&e));
    ASSERT_OK(cudaEventCreate(&f));
  }
  void TearDown() override {
    EXPECT_CUDA(cudaSuccess, cudaEventDestroy(e));
    EXPECT_CUDA(cudaSuccess, cudaEventDestroy(f));
    with_streams::TearDown();
  }
  cudaEvent_t e = nullptr;
  cudaEvent_t f = nullptr;
};

TEST_F(events, one_that_was_never_recorded_is_complete) {
  EXPECT_CUDA(cudaSuccess, cudaEventQuery(e));
  EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(e));
  EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(a, e, 0));
}

TEST_F(events, a_record_behind_held_work_is_not_ready) {
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaEventRecord(e, a));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(e));
  EXPECT_CUDA(cudaSuccess, cudaPeekAtLastError());
  g.open();
  EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(e));
  EXPECT_CUDA(cudaSuccess, cudaEventQuery(e));
}

TEST_F(events, a_wait_holds_later_work_of_another_stream) {
  int ran = 0;
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaEventRecord(e, a));
  ASSERT_OK(cudaStreamWaitEvent(b, e, 0));
  ASSERT_OK(cudaEventRecord(f, b));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(b));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(f));
  ASSERT_OK(cudaLaunchHostFunc(b, count_up, &ran));
  g.open();
  ASSERT_OK(cudaStreamSynchronize(b));
  EXPECT_EQ(1, ran);
}

TEST_F(events, a_new_record_does_not_move_an_earlier_wait) {
  gate g;
  ASSERT_OK(cudaEventRecord(e, a));
  ASSERT_OK(cudaStreamWaitEvent(b, e, 0));
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaEventRecord(e, a));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(b));  // would hang if the wait had moved
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(e));
  g.open();
}

TEST_F(events, a_re_recorded_event_does_not_deadlock_its_own_stream) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(cudaEventRecord(e, a));
    ASSERT_OK(cudaStreamWaitEvent(b, e, 0));
    ASSERT_OK(cudaEventRecord(e, b));
    ASSERT_OK(cudaStreamWaitEvent(a, e, 0));
  }
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(a));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(b));
}

TEST_F(events, waiting_for_an_event_of_the_null_stream_ends) {
  ASSERT_OK(cudaEventRecord(e, nullptr));
  ASSERT_OK(cudaStreamWaitEvent(a, e, 0));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(a));
  EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(e));
}

TEST_F(events, one_destroyed_while_pending_still_holds_who_waits_for_it) {
  cudaEvent_t gone = nullptr;
  ASSERT_OK(cudaEventCreate(&gone));
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaEventRecord(gone, a));
  ASSERT_OK(cudaStreamWaitEvent(b, gone, 0));
  EXPECT_CUDA(cudaSuccess, cudaEventDestroy(gone));
  ASSERT_OK(cudaEventRecord(f, b));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(f));
  g.open();
  EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(f));
}

TEST_F(events, elapsed_time_is_signed_and_zero_for_one_event) {
  float ms = -1;
  ASSERT_OK(cudaEventRecord(e, a));
  {
    gate g;
    ASSERT_OK(g.close(a));
    g.wait_until_entered();
    ASSERT_OK(cudaEventRecord(f, a));
    EXPECT_CUDA(cudaErrorNotReady, cudaEventElapsedTime(&ms, e, f));
    g.open();
    ASSERT_OK(cudaStreamSynchronize(a));
  }
  ASSERT_OK(cudaEventElapsedTime(&ms, e, f));
  EXPECT_GT(ms, 0.0F);
  ASSERT_OK(cudaEventElapsedTime(&ms, f, e));
  EXPECT_LT(ms, 0.0F);
  ASSERT_OK(cudaEventElapsedTime(&ms, e, e));
  EXPECT_EQ(0.0F, ms);
}

TEST_F(events, elapsed_time_needs_two_recorded_events_that_time) {
  float ms = 0;
  cudaEvent_t untimed = nullptr;
  ASSERT_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, e, f));
  ASSERT_OK(cudaEventRecord(e, a));
  ASSERT_OK(cudaEventRecord(untimed, a));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, e, untimed));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, e, f));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaEventElapsedTime(nullptr, e, e));
  ASSERT_OK(cudaEventDestroy(untimed));
}

TEST_F(events, wrong_flags_and_handles_are_refused) {
  cudaEvent_t x = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaEventCreateWithFlags(&x, 0x80));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaEventCreateWithFlags(&x, cudaEventInterprocess));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaEventCreate(nullptr));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventRecord(nullptr, a));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventQuery(nullptr));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventDestroy(nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaStreamWaitEvent(a, e, 7));
  EXPECT_CUDA(cudaErrorIllegalState, cudaEventRecordWithFlags(e, a, cudaEventRecordExternal));
}

}  // namespace
