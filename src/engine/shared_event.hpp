// An event that several processes record and wait for: cudaEventInterprocess.
//
// Every record of such an event gets a ticket, in whichever process it is made, and a place in a
// page that all of them map. A wait keeps the ticket that was the newest at its call. Places are
// used again after `places` records; who still waits for an older one then waits for the newer one.
// The records of an event that its process destroyed count as complete. Those of a process that was
// killed before they were do not: who waits for them waits on, as on the hardware (h200/ipc.tsv
// parent.stream.after.kill).
//
// An exporting process keeps its pages in one file, so events cost no descriptors.
//
// Thread safety: all members.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/shared_region.hpp"

namespace sb::engine {

class shared_event {
 public:
  struct address {
    file_address file;
    std::uint32_t page = 0;
    std::uint32_t generation = 0;  // of the page: tells an event that was destroyed
  };
  using ticket = std::uint64_t;  // 0: none

  static std::shared_ptr<shared_event> create();                      // null: no room
  static std::shared_ptr<shared_event> open(const address& of_peer);  // null: not there any more
  // Where others find it; nothing for an event that was opened here.
  [[nodiscard]] std::optional<address> where() const;
  ~shared_event();
  shared_event(const shared_event&) = delete;
  shared_event& operator=(const shared_event&) = delete;

  ticket begin();                // a record is made
  void complete(ticket record);  // and its stream came to it
  [[nodiscard]] ticket newest() const;
  [[nodiscard]] bool done(ticket record);
  // Waits until it is done, but not for long; answers done().
  bool wait(ticket record, std::chrono::microseconds most);

  struct page;
  struct arena;

 private:
  shared_event(std::shared_ptr<arena> in, std::uint32_t place, std::uint32_t generation, bool own);
  [[nodiscard]] bool destroyed() const;

  const std::shared_ptr<arena> arena_;
  const std::uint32_t place_;
  const std::uint32_t generation_;  // of the page; another one: the event is no more
  const bool own_;
};

}  // namespace sb::engine
