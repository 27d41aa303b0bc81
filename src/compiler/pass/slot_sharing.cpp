#include "compiler/pass/slot_sharing.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

namespace sb::pass {

using namespace llvm;

slot_sharing::slot_sharing(const region_plan& plan, const uniformity& uniform,
                           const live_values& live)
    : plan_(plan), live_(live) {
  for (Instruction* value : live.arrays()) {
    alive_[value] = regions_with(value);
  }
  SmallVector<PHINode*, 8> phis;
  for (PHINode* phi : live.leading_phis()) {
    if (uniform.is_uniform(phi)) {
      continue;
    }
    alive_[phi] = regions_with(phi);
    if (disturbs_itself(*phi)) {
      apart_.insert(phi);
    } else {
      phis.push_back(phi);
    }
  }
  for (auto& [value, regions] : alive_) {
    classes_.insert(value);
  }
  // Phis that nothing but such a value leads from one to the other.
  DenseMap<Value*, PHINode*> takers;
  for (PHINode* phi : phis) {
    for (Value* incoming : phi->incoming_values()) {
      auto* value = dyn_cast<Instruction>(incoming);
      if (value && alive_.contains(value) && !apart_.contains(value)) {
        share(phi, value);
      } else if (value && !alive_.contains(value)) {
        share(takers.try_emplace(value, phi).first->second, phi);
      }
    }
  }
}

void slot_sharing::share(Instruction* one, Instruction* other) {
  if (classes_.isEquivalent(one, other)) {
    return;
  }
  for (auto a = classes_.findLeader(one); a != classes_.member_end(); ++a) {
    for (auto b = classes_.findLeader(other); b != classes_.member_end(); ++b) {
      if (disturbs(*a, *b) || disturbs(*b, *a)) {
        return;
      }
    }
  }
  classes_.unionSets(one, other);
}

slot_key slot_sharing::of(slot_key key) const {
  auto found = classes_.findValue(key.value);
  if (found == classes_.end() || apart_.contains(key.value)) {
    return key;
  }
  return {classes_.getLeaderValue(key.value), slot_kind::value};
}

bool slot_sharing::is_leading(const Instruction& value) const {
  return isa<PHINode>(value) && plan_.is_leader(value.getParent());
}

// The regions at whose top the value is still wanted.
BitVector slot_sharing::regions_with(Instruction* value) const {
  unsigned own = plan_.region_of(value->getParent());
  unsigned count = static_cast<unsigned>(plan_.regions().size());
  BitVector alive(count);
  SmallVector<unsigned, 16> work;
  for (unsigned r = 0; r < count; ++r) {
    if (r != own && live_.of(r).arrays.contains(value)) {
      alive.set(r);
      work.push_back(r);
    }
  }
  while (!work.empty()) {
    BasicBlock* leader = plan_.regions()[work.pop_back_val()].leader;
    for (unsigned r = 0; r < count; ++r) {
      if (r != own && !alive.test(r) && is_contained(plan_.regions()[r].next, leader)) {
        alive.set(r);
        work.push_back(r);
      }
    }
  }
  if (is_leading(*value)) {
    alive.set(own);
  }
  return alive;
}

// Whether the region writes the value's slot, on all of its ways out.
bool slot_sharing::is_written(Instruction* value, unsigned region) const {
  return is_leading(*value) ? is_contained(plan_.regions()[region].next, value->getParent())
                            : plan_.region_of(value->getParent()) == region;
}

// What the value's slot holds on the way between two regions; null: not one value.
Value* slot_sharing::brought(Instruction* value, unsigned from, unsigned to) const {
  bool arrives = is_leading(*value) && plan_.regions()[to].leader == value->getParent();
  if (arrives || (!alive_.find(value)->second.test(to) && is_leading(*value))) {
    return live_.only_incoming(*cast<PHINode>(value), from);
  }
  return value;
}

// Whoever brings a new value must not go where the old one is still wanted.
bool slot_sharing::disturbs_itself(PHINode& phi) const {
  for (const region& one : plan_.regions()) {
    for (BasicBlock* next : one.next) {
      if (is_contained(one.next, phi.getParent()) && next != phi.getParent() &&
          alive_.find(&phi)->second.test(plan_.led_by(next))) {
        return true;
      }
    }
  }
  return false;
}

// On some way to where the first is wanted, the slot would hold the second instead.
bool slot_sharing::disturbs(Instruction* one, Instruction* other) const {
  const BitVector& wanted = alive_.find(one)->second;
  const BitVector& also = alive_.find(other)->second;
  for (unsigned from = 0; from < plan_.regions().size(); ++from) {
    for (BasicBlock* next : plan_.regions()[from].next) {
      unsigned to = plan_.led_by(next);
      if (!wanted.test(to) || (!also.test(to) && !is_written(other, from))) {
        continue;
      }
      Value* first = brought(one, from, to);
      Value* second = brought(other, from, to);
      if (!first || !second || (first != second && !isa<UndefValue>(second))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace sb::pass
