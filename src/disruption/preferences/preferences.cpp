#include "millwright/disruption/preferences.hpp"

#include "disruption/preferences/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
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

// A number that is not negative; nullopt for all else, "nan" and "inf" too.
std::optional<double> amount_of(std::string_view text) {
  double amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  const bool read = error == std::errc() && end == text.data() + text.size();
  return read && std::isfinite(amount) && amount >= 0 ? std::optional(amount) : std::nullopt;
}

// "12.5%" as 0.125; nullopt for all else and beyond 100 %.
std::optional<double> share_of(std::string_view text) {
  if (!text.ends_with('%')) {
    return std::nullopt;
  }
  const auto amount = amount_of(text.substr(0, text.size() - 1));
  return amount && *amount <= 100 ? std::optional(*amount / 100) : std::nullopt;
}

// "$0.05" or "$0.05/h"; nullopt for all else.
std::optional<double> dollars_of(std::string_view text) {
  if (!text.starts_with('$')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  if (text.ends_with("/h")) {
    text.remove_suffix(2);
  }
  return amount_of(text);
}

base::Result<> read_min_savings(std::string_view value, Preferences& preferences) {
  const auto parts = words_between(value, ",");
  for (const auto part : parts) {
    const auto share = share_of(part);
    const auto amount = dollars_of(part);
    if (!share && !amount) {
      return base::fail(base::ErrorKind::Invalid,
                        "\"" + std::string(part) +
                            "\" is no saving; write for example \"10%\" of the price, \"$0.05\" "
                            "per hour, or \"10%, $0.05\" for both");
    }
    preferences.min_savings = std::max(preferences.min_savings, amount.value_or(0));
    preferences.min_savings_share = std::max(preferences.min_savings_share, share.value_or(0));
  }
  if (parts.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "there is no saving; write for example \"10%\" or \"$0.05\"");
  }
  return {};
}

base::Result<> read_max_utilization(std::string_view value, Preferences& preferences) {
  preferences.max_utilization = share_of(trimmed(value));
  if (!preferences.max_utilization) {
    return base::fail(base::ErrorKind::Invalid, "\"" + std::string(value) +
                                                    "\" is no part of a node; write for example "
                                                    "\"70%\"");
  }
  return {};
}

base::Result<> read_node_overhead(std::string_view value, Preferences& preferences) {
  preferences.node_overhead = amount_of(trimmed(value));
  if (!preferences.node_overhead) {
    return base::fail(base::ErrorKind::Invalid, "\"" + std::string(value) +
                                                    "\" is no price; write for example \"0.03\", "
                                                    "what a node costs per hour beside its "
                                                    "instance");
  }
  return {};
}

base::Result<> read_max_price_ratio(std::string_view value, Preferences& preferences) {
  preferences.max_price_ratio = amount_of(trimmed(value));
  if (!preferences.max_price_ratio ||
      (*preferences.max_price_ratio != 0 && *preferences.max_price_ratio < 1)) {
    preferences.max_price_ratio = std::nullopt;
    return base::fail(base::ErrorKind::Invalid,
                      "\"" + std::string(value) +
                          "\" is no ratio of prices; write for example \"2\": no instance type "
                          "that costs more than twice the cheapest; or \"0\": all of them");
  }
  return {};
}

base::Result<> read_repair_within_budgets(std::string_view value, Preferences& preferences) {
  preferences.repair_within_budgets = !value.empty() && value != "false";
  return {};
}

constexpr std::array kPreferenceKeys{
    PreferenceKey{model::kDisruptionWindowsAnnotation, kLongestWindows, read_windows},
    PreferenceKey{model::kExpirationWindowsAnnotation, kLongestWindows, read_expiration_windows},
    PreferenceKey{model::kMinNodeAgeAnnotation, kLongestValue, read_min_node_age},
    PreferenceKey{model::kMinPodAgeAnnotation, kLongestValue, read_min_pod_age},
    PreferenceKey{model::kMinSavingsAnnotation, kLongestValue, read_min_savings},
    PreferenceKey{model::kMaxUtilizationAnnotation, kLongestValue, read_max_utilization},
    PreferenceKey{model::kNodeOverheadAnnotation, kLongestValue, read_node_overhead},
    PreferenceKey{model::kMaxPriceRatioAnnotation, kLongestValue, read_max_price_ratio},
    PreferenceKey{model::kRepairWithinBudgetsAnnotation, kLongestValue, read_repair_within_budgets},
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
