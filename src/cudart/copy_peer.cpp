// Copies that name the devices of their ends. Between virtual devices peer access is not needed, as
// on hardware: without it the driver goes through the host.
#include "cudart/call_name.hpp"
#include "cudart/capture.hpp"
#include "cudart/copy.hpp"

namespace sb::cudart {
namespace {

bool known_device(int device) {
  return device >= 0 && static_cast<std::uint32_t>(device) < the_engine().device_count();
}

struct ends {
  int destination, source;
};

status check_devices(const ends& devices, bool empty) {
  if (empty) return status::not_ready;
  const bool known = known_device(devices.destination) && known_device(devices.source);
  return known ? status::success : status::invalid_device;
}

// CUDA: a synchronous copy between devices comes after all earlier work of both, and before all
// later (documented, not recorded): their legacy streams stand for that.
status copy_between(const copy_request& request, const ends& devices) {
  const device_id here = current_device();
  engine::engine& engine = the_engine();
  CUstream_st& own = legacy_stream(here);
  std::vector<device_id> others;
  for (const int d : {devices.destination, devices.source}) {
    const device_id other{static_cast<std::uint32_t>(d)};
    if (other != here && (others.empty() || others.front() != other)) others.push_back(other);
  }
  std::vector<command_id> after;
  for (const device_id other : others) {
    after.push_back(engine.submit(legacy_stream(other).id, engine::marker_operation{}));
  }
  if (!after.empty()) engine.submit(own.id, engine::marker_operation{}, after);
  const status s = copy(request, cudaStreamLegacy, call_form::synchronous);
  const command_id end = engine.submit(own.id, engine::marker_operation{});
  for (const device_id other : others) {
    engine.submit(legacy_stream(other).id, engine::marker_operation{}, std::span(&end, 1));
  }
  return s;
}

status copy_peer(copy_request request, const ends& devices, cudaStream_t stream, call_form form) {
  // Both ends are devices': memory that CUDA does not know is refused.
  request.kind = cudaMemcpyDeviceToDevice;
  if (form == call_form::synchronous) {
    return devices.destination == devices.source ? copy(request, stream, form)
                                                 : copy_between(request, devices);
  }
  // h200: not even a copy within one device can be captured under this name.
  const auto resolved = resolve(stream);
  if (!resolved) return resolved.error();
  if (const status s = refuse_captured(**resolved); s != status::success) return s;
  return copy(request, stream, form);
}

cudaError_t linear(void* destination, const void* source, std::size_t count, const ends& devices,
                   cudaStream_t stream, call_form form) {
  return transfer_entry([&] { return check_devices(devices, count == 0); },
                        [&] {
                          copy_request request;
                          request.destination = destination;
                          request.source = source;
                          request.width = count;
                          return copy_peer(request, devices, stream, form);
                        });
}

cudaError_t box(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, call_form form) {
  return transfer_entry(
      [&] {
        if (p == nullptr) return status::invalid_value;
        const cudaExtent& e = p->extent;
        return check_devices({p->dstDevice, p->srcDevice},
                             e.width == 0 || e.height == 0 || e.depth == 0);
      },
      [&]() -> status {
        cudaMemcpy3DParms plain{};
        plain.srcArray = p->srcArray;
        plain.srcPos = p->srcPos;
        plain.srcPtr = p->srcPtr;
        plain.dstArray = p->dstArray;
        plain.dstPos = p->dstPos;
        plain.dstPtr = p->dstPtr;
        plain.extent = p->extent;
        const auto request = request_of(plain);
        if (!request) return request.error();
        return copy_peer(*request, {p->dstDevice, p->srcDevice}, stream, form);
      });
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaMemcpyPeer(void* destination, int destination_device,
                                            const void* source, int source_device, size_t count) {
  return as_call([&] {
    return linear(destination, source, count, {destination_device, source_device}, nullptr,
                  call_form::synchronous);
  });
}

SB_API cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void* destination, int destination_device,
                                                 const void* source, int source_device,
                                                 size_t count, cudaStream_t stream) {
  return as_call([&] {
    return linear(destination, source, count, {destination_device, source_device}, stream,
                  call_form::asynchronous);
  });
}

SB_API cudaError_t CUDARTAPI cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  return as_call([&] { return box(p, nullptr, call_form::synchronous); });
}
SB_PTDS(cudaMemcpy3DPeer, (const cudaMemcpy3DPeerParms* p), (p))

SB_API cudaError_t CUDARTAPI cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p,
                                                   cudaStream_t stream) {
  return as_call([&] { return box(p, stream, call_form::asynchronous); });
}
SB_PTSZ(cudaMemcpy3DPeerAsync, (const cudaMemcpy3DPeerParms* p, cudaStream_t stream), (p, stream))

}  // namespace sb::cudart
