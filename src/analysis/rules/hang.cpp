// A run that cannot go on, or that was ended while work was pending: what waits for what, from the
// host's waits back to what has not ended, and where that comes back to itself.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/rules/rules.hpp"
#include "analysis/wait_graph.hpp"

namespace sb::analysis {

namespace {

using node = wait_graph::node;

// Sentences of evidence, each once; who was the subject of one needs no other.
class account {
 public:
  account(const trace::trace& t, const wait_graph& graph, finding& f)
      : trace_(t), graph_(graph), finding_(f) {}

  void add_ring(const std::vector<node>& ring) {
    for (std::size_t i = 0; i < ring.size(); ++i)
      add(ring[i], graph_.sentence(ring[i], ring[(i + 1) % ring.size()]));
  }

  // The last of a chain is told for itself, unless others follow it.
  void add_chain(const std::vector<node>& chain, bool ends_here) {
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      add(chain[i], graph_.sentence(chain[i], chain[i + 1]));
      for (const node n : graph_.between(chain[i], chain[i + 1])) told_.insert(n);
    }
    if (ends_here) add(chain.back(), graph_.words(chain.back()));
  }

  // Who waits for the ring is not in it.
  void add_beside_ring(const std::vector<node>& chain) {
    const std::size_t before = finding_.evidence.size();
    add_chain(chain, false);
    for (std::size_t i = before; i < finding_.evidence.size(); ++i)
      finding_.evidence[i].insert(0, "outside of the ring, ");
  }

  void add_chains() {
    constexpr std::size_t most = 4;
    const std::vector<std::vector<node>> chains = graph_.chains();
    for (std::size_t i = 0; i < std::min(chains.size(), most); ++i) add_chain(chains[i], true);
  }

  void add_outside() {
    for (const node n : graph_.outside()) add(n, graph_.words(n));
  }

  // What is pending beside these, as far as there is room; then how much is left.
  void add_others() {
    constexpr std::size_t room = 8;
    std::size_t left = 0;
    for (const bool waits : {false, true}) {
      for (number i = 0; i < trace_.operations.size(); ++i) {
        const bool has_started = trace_.operations[i].started != never;
        if (!graph_.pending(i) || has_started == waits || told_.contains(i)) continue;
        if (finding_.evidence.size() < room)
          add(i, graph_.words(i));
        else
          ++left;
      }
    }
    if (left != 0)
      finding_.evidence.push_back(
          fmt::format("and {} more operation{} not over", left, left == 1 ? " was" : "s were"));
  }

 private:
  void add(node n, std::string words) {
    if (told_.insert(n).second) finding_.evidence.push_back(std::move(words));
  }

  const trace::trace& trace_;
  const wait_graph& graph_;
  finding& finding_;
  std::set<node> told_;
};

void add_pending(const trace::trace& t, const wait_graph& graph, finding& f) {
  std::vector<number> operations, calls;
  for (number i = 0; i < t.operations.size(); ++i) {
    if (graph.pending(i)) operations.push_back(i);
  }
  for (number c = 0; c < t.calls.size(); ++c) {
    if (!t.calls[c].returned) calls.push_back(c);
  }
  calls.insert(calls.end(), graph.asked().begin(), graph.asked().end());
  add_operations(t, f, operations);
  add_calls(t, f, calls);
}

// What ran and what waited in a program that was ended from outside: it may have been about to go
// on, or not.
void find_pending(const trace::trace& t, const wait_graph& graph, findings& out) {
  finding f;
  f.rule = "pending";
  f.weight = severity::warning;
  f.title = "Work was pending when the program's time was over";
  f.why = "From what the host waited for, back to what had not ended:";
  f.change =
      "Look whether what ran comes to an end by itself, and whether something that it needs stands "
      "behind it; a program that only takes longer wants a greater --timeout.";
  account told(t, graph, f);
  told.add_chains();
  told.add_others();
  told.add_outside();
  add_pending(t, graph, f);
  if (!f.operations.empty()) out.push_back(std::move(f));
}

// A kernel that is used for the first time waits for everything before it, also for a kernel that
// waits for what would come behind; `on`: for that one (none: for any).
bool waits_to_be_loaded(const trace::operation& o, number on) {
  return o.ended == never && std::any_of(o.waits.begin(), o.waits.end(), [&](const auto& e) {
           return e.cause == trace::wait_cause::loading && e.until == never &&
                  (on == none || e.from == on);
         });
}

// A ring that would be there without any loading is not broken by that.
bool is_by_loading(const trace::trace& t, const wait_graph& graph, const std::vector<node>& ring) {
  if (ring.empty())
    return std::any_of(t.operations.begin(), t.operations.end(),
                       [](const trace::operation& o) { return waits_to_be_loaded(o, none); });
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const node next = ring[(i + 1) % ring.size()];
    if (graph.is_thread(ring[i]) || graph.is_thread(next)) continue;
    if (waits_to_be_loaded(t.operations[ring[i]], static_cast<number>(next))) return true;
  }
  return false;
}

// Whether all that runs are kernels that look at memory in vain, with others that find no room
// beside them, while every thread is in a call: then it is a hang, though the program was ended
// from outside.
bool is_full_of_waiting_blocks(const trace::trace& t) {
  bool full = false;
  for (const trace::operation& o : t.operations) {
    if (o.ended != never) continue;
    full |= std::any_of(o.waits.begin(), o.waits.end(), [](const trace::edge& e) {
      return e.cause == trace::wait_cause::device_full && e.until == never;
    });
    if (o.started == never) continue;
    if (o.left.resident == 0 || o.left.in_vain < o.left.resident) return false;
    full |= waits_for_own_blocks(o);
  }
  std::set<number> threads, waiting;
  for (const trace::call& c : t.calls) {
    threads.insert(c.thread);
    if (!c.returned) waiting.insert(c.thread);
  }
  return full && threads == waiting;
}

// What breaks a ring, by what it goes through.
std::string way_out(const trace::trace& t, const wait_graph& graph, const std::vector<node>& ring) {
  const auto next = [&](std::size_t i) { return ring[(i + 1) % ring.size()]; };
  const auto is_function = [&](node n) {
    return !graph.is_thread(n) && t.operations[n].kind == trace::operation_kind::host_function;
  };
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (is_function(ring[i]) && is_function(next(i)))
      return "Let no host function wait for what another does: they run one after another, "
             "whatever their streams. Order their streams with events instead.";
    if (graph.waits_for_blocks(ring[i], next(i)))
      return "Blocks that wait for each other all have to be on the device at once: launch no more "
             "of them than fit (cudaOccupancyMaxActiveBlocksPerMultiprocessor says how many on a "
             "multiprocessor) beside what else runs, or use grid.sync() in a launch by "
             "cudaLaunchCooperativeKernel, which refuses a grid that does not fit.";
    if (!graph.waits_for_room(ring[i], next(i))) continue;
    if (const std::size_t limit = graph.kernel_limit(next(i)); limit != 0)
      return fmt::format(
          "The device holds {} kernels at a time, however small they are: let no more of them wait "
          "for each other, or make one kernel of several, with a block for each.",
          limit);
    return "Break the ring at one of these places: issue what is waited for first, or leave it "
           "room beside the kernel that waits, which then needs fewer blocks.";
  }
  if (std::any_of(ring.begin(), ring.end(), [&](node n) { return graph.waits_for_lock(n); }))
    return "Break the ring at one of these places: release a lock before waiting for "
           "what needs it, and take several locks in the same order everywhere.";
  const bool joins = std::any_of(ring.begin(), ring.end(), [&](node n) {
    return std::find(graph.held().begin(), graph.held().end(), n) != graph.held().end();
  });
  return joins ? "Break the ring at one of these places: do what a thread waits for (signal its "
                 "condition, post its semaphore, write what it looks at) before waiting for its "
                 "end."
               : "Break the ring at one of these places: issue what is waited for first, use "
                 "another stream or more hardware connections, or wait for less.";
}

// The most that is guessed of what closes the ring.
wait_graph::guess guess_in(const wait_graph& graph, const std::vector<node>& ring) {
  wait_graph::guess most = wait_graph::guess::no;
  for (std::size_t i = 0; i < ring.size(); ++i)
    most = std::max(most, graph.guess_of(ring[i], ring[(i + 1) % ring.size()]));
  return most;
}

}  // namespace

void find_hang(const trace::trace& t, findings& out) {
  const bool hung = t.head.end == trace::ending::hung;
  if (t.head.end == trace::ending::complete) return;
  const bool still = t.head.end == trace::ending::stopped && is_full_of_waiting_blocks(t);
  const wait_graph graph(t, hung || still ? wait_graph::guesses::yes : wait_graph::guesses::no);
  std::vector<node> ring = graph.ring();
  // A kernel waits for somebody, and the host waits for it: that alone is no ring.
  const bool by_anybody = guess_in(graph, ring) == wait_graph::guess::anybody;
  if (by_anybody) ring.clear();
  // A run that was ended from outside may have been about to go on.
  if (!hung && !still && ring.empty()) {
    if (t.head.end == trace::ending::stopped) find_pending(t, graph, out);
    return;
  }

  finding f;
  f.rule = "hang";
  f.weight = severity::hang;
  f.title = "The program hangs";
  if (still) f.title = "Nothing moved any more when the program's time was over";
  if (!hung && !still) f.title = "Operations wait for each other when the recording ends";
  account told(t, graph, f);
  if (ring.empty()) {
    f.why =
        "Nothing could move any more. From what the host waited for, back to what had not ended:";
    told.add_chains();
    told.add_others();
    told.add_outside();
    f.change = "Look at what these operations wait for.";
    if (by_anybody)
      f.change =
          "Look who is to write the memory that the kernel looks at: whether that comes behind the "
          "host's wait for the kernel, or is left to threads of the kernel that wait for those "
          "that "
          "look, as at __syncthreads() or in the same warp.";
    add_pending(t, graph, f);
    if (f.operations.empty()) {
      f.why = "Nothing could move any more, and no work of the device was pending:";
      f.change =
          "Look at what the program's threads wait for outside of CUDA: locks that they take in "
          "another order, a signal that nobody sends, a thread that waits itself. A debugger shows "
          "where each of them is.";
    }
    if (std::any_of(t.stuck.begin(), t.stuck.end(), [](const auto& s) { return s.holder_ended; }))
      f.change =
          "Let a thread release its locks before it ends: std::lock_guard does, also when the "
          "thread leaves by an exception.";
  } else {
    f.change = way_out(t, graph, ring);
    // The ring begins with a thread, or where what the first one waits for comes into it.
    if (!graph.is_thread(ring.front()) && !graph.threads().empty()) {
      const std::vector<node> entry = graph.chain(graph.threads().front(), ring);
      told.add_chain(entry, false);
      const auto first = std::find(ring.begin(), ring.end(), entry.back());
      if (first != ring.end()) std::rotate(ring.begin(), first, ring.end());
    }
    f.why = f.evidence.empty() ? "These wait for each other in a ring"
                               : "The host waits for what waits for each other in a ring";
    if (guess_in(graph, ring) != wait_graph::guess::no)
      f.why += ", if what is guessed (\"perhaps\") is right";
    f.why += ':';
    told.add_ring(ring);
    for (const node thread : graph.threads()) told.add_beside_ring(graph.chain(thread, ring));
    for (const node waits : graph.held()) told.add_beside_ring(graph.chain(waits, ring));
    told.add_outside();
    std::vector<number> operations, calls;
    for (const node n : ring) {
      if (!graph.is_thread(n)) operations.push_back(static_cast<number>(n));
    }
    for (number c = 0; c < t.calls.size(); ++c) {
      if (!t.calls[c].returned) calls.push_back(c);
    }
    add_operations(t, f, operations);
    add_calls(t, f, calls);
  }
  if (is_by_loading(t, graph, ring)) {
    f.change =
        "Load the kernel that waits to be loaded before the one that it waits for is launched: by "
        "a "
        "first launch or cudaFuncGetAttributes at the start of the program, or with "
        "CUDA_MODULE_LOADING=EAGER. " +
        f.change;
  }
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
