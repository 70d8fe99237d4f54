#include "cloud/common/environment.hpp"

#include <gtest/gtest.h>

namespace millwright::cloud {
namespace {

TEST(ProcessEnvironment, ASettingComesBeforeItsVariableAndAnEmptyOneDoesNot) {
  const auto variables = [](const std::string& name) -> std::optional<std::string> {
    return name == "UNSET" ? std::nullopt : std::optional("variable " + name);
  };
  const auto environment =
      process_environment(variables, {{"REGION", "setting"}, {"PROJECT", ""}, {"UNSET", "given"}});
  EXPECT_EQ(environment.text("REGION"), "setting");
  EXPECT_EQ(environment.text("PROJECT"), "variable PROJECT");
  EXPECT_EQ(environment.text("OTHER"), "variable OTHER");
  EXPECT_EQ(environment.text("UNSET"), "given");
}

}  // namespace
}  // namespace millwright::cloud
