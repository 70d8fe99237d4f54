#include "webhooks/src/pool_annotations.hpp"

#include "millwright/disruption/expiration.hpp"
#include "millwright/model/json_fields.hpp"
#include "millwright/schema/shown.hpp"
#include "webhooks/src/nearest.hpp"

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <string>
#include <utility>

namespace millwright::webhooks {
namespace {

namespace json = boost::json;

constexpr std::string_view kOurs = "millwright.io/";

// Those of Millwright's that the object has. Structural validation refuses values that are no text.
model::StringMap annotations_of(const json::value& object) {
  model::StringMap ours;
  const json::value* found = model::find_path(object, "metadata.annotations");
  if (found == nullptr || !found->is_object()) {
    return ours;
  }
  for (const auto& [key, value] : found->get_object()) {
    if (std::string_view(key).starts_with(kOurs) && value.is_string()) {
      ours.emplace(std::string(key), std::string(value.get_string()));
    }
  }
  return ours;
}

std::string path_of(std::string_view key) {
  return "metadata.annotations[" + std::string(key) + "]";
}

void warn_of_mistyped_keys(const model::NodePool& pool, Warnings& warnings) {
  Texts known;
  for (const auto key : disruption::preference_annotations()) {
    known.emplace(key.substr(kOurs.size()));
  }
  for (const auto& [key, value] : pool.meta.annotations) {
    if (!key.starts_with(kOurs) || known.contains(key.substr(kOurs.size()))) {
      continue;
    }
    const auto meant = nearest(key.substr(kOurs.size()), known);
    if (!meant.empty()) {
      warnings.add(path_of(key) + ": nothing reads this annotation; did you mean " +
                   std::string(kOurs) + meant + "?");
    }
  }
}

void warn_of_closed_windows(const disruption::Windows& windows, base::TimePoint now,
                            Warnings& warnings) {
  std::string reasons;
  for (const auto reason : {disruption::Reason::Empty, disruption::Reason::Drifted,
                            disruption::Reason::Underutilized}) {
    if (windows.concern(reason) && !windows.open_at_or_after(now, reason)) {
      reasons += (reasons.empty() ? "" : ", ") + std::string(to_string(reason));
    }
  }
  if (!reasons.empty()) {
    warnings.add(path_of(model::kDisruptionWindowsAnnotation) +
                 ": no window ever opens for these reasons, so that no node of the pool is ever "
                 "disrupted as " +
                 reasons);
  }
}

// Whether more time passes between two windows than an expired node waits.
bool is_ever_closed_too_long(const disruption::Windows& windows, base::TimePoint now) {
  constexpr int kLookedAt = 100;
  const auto first = windows.open_at_or_after(now);
  if (!first) {
    return true;
  }
  base::TimePoint closes = first->end;
  for (int i = 0; i < kLookedAt; ++i) {
    const auto next = windows.open_at_or_after(closes);
    if (!next || next->begin - closes > disruption::kLongestExpirationWait) {
      return true;
    }
    closes = next->end;
  }
  return false;
}

}  // namespace

std::vector<schema::Problem> annotation_problems(const Review& review) {
  auto written = annotations_of(review.object);
  const auto before = annotations_of(review.old_object);
  std::erase_if(written, [&](const auto& annotation) {
    const auto old = before.find(annotation.first);
    return old != before.end() && old->second == annotation.second;
  });
  auto preferences = disruption::parse_preferences(written);
  std::vector<schema::Problem> problems;
  for (auto& unreadable : preferences.unreadable) {
    problems.push_back({.path = path_of(unreadable.key),
                        .value = schema::shown(json::string(written.find(unreadable.key)->second)),
                        .message = std::move(unreadable.problem)});
  }
  return problems;
}

bool changes_annotations(const Review& review) {
  return annotations_of(review.object) != annotations_of(review.old_object);
}

void warn_of_annotations(const model::NodePool& pool, base::TimePoint now, Warnings& warnings) {
  warn_of_mistyped_keys(pool, warnings);
  const auto preferences = disruption::parse_preferences(pool.meta.annotations);
  warn_of_closed_windows(preferences.windows, now, warnings);
  if (!preferences.expiration_windows.empty() &&
      is_ever_closed_too_long(preferences.expiration_windows, now)) {
    warnings.add(path_of(model::kExpirationWindowsAnnotation) +
                 ": more than 8 days pass between windows; a node that has expired waits for so "
                 "long at most and then goes at any time");
  }
}

}  // namespace millwright::webhooks
