#include "millwright/disruption/preferences.hpp"

#include "disruption/preferences/words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace millwright::disruption {
namespace {

// A value may have 256 KiB, and what is wrong with it is told in an event with the value in it.
constexpr std::size_t kLongestWindows = 4096;
constexpr std::size_t kLongestValue = 100;

struct PreferenceKey {
  std::string_view key;
  std::size_t longest;  // in bytes
  // Reads the value into the preferences.
  base::Result<> (*read)(std::string_view value, Preferences& preferences);
};

base::Result<> read_windows(std::string_view value, Preferences& preferences) {
  MW_TRY(windows, Windows::parse(value));
  preferences.windows = std::move(windows);
  return {};
}

base::Result<> read_expiration_windows(std::string_view value, Preferences& preferences) {
  MW_TRY(windows, Windows::parse(value));
  if (windows.name_reasons()) {
    return base::fail(base::ErrorKind::Invalid,
                      "a window for expiration is for no other reasons; write it without them");
  }
  preferences.expiration_windows = std::move(windows);
  return {};
}

base::Result<> read_age(std::string_view value, base::Duration& age) {
  MW_TRY(duration, base::parse_go_duration(trimmed(value)));
  if (duration < base::Duration::zero()) {
    return base::fail(base::ErrorKind::Invalid, "an age is not negative");
  }
  age = duration;
  return {};
}

base::Result<> read_min_node_age(std::string_view value, Preferences& preferences) {
  return read_age(value, preferences.min_node_age);
}

base::Result<> read_min_pod_age(std::string_view value, Preferences& preferences) {
  return read_age(value, preferences.min_pod_age);
}

constexpr std::array kPreferenceKeys{
    PreferenceKey{model::kDisruptionWindowsAnnotation, kLongestWindows, read_windows},
    PreferenceKey{model::kExpirationWindowsAnnotation, kLongestWindows, read_expiration_windows},
    PreferenceKey{model::kMinNodeAgeAnnotation, kLongestValue, read_min_node_age},
    PreferenceKey{model::kMinPodAgeAnnotation, kLongestValue, read_min_pod_age},
};

base::Result<> read_preference(const PreferenceKey& known, std::string_view value,
                               Preferences& preferences) {
  if (value.size() > known.longest) {
    return base::fail(base::ErrorKind::Invalid,
                      "the value is longer than " + std::to_string(known.longest) + " bytes");
  }
  return known.read(value, preferences);
}

}  // namespace

std::optional<Obstacle> Preferences::closed(Reason reason, base::TimePoint now) const {
  const auto first = std::find_if(unreadable.begin(), unreadable.end(), [](const auto& each) {
    return each.key != model::kExpirationWindowsAnnotation;
  });
  if (first != unreadable.end()) {
    return Obstacle{"the annotation " + std::string(first->key) +
                        " of its NodePool cannot be read: " + first->problem,
                    std::nullopt};
  }
  if (!windows.concern(reason)) {
    return std::nullopt;
  }
  const auto open = windows.open_at_or_after(now, reason);
  if (open && open->begin <= now) {
    return std::nullopt;
  }
  return Obstacle{"the annotation " + std::string(model::kDisruptionWindowsAnnotation) +
                      " of its NodePool lets no " + std::string(to_string(reason)) + " node go " +
                      (open ? "before " + base::format_rfc3339(open->begin) : "at any time"),
                  open ? std::optional(open->begin) : std::nullopt};
}

Preferences parse_preferences(const model::StringMap& annotations) {
  Preferences preferences;
  preferences.expiration_waits = annotations.contains(model::kExpirationWindowsAnnotation);
  for (const auto& known : kPreferenceKeys) {
    const auto found = annotations.find(known.key);
    if (found == annotations.end()) {
      continue;
    }
    if (auto read = read_preference(known, found->second, preferences); !read) {
      preferences.unreadable.push_back({known.key, std::move(read).error().message});
    }
  }
  return preferences;
}

std::vector<std::string_view> preference_annotations() {
  std::vector<std::string_view> keys;
  for (const auto& known : kPreferenceKeys) {
    keys.push_back(known.key);
  }
  return keys;
}

}  // namespace millwright::disruption
