// How much one decision has done already. What may take long is given up after so much work and not
// after so much time: the same cluster then gets the same decision on any machine, under any load.
#pragma once

#include <cstddef>

namespace millwright::disruption {

class Work {
 public:
  // One unit is one pod or node that the planner is given or counts, or a survey has to look at.
  void spend(std::size_t units) { spent_ += units; }
  void allow(std::size_t units) { allowed_ = units; }  // in all; without it there is no end
  std::size_t spent() const { return spent_; }
  bool is_enough() const { return spent_ >= allowed_; }

 private:
  std::size_t spent_ = 0;
  std::size_t allowed_ = static_cast<std::size_t>(-1);
};

}  // namespace millwright::disruption
