// Hardware queues.
#include <gtest/gtest.h>

#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "driver.hpp"

namespace sb::sched {
namespace {

// A kernel stuck behind a gate in one stream, then an operation in another: does it run?
bool runs_behind_stuck(std::uint32_t connections, const std::function<command(stream_id)>& stuck,
                       const std::function<command(stream_id)>& other) {
  driver d(connections);
  const stream_id a = d.non_blocking();
  const stream_id b = d.non_blocking();
  d.hold(kernel_in(a));
  d.submit(stuck(a));
  return d.done(d.submit(other(b)));
}

command kernel(stream_id s) { return kernel_in(s); }
command fill(stream_id s) { return fill_in(s); }
command small_upload(stream_id s) { return upload_in(s, 16384); }
command large_upload(stream_id s) { return upload_in(s, 32768); }
command download(stream_id s) { return download_in(s); }
command host_function(stream_id s) { return host_function_in(s); }
command on_device(stream_id s) { return copy_in(s, copy_direction::device_to_device, 1 << 20); }

TEST(one_connection, a_stuck_kernel_holds_kernels_fills_and_small_uploads) {
  EXPECT_FALSE(runs_behind_stuck(1, kernel, kernel));
  EXPECT_FALSE(runs_behind_stuck(1, kernel, fill));
  EXPECT_FALSE(runs_behind_stuck(1, kernel, small_upload));
  EXPECT_FALSE(runs_behind_stuck(1, kernel, on_device));
  EXPECT_TRUE(runs_behind_stuck(1, kernel, large_upload));
  EXPECT_TRUE(runs_behind_stuck(1, kernel, download));
  EXPECT_TRUE(runs_behind_stuck(1, kernel, host_function));
}

TEST(one_connection, large_uploads_and_downloads_have_queues_of_their_own) {
  EXPECT_FALSE(runs_behind_stuck(1, large_upload, large_upload));
  EXPECT_TRUE(runs_behind_stuck(1, large_upload, small_upload));
  EXPECT_TRUE(runs_behind_stuck(1, large_upload, kernel));
  EXPECT_TRUE(runs_behind_stuck(1, large_upload, download));
  EXPECT_FALSE(runs_behind_stuck(1, download, download));
  EXPECT_TRUE(runs_behind_stuck(1, download, kernel));
  EXPECT_TRUE(runs_behind_stuck(1, download, large_upload));
}

TEST(one_connection, a_stuck_host_function_holds_the_queue_that_its_stream_used_last) {
  EXPECT_FALSE(runs_behind_stuck(1, host_function, kernel));
  EXPECT_TRUE(runs_behind_stuck(1, host_function, download));
}

TEST(one_connection, a_stream_that_is_idle_starts_again_with_the_compute_queue) {
  driver d(1);
  const stream_id b = d.blocking();
  ASSERT_TRUE(d.done(d.submit(download_in(b))));
  d.hold(kernel_in(d.legacy()));
  d.submit(host_function_in(b));
  EXPECT_TRUE(d.done(d.submit(download_in(d.non_blocking()))));
  EXPECT_FALSE(d.done(d.submit(kernel_in(d.non_blocking()))));
}

std::pair<stream_id, stream_id> two_streams(scheduler& s) {
  const auto stream = [&] { return s.create_stream({0}, stream_kind::non_blocking, 0); };
  const stream_id first = stream();
  return {first, stream()};
}

// A slow machine must not turn a kernel that is about to end into something to wait for.
TEST(one_connection, a_host_function_that_is_ready_within_the_grace_takes_no_place) {
  for (const bool late : {false, true}) {
    scheduler s({.devices = {{}}, .connections = 1, .grace = 1000});
    const auto [a, b] = two_streams(s);
    s.set_time(5000);
    s.submit(kernel_in(a));
    const command_id short_one = s.submit(kernel_in(b));
    s.submit(kernel_in(a));  // stuck, and in front of the host function
    const command_id function = s.submit(host_function_in(b));
    const command_id behind = s.submit(kernel_in(two_streams(s).first));
    s.clear_actions();
    s.set_time(late ? 6001 : 6000);
    s.blocks_done(short_one, 1);
    EXPECT_EQ(s.actions().size(), late ? 0U : 1U);
    if (!late) {
      EXPECT_EQ(s.actions()[0].id, function);
    }
    s.clear_actions();
    EXPECT_FALSE(s.done(behind));
  }
}

// What a busy machine loses before a command begins and until its end is told is not the device's.
TEST(one_connection, the_grace_is_for_what_commands_took_to_run) {
  struct {
    std::uint64_t copy, kernel;  // took, of what the host function waits for
    bool in_time;
  } const cases[] = {{10, 20, true},
                     {600, 500, false},
                     {600, 400, true},
                     {10, 1001, false},
                     {scheduler::unmeasured, 10, false}};
  for (const auto& c : cases) {
    scheduler s({.devices = {{}}, .connections = 1, .grace = 1000});
    const auto [a, b] = two_streams(s);
    s.set_time(5000);
    s.submit(kernel_in(a));
    const command_id copy = s.submit(download_in(b));
    const command_id kernel = s.submit(kernel_in(b));
    s.submit(kernel_in(a));  // stuck, and in front of the host function
    const command_id function = s.submit(host_function_in(b));
    s.set_time(20000);
    s.complete(copy, c.copy);
    s.set_time(30000);
    s.clear_actions();
    s.blocks_done(kernel, 1, 0, c.kernel);
    ASSERT_EQ(s.actions().size(), c.in_time ? 1U : 0U) << c.copy << " and " << c.kernel;
    if (c.in_time) {
      EXPECT_EQ(s.actions()[0].id, function);
    }
  }
}

TEST(one_connection, a_running_kernel_holds_nothing) {
  driver d(1);
  d.hold(kernel_in(d.non_blocking()));
  EXPECT_TRUE(d.done(d.submit(kernel_in(d.non_blocking()))));
}

TEST(one_connection, records_pass_a_stuck_queue) {
  driver d(1);
  const stream_id a = d.non_blocking();
  d.hold(kernel_in(a));
  d.submit(kernel_in(a));
  EXPECT_TRUE(d.done(d.submit(record_in(d.non_blocking()))));
}

TEST(one_connection, a_kernel_behind_a_wait_holds_others) {
  driver d(1);
  const stream_id a = d.non_blocking();
  const stream_id b = d.non_blocking();
  const command_id gate = d.hold(kernel_in(a));
  d.submit(wait_in(b, d.submit(record_in(a))));
  EXPECT_TRUE(d.done(d.submit(kernel_in(d.non_blocking()))));
  d.submit(kernel_in(b));
  const command_id behind = d.submit(kernel_in(d.non_blocking()));
  EXPECT_FALSE(d.done(behind));
  d.open(gate);
  EXPECT_TRUE(d.done(behind));
}

TEST(one_connection, devices_do_not_share_queues) {
  driver d(1, {}, 2);
  const stream_id a = d.non_blocking(0);
  d.hold(kernel_in(a));
  d.submit(kernel_in(a));
  EXPECT_TRUE(d.done(d.submit(kernel_in(d.non_blocking(1)))));
}

TEST(one_connection, graph_nodes_take_no_place) {
  driver d(1);
  const stream_id a = d.non_blocking();
  d.hold(kernel_in(a));
  d.submit(kernel_in(a));
  EXPECT_TRUE(d.done(d.submit(node(kernel_in(d.non_blocking())))));
}

// h200/crowds.tsv
TEST(several_connections, as_many_streams_that_wait_hold_all_others) {
  for (const std::uint32_t connections : {2U, 4U, 8U, 16U, 32U}) {
    driver d(connections);
    const stream_id root = d.non_blocking(), before = d.non_blocking();
    d.submit(kernel_in(before));
    const command_id gate = d.hold(kernel_in(root));
    const command_id record = d.submit(record_in(root));
    for (std::uint32_t waiting = 1; waiting <= connections; ++waiting) {
      const stream_id one = d.non_blocking();
      d.submit(wait_in(one, record));
      EXPECT_TRUE(d.done(d.submit(kernel_in(before)))) << connections << " " << waiting;
      d.submit(kernel_in(one));
    }
    const command_id held = d.submit(kernel_in(before));
    const command_id later = d.submit(kernel_in(d.non_blocking()));
    EXPECT_FALSE(d.done(held) || d.done(later)) << connections;
    d.open(gate);
    EXPECT_TRUE(d.done(held) && d.done(later)) << connections;
  }
}

TEST(several_connections, copies_with_a_queue_of_their_own_pass_a_crowd) {
  driver d(2);
  for (int i = 0; i < 2; ++i) {
    const stream_id one = d.non_blocking();
    d.hold(kernel_in(one));
    d.submit(kernel_in(one));
  }
  EXPECT_TRUE(d.done(d.submit(upload_in(d.non_blocking(), 1 << 20))));
  EXPECT_TRUE(d.done(d.submit(download_in(d.non_blocking()))));
  EXPECT_FALSE(d.done(d.submit(upload_in(d.non_blocking(), 4))));
}

// further.tsv copyqueues.h2d.stuck0.held: there the copies still run when the next one comes.
TEST(several_connections, copies_of_five_streams_share_four_queues) {
  driver d(8);
  const stream_id stuck = d.non_blocking();
  d.hold(kernel_in(stuck));
  d.submit(upload_in(stuck, 65536));
  std::vector<command_id> running;
  for (int i = 0; i < 3; ++i) {
    const stream_id one = d.non_blocking();
    running.push_back(d.hold(kernel_in(one)));
    d.submit(upload_in(one, 65536));
  }
  const command_id fifth = d.submit(upload_in(d.non_blocking(), 65536));
  EXPECT_FALSE(d.done(fifth));  // behind the first
  const stream_id back = d.non_blocking();
  EXPECT_TRUE(d.done(d.submit(download_in(back))));
  // An unused one is taken first.
  d.open(running[1]);
  EXPECT_TRUE(d.done(d.submit(upload_in(d.non_blocking(), 65536))));
  EXPECT_FALSE(d.done(fifth));
}

// Otherwise streams that always have something pending would keep it out for good.
TEST(several_connections, a_crowd_gets_in_when_what_was_there_before_has_left) {
  driver d(2);
  const stream_id a = d.non_blocking(), b = d.non_blocking();
  std::vector<command_id> first, second;
  for (const stream_id s : {a, b}) {
    first.push_back(d.hold(kernel_in(s)));
    second.push_back(d.hold(kernel_in(s)));
  }
  const command_id waits = d.submit(kernel_in(d.non_blocking()));
  const command_id third = d.hold(kernel_in(a));
  d.hold(kernel_in(b));
  EXPECT_FALSE(d.done(waits));
  d.open(first[0]);  // the second one runs, the third stands where the crowd may go
  EXPECT_FALSE(d.done(waits));
  d.open(second[0]);
  EXPECT_TRUE(d.running(third));
  EXPECT_TRUE(d.done(waits));
}

// Queues are filled so that everything comes behind what it depends on, also on another device.
TEST(several_connections, crowds_of_two_devices_do_not_wait_for_each_other) {
  constexpr std::uint32_t connections = 2;
  driver d(connections, {}, 2);
  const auto on = [&](std::uint32_t device) { return d.non_blocking(device); };
  const stream_id root = on(0), a = on(0);
  std::vector<stream_id> s, y, b;
  const command_id gate = d.hold(kernel_in(root));
  const command_id record = d.submit(record_in(root));
  for (std::uint32_t i = 0; i < connections; ++i) {
    s.push_back(on(0));
    y.push_back(on(1));
    b.push_back(on(1));
    d.submit(wait_in(s[i], record));
    d.submit(kernel_in(s[i]));
  }
  d.submit(kernel_in(a));
  const command_id crowd = d.submit(record_in(a));
  std::vector<command_id> gates, last;
  for (const stream_id one : y) gates.push_back(d.hold(kernel_in(one)));
  for (const stream_id one : b) {
    d.submit(wait_in(one, crowd));
    d.submit(kernel_in(one));
  }
  for (std::uint32_t i = 0; i < connections; ++i) {
    d.submit(kernel_in(y[i]));
    const command_id passed = d.submit(record_in(y[i]));
    d.submit(wait_in(s[i], passed));
    last.push_back(d.submit(kernel_in(s[i])));
  }
  d.open(gate);
  for (const command_id one : gates) d.open(one);
  for (const command_id one : last) EXPECT_TRUE(d.done(one));
}

TEST(several_connections, a_stream_with_pending_work_stays_where_it_is) {
  driver d(2);
  const stream_id a = d.non_blocking(), b = d.non_blocking(), c = d.non_blocking();
  const command_id first = d.hold(kernel_in(a));
  const command_id second = d.hold(kernel_in(b));
  const command_id third = d.hold(kernel_in(c));  // beside the first
  d.submit(kernel_in(a));
  const command_id behind = d.submit(kernel_in(c));
  d.open(third);
  EXPECT_FALSE(d.done(behind));
  EXPECT_TRUE(d.done(d.submit(kernel_in(d.non_blocking()))));  // beside the second
  d.open(first);
  EXPECT_TRUE(d.done(behind));
  d.open(second);
}

// A slow machine must not turn streams that are about to be idle into ones to share with.
TEST(several_connections, a_stream_leaves_what_it_shares_for_one_that_is_unused_within_the_grace) {
  for (const bool late : {false, true}) {
    scheduler s({.devices = {{}}, .connections = 2, .grace = 1000});
    const auto stream = [&] { return s.create_stream({0}, stream_kind::non_blocking, 0); };
    const stream_id a = stream();
    const stream_id b = stream();
    const stream_id c = stream();
    const command_id gate = s.submit(kernel_in(a));
    const command_id short_one = s.submit(kernel_in(b));
    s.set_time(5000);
    const command_id held = s.submit(kernel_in(c));  // shares with a
    const command_id behind_gate = s.submit(kernel_in(a));
    const command_id behind_held = s.submit(kernel_in(c));  // and stands behind that
    s.set_time(late ? 6001 : 6000);
    s.blocks_done(short_one, 1);
    s.clear_actions();
    s.blocks_done(held, 1);
    ASSERT_EQ(s.actions().size(), late ? 0U : 2U);  // start and grant
    if (late) {
      s.blocks_done(gate, 1);
      s.clear_actions();
    } else {
      EXPECT_EQ(s.actions()[0].id, behind_held);
      s.blocks_done(gate, 1);
    }
    s.blocks_done(behind_gate, 1);
    s.blocks_done(behind_held, 1);
    EXPECT_TRUE(s.done(behind_gate));
    EXPECT_TRUE(s.done(behind_held));
  }
}

TEST(four_connections, no_stream_holds_another_alone) {
  for (const std::uint32_t connections : {4U, 8U, 16U, 32U}) {
    driver d(connections);
    const stream_id a = d.non_blocking();
    d.hold(kernel_in(a));
    d.submit(kernel_in(a));
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(d.done(d.submit(kernel_in(d.non_blocking()))));
    }
  }
}

// --- who is told to stand in whose way

using told = std::vector<std::tuple<action_kind, std::uint64_t, std::uint64_t>>;

told told_of(const driver& d) {
  told all;
  for (const action& a : d.history()) {
    if (a.kind == action_kind::entered || a.kind == action_kind::admitted ||
        a.kind == action_kind::left) {
      all.emplace_back(a.kind, a.id.value, a.kind == action_kind::left ? 0 : a.count);
    }
  }
  return all;
}

TEST(told_queues, name_the_command_of_another_stream_in_front) {
  driver d(1);
  d.get().tell_queues();
  const stream_id a = d.non_blocking();
  const command_id gate = d.hold(kernel_in(a));
  const command_id stuck = d.submit(kernel_in(a));
  const command_id other = d.submit(kernel_in(d.non_blocking()));
  EXPECT_FALSE(d.done(other));
  d.open(gate);
  EXPECT_EQ(told_of(d), (told{{action_kind::entered, other.value, stuck.value},
                              {action_kind::left, stuck.value, 0}}));
}

TEST(told_queues, do_not_name_what_the_stream_orders_anyway) {
  driver d(1);
  d.get().tell_queues();
  const stream_id a = d.non_blocking();
  const command_id gate = d.hold(kernel_in(a));
  d.submit(kernel_in(a));
  d.submit(fill_in(a));
  d.open(gate);
  EXPECT_EQ(told_of(d), told{});
}

TEST(told_queues, name_the_command_whose_leaving_freed_a_connection) {
  driver d(2);
  d.get().tell_queues();
  std::vector<command_id> gates, stuck;
  for (int i = 0; i < 2; ++i) {
    const stream_id s = d.non_blocking();
    gates.push_back(d.hold(kernel_in(s)));
    stuck.push_back(d.hold(kernel_in(s)));
  }
  const stream_id crowded = d.non_blocking();
  const command_id waits = d.submit(kernel_in(crowded));
  ASSERT_FALSE(d.done(waits));
  EXPECT_EQ(d.get().crowd({0}).size(), 1U);
  EXPECT_EQ(d.get().stuck({0}).size(), 2U);
  d.open(gates[1]);
  EXPECT_TRUE(d.done(waits));
  EXPECT_EQ(told_of(d), (told{{action_kind::left, stuck[1].value, 0},
                              {action_kind::admitted, waits.value, stuck[1].value}}));
  EXPECT_TRUE(d.get().crowd({0}).empty());
}

TEST(told_queues, are_silent_unless_somebody_asked) {
  driver d(1);
  const stream_id a = d.non_blocking();
  const command_id gate = d.hold(kernel_in(a));
  d.submit(kernel_in(a));
  d.submit(kernel_in(d.non_blocking()));
  d.open(gate);
  EXPECT_EQ(told_of(d), told{});
}

device_limits with_engines(std::uint32_t copy_engines) {
  device_limits l;
  l.copy_engines = copy_engines;
  return l;
}

TEST(copy_engines, of_two_the_first_also_copies_inside_the_device) {
  driver d(8, with_engines(2));
  const command_id up = d.hold(upload_in(d.non_blocking(), 1 << 20));
  EXPECT_TRUE(d.done(d.submit(download_in(d.non_blocking()))));
  const command_id across = d.submit(copy_in(d.non_blocking(), copy_direction::device_to_device));
  EXPECT_FALSE(d.done(across));
  d.open(up);
  EXPECT_TRUE(d.done(across));
}

TEST(copy_engines, one_is_shared_by_both_directions_but_not_with_kernels) {
  driver d(8, with_engines(1));
  const command_id up = d.hold(upload_in(d.non_blocking(), 1 << 20));
  const command_id down = d.submit(download_in(d.non_blocking()));
  EXPECT_TRUE(d.done(d.submit(kernel_in(d.non_blocking()))));
  EXPECT_FALSE(d.done(down));
  d.open(up);
  EXPECT_TRUE(d.done(down));
}

TEST(copy_engines, without_any_nothing_runs_beside_a_copy_and_no_copy_beside_a_kernel) {
  driver d(8, with_engines(0));
  const command_id up = d.hold(upload_in(d.non_blocking(), 1 << 20));
  const command_id kernel = d.hold(kernel_in(d.non_blocking()));
  const command_id fill = d.submit(fill_in(d.non_blocking()));
  const command_id down = d.submit(download_in(d.non_blocking()));
  EXPECT_TRUE(d.running(up));
  EXPECT_FALSE(d.running(kernel) || d.done(fill) || d.done(down));
  d.open(up);
  EXPECT_TRUE(d.running(kernel));
  EXPECT_FALSE(d.done(fill) || d.done(down));
  d.open(kernel);
  EXPECT_TRUE(d.done(fill) && d.done(down));
}

TEST(copy_engines, without_any_a_copy_is_not_overtaken_by_later_kernels_for_ever) {
  driver d(8, with_engines(0));
  const command_id first = d.hold(kernel_in(d.non_blocking()));
  const command_id copy = d.hold(download_in(d.non_blocking()));
  const command_id later = d.submit(kernel_in(d.non_blocking()));
  EXPECT_FALSE(d.done(later));
  d.open(first);
  EXPECT_TRUE(d.running(copy));
  EXPECT_FALSE(d.done(later));
  d.open(copy);
  EXPECT_TRUE(d.done(later));
}

// The queue that the command went through, as its last action tells it.
hardware_queue queue_told(const driver& d, command_id id) {
  hardware_queue found;
  for (const action& a : d.history()) {
    if (a.id.value == id.value &&
        (a.kind == action_kind::start || a.kind == action_kind::reached)) {
      found = a.queue;
    }
  }
  return found;
}

TEST(told_queues, streams_at_work_together_have_connections_of_their_own) {
  driver d(8);
  d.get().tell_queues();
  for (std::uint8_t i = 0; i < 8; ++i) {
    const stream_id s = d.non_blocking();
    EXPECT_EQ(d.get().next_queue(s, queue_class::compute),
              (hardware_queue{queue_class::compute, i}));
    const command_id k = d.hold(kernel_in(s));
    EXPECT_EQ(queue_told(d, k), (hardware_queue{queue_class::compute, i}));
    const command_id second = d.submit(kernel_in(s));
    EXPECT_EQ(d.get().present_queue(second), (hardware_queue{queue_class::compute, i}));
  }
}

TEST(told_queues, large_copies_take_the_four_of_their_direction_in_turn) {
  driver d(8);
  d.get().tell_queues();
  for (std::uint8_t i = 0; i < 6; ++i) {
    const stream_id s = d.non_blocking();
    const std::uint8_t turn = i % 4;
    EXPECT_EQ(queue_told(d, d.submit(large_upload(s))),
              (hardware_queue{queue_class::host_to_device, turn}));
    EXPECT_EQ(queue_told(d, d.submit(download(s))),
              (hardware_queue{queue_class::device_to_host, turn}));
    EXPECT_EQ(queue_told(d, d.submit(small_upload(s))).kind, queue_class::compute);
  }
}

TEST(told_queues, what_takes_no_place_has_none) {
  driver d(1);
  d.get().tell_queues();
  const stream_id s = d.non_blocking();
  EXPECT_EQ(queue_told(d, d.submit(host_function_in(s))), hardware_queue{});
  const command_id held = d.hold(kernel_in(s));
  const command_id behind = d.submit(host_function_in(s));
  d.open(held);
  EXPECT_EQ(queue_told(d, behind), (hardware_queue{queue_class::compute, 0}));
}

TEST(told_queues, nobody_is_told_who_did_not_ask) {
  driver d(8);
  EXPECT_EQ(queue_told(d, d.submit(kernel_in(d.non_blocking()))), hardware_queue{});
}

}  // namespace
}  // namespace sb::sched
