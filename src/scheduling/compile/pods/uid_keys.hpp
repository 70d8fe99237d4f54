// Part of each pod's uid as a number: the bytes that follow the prefix which all uids share. The
// numbers sort as the uids do, so a sort compares them first and rarely has to look at a pod.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace millwright::scheduling {

class UidKeys {
 public:
  explicit UidKeys(std::span<const PlannedPod> pods) {
    const std::string_view first = pods.empty() ? std::string_view() : pods[0].pod->meta.uid;
    common_ = first.size();
    for (const PlannedPod& pod : pods) {
      const std::string_view uid = pod.pod->meta.uid;
      const auto* last = first.data() + common_;
      common_ = static_cast<std::size_t>(
          std::mismatch(first.data(), last, uid.data(), uid.data() + uid.size()).first -
          first.data());
    }
  }

  std::uint64_t of(const PlannedPod& pod) const {
    const std::string_view rest = std::string_view(pod.pod->meta.uid).substr(common_);
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < sizeof(key); ++i) {
      key = key << 8 | (i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0U);
    }
    return key;
  }

 private:
  std::size_t common_ = 0;  // bytes
};

}  // namespace millwright::scheduling
