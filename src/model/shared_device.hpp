// Work that is on a device together and shares what the device has: the pipes of its
// multiprocessors and its memory.
//
// Each piece of work has a length that it takes alone, and asks for a part of the pipes and of the
// memory while it runs at that speed. As long as all get what they ask for nobody notices the
// others. Otherwise a part of a multiprocessor's pipes goes to all of its kernels alike and the
// rest to the one that is there the longest, then to the next (the schedulers of a multiprocessor
// prefer older warps); what memory can move goes to all alike. Speeds change when something comes
// or leaves, and between that they do not.
//
// Invariants
//   - work of one owner never slows itself: its length alone already says what its blocks do to
//     each other;
//   - the same calls in the same order give the same times.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

namespace sb {

// What a block asks for while it runs as fast as alone.
struct block_demand {
  double arithmetic = 0;  // of the pipes of its multiprocessor
  double memory = 0;      // of what the device's memory and caches can move
};

class shared_device {
 public:
  using piece_id = std::uint32_t;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static constexpr piece_id none = ~piece_id{0};

  // `older_first`: the part of the pipes that goes by age.
  shared_device(std::uint32_t multiprocessors, double older_first);

  struct piece {
    const void* owner = nullptr;  // a kernel, or a copy
    std::uint64_t blocks = 0;     // 0: on no multiprocessor; `demand` is that of all
    std::uint32_t threads = 0;    // of a block
    block_demand demand;
    std::uint64_t from = 0;  // it begins, perhaps only later
    double alone = 0;        // nanoseconds
  };
  // Until the next update it ends as if nothing else were there.
  piece_id add(const piece& p);
  void add_blocks(piece_id id,
                  std::uint64_t blocks);  // to one that was added since the last update
  // The rest of it takes so many times what it would have. Answers when it ends.
  std::uint64_t stretch(piece_id id, std::uint64_t now, double times);
  void remove(piece_id id);
  [[nodiscard]] const piece& at(piece_id id) const { return pieces_[id].what; }

  // Whether something came or left since the last update.
  [[nodiscard]] bool changed() const { return changed_; }
  struct moved {
    piece_id id;
    std::uint64_t end;
  };
  // New speeds from now on. Answers with the pieces that end at another time than was said before.
  const std::vector<moved>& update(std::uint64_t now);
  void look_again() { changed_ = true; }
  // When the next piece begins to ask for something while others are there: time for an update.
  [[nodiscard]] std::uint64_t next_begin() const { return next_begin_; }

 private:
  struct state {
    piece what;
    double left = 0;          // nanoseconds, alone
    std::uint64_t since = 0;  // `left` is of this time
    double speed = 1;
    bool placed = false;
    piece_id next = none;             // of its owner
    std::uint64_t each = 0;           // blocks on every multiprocessor
    std::vector<std::uint32_t> more;  // multiprocessors with one more
    std::vector<bool> has_more;       // the same, by multiprocessor
  };
  struct owner {
    const void* who;
    piece_id first = none;
    double speed = 1;
    double wants = 0, gets = 0;  // where it is being looked at
  };

  owner& owner_of(const void* who);
  void progress(state& s, std::uint64_t now) const;
  void place(state& s);
  void share_pipes(std::uint64_t now);
  void share_multiprocessor(std::size_t at, std::uint64_t now);
  void share_memory(std::uint64_t now);
  void divide(double by_age);

  std::uint32_t multiprocessors_;
  double older_first_;
  std::vector<state> pieces_;
  std::vector<piece_id> free_;
  std::vector<owner> owners_;           // the oldest first
  std::vector<std::uint64_t> threads_;  // by multiprocessor, beyond `each` of all pieces
  std::vector<double> load_;
  std::vector<moved> moved_;
  std::uint64_t next_begin_ = never;
  bool changed_ = false;
};

}  // namespace sb
