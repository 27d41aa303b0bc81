// Programs that go on when a timer that is a file says so.
#include "timers.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

namespace {

void files() {
  const int file = timerfd_create(CLOCK_MONOTONIC, 0),
            second = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
  itimerspec wanted = times(ms, ms / 4), left{};
  std::uint64_t count = 0;
  start();
  timerfd_settime(file, 0, &wanted, nullptr);
  (void)!read(file, &count, sizeof count);
  std::printf("read %d at %.3f\n", static_cast<int>(count), us());
  usleep(1100);
  (void)!read(file, &count, sizeof count);
  std::printf("read %d at %.3f\n", static_cast<int>(count), us());
  timerfd_gettime(file, &left);
  std::printf("left %ld of %ld\n", left.it_value.tv_nsec, left.it_interval.tv_nsec);
  pollfd polled[2]{{file, POLLIN, 0}, {second, POLLIN, 0}};
  std::printf("poll %d at %.3f\n", poll(polled, 2, -1), us());
  wanted = times(0, 0);
  timerfd_settime(file, 0, &wanted, &left);
  std::printf("poll %d at %.3f\n", poll(polled, 2, 3), us());
  std::printf("nonblocking %d %s\n", static_cast<int>(read(second, &count, sizeof count)),
              std::strerror(errno));
  start();
  wanted = times(2 * ms, 0);
  timerfd_settime(file, 0, &wanted, nullptr);
  wanted = times(1 * ms, 0);
  timerfd_settime(second, 0, &wanted, nullptr);
  const int set = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = file;
  epoll_ctl(set, EPOLL_CTL_ADD, file, &event);
  event.data.fd = second;
  epoll_ctl(set, EPOLL_CTL_ADD, second, &event);
  for (int i = 0; i < 2; ++i) {
    const int ready = epoll_wait(set, &event, 1, -1);
    std::printf("epoll %d %s at %.3f\n", ready, event.data.fd == file ? "file" : "second", us());
    (void)!read(event.data.fd, &count, sizeof count);
  }
  std::printf("epoll %d at %.3f\n", epoll_wait(set, &event, 1, 2), us());
  timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  start();
  wanted = {{}, after(at.tv_sec * 1'000'000'000ll + at.tv_nsec + 5 * ms)};
  timerfd_settime(second, TFD_TIMER_ABSTIME, &wanted, nullptr);
  fd_set sets;
  FD_ZERO(&sets);
  FD_SET(second, &sets);
  timeval limit{0, 8000};
  const int chosen = select(second + 1, &sets, nullptr, nullptr, &limit);
  std::printf("select %d at %.3f, %ld left\n", chosen, us(), static_cast<long>(limit.tv_usec));
  wanted = {{}, {1, 0}};
  timerfd_settime(second, TFD_TIMER_ABSTIME, &wanted, nullptr);
  std::printf("past %d\n", static_cast<int>(read(second, &count, sizeof count)));
}

// A loop of events: a timer, a counter that another thread adds to, and signals.
void event_loop() {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  ualarm(1'250, 0);
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0), counter = eventfd(0, 0),
            signals = signalfd(-1, &mask, 0);
  start();
  const itimerspec every = times(ms, ms);
  timerfd_settime(timer, 0, &every, nullptr);
  std::thread other([=] {
    for (int i = 0; i < 3; ++i) {
      usleep(700);
      spin<<<1, 1>>>(200'000);
      cudaDeviceSynchronize();
      eventfd_write(counter, 1);
    }
  });
  const int set = epoll_create1(0);
  for (const int file : {timer, counter, signals}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = file;
    epoll_ctl(set, EPOLL_CTL_ADD, file, &event);
  }
  for (int i = 0; i < 7; ++i) {
    epoll_event event;
    epoll_wait(set, &event, 1, -1);
    std::uint64_t count = 0;
    signalfd_siginfo info{};
    if (event.data.fd == signals)
      (void)!read(signals, &info, sizeof info);
    else
      (void)!read(event.data.fd, &count, sizeof count);
    std::printf("%s at %.3f\n",
                event.data.fd == timer     ? "timer"
                : event.data.fd == counter ? "counter"
                                           : "signal",
                us());
  }
  other.join();
}

// Two threads with timers of their own, and one that cancels the other's.
void several() {
  handle(SIGUSR1, 0);
  start();
  std::thread other([] {
    const int file = timerfd_create(CLOCK_MONOTONIC, 0);
    const itimerspec every = times(300'000, 300'000);
    timerfd_settime(file, 0, &every, nullptr);
    std::uint64_t count = 0;
    for (int i = 0; i < 6; ++i) {
      (void)!read(file, &count, sizeof count);
      spin<<<1, 1>>>(100'000);
      cudaDeviceSynchronize();
    }
    std::printf("other %.3f\n", us());
    close(file);
  });
  const timer_t timer = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR1, 0);
  set(timer, 500'000, 500'000);
  while (hits < 4) {
    spin<<<1, 1>>>(150'000);
    cudaDeviceSynchronize();
  }
  std::printf("first %.3f\n", us());
  timer_delete(timer);
  other.join();
}

// One file by two names, and timers whose files are closed.
void names() {
  const int file = timerfd_create(CLOCK_BOOTTIME, 0), same = dup(file);
  const itimerspec wanted = times(ms, ms);
  start();
  std::printf("set %d\n", timerfd_settime(same, 0, &wanted, nullptr));
  close(file);
  std::uint64_t count = 0;
  (void)!read(same, &count, sizeof count);
  std::printf("read %d at %.3f\n", static_cast<int>(count), us());
  close(same);
  std::printf("closed %d %s\n", timerfd_settime(same, 0, &wanted, nullptr), std::strerror(errno));
}

// Nobody reads the timer, and nobody posts the semaphore.
void stuck() {
  const int file = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec every = times(ms, ms);
  timerfd_settime(file, 0, &every, nullptr);
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  sem_wait(&semaphore);
}

}  // namespace

int main(int, char** arguments) {
  return run(arguments, {{"files", files},
                         {"loop", event_loop},
                         {"several", several},
                         {"names", names},
                         {"stuck", stuck}});
}
