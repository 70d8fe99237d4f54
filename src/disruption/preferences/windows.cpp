#include "millwright/disruption/windows.hpp"

#include "disruption/preferences/words.hpp"

#include <algorithm>
#include <string>

namespace millwright::disruption {
namespace {

// As many as a NodePool may have budgets.
constexpr std::size_t kMostWindows = 50;
// In bytes; what is wrong with a window quotes it.
constexpr std::size_t kLongestWindowText = 200;
constexpr base::Duration kLongestWindow = std::chrono::hours(24 * 366);

tl::unexpected<base::Error> window_error(std::string_view window, std::string_view problem) {
  return base::fail(
      base::ErrorKind::Invalid,
      "window \"" + std::string(window) + "\": " + std::string(problem) +
          "; write for example \"0 22 * * mon-fri for 8h in Europe/Berlin\", and \";\" between "
          "windows");
}

std::optional<Reason> reason_of(std::string_view text) {
  for (const auto reason : {Reason::Empty, Reason::Drifted, Reason::Underutilized}) {
    if (to_string(reason) == text) {
      return reason;
    }
  }
  return std::nullopt;
}

// "Drifted, Empty: " at the front of a window, taken off it.
base::Result<std::vector<Reason>> take_reasons(std::string_view& window) {
  std::vector<Reason> reasons;
  const auto colon = window.find(':');
  if (colon == std::string_view::npos) {
    return reasons;
  }
  for (const auto name : words_between(window.substr(0, colon), ",")) {
    const auto reason = reason_of(name);
    if (!reason) {
      return window_error(
          window,
          "\"" + std::string(name) + "\" is no reason; there are Empty, Drifted and Underutilized");
    }
    reasons.push_back(*reason);
  }
  if (reasons.empty()) {
    return window_error(window, "there is no reason before the colon");
  }
  window = trimmed(window.substr(colon + 1));
  return reasons;
}

}  // namespace

bool Windows::Window::is_for(Reason reason) const {
  return reasons.empty() || std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

base::Result<Windows::Window> Windows::parse_window(std::string_view text) {
  if (text.size() > kLongestWindowText) {
    return base::fail(base::ErrorKind::Invalid,
                      "a window is longer than " + std::to_string(kLongestWindowText) + " bytes");
  }
  std::string_view rest = text;
  MW_TRY(reasons, take_reasons(rest));
  const auto words = words_between(rest, kSpaces);
  const auto before = std::find(words.begin(), words.end(), "for");
  const auto after = words.end() - before;
  if (before == words.begin() || (after != 2 && !(after == 4 && *(before + 2) == "in"))) {
    return window_error(text, "expected SCHEDULE for DURATION in TIME/ZONE");
  }
  const auto schedule = base::CronSchedule::parse(
      rest.substr(0, static_cast<std::size_t>(before->data() - rest.data())));
  if (!schedule) {
    return window_error(text, schedule.error().message);
  }
  const auto duration = base::parse_go_duration(*(before + 1));
  if (!duration) {
    return window_error(text, duration.error().message);
  }
  if (*duration <= base::Duration::zero() || *duration > kLongestWindow) {
    return window_error(text, "it must be open for some time, and for a year at most");
  }
  const auto zone = base::TimeZone::find(after == 4 ? *(before + 3) : "UTC");
  if (!zone) {
    return window_error(text, zone.error().message);
  }
  return Window{.opens = {*schedule, *zone}, .duration = *duration, .reasons = std::move(reasons)};
}

base::Result<Windows> Windows::parse(std::string_view text) {
  Windows windows;
  for (const auto line : words_between(text, "\n")) {
    for (const auto window : words_between(line, ";")) {
      if (windows.windows_.size() == kMostWindows) {
        return window_error(window, "there are more than " + std::to_string(kMostWindows));
      }
      MW_TRY(parsed, parse_window(window));
      windows.windows_.push_back(std::move(parsed));
    }
  }
  if (windows.empty()) {
    return window_error(trimmed(text), "there is none");
  }
  return windows;
}

bool Windows::name_reasons() const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [](const auto& window) { return !window.reasons.empty(); });
}

bool Windows::concern(Reason reason) const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [&](const auto& window) { return window.is_for(reason); });
}

std::optional<OpenTime> Windows::open_at_or_after(base::TimePoint at,
                                                  std::optional<Reason> reason) const {
  std::optional<OpenTime> first;
  for (const auto& window : windows_) {
    if (reason && !window.is_for(*reason)) {
      continue;
    }
    // What opened no earlier is open at `at` or opens after it.
    const auto begin = window.opens.next(at - window.duration);
    const auto end = begin ? base::sum_of(*begin, window.duration) : std::nullopt;
    if (end && (!first || *begin < first->begin)) {
      first = OpenTime{.begin = *begin, .end = *end};
    }
  }
  return first;
}

}  // namespace millwright::disruption
