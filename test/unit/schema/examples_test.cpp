// The manifests that users apply: every object of manifests/examples that is of a described kind is
// accepted as it stands, loses no field, and reads the same after being written as YAML.
#include "admission_cases.hpp"
#include "millwright/schema/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>

namespace millwright::schema {
namespace {

std::vector<std::string> example_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SOURCE_ROOT "/manifests/examples")) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Examples, AreAcceptedUnchanged) {
  std::map<std::string, int> seen;
  for (const std::string& file : example_files()) {
    for (const json::value& document : test::read_yaml(file)) {
      const Kind* kind = find_kind(test::text_or(document.as_object(), "apiVersion"),
                                   test::text_or(document.as_object(), "kind"));
      if (kind == nullptr) {
        continue;
      }
      ++seen[std::string(resource_of(*kind).kind)];
      json::value object = document;
      EXPECT_THAT(prune(*kind, object), testing::IsEmpty()) << file;
      EXPECT_EQ(object, document) << file;
      apply_defaults(*kind, object);
      for (const Problem& problem : validate(*kind, object)) {
        ADD_FAILURE() << file << ": " << problem.to_string();
      }
      const auto again = model::parse_yaml(model::to_yaml(document));
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_THAT(*again, testing::ElementsAre(document)) << file;
    }
  }
  const std::map<std::string, int> at_least{{"NodePool", 5},     {"KWOKNodeClass", 1},
                                            {"ECSNodeClass", 1}, {"CCENodeClass", 1},
                                            {"Provisioner", 3},  {"AWSNodeTemplate", 3}};
  for (const auto& [name, count] : at_least) {
    EXPECT_GE(seen[name], count) << name;
  }
}

TEST(Examples, KeepEveryValueWhenDefaulted) {
  // Defaulting only adds: whatever the manifest says is still there, word for word.
  const std::function<void(const json::value&, const json::value&)> contains =
      [&](const json::value& whole, const json::value& part) {
        if (!part.is_object()) {
          EXPECT_TRUE(part.is_array() || whole == part) << json::serialize(part);
          return;
        }
        for (const auto& [name, value] : part.as_object()) {
          ASSERT_TRUE(whole.as_object().contains(name)) << name;
          contains(whole.at(name), value);
        }
      };
  for (const std::string& file : example_files()) {
    for (const json::value& document : test::read_yaml(file)) {
      const Kind* kind = find_kind(test::text_or(document.as_object(), "apiVersion"),
                                   test::text_or(document.as_object(), "kind"));
      if (kind != nullptr) {
        json::value object = document;
        apply_defaults(*kind, object);
        contains(object, document);
      }
    }
  }
}

}  // namespace
}  // namespace millwright::schema
