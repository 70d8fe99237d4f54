#include "cloud/common/text/cloud_words.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace millwright::cloud {
namespace {

TEST(CloudWords, KeepNoSecretThatTheCloudRepeats) {
  const std::pair<std::string, std::string> cases[] = {
      {"the image cannot be booted", "the image cannot be booted"},
      {"flavor: c7.large; zone: a", "flavor: c7.large; zone: a"},
      {R"(bad login {"userPassword":{"username":"root","password":"Kx\"9,z"},"n":1})",
       R"(bad login {"userPassword":{"username":"root","password":***},"n":1})"},
      {R"({\"password\":\"Kx9\",\"n\":1})", R"({\"password\":***,\"n\":1})"},
      {"adminPass=Kx9&flavor=c7", "adminPass=***&flavor=c7"},
      {"X-Auth-Token: abc, next", "X-Auth-Token: ***, next"},
      {"PASSWORD = 'a b' is weak", "PASSWORD = *** is weak"},
      {"userData: IyEvYmlu", "userData: ***"},
      {"password:", "password:"},
      {"password=\"never closed", "password=***"}};
  for (const auto& [said, shown] : cases) {
    EXPECT_EQ(without_secrets(said), shown);
  }
  EXPECT_EQ(without_secrets(std::string(2000, 'x')), std::string(1000, 'x') + "...");
  EXPECT_EQ(without_secrets(std::string(998, 'x') + "\u4e2d\u6587"), std::string(998, 'x') + "...");
}

}  // namespace
}  // namespace millwright::cloud
