#include "cloud/common/catalog/reserved_cpu.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud {

std::int64_t reserved_millicores(std::int64_t cores) {
  // Per mille of 10: 600 is 6 %.
  struct Step {
    std::int64_t cores;
    std::int64_t ten_thousandths;
  };
  static constexpr std::array<Step, 3> kSteps{{{1, 600}, {1, 100}, {2, 50}}};
  std::int64_t reserved = 0;
  for (const auto& step : kSteps) {
    const auto here = std::min(cores, step.cores);
    reserved += here * 1000 * step.ten_thousandths / 10000;
    cores -= here;
  }
  return reserved + cores * 1000 * 25 / 10000;
}

}  // namespace millwright::cloud
