// Capacity reservations while they are used: how many instances each has left, and the labels of
// nodes in them. Loop thread only.
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

// How many instances each reservation has left: what EC2 said last, less what was launched since.
class ReservationLedger {
 public:
  // True when it is news.
  bool set(const std::string& id, std::int64_t available);
  void take(const std::string& id);
  // EC2 said that there is none.
  void empty(const std::string& id) { left_[id] = 0; }
  int left(std::string_view id) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> left_;
};

}  // namespace millwright::cloud::aws
