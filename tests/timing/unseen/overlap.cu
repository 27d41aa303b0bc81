// Copies and kernels of several streams: what overlaps, and what the number of hardware queues
// changes.
#include <cstring>

#include "measure.h"

namespace {

char *device_memory, *pinned;
constexpr std::size_t bytes = 96 * mib;

void to_device(std::size_t at, std::size_t n, cudaStream_t s) {
  MUST(cudaMemcpyAsync(device_memory + at, pinned + at, n, cudaMemcpyHostToDevice, s));
}
void to_host(std::size_t at, std::size_t n, cudaStream_t s) {
  MUST(cudaMemcpyAsync(pinned + at, device_memory + at, n, cudaMemcpyDeviceToHost, s));
}

// Kernels of a few blocks, one after the other in each stream; issued stream by stream, or in
// turns.
void many_streams() {
  struct shape {
    int streams, kernels, blocks, threads, us;
  };
  for (const shape& c :
       {shape{2, 7, 20, 128, 170}, shape{3, 30, 8, 256, 60}, shape{6, 24, 10, 512, 300},
        shape{16, 64, 4, 64, 220}, shape{16, 16, 6, 1024, 5000}, shape{5, 5, 40, 768, 900},
        shape{24, 48, 2, 96, 400}}) {
    const streams s(c.streams);
    const std::string key = "streams.n" + std::to_string(c.streams) + ".k" +
                            std::to_string(c.kernels) + ".us" + std::to_string(c.us);
    wall(key + ".in_turns", [&] {
      for (int k = 0; k < c.kernels; ++k)
        wait_cycles<<<c.blocks, c.threads, 0, s[k]>>>(c.us * microsecond);
    });
    wall(key + ".by_stream", [&] {
      for (int i = 0; i < c.streams; ++i)
        for (int k = i; k < c.kernels; k += c.streams)
          wait_cycles<<<c.blocks, c.threads, 0, s[i]>>>(c.us * microsecond);
    });
  }
}

// Copy, kernel, copy: sizes, chunks of unequal size, kernels longer and shorter than the copies.
void three_ways() {
  for (int us : {40, 250})
    for (int count : {2, 3, 6}) {
      const streams s(count);
      wall("three.10x3M.us" + std::to_string(us) + ".streams" + std::to_string(count), [&] {
        for (int i = 0; i < 10; ++i) {
          to_device(i * 3 * mib, 3 * mib, s[i]);
          wait_cycles<<<100, 256, 0, s[i]>>>(us * microsecond);
          to_host(i * 3 * mib, 3 * mib, s[i]);
        }
      });
    }
  const streams s(3);
  wall("three.unequal", [&] {
    std::size_t at = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t n = (512 * kib) << i;
      to_device(at, n, s[i]);
      wait_cycles<<<66, 512, 0, s[i]>>>(static_cast<long long>(n / 64));
      to_host(at, n, s[i]);
      at += n;
    }
  });
  wall("three.shrinking", [&] {
    std::size_t at = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t n = (16 * mib) >> i;
      to_device(at, n, s[i]);
      wait_cycles<<<66, 512, 0, s[i]>>>(static_cast<long long>(n / 64));
      to_host(at, n / 2, s[i]);
      at += n;
    }
  });
}

// Two copies in, two kernels, a copy out for each of six streams, in both orders of issue.
void issue_order() {
  const streams s(6);
  const auto in = [&](int i) {
    to_device(i * 4 * mib, 2 * mib, s[i]);
    to_device(i * 4 * mib + 2 * mib, mib, s[i]);
  };
  const auto work = [&](int i) {
    wait_cycles<<<24, 256, 0, s[i]>>>(90 * microsecond);
    wait_cycles<<<48, 128, 0, s[i]>>>(30 * microsecond);
  };
  const auto out = [&](int i) { to_host(i * 4 * mib, 3 * mib / 2, s[i]); };
  wall("order.depth_first", [&] {
    for (int i = 0; i < 6; ++i) in(i), work(i), out(i);
  });
  wall("order.breadth_first", [&] {
    for (int i = 0; i < 6; ++i) in(i);
    for (int i = 0; i < 6; ++i) work(i);
    for (int i = 0; i < 6; ++i) out(i);
  });
}

// The next batch is copied while the present one is worked on; two buffers.
void prefetch() {
  const streams s(2);
  event loaded[2], used[2];
  for (std::size_t size : {5 * mib, 20 * mib})
    for (int us : {150, 600}) {
      const std::string key =
          "prefetch." + std::to_string(size / mib) + "M.us" + std::to_string(us);
      wall(key, [&] {
        for (int i = 0; i < 12; ++i) {
          const int buffer = i % 2;
          if (i >= 2) MUST(cudaStreamWaitEvent(s[0], used[buffer], 0));
          to_device(buffer * 32 * mib, size, s[0]);
          order(s[0], loaded[buffer], s[1]);
          wait_cycles<<<264, 512, 0, s[1]>>>(us * microsecond);
          MUST(cudaEventRecord(used[buffer], s[1]));
        }
      });
      wall(key + ".one_stream", [&] {
        for (int i = 0; i < 12; ++i) {
          to_device(0, size, s[0]);
          wait_cycles<<<264, 512, 0, s[0]>>>(us * microsecond);
        }
      });
    }
}

// Layers, and after each what is sent, and a kernel on what came back.
void gradient_hook() {
  struct shape {
    int layers, layer_us, send_us, hook_us;
  };
  for (const shape& c :
       {shape{12, 450, 300, 60}, shape{30, 80, 110, 15}, shape{5, 1500, 200, 400}}) {
    const streams s(3);
    event done, sent;
    const std::string key = "hook.layers" + std::to_string(c.layers);
    const auto layer = [&](cudaStream_t q) {
      wait_cycles<<<60, 256, 0, q>>>(c.layer_us * microsecond);
    };
    const auto send = [&](cudaStream_t q) {
      wait_cycles<<<16, 512, 0, q>>>(c.send_us * microsecond);
    };
    const auto hook = [&](cudaStream_t q) {
      wait_cycles<<<20, 64, 0, q>>>(c.hook_us * microsecond);
    };
    wall(key + ".same_stream", [&] {
      for (int i = 0; i < c.layers; ++i) {
        layer(s[0]);
        order(s[0], done, s[1]);
        send(s[1]);
        order(s[1], sent, s[0]);
        hook(s[0]);
      }
    });
    wall(key + ".own_stream", [&] {
      for (int i = 0; i < c.layers; ++i) {
        layer(s[0]);
        order(s[0], done, s[1]);
        send(s[1]);
        hook(s[1]);
      }
    });
    wall(key + ".third_stream", [&] {
      for (int i = 0; i < c.layers; ++i) {
        layer(s[0]);
        order(s[0], done, s[1]);
        send(s[1]);
        order(s[1], sent, s[2]);
        hook(s[2]);
      }
      order(s[2], sent, s[0]);
    });
  }
}

// Waits through events: fans of several widths, one level after the other, and a diagonal wave.
void forks() {
  for (int width : {3, 7}) {
    const streams s(width + 1);
    event fork;
    std::vector<event> join(width);
    wall("forks.width" + std::to_string(width), [&] {
      for (int level = 0; level < 8; ++level) {
        wait_cycles<<<10, 128, 0, s[0]>>>(20 * microsecond);
        MUST(cudaEventRecord(fork, s[0]));
        for (int i = 0; i < width; ++i) {
          MUST(cudaStreamWaitEvent(s[i + 1], fork, 0));
          wait_cycles<<<12, 256, 0, s[i + 1]>>>((40 + 10 * i) * microsecond);
          MUST(cudaEventRecord(join[i], s[i + 1]));
        }
        for (int i = 0; i < width; ++i) MUST(cudaStreamWaitEvent(s[0], join[i], 0));
      }
    });
  }
  const streams s(4);
  std::vector<event> done(4);
  wall("forks.diagonal", [&] {
    for (int row = 0; row < 10; ++row)
      for (int i = 0; i < 4; ++i) {
        if (i > 0) MUST(cudaStreamWaitEvent(s[i], done[i - 1], 0));
        wait_cycles<<<8, 256, 0, s[i]>>>(70 * microsecond);
        MUST(cudaEventRecord(done[i], s[i]));
      }
  });
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(cudaMalloc(reinterpret_cast<void**>(&device_memory), bytes));
  MUST(cudaMallocHost(reinterpret_cast<void**>(&pinned), bytes));
  std::memset(pinned, 1, bytes);
  many_streams();
  three_ways();
  issue_order();
  prefetch();
  gradient_hook();
  forks();
  return end();
}
