#include "compiler/pass/warp_function.hpp"

#include "compiler/pass/lockstep.hpp"
#include "compiler/pass/parted_lanes.hpp"
#include "compiler/pass/thread_loops.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::uint64_t most_lane_bytes = 4096;

class warp_builder : public lockstep_builder {
 public:
  warp_builder(const kernel& kernel, Function& region, Function& function)
      : lockstep_builder(region, function, team::warp, DebugLoc()), kernel_(kernel) {}

 private:
  bool prepare(Function&) override { return true; }

  void run(Function& region, ArrayRef<Value*> args) override {
    bind_lane(region);
    calls_.push_back(call_for_lanes(builder_, kernel_, region, args));
  }

  Value* array(Type* type, const Twine& name) override {
    IRBuilder<> at(entry_, entry_->begin());
    auto* memory = at.CreateAlloca(ArrayType::get(type, 32), nullptr, name);
    memory->setAlignment(Align(64));
    return memory;
  }

  const kernel& kernel_;
};

}  // namespace

Function* build_warp_function(const kernel& kernel, Function& region) {
  auto meetings = lower_warp_meetings(region);
  std::vector<BasicBlock*> cuts;
  if (!meetings || !lead_parted_lanes(region, *meetings, cuts)) {
    return nullptr;
  }
  auto* function = Function::Create(region.getFunctionType(), GlobalValue::InternalLinkage,
                                    region.getName() + ".warp", region.getParent());
  function->copyAttributesFrom(&region);
  warp_builder builder(kernel, region, *function);
  if (builder.plan(std::move(*meetings), std::move(cuts), most_lane_bytes) && builder.build()) {
    bind_warp(*function);
    return function;
  }
  function->eraseFromParent();
  return nullptr;
}

}  // namespace sb::pass
