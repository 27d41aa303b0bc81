// The end of a process that uses the process's own engine. Each case runs in a child.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "kernels.hpp"

namespace {
bool is_forked_child = false;
}

// LeakSanitizer asks. A child that was forked has none of its parent's threads: what only their
// registers and stacks point to, when it happens, is no leak.
extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() { return is_forked_child ? 1 : 0; }

namespace sb::engine::testing {
namespace {

stream_id new_stream() {
  return engine::instance().create_stream(first_device, stream_kind::non_blocking, 0);
}

class process_exit : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(process_exit, with_nothing_pending_is_clean) {
  EXPECT_EXIT(
      {
        engine::instance().submit(new_stream(), host_operation{[](status) {}});
        engine::instance().synchronize(whole_device(), first_device);
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(process_exit, drops_kernels_that_spin) {
  EXPECT_EXIT(
      {
        static gate g;
        static gate second;
        engine::instance().submit(new_stream(), g.operation());
        engine::instance().submit(new_stream(), second.operation());
        g.wait_until_reached();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(process_exit, does_not_wait_for_a_kernel_that_never_looks_up) {
  EXPECT_EXIT(
      {
        static std::atomic<bool> began{false};
        static const abi::kernel_info busy = loop_kernel(
            [](const char*, thread_context*) {
              began = true;
              for (;;) asm volatile("");
            },
            "busy");
        engine::instance().submit(new_stream(), launch(busy, {}, {}, 0));
        while (!began) std::this_thread::yield();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(process_exit, from_a_host_function_works) {
  EXPECT_EXIT(
      {
        engine::instance().submit(new_stream(), host_operation{[](status) { std::exit(7); }});
        engine::instance().synchronize(whole_device(), first_device);
        for (;;) pause();
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(process_exit, with_host_threads_that_wait_works) {
  EXPECT_EXIT(
      {
        static gate g;
        engine::instance().submit(new_stream(), g.operation());
        g.wait_until_reached();
        std::thread([] { engine::instance().synchronize(whole_device(), first_device); }).detach();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(process_exit, calls_after_the_end_are_harmless) {
  EXPECT_EXIT(
      {
        static struct late {
          ~late() {
            engine::instance().submit(new_stream(), host_operation{[](status) { std::abort(); }});
            if (engine::instance().synchronize(whole_device(), first_device) !=
                status::cudart_unloading)
              std::abort();
          }
        } at_the_end;
        engine::instance().submit(new_stream(), host_operation{[](status) {}});
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

#if !defined(__SANITIZE_THREAD__)
TEST_F(process_exit, of_a_forked_child_does_not_hang) {
  EXPECT_EXIT(
      {
        static gate g;
        engine::instance().submit(new_stream(), g.operation());
        g.wait_until_reached();
        const pid_t child = fork();
        if (child == 0) {
          is_forked_child = true;
          std::exit(5);
        }
        int how = 0;
        waitpid(child, &how, 0);
        std::exit(WIFEXITED(how) && WEXITSTATUS(how) == 5 ? 7 : 1);
      },
      ::testing::ExitedWithCode(7), "");
}
#endif

}  // namespace
}  // namespace sb::engine::testing
