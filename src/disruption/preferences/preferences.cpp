#include "millwright/disruption/preferences.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace millwright::disruption {
namespace {

// A value may have 256 KiB. Windows of a few lines are much less, and what is wrong with a value
// quotes it.
constexpr std::size_t kLongestValue = 4096;

struct PreferenceKey {
  std::string_view key;
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

constexpr std::array kPreferenceKeys{
    PreferenceKey{model::kDisruptionWindowsAnnotation, read_windows},
    PreferenceKey{model::kExpirationWindowsAnnotation, read_expiration_windows},
};

base::Result<> read_preference(const PreferenceKey& known, std::string_view value,
                               Preferences& preferences) {
  if (value.size() > kLongestValue) {
    return base::fail(base::ErrorKind::Invalid,
                      "the value is longer than " + std::to_string(kLongestValue) + " bytes");
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
