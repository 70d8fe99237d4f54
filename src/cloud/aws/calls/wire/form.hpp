// The body of an AWS Query or EC2 Query request: Action, Version and parameters in the order in
// which they were added, form-encoded as AWS's own clients write them.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

class Form {
 public:
  Form(std::string_view action, std::string_view version);

  Form& add(std::string_view name, std::string_view value);
  Form& add(std::string_view name, const char* value) { return add(name, std::string_view(value)); }
  Form& add(std::string_view name, bool value);
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Form& add(std::string_view name, T value) {
    return add(name, std::string_view(std::to_string(value)));
  }
  // "<name>.1", "<name>.2", ...
  Form& add_list(std::string_view name, std::span<const std::string> values);
  // EC2's "Filter.<n>.Name" and "Filter.<n>.Value.<m>", numbered as they come.
  Form& add_filter(std::string_view name, std::span<const std::string> values);

  const std::string& action() const { return action_; }
  const std::string& body() const { return body_; }

 private:
  std::string action_;
  std::string body_;
  int filters_ = 0;
};

// A number in the shortest text that reads back as itself: "0.096".
std::string decimal_text(double value);

}  // namespace millwright::cloud::aws
