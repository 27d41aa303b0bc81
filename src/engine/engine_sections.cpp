// Commands that last until somebody says so: conditional nodes of graphs, and waits for events of
// other processes.
//
// Conditional nodes: a section is started when everything before it is complete; it looks
// at its value then, submits the graph that the value names, and is complete when that graph is, or
// when the value names none. A marker behind the body's last nodes tells when to look again.
#include <chrono>
#include <thread>

#include "engine/clock.hpp"
#include "engine/engine_state.hpp"
#include "engine/modelled.hpp"
#include "engine/shared_event.hpp"

namespace sb::engine {

namespace {

// The body that runs now, or null.
const graph_plan* chosen(const conditional_operation& c) {
  const std::uint32_t value = c.value->load(std::memory_order_relaxed);
  const std::vector<graph_plan>& bodies = *c.bodies;
  switch (c.kind) {
    case condition_kind::if_:
      if (value != 0) return &bodies[0];
      return bodies.size() > 1 ? &bodies[1] : nullptr;
    case condition_kind::while_:
      return value != 0 ? &bodies[0] : nullptr;
    case condition_kind::switch_:
      return value < bodies.size() ? &bodies[value] : nullptr;
  }
  return nullptr;
}

// Between two looks of a loop whose body does nothing.
constexpr auto idle_loop_pause = std::chrono::microseconds(50);
constexpr std::uint64_t longest_wait_ns = 50'000'000;
// Then the watching thread looks for new waits.
constexpr auto longest_foreign_wait = std::chrono::microseconds(1000);

}  // namespace

// A device is done with short kernels that start together with the node before the node looks; this
// machine may need longer.
bool engine::impl::waits_for_kernels(conditional_operation& c) {
  std::erase_if(c.rather_after, [&](command_id id) { return scheduler.done(id); });
  if (c.rather_after.empty() || model) return false;
  const std::uint64_t now = steady_ns();
  if (c.until_ns == 0) c.until_ns = now + longest_wait_ns;
  return now < c.until_ns;
}

void engine::impl::begin_section(node* n) {
  auto& c = std::get<conditional_operation>(n->what);
  if (!failed(n->device) && !stopped && waits_for_kernels(c)) {
    idle_loops->push(*n);
    return;
  }
  const graph_plan* body = failed(n->device) || stopped ? nullptr : chosen(c);
  if (body != nullptr) {
    run_body(n, *body);
    return;
  }
  n->what = marker_operation{};
  scheduler.complete(n->id);
  end_command(n);
}

void engine::impl::run_body(node* section, const graph_plan& body) {
  section->body_began = drains;
  std::vector<graph_item> items;
  items.reserve(body.items.size());
  for (const graph_plan::item& item : body.items) {
    items.push_back(
        {&item.what, item.device, item.priority.value_or(section->as.priority), item.after});
  }
  races.begin_body(section->id);
  const std::vector<command_id> leaves = submit_nodes(section->as.stream, items, {});
  node* end = new_node(section->as.stream, marker_operation{});
  end->as.order = command_order::free;
  end->as.device = end->device = section->device;
  end->as.priority = section->as.priority;
  races.end_body(section->id, submit_one(end, leaves));
  end->section = section;  // actions come later
}

void engine::impl::body_over(node* section) {
  races.body_over(section->id);
  const auto& c = std::get<conditional_operation>(section->what);
  if (c.kind != condition_kind::while_) {
    section->what = marker_operation{};
    scheduler.complete(section->id);
    end_command(section);
    return;
  }
  // A body without work would go round for ever under the lock: somebody else goes on with it, and
  // not at once.
  if (section->body_began == drains && !stopped) {
    if (model)
      model->look_again_later(*section);
    else
      idle_loops->push(*section);
    return;
  }
  begin_section(section);
}

void engine::impl::look_again(node& section) {
  std::this_thread::sleep_for(idle_loop_pause);
  look_at_section(section);
}

void engine::impl::look_at_section(node& section) {
  guard lock(mutex);
  if (stopped) return;
  take_in();
  keep_time();
  begin_section(&section);
  drain();
  finish(lock);
}

// A device that failed holds nobody up.
bool engine::impl::foreign_wait_over(node& n, bool alone) {
  if (failed(n.device)) return true;
  const auto& wait = std::get<foreign_wait_operation>(n.what);
  return alone ? wait.event->wait(wait.ticket, longest_foreign_wait)
               : wait.event->done(wait.ticket);
}

}  // namespace sb::engine
