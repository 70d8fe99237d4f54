// The permissions policy that a cloud's page gives: the first block of JSON on it.
#pragma once

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace millwright::test {

// "ec2:CreateFleet" and so on, each once. `page`: "aws.md".
inline std::set<std::string> documented_actions(const std::string& page) {
  std::ifstream file(std::string(SOURCE_ROOT) + "/docs/" + page);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto begin = text.find("```json\n") + 8;
  const auto policy = boost::json::parse(text.substr(begin, text.find("```", begin) - begin));
  std::set<std::string> actions;
  for (const auto& statement : policy.at("Statement").as_array()) {
    for (const auto& action : statement.at("Action").as_array()) {
      EXPECT_TRUE(actions.insert(std::string(action.as_string())).second) << action;
    }
  }
  return actions;
}

// The same without the service.
inline std::set<std::string> documented_names(const std::string& page) {
  std::set<std::string> names;
  for (const auto& action : documented_actions(page)) {
    names.insert(action.substr(action.find(':') + 1));
  }
  return names;
}

}  // namespace millwright::test
