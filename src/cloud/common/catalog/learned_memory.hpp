// How much memory nodes turned out to have, by instance type and image: the hypervisor and the
// image's kernel keep some, and no API says how much (Karpenter's instancetype.capacity). Loop
// thread only.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/model/quantity.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cloud {

// A machine type and what its maker says that it has.
struct MachineMemory {
  std::string_view type;
  std::int64_t mebibytes = 0;
};

class LearnedMemory {
 public:
  static constexpr base::Duration kKept = std::chrono::hours(24 * 60);  // as Karpenter's

  // A node has come up with so much. True when that is news: the first of its kind, or less than
  // any before. What no machine of the type can have is not believed: a kubelet may say anything.
  bool learn(const MachineMemory& machine, const std::string& image, model::Quantity memory,
             base::TimePoint now);
  // The least that was seen, in whole MiB; nullopt when none was seen lately.
  std::optional<model::Quantity> find(std::string_view type, std::string_view image,
                                      base::TimePoint now) const;

 private:
  struct Seen {
    std::int64_t mebibytes = 0;
    base::TimePoint last;
  };
  using ByImage = std::map<std::string, Seen, std::less<>>;
  std::map<std::string, ByImage, std::less<>> seen_;  // by type
};

}  // namespace millwright::cloud
