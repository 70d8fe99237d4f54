#include "webhooks/src/nearest.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace millwright::webhooks {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::string nearest_number(std::int64_t number, const Texts& candidates) {
  std::string best;
  double best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (const auto value = whole_number(candidate)) {
      const double gap = static_cast<double>(*value) - static_cast<double>(number);
      const double distance = gap < 0 ? -gap : gap;
      if (best.empty() || distance < best_distance) {
        best = candidate;
        best_distance = distance;
      }
    }
  }
  return best;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view text, const Texts& candidates) {
  if (const auto number = whole_number(text)) {
    return nearest_number(*number, candidates);
  }
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, text.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t gap = candidate.size() > text.size() ? candidate.size() - text.size()
                                                           : text.size() - candidate.size();
    if (gap < best_distance) {
      const std::size_t distance = edit_distance(text, candidate);
      if (distance < best_distance) {
        best = candidate;
        best_distance = distance;
      }
    }
  }
  return best;
}

}  // namespace millwright::webhooks
