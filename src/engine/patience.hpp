// Whether to try what gains much when it succeeds and costs something when it does not: when it was
// in vain so many times in a row, it is left out for some time.
#pragma once

namespace sb::engine {

class patience {
 public:
  static constexpr unsigned most = 32;       // times in vain
  static constexpr unsigned left_out = 256;  // times then

  bool has_any() {
    if (rest_ == 0) return true;
    --rest_;
    return false;
  }
  void gained() { lost_ = 0; }
  void lost() {
    if (++lost_ < most) return;
    lost_ = 0;
    rest_ = left_out;
  }

 private:
  unsigned lost_ = 0, rest_ = 0;
};

}  // namespace sb::engine
