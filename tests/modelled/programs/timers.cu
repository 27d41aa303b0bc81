// Programs that go on when a timer signals or calls.
#include "timers.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/select.h>

#include <condition_variable>
#include <csetjmp>
#include <cstdlib>
#include <mutex>

namespace {

// --- signals, and the calls that they end

void alarms() {
  handle(SIGALRM, 0);
  start();
  alarm(2);
  timespec left{};
  const timespec long_one{5, 0};
  int result = nanosleep(&long_one, &left);
  tell("nanosleep", result);
  std::printf("left %.3f\n",
              static_cast<double>(left.tv_sec) * 1e6 + static_cast<double>(left.tv_nsec) / 1e3);
  alarm(3);
  std::printf("sleep %u\n", sleep(10));
  alarm(10);
  sleep(2);
  std::printf("alarm %u\n", alarm(0));
  std::printf("alarm %u\n", alarm(1));
  result = pause();
  tell("pause", result);
  start();
  ualarm(500, 0);
  result = usleep(10'000);
  tell("usleep", result);
}

void waits() {
  handle(SIGALRM, SA_RESTART);
  const itimerval soon{{}, {0, 1000}}, none{};
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  timespec limit;
  const auto arm = [&] {
    start();
    setitimer(ITIMER_REAL, &soon, nullptr);
  };
  const auto in = [&](std::int64_t ns) {
    clock_gettime(CLOCK_REALTIME, &limit);
    limit = after(limit.tv_sec * 1'000'000'000ll + limit.tv_nsec + ns);
    return &limit;
  };
  arm();
  tell("sem_timedwait", sem_timedwait(&semaphore, in(5 * ms)));
  std::thread poster([&] {
    usleep(3000);
    sem_post(&semaphore);
  });
  arm();
  tell("sem_wait that goes on", sem_wait(&semaphore));
  poster.join();
  handle(SIGALRM, 0);
  arm();
  tell("sem_wait", sem_wait(&semaphore));
  arm();
  tell("poll", poll(nullptr, 0, 5));
  arm();
  timeval five{0, 5000};
  tell("select", select(0, nullptr, nullptr, nullptr, &five));
  arm();
  tell("endless poll", poll(nullptr, 0, -1));
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  arm();
  const bool came = condition.wait_for(lock, std::chrono::milliseconds(4), [] { return false; });
  tell("condition", came ? 1 : 0);
  arm();
  std::thread sleeper([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    usleep(2000);
  });
  sleeper.join();
  tell("join", 0);
  arm();
  spin<<<1, 1>>>(2 * ms);
  tell("cudaDeviceSynchronize", cudaDeviceSynchronize());
  arm();
  for (int before = hits; hits == before;) us();  // reads of clocks alone
  tell("clock reads", 0);
  arm();
  setitimer(ITIMER_REAL, &none, nullptr);
  usleep(3000);
  tell("stopped", 0);
}

void itimers() {
  handle(SIGALRM, 0);
  const itimerval every{{0, 250}, {0, 1000}}, none{};
  start();
  setitimer(ITIMER_REAL, &every, nullptr);
  while (hits < 5) pause();
  itimerval left{}, old{};
  getitimer(ITIMER_REAL, &left);
  setitimer(ITIMER_REAL, &none, &old);
  for (int i = 0; i < hits; ++i) std::printf("%.3f\n", hit_us[i]);
  std::printf("left %ld of %ld, %ld\n", static_cast<long>(left.it_value.tv_usec),
              static_cast<long>(left.it_interval.tv_usec), static_cast<long>(old.it_value.tv_usec));
}

// The first thread blocks the signal: the second one takes it. All do: nobody, until one does not.
void masks() {
  handle(SIGALRM, 0);
  pthread_t taker_wanted{};
  std::thread other([&] {
    taker_wanted = pthread_self();
    usleep(3000);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    usleep(4000);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    tell("unblocked", 0);
  });
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  start();
  ualarm(1000, 0);
  usleep(2000);
  std::printf("taken by the other %d at %.3f\n", pthread_equal(taker, taker_wanted) != 0,
              hit_us[0]);
  usleep(1900);  // the other one blocks it now
  ualarm(1000, 0);
  usleep(1050);
  sigset_t pending;
  sigpending(&pending);
  std::printf("pending %d hits %d\n", sigismember(&pending, SIGALRM), static_cast<int>(hits));
  other.join();
  std::printf("hits %d\n", static_cast<int>(hits));
}

// --- timers of timer_create

void posix_timers() {
  handle(SIGRTMIN, SA_SIGINFO);
  const timer_t timer = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGRTMIN, 7);
  itimerspec left{};
  start();
  set(timer, 1 * ms, ms / 2);
  timer_gettime(timer, &left);
  std::printf("left %ld %ld\n", left.it_value.tv_nsec, left.it_interval.tv_nsec);
  for (int i = 0; i < 3; ++i) pause();
  timer_gettime(timer, &left);
  std::printf("left %ld %ld\n", left.it_value.tv_nsec, left.it_interval.tv_nsec);
  for (int i = 0; i < 3; ++i) std::printf("%.3f overruns %d\n", hit_us[i], overruns[i]);
  // 2 ms, 2.5, 3, 3.5 and 4 pass while it is blocked.
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGRTMIN);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  usleep(2300);
  pthread_sigmask(SIG_UNBLOCK, &mask, nullptr);
  std::printf("%.3f overruns %d, %d\n", hit_us[3], overruns[3], timer_getoverrun(timer));
  timer_delete(timer);
  const int before = hits;
  usleep(2000);
  std::printf("deleted %d\n", hits - before);

  const timer_t quiet = make(CLOCK_REALTIME, SIGEV_NONE, 0, 0);
  timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  const itimerspec by{{}, {at.tv_sec + 1, at.tv_nsec}};
  timer_settime(quiet, TIMER_ABSTIME, &by, nullptr);
  usleep(400'000);
  timer_gettime(quiet, &left);
  std::printf("quiet left %ld\n", left.it_value.tv_nsec);
  usleep(700'000);
  timer_gettime(quiet, &left);
  std::printf("quiet left %ld\n", left.it_value.tv_nsec);
}

std::mutex told_mutex;
int told = 0;
void on_thread(sigval value) {
  const std::lock_guard lock(told_mutex);
  std::printf("called %d with %d at %.3f\n", ++told, value.sival_int, us());
  usleep(100);
}
void thread_timers() {
  sigevent how{};
  how.sigev_notify = SIGEV_THREAD;
  how.sigev_notify_function = on_thread;
  how.sigev_value.sival_int = 42;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &how, &timer);
  start();
  set(timer, 1 * ms, 2 * ms);
  spin<<<1, 1>>>(4 * ms);
  cudaDeviceSynchronize();
  timer_delete(timer);
  usleep(3000);
  std::printf("told %d at %.3f\n", told, us());
}

void sigwaits() {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGALRM);
  sigaddset(&mask, SIGRTMIN + 1);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  const timer_t timer = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGRTMIN + 1, 9);
  start();
  set(timer, 1 * ms, ms);
  ualarm(1500, 0);
  siginfo_t info{};
  for (int i = 0; i < 3; ++i) {
    const int signal = sigwaitinfo(&mask, &info);
    std::printf("%s code %d value %d at %.3f\n", signal == SIGALRM ? "alarm" : "timer",
                info.si_code, signal == SIGALRM ? 0 : info.si_value.sival_int, us());
  }
  usleep(3300);
  sigwaitinfo(&mask, &info);
  std::printf("overruns %d, %d\n", info.si_overrun, timer_getoverrun(timer));
  timer_delete(timer);
  start();
  const timespec limit{0, 700'000};
  ualarm(5000, 0);
  const int none = sigtimedwait(&mask, &info, &limit);
  std::printf("sigtimedwait %d %s at %.3f\n", none, std::strerror(errno), us());
  std::thread other([&] {
    int signal = 0;
    sigwait(&mask, &signal);
    std::printf("sigwait %d at %.3f\n", signal == SIGALRM, us());
  });
  other.join();
  handle(SIGALRM, 0);
  sigset_t empty;
  sigemptyset(&empty);
  start();
  ualarm(800, 0);
  const int result = sigsuspend(&empty);
  tell("sigsuspend", result);
}

// Signals of the program itself, beside a timer of another thread; a timer for one thread.
void sent() {
  handle(SIGUSR1, 0);
  handle(SIGUSR2, SA_SIGINFO);
  const pthread_t first = pthread_self();
  const timer_t far = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR1, 0);
  start();
  set(far, 50 * ms, 0);
  std::thread sender([=] {
    usleep(1000);
    pthread_kill(first, SIGUSR1);
    usleep(1000);
    kill(getpid(), SIGUSR2);
    usleep(1000);
    sigqueue(getpid(), SIGUSR2, {});
  });
  for (int i = 0; i < 3; ++i) tell("pause", pause());
  sender.join();
  pthread_kill(first, SIGUSR1);
  tell("own", 0);
  sigevent how{};
  how.sigev_notify = SIGEV_THREAD_ID;
  how.sigev_signo = SIGUSR2;
  std::thread other([&] {
    how._sigev_un._tid = gettid();
    timer_t mine;
    timer_create(CLOCK_MONOTONIC, &how, &mine);
    start();
    set(mine, ms, 0);
    const int result = usleep(5000);
    tell("its own thread", result);
    std::printf("%d\n", pthread_equal(taker, pthread_self()) != 0);
    timer_delete(mine);
  });
  other.join();
}

// --- what is not modelled, or not in its turn

int processor_time(int which) {
  handle(which == ITIMER_VIRTUAL ? SIGVTALRM : SIGPROF, 0);
  const itimerval soon{{}, {0, 1000}};
  setitimer(static_cast<__itimer_which_t>(which), &soon, nullptr);
  while (hits == 0) us();
  return 0;
}
void virtual_time() { processor_time(ITIMER_VIRTUAL); }
void profiled_time() { processor_time(ITIMER_PROF); }
void processor_timer() {
  handle(SIGUSR1, 0);
  set(make(CLOCK_PROCESS_CPUTIME_ID, SIGEV_SIGNAL, SIGUSR1, 0), ms, 0);
  while (hits == 0) us();
}
// A thread that calls nothing until the signal comes.
void silent() {
  handle(SIGALRM, 0);
  ualarm(1000, 0);
  while (hits == 0) {
  }
}
// A thread that waits for something outside, long, but not as long as its timer.
void watched() {
  handle(SIGALRM, 0);
  alarm(600);
  std::printf("%d\n", std::system("sleep 2"));
  spin<<<1, 1>>>(ms);
  cudaDeviceSynchronize();
  std::printf("hits %d\n", static_cast<int>(hits));
}
void never_started() {
  const itimerval none{};
  std::printf("%u %d\n", alarm(0), setitimer(ITIMER_PROF, &none, nullptr));
}

// Two timers that send the same signal at the same time: both are seen.
void alike() {
  handle(SIGUSR1, SA_SIGINFO);
  const timer_t a = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR1, 1),
                b = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR1, 2);
  start();
  set(a, ms, 2 * ms);
  set(b, ms - 300, 2 * ms);
  while (hits < 6) pause();
  for (int i = 0; i < hits; ++i) std::printf("%.3f overruns %d\n", hit_us[i], overruns[i]);
}

// Handlers that leave a call by a jump, and that set the timer again.
sigjmp_buf out;
void jumps() {
  std::signal(SIGALRM, [](int) { siglongjmp(out, 1); });
  start();
  for (volatile int i = 0; i < 2; i = i + 1) {
    ualarm(1000, 0);
    if (sigsetjmp(out, 1) == 0) {
      usleep(10'000);
      std::puts("not interrupted");
    }
    std::printf("out at %.3f\n", us());
  }
  std::signal(SIGALRM, [](int) {
    note(0);
    if (hits < 3) ualarm(400, 0);
  });
  start();
  ualarm(400, 0);
  spin<<<1, 1>>>(2 * ms);
  const cudaError_t result = cudaDeviceSynchronize();
  for (int i = 0; i < hits; ++i) std::printf("%.3f\n", hit_us[i]);
  std::printf("%d\n", static_cast<int>(result));
}

void killed() {
  start();
  alarm(1);
  usleep(400'000);
  std::puts("waits");
  std::fflush(stdout);
  pause();
}

}  // namespace

int main(int, char** arguments) {
  return run(arguments, {{"alarms", alarms},
                         {"waits", waits},
                         {"itimers", itimers},
                         {"masks", masks},
                         {"posix", posix_timers},
                         {"threads", thread_timers},
                         {"sigwaits", sigwaits},
                         {"killed", killed},
                         {"sent", sent},
                         {"alike", alike},
                         {"jumps", jumps},
                         {"virtual", virtual_time},
                         {"profiled", profiled_time},
                         {"processor", processor_timer},
                         {"silent", silent},
                         {"watched", watched},
                         {"never", never_started}});
}
