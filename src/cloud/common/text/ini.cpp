#include "cloud/common/text/ini.hpp"

#include "cloud/common/text/text.hpp"

namespace millwright::cloud {
namespace {

// A comment may follow a value after white space.
std::string_view without_comment(std::string_view value) {
  for (const std::string_view mark : {" #", " ;", "\t#", "\t;"}) {
    value = value.substr(0, value.find(mark));
  }
  return trimmed(value);
}

}  // namespace

base::Result<IniSections> parse_ini(std::string_view text, std::string_view file) {
  IniSections sections;
  IniSection* current = nullptr;
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    const auto content = trimmed(line);
    const auto problem = [&](std::string_view what) {
      return base::fail(
          base::ErrorKind::Invalid,
          std::string(file).append(":").append(std::to_string(number).append(": ").append(what)));
    };
    // Indented lines belong to the nested setting above them ("s3 =").
    if (content.empty() || content.front() == '#' || content.front() == ';' ||
        line.front() == ' ' || line.front() == '\t') {
      continue;
    }
    if (content.front() == '[') {
      const auto close = content.find(']');
      if (close == std::string_view::npos) {
        return problem("expected ] at the end of the section");
      }
      current = &sections[std::string(trimmed(content.substr(1, close - 1)))];
      continue;
    }
    const auto equals = content.find('=');
    if (equals == std::string_view::npos) {
      return problem("expected \"key = value\"");
    }
    if (current == nullptr) {
      return problem("expected a section such as [default] first");
    }
    (*current)[lower_case(trimmed(content.substr(0, equals)))] =
        without_comment(content.substr(equals + 1));
  }
  return sections;
}

}  // namespace millwright::cloud
