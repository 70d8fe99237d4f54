#include "cloud/aws/calls/wire/xml.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <charconv>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxNodes = 4'000'000;

std::string_view local_name(const char* name) {
  const std::string_view text(name);
  const auto colon = text.find(':');
  return colon == std::string_view::npos ? text : text.substr(colon + 1);
}

// False when a limit was met.
bool copy(const pugi::xml_node& from, XmlNode& to, int depth, std::size_t& budget) {
  if (depth > kMaxDepth || budget == 0) {
    return false;
  }
  --budget;
  to.name = local_name(from.name());
  for (const auto& child : from.children()) {
    if (child.type() == pugi::node_element) {
      if (!copy(child, to.children.emplace_back(), depth + 1, budget)) {
        return false;
      }
    } else if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
      to.text += child.value();
    }
  }
  return true;
}

template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

const XmlNode& XmlNode::child(std::string_view child_name) const {
  static const XmlNode kNone;
  for (const auto& each : children) {
    if (each.name == child_name) {
      return each;
    }
  }
  return kNone;
}

bool XmlNode::has(std::string_view child_name) const {
  return !child(child_name).name.empty();
}

const std::string& XmlNode::text_of(std::string_view child_name) const {
  return child(child_name).text;
}

std::optional<std::int64_t> XmlNode::integer_of(std::string_view child_name) const {
  return number<std::int64_t>(text_of(child_name));
}

std::optional<double> XmlNode::decimal_of(std::string_view child_name) const {
  return number<double>(text_of(child_name));
}

bool XmlNode::is_true(std::string_view child_name) const {
  return text_of(child_name) == "true";
}

std::span<const XmlNode> XmlNode::items(std::string_view list_name) const {
  return child(list_name).children;
}

std::vector<std::string> XmlNode::texts(std::string_view list_name) const {
  std::vector<std::string> result;
  for (const auto& item : items(list_name)) {
    result.push_back(item.text);
  }
  return result;
}

base::Result<XmlNode> parse_xml(std::string_view text) {
  pugi::xml_document document;
  const auto parsed = document.load_buffer(text.data(), text.size(), pugi::parse_default);
  if (!parsed) {
    return base::fail(ErrorKind::Invalid, std::string("not XML: ") + parsed.description() +
                                              " at byte " + std::to_string(parsed.offset));
  }
  const auto elements = document.children();
  if (std::count_if(elements.begin(), elements.end(), [](const pugi::xml_node& node) {
        return node.type() == pugi::node_element;
      }) > 1) {
    return base::fail(ErrorKind::Invalid, "not XML: it has more than one root element");
  }
  XmlNode root;
  std::size_t budget = kMaxNodes;
  if (!copy(document.document_element(), root, 0, budget)) {
    return base::fail(ErrorKind::Invalid, "XML that is nested too deep or too large");
  }
  if (root.name.empty()) {
    return base::fail(ErrorKind::Invalid, "not XML: it has no element");
  }
  return root;
}

}  // namespace millwright::cloud::aws
