#include "plane/runner/histogram.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace millwright::plane {

Histogram Histogram::read(const std::string& page, const std::string& name,
                          const std::string& labels) {
  const std::string bound_label = "le=\"";
  Histogram sum;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const auto bound = line.find(bound_label);
    if (line.starts_with(name + "_bucket{") && bound != std::string::npos &&
        line.find(labels) != std::string::npos) {
      const double at = std::strtod(line.c_str() + bound + bound_label.size(), nullptr);
      sum.at_most_[at] += std::strtod(line.c_str() + line.rfind(' ') + 1, nullptr);
    }
  }
  return sum;
}

Histogram Histogram::since(const Histogram& before) const {
  Histogram later = *this;
  for (const auto& [bound, count] : before.at_most_) {
    later.at_most_[bound] -= count;
  }
  return later;
}

double Histogram::count() const {
  return at_most_.empty() ? 0 : at_most_.rbegin()->second;
}

double Histogram::quantile(double share) const {
  const double wanted = share * count();
  const auto found = std::find_if(at_most_.begin(), at_most_.end(),
                                  [&](const auto& bucket) { return bucket.second >= wanted; });
  return wanted > 0 ? found->first : 0;
}

}  // namespace millwright::plane
