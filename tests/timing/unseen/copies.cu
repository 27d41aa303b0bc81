// Copies and fills: sizes, directions, rows, both ways at once, several streams.
#include <cstring>

#include "measure.h"

namespace {

char *device_memory, *pinned, *pageable;
constexpr std::size_t bytes = 256 * mib;

std::string name_of(std::size_t n) {
  return n % mib == 0 ? std::to_string(n / mib) + "M" : std::to_string(n / kib) + "K";
}

void sizes(cudaStream_t s) {
  for (std::size_t n : {96 * kib, 200 * kib, 700 * kib, 2 * mib, 6 * mib, 48 * mib, 256 * mib}) {
    const std::string size = name_of(n);
    wall("pinned.h2d." + size,
         [&] { MUST(cudaMemcpyAsync(device_memory, pinned, n, cudaMemcpyHostToDevice, s)); });
    wall("pinned.d2h." + size,
         [&] { MUST(cudaMemcpyAsync(pinned, device_memory, n, cudaMemcpyDeviceToHost, s)); });
    between_events("pinned.events.h2d." + size, s, [&] {
      MUST(cudaMemcpyAsync(device_memory, pinned, n, cudaMemcpyHostToDevice, s));
    });
    wall("pinned.sync.d2h." + size,
         [&] { MUST(cudaMemcpy(pinned, device_memory, n, cudaMemcpyDeviceToHost)); });
  }
  for (std::size_t n :
       {8 * kib, 40 * kib, 160 * kib, 600 * kib, 2 * mib, 12 * mib, 64 * mib, 256 * mib}) {
    const std::string size = name_of(n);
    wall("pageable.h2d." + size,
         [&] { MUST(cudaMemcpyAsync(device_memory, pageable, n, cudaMemcpyHostToDevice, s)); });
    wall("pageable.d2h." + size,
         [&] { MUST(cudaMemcpyAsync(pageable, device_memory, n, cudaMemcpyDeviceToHost, s)); });
    wall("pageable.sync.h2d." + size,
         [&] { MUST(cudaMemcpy(device_memory, pageable, n, cudaMemcpyHostToDevice)); });
  }
  for (std::size_t n : {8 * kib, 24 * kib, 40 * kib})
    wall("small.h2d." + name_of(n),
         [&] { MUST(cudaMemcpyAsync(device_memory, pinned, n, cudaMemcpyHostToDevice, s)); });
  for (std::size_t n : {8 * kib, 24 * kib, 40 * kib})
    wall("small.d2h." + name_of(n),
         [&] { MUST(cudaMemcpyAsync(pinned, device_memory, n, cudaMemcpyDeviceToHost, s)); });
}

void together() {
  const streams s(4);
  const auto in = [&](std::size_t at, std::size_t n, cudaStream_t q) {
    MUST(cudaMemcpyAsync(device_memory + at, pinned + at, n, cudaMemcpyHostToDevice, q));
  };
  const auto out = [&](std::size_t at, std::size_t n, cudaStream_t q) {
    MUST(cudaMemcpyAsync(pinned + at, device_memory + at, n, cudaMemcpyDeviceToHost, q));
  };
  wall("pinned.both.24M_8M", [&] {
    in(0, 24 * mib, s[0]);
    out(64 * mib, 8 * mib, s[1]);
  });
  wall("pinned.both.100M_100M", [&] {
    in(0, 100 * mib, s[0]);
    out(128 * mib, 100 * mib, s[1]);
  });
  wall("pinned.both.10x2M", [&] {
    for (std::size_t i = 0; i < 10; ++i) {
      in(i * 2 * mib, 2 * mib, s[0]);
      out(64 * mib + i * 2 * mib, 2 * mib, s[1]);
    }
  });
  wall("pinned.one_stream.20x1M", [&] {
    for (std::size_t i = 0; i < 20; ++i) in(i * mib, mib, s[0]);
  });
  wall("pinned.four_streams.20x1M", [&] {
    for (std::size_t i = 0; i < 20; ++i) in(i * mib, mib, s[i]);
  });
  wall("pinned.four_streams_out.20x1M", [&] {
    for (std::size_t i = 0; i < 20; ++i) out(i * mib, mib, s[i]);
  });
}

void rows(cudaStream_t s) {
  struct shape {
    std::size_t width, height, pitch;
  };
  for (const shape& c :
       {shape{512, 2000, 1024}, shape{3000, 1000, 4096}, shape{16384, 500, 32768}}) {
    const std::string key = std::to_string(c.width) + "x" + std::to_string(c.height);
    wall("rows.h2d." + key, [&] {
      MUST(cudaMemcpy2DAsync(device_memory, c.pitch, pinned, c.width, c.width, c.height,
                             cudaMemcpyHostToDevice, s));
    });
    wall("rows.d2h." + key, [&] {
      MUST(cudaMemcpy2DAsync(pinned, c.width, device_memory, c.pitch, c.width, c.height,
                             cudaMemcpyDeviceToHost, s));
    });
  }
}

void inside(cudaStream_t s) {
  for (std::size_t n : {256 * kib, 3 * mib, 20 * mib, 100 * mib}) {
    between_events("fill." + name_of(n), s, [&] { MUST(cudaMemsetAsync(device_memory, 7, n, s)); });
    between_events("inside." + name_of(n), s, [&] {
      MUST(cudaMemcpyAsync(device_memory + 128 * mib, device_memory, n, cudaMemcpyDeviceToDevice,
                           s));
    });
    wall("inside.wall." + name_of(n), [&] {
      MUST(cudaMemcpyAsync(device_memory + 128 * mib, device_memory, n, cudaMemcpyDeviceToDevice,
                           s));
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(cudaMalloc(reinterpret_cast<void**>(&device_memory), bytes));
  MUST(cudaMallocHost(reinterpret_cast<void**>(&pinned), bytes));
  pageable = static_cast<char*>(std::malloc(bytes));
  std::memset(pinned, 1, bytes);
  std::memset(pageable, 1, bytes);
  const streams s(1);
  sizes(s[0]);
  together();
  rows(s[0]);
  inside(s[0]);
  return end();
}
