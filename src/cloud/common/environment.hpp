// The process's environment variables and files, injected so that tests have their own.
#pragma once

#include "millwright/base/result.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cloud {

struct ProcessEnvironment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // NotFound when there is no such file, else Invalid with the path and the reason.
  std::function<base::Result<std::string>(const std::string& path)> read_file;
  // Replaces the whole file or nothing. No function: nothing is saved.
  std::function<base::Result<>(const std::string& path, const std::string& text)> write_file = {};

  // Empty when it is not set.
  std::string text(const std::string& name) const { return variable(name).value_or(""); }
};

// This process's, with what the settings say before the variables of the same meaning; an empty
// setting leaves the variable.
ProcessEnvironment process_environment(
    std::function<std::optional<std::string>(const std::string& name)> variable,
    std::map<std::string, std::string> settings = {});

// Reads a file of at most 4 MiB.
base::Result<std::string> read_small_file(const std::string& path);

// Writes a new file and renames it, so that a reader never sees half of it.
base::Result<> write_small_file(const std::string& path, const std::string& text);

}  // namespace millwright::cloud
