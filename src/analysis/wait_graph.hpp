// Who waits for whom in a run that did not come to its end: operations, and the host's threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace sb::analysis {

// All blocks of a kernel that are on the device only look at memory, the others find no room, and
// it writes what it reads: as a barrier of the whole grid does that is made by hand.
[[nodiscard]] bool waits_for_own_blocks(const trace::operation& kernel);

class wait_graph {
 public:
  // `guesses`: also what may be, for a run that is known to hang.
  enum class guesses : bool { no, yes };
  wait_graph(const trace::trace& t, guesses which);

  // Operations come first, threads behind them.
  using node = std::size_t;
  [[nodiscard]] bool is_thread(node n) const { return n >= trace_.operations.size(); }
  [[nodiscard]] bool pending(trace::number operation) const {
    return trace_.operations[operation].ended == trace::never;
  }

  // Nodes that wait for each other in a ring, so that none of them can ever go on; a thread first,
  // if there is one. Empty: there are none.
  [[nodiscard]] std::vector<node> ring() const;

  // From a node back to what has not ended, or to the first of `until`. Of operations that only
  // follow each other in their stream, the first and the last.
  [[nodiscard]] std::vector<node> chain(node from, const std::vector<node>& until = {}) const;
  [[nodiscard]] const std::vector<node>& threads() const { return threads_; }  // that wait in calls
  // Calls that threads make again and again to ask whether work is done; one of each.
  [[nodiscard]] const std::vector<trace::number>& asked() const { return asked_; }
  // Of a run that hangs or was ended: threads that are in none of the runtime's calls and wait for
  // something that nobody is known to have. Where the trace does not say what, all but the first
  // may have ended.
  [[nodiscard]] const std::vector<node>& outside() const { return outside_; }
  // Threads and host functions that wait for a lock that somebody has, or for a thread's end.
  [[nodiscard]] const std::vector<node>& held() const { return held_; }
  // Of them: those who wait for a lock, and not for a thread's end.
  [[nodiscard]] bool waits_for_lock(node n) const {
    return std::find(locked_.begin(), locked_.end(), n) != locked_.end();
  }
  // What a chain leaves out between two of its nodes.
  [[nodiscard]] std::vector<node> between(node n, node on) const;
  // Where the questions begin: the threads that wait in calls, and for each what it waits for; the
  // last pending operation of each stream when no thread waits.
  [[nodiscard]] std::vector<std::vector<node>> chains() const;

  // Whether the one is only guessed to wait for the other; `anybody`: and nothing speaks for it but
  // that the other waits too.
  enum class guess : std::uint8_t { no, yes, anybody };
  [[nodiscard]] guess guess_of(node n, node on) const;

  // Whether the one is a kernel that finds no room beside the other.
  [[nodiscard]] bool waits_for_room(node n, node on) const;
  // Whether it is one of which some blocks wait for others that find no room: beside its own, or
  // beside those of `on`.
  [[nodiscard]] bool waits_for_blocks(node n, node on) const;
  // How many kernels its device holds, if there are as many.
  [[nodiscard]] std::size_t kernel_limit(node n) const;

  // "kernel b on stream 1 waits by an event for kernel a on stream 0"
  [[nodiscard]] std::string sentence(node n, node on) const;
  // What became of one that waits for nothing that is known.
  [[nodiscard]] std::string state(node n) const;
  // The one, or the other.
  [[nodiscard]] std::string words(node n) const;

 private:
  struct writer {
    trace::number operation = trace::none;
    std::string_view what;     // it would write
    std::uint64_t blocks = 0;  // of it, that find no room: the others are there
  };
  struct link {
    node to = 0;
    std::string why;         // {}: the other one
    bool in_stream = false;  // the order of its stream
    bool either = false;     // one of several such would be enough
    guess guessed = guess::no;
    std::string aside = " ";  // between the name of the one and why
  };

  static bool counts(const link& l, bool firm) { return !firm || l.guessed != guess::anybody; }
  [[nodiscard]] node thread(trace::number n) const { return trace_.operations.size() + n; }
  [[nodiscard]] const std::vector<link>* links(node n) const;
  [[nodiscard]] const link* way(node from, node to) const;
  [[nodiscard]] std::string name(node n) const;
  [[nodiscard]] std::string reason(const trace::operation& o, const trace::edge& e,
                                   std::size_t connections) const;
  void add(node from, link l) { links_[from].push_back(std::move(l)); }
  void add_operation(trace::number i);
  void add_memory(trace::number runs);
  void add_blocks(trace::number runs, const std::optional<writer>& other);
  void add_guesses(node from, const std::string& why, const std::vector<node>& who,
                   guess how = guess::yes);
  [[nodiscard]] std::optional<writer> writer_for(trace::number runs) const;
  [[nodiscard]] std::vector<node> pending_functions() const;
  [[nodiscard]] bool host_may_write(const trace::operation& o) const;
  void add_thread(const trace::call& c);
  void add_askers();
  void add_lookers();
  [[nodiscard]] trace::number function_of(trace::number thread) const;
  [[nodiscard]] trace::number written_behind(node function) const;
  void find_outside();
  void add_stuck();
  void add_outside();
  [[nodiscard]] std::string awaited_words(const trace::stuck_thread& s) const;
  [[nodiscard]] std::string last_call(trace::number thread) const;
  // Which nodes can never go on; `firm`: without what speaks for nothing but that both wait.
  [[nodiscard]] std::vector<bool> find_stuck(bool firm) const;
  [[nodiscard]] std::vector<node> ring_in(const std::vector<bool>& stuck, bool firm) const;

  const trace::trace& trace_;
  std::vector<std::size_t> kernels_there_;  // by device
  std::map<node, std::vector<link>> links_;
  std::map<trace::number, trace::number> last_in_stream_;  // pending ones
  std::vector<node> threads_;                              // that wait
  std::vector<node> outside_;
  std::vector<node> asking_;  // threads; also those of host functions
  std::vector<trace::number> asked_;
  std::vector<node> lost_;  // wait for a lock whose holder has ended
  std::vector<node> held_, locked_;
  std::map<node, std::string> awaits_;  // "waits for lock 1", as far as the trace has it
};

}  // namespace sb::analysis
