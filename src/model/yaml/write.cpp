// Block-style YAML in the layout of kubectl: two spaces, lists not indented below their key.
#include "millwright/model/codec.hpp"
#include "model/yaml/scalar.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <string>

namespace millwright::model {
namespace {

namespace json = boost::json;

// Line breaks and invisible characters beyond ASCII: the C1 controls, the line and paragraph
// separators and the byte order mark. Their length in bytes, or 0.
std::size_t special_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() >= 2 && byte(0) == 0xc2 && byte(1) < 0xa0) {
    return 2;
  }
  if (text.starts_with("\u2028") || text.starts_with("\u2029") || text.starts_with("\ufeff")) {
    return 3;
  }
  return 0;
}

// The code point of what special_length() found.
unsigned special_code(std::string_view character) {
  if (character == "\ufeff") {
    return 0xfeff;
  }
  const auto last = static_cast<unsigned char>(character.back());
  return character.size() == 2 ? last : 0x2000U + (last & 0x3fU);
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Only characters that a plain or literal scalar may hold, line feeds and tabs aside.
bool is_printable(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((is_control(text[i]) && text[i] != '\n' && text[i] != '\t') ||
        special_length(text.substr(i)) != 0) {
      return false;
    }
  }
  return true;
}

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

// Text that some YAML reader takes for a number, a date or a base-60 number.
bool is_number_like(std::string_view text) {
  const char first = text.front();
  if (!is_decimal(first) && first != '-' && first != '+' && first != '.') {
    return false;
  }
  return text.find_first_not_of("0123456789+-._:eExXoObBaAcCdDfF TtZ") == std::string_view::npos;
}

bool can_be_plain(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') {
    return false;
  }
  if (std::string_view("-?:,[]{}#&*!|>'\"%@`=").find(text.front()) != std::string_view::npos ||
      text.starts_with("<<") || text == "...") {
    return false;
  }
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos ||
      text.find_first_of("\n\t") != std::string_view::npos || !is_printable(text)) {
    return false;
  }
  const auto value = yaml::resolve_plain(text);
  return value && value->is_string() && !is_number_like(text);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_control(c)) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape.data();
    } else if (const std::size_t length = special_length(text.substr(i)); length != 0) {
      const unsigned code = special_code(text.substr(i, length));
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", code);
      out += escape.data();
      i += length - 1;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string inline_text(std::string_view text) {
  return can_be_plain(text) ? std::string(text) : quoted(text);
}

// Several lines that a literal block shows as they are, without an indentation indicator.
bool can_be_literal(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.front() == '\n' || text.front() == ' ' ||
      !is_printable(text)) {
    return false;
  }
  return text.front() != '\t' && text.find("\n\t") == std::string_view::npos;
}

class Writer {
 public:
  std::string take() { return std::move(out_); }

  // A value at the start of a line.
  void root(const json::value& value) {
    if (is_filled(value)) {
      children(value, 0);
    } else {
      scalar(value, 0);
      out_ += '\n';
    }
  }

 private:
  static bool is_filled(const json::value& value) {
    return (value.is_object() && !value.get_object().empty()) ||
           (value.is_array() && !value.get_array().empty());
  }

  void indent(std::size_t level) { out_.append(2 * level, ' '); }

  // The lines of a list or object that has entries; the first line is not indented when
  // `continues` (after "- ").
  void children(const json::value& value, std::size_t level, bool continues = false) {
    if (const auto* const object = value.if_object()) {
      for (const auto& entry : *object) {
        if (!std::exchange(continues, false)) {
          indent(level);
        }
        member(entry.key(), entry.value(), level);
      }
      return;
    }
    for (const json::value& item : value.get_array()) {
      if (!std::exchange(continues, false)) {
        indent(level);
      }
      out_ += "- ";
      if (is_filled(item)) {
        children(item, level + 1, true);
      } else {
        scalar(item, level + 1);
        out_ += '\n';
      }
    }
  }

  void member(std::string_view key, const json::value& value, std::size_t level) {
    // A simple key ends within 1024 characters; longer ones are written with "?".
    constexpr std::size_t kLongKey = 256;
    const std::string written = inline_text(key);
    if (written.size() > kLongKey) {
      out_.append("? ").append(written).append("\n");
      indent(level);
      out_ += ':';
    } else {
      out_.append(written).append(":");
    }
    if (!is_filled(value)) {
      out_ += ' ';
      scalar(value, level + 1);
      out_ += '\n';
      return;
    }
    out_ += '\n';
    children(value, value.is_array() ? level : level + 1);
  }

  void scalar(const json::value& value, std::size_t level) {
    switch (value.kind()) {
      case json::kind::null:
        out_ += "null";
        break;
      case json::kind::bool_:
        out_ += value.get_bool() ? "true" : "false";
        break;
      case json::kind::int64:
        out_ += std::to_string(value.get_int64());
        break;
      case json::kind::uint64:
        out_ += std::to_string(value.get_uint64());
        break;
      case json::kind::double_:
        number(value.get_double());
        break;
      case json::kind::string:
        text(value.get_string(), level);
        break;
      case json::kind::array:
        out_ += "[]";
        break;
      case json::kind::object:
        out_ += "{}";
        break;
    }
  }

  void number(double value) {
    std::array<char, 32> digits{};
    const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out_.append(digits.data(), result.ptr);
  }

  void text(std::string_view text, std::size_t level) {
    if (!can_be_literal(text)) {
      out_ += inline_text(text);
      return;
    }
    const bool ends_line = text.back() == '\n';
    if (!ends_line) {
      out_ += "|-";
    } else {
      out_ += text[text.size() - 2] == '\n' ? "|+" : "|";
    }
    std::string_view rest = ends_line ? text.substr(0, text.size() - 1) : text;
    for (bool done = false; !done;) {
      const std::size_t end = rest.find('\n');
      done = end == std::string_view::npos;
      out_ += '\n';
      if (const std::string_view line = rest.substr(0, end); !line.empty()) {
        indent(level == 0 ? 1 : level);
        out_ += line;
      }
      rest = done ? "" : rest.substr(end + 1);
    }
  }

  std::string out_;
};

}  // namespace

std::string to_yaml(const json::value& json) {
  Writer writer;
  writer.root(json);
  return writer.take();
}

}  // namespace millwright::model
