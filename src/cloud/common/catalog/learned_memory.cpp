#include "cloud/common/catalog/learned_memory.hpp"

#include <algorithm>

namespace millwright::cloud {
namespace {

constexpr std::int64_t kBytesPerMebi = 1024 * 1024;

}  // namespace

bool LearnedMemory::learn(const MachineMemory& machine, const std::string& image,
                          model::Quantity memory, base::TimePoint now) {
  const std::int64_t mebibytes = memory.units() / kBytesPerMebi;
  if (image.empty() || mebibytes < machine.mebibytes / 2 || mebibytes > machine.mebibytes) {
    return false;
  }
  ByImage& images = seen_[std::string(machine.type)];
  std::erase_if(images, [now](const auto& each) { return each.second.last + kKept <= now; });
  const auto [found, is_new] = images.try_emplace(image, Seen{.mebibytes = mebibytes, .last = now});
  Seen& seen = found->second;
  const bool is_less = mebibytes < seen.mebibytes;
  seen = {.mebibytes = std::min(mebibytes, seen.mebibytes), .last = now};
  return is_new || is_less;
}

std::optional<model::Quantity> LearnedMemory::find(std::string_view type, std::string_view image,
                                                   base::TimePoint now) const {
  const auto images = seen_.find(type);
  if (images == seen_.end()) {
    return std::nullopt;
  }
  const auto seen = images->second.find(image);
  if (seen == images->second.end() || seen->second.last + kKept <= now) {
    return std::nullopt;
  }
  return model::Quantity::from_units(seen->second.mebibytes * kBytesPerMebi,
                                     model::Quantity::Format::BinarySI);
}

}  // namespace millwright::cloud
