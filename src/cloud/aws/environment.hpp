// What the process is surrounded by: variables and files, injected so that tests have their own.
#pragma once

#include "millwright/base/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // NotFound when there is no such file, else Invalid with the path and the reason.
  std::function<base::Result<std::string>(const std::string& path)> read_file;
  // Replaces the file as a whole or not at all; may be empty where nothing is kept.
  std::function<base::Result<>(const std::string& path, const std::string& text)> write_file = {};

  // Empty when it is not set.
  std::string text(const std::string& name) const { return variable(name).value_or(""); }
};

// Files of the machine, at most 4 MiB each.
base::Result<std::string> read_small_file(const std::string& path);

// Written beside it and renamed, so that a reader never sees half of it.
base::Result<> write_small_file(const std::string& path, const std::string& text);

// Without white space at either end.
std::string_view trimmed(std::string_view text);

}  // namespace millwright::cloud::aws
