#include "model/cel/functions/semver.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace millwright::model::cel {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kIdentifierLetters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-";

tl::unexpected<base::Error> not_a_version(std::string_view text) {
  constexpr std::size_t kShown = 64;
  return base::fail(base::ErrorKind::Invalid,
                    "\"" + std::string(text.substr(0, kShown)) +
                        "\" is not a semantic version; write for example 1.2.3 or 1.2.3-rc.1");
}

bool is_numeric(std::string_view identifier) {
  return identifier.find_first_not_of(kDigits) == std::string_view::npos;
}

// Without leading zeros, and small enough.
std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  if (text.empty() || !is_numeric(text) || (text.size() > 1 && text.front() == '0') ||
      std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

std::vector<std::string_view> split_at_dots(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(dot + 1);
  }
}

bool is_identifier(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kIdentifierLetters) == std::string_view::npos;
}

std::strong_ordering compare_identifiers(std::string_view a, std::string_view b) {
  const bool a_is_number = is_numeric(a);
  const bool b_is_number = is_numeric(b);
  if (a_is_number != b_is_number) {
    return a_is_number ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  // Numbers have no leading zeros: the longer one is larger.
  if (a_is_number && a.size() != b.size()) {
    return a.size() <=> b.size();
  }
  return a <=> b;
}

}  // namespace

base::Result<Semver> Semver::parse(std::string_view text) {
  if (text.size() > kMostLength) {
    return not_a_version(text);
  }
  std::string_view rest = text;
  const std::size_t plus = rest.find('+');
  if (plus != std::string_view::npos) {
    const auto build = split_at_dots(rest.substr(plus + 1));
    if (!std::all_of(build.begin(), build.end(), is_identifier)) {
      return not_a_version(text);
    }
    rest = rest.substr(0, plus);
  }
  Semver version;
  const std::size_t hyphen = rest.find('-');
  if (hyphen != std::string_view::npos) {
    for (const std::string_view identifier : split_at_dots(rest.substr(hyphen + 1))) {
      const bool has_leading_zero =
          identifier.size() > 1 && identifier.front() == '0' && is_numeric(identifier);
      if (!is_identifier(identifier) || has_leading_zero) {
        return not_a_version(text);
      }
      version.prerelease.emplace_back(identifier);
    }
    rest = rest.substr(0, hyphen);
  }
  const auto numbers = split_at_dots(rest);
  if (numbers.size() != version.numbers.size()) {
    return not_a_version(text);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = parse_number(numbers[i]);
    if (!number) {
      return not_a_version(text);
    }
    version.numbers[i] = *number;
  }
  return version;
}

base::Result<Semver> Semver::parse_tolerantly(std::string_view text) {
  if (text.size() > kMostLength) {
    return not_a_version(text);
  }
  std::string_view rest = text;
  if (rest.starts_with('v')) {
    rest.remove_prefix(1);
  }
  const std::size_t suffix = rest.find_first_of("-+");
  const std::string_view core = rest.substr(0, suffix);
  std::string normal;
  std::size_t numbers = 0;
  for (std::string_view number : split_at_dots(core)) {
    if (!number.empty()) {
      number.remove_prefix(std::min(number.find_first_not_of('0'), number.size() - 1));
    }
    normal.append(normal.empty() ? "" : ".").append(number);
    ++numbers;
  }
  // A short version has no place for a suffix.
  if (numbers < 3 && suffix != std::string_view::npos) {
    return not_a_version(text);
  }
  for (; numbers < 3; ++numbers) {
    normal += ".0";
  }
  normal += suffix == std::string_view::npos ? std::string_view() : rest.substr(suffix);
  auto version = parse(normal);
  return version ? version : not_a_version(text);
}

std::strong_ordering operator<=>(const Semver& a, const Semver& b) {
  if (const auto order = a.numbers <=> b.numbers; std::is_neq(order)) {
    return order;
  }
  // A version with a prerelease comes before the one without.
  if (a.prerelease.empty() || b.prerelease.empty()) {
    return a.prerelease.empty() <=> b.prerelease.empty();
  }
  const std::size_t common = std::min(a.prerelease.size(), b.prerelease.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const auto order = compare_identifiers(a.prerelease[i], b.prerelease[i]);
        std::is_neq(order)) {
      return order;
    }
  }
  return a.prerelease.size() <=> b.prerelease.size();
}

}  // namespace millwright::model::cel
