#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace millwright::model {
namespace {

namespace json = boost::json;

TEST(JsonFields, SameIsWhatEqualIs) {
  const json::value values[] = {
      nullptr,
      true,
      1,
      2,
      1.0,
      "1",
      json::array{},
      json::array{1},
      json::array{1, 2},
      json::array{2, 1},
      json::object{},
      {{"a", 1}},
      {{"a", 2}},
      {{"b", 1}},
      {{"a", 1}, {"b", {{"c", json::array{1}}}}},
      {{"b", {{"c", json::array{1}}}}, {"a", 1}},
      {{"a", 1}, {"b", {{"c", json::array{2}}}}},
  };
  for (const auto& a : values) {
    for (const auto& b : values) {
      EXPECT_EQ(same_json(a, b), a == b) << a << " and " << b;
    }
  }
  EXPECT_TRUE(same_json(values[14], values[15])) << "in whatever order";
}

}  // namespace
}  // namespace millwright::model
