// What pools have to hear of: records and waits that order streams, and waits of the host after
// which memory goes back. Each costs one load while no free is pending.
#pragma once

#include "cudart/context.hpp"
#include "engine/pool.hpp"

namespace sb::cudart {

inline engine::pool_stream pool_user(const CUstream_st& stream) {
  return {stream.id, stream.kind, stream.device};
}

inline void pools_see_record(const CUstream_st& stream, command_id record) {
  engine::pool_set::instance().note_record(pool_user(stream), record);
}
inline void pools_see_wait(const CUstream_st& stream, command_id record) {
  engine::pool_set::instance().note_wait(pool_user(stream), record);
}

// Whether cudaMemPoolSetAccess allowed the device the memory at this address; peer access between
// devices says nothing about pools.
bool pool_admits(const void* address, device_id device);

// Modelled time: what it takes a pool to get memory of the device, and to give it back.
void spend_for_chunks(std::uint64_t got, std::uint64_t returned);

// The engine's wait, then the pools'.
inline status wait_and_release(const sched::wait_target& target, device_id device) {
  const status s = the_engine().synchronize(target, device);
  // The legacy stream waits for all blocking streams: as good as for everything that is complete.
  const bool one_stream =
      target.scope == sched::wait_scope::stream && target.stream != legacy_stream(device).id;
  const std::uint64_t returned = engine::pool_set::instance().synchronized(
      one_stream ? target.stream : stream_id{}, target.command);
  if (returned != 0) spend_for_chunks(0, returned);
  return s;
}

}  // namespace sb::cudart
