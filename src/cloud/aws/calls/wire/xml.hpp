// XML answers as a tree of names without prefixes, text and children. Attributes, comments and
// entities that a document defines itself are ignored: AWS does not use them.
#pragma once

#include "millwright/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::aws {

struct XmlNode {
  std::string name;
  std::string text;
  std::vector<XmlNode> children;

  // The first child of that name; an empty node when there is none, so that look-ups chain.
  const XmlNode& child(std::string_view child_name) const;
  bool has(std::string_view child_name) const;
  // Text of a child; empty when absent.
  const std::string& text_of(std::string_view child_name) const;
  std::optional<std::int64_t> integer_of(std::string_view child_name) const;
  std::optional<double> decimal_of(std::string_view child_name) const;
  bool is_true(std::string_view child_name) const;
  // Children of a list: EC2 wraps them as <xSet><item>, IAM and STS as <X><member>.
  std::span<const XmlNode> items(std::string_view list_name) const;
  // The texts of a list's children.
  std::vector<std::string> texts(std::string_view list_name) const;
};

// The root element. Invalid for text that is not one well-formed document, is nested too deeply or
// is too large.
base::Result<XmlNode> parse_xml(std::string_view text);

}  // namespace millwright::cloud::aws
