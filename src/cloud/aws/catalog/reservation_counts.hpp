// How many instances each EC2 capacity reservation has left, and the labels of nodes in them. Loop
// thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

inline constexpr std::string_view kReservationIdLabel = "karpenter.k8s.aws/capacity-reservation-id";
inline constexpr std::string_view kReservationTypeLabel =
    "karpenter.k8s.aws/capacity-reservation-type";
inline constexpr std::string_view kReservationInterruptibleLabel =
    "karpenter.k8s.aws/capacity-reservation-interruptible";

// What EC2 said last, less what was launched since.
class ReservationCounts {
 public:
  // True when the number changed.
  bool set(const std::string& id, std::int64_t available);
  // One instance was launched into it.
  void take(const std::string& id);
  // EC2 said that it is full.
  void set_full(const std::string& id) { left_[id] = 0; }
  int left(std::string_view id) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> left_;
};

}  // namespace millwright::cloud::aws
