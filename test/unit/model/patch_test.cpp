#include "millwright/model/patch.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace millwright::model {
namespace {

namespace json = boost::json;

struct MergeCase {
  const char* target;
  const char* patch;
  const char* result;
};

// The examples of RFC 7386, appendix A.
class MergePatch : public testing::TestWithParam<MergeCase> {};
TEST_P(MergePatch, FollowsRfc7386) {
  json::value target = json::parse(GetParam().target);
  apply_merge_patch(target, json::parse(GetParam().patch));
  EXPECT_EQ(target, json::parse(GetParam().result)) << json::serialize(target);
}
INSTANTIATE_TEST_SUITE_P(
    Rfc, MergePatch,
    testing::Values(MergeCase{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
                    MergeCase{R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
                    MergeCase{R"({"a":"b"})", R"({"a":null})", R"({})"},
                    MergeCase{R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
                    MergeCase{R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
                    MergeCase{R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
                    MergeCase{R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})",
                              R"({"a":{"b":"d"}})"},
                    MergeCase{R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
                    MergeCase{R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
                    MergeCase{R"({"a":"b"})", R"(["c"])", R"(["c"])"},
                    MergeCase{R"({"a":"foo"})", R"(null)", R"(null)"},
                    MergeCase{R"({"a":"foo"})", R"("bar")", R"("bar")"},
                    MergeCase{R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
                    MergeCase{R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
                    MergeCase{R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"}));

TEST(MergePatchOrder, KeepsTheOrderOfTheOtherKeys) {
  json::value target = json::parse(R"({"a":1,"b":2,"c":3,"d":4})");
  apply_merge_patch(target, json::parse(R"({"a":null,"c":5})"));
  EXPECT_EQ(json::serialize(target), R"({"b":2,"c":5,"d":4})");
}

struct PatchCase {
  const char* target;
  const char* patch;
  const char* result;  // nullptr: refused
};
class JsonPatch : public testing::TestWithParam<PatchCase> {};
TEST_P(JsonPatch, FollowsRfc6902) {
  const json::value before = json::parse(GetParam().target);
  json::value target = before;
  const auto result = apply_json_patch(target, json::parse(GetParam().patch));
  if (GetParam().result == nullptr) {
    ASSERT_FALSE(result) << json::serialize(target);
    EXPECT_EQ(result.error().kind, base::ErrorKind::Invalid);
    EXPECT_EQ(target, before);
  } else {
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(target, json::parse(GetParam().result)) << json::serialize(target);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Add, JsonPatch,
    testing::Values(
        PatchCase{R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
        PatchCase{R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
        PatchCase{R"({"a":1})", R"([{"op":"add","path":"","value":2}])", R"(2)"},
        PatchCase{R"({"a":1})", R"([{"op":"add","path":"/","value":2}])", R"({"a":1,"":2})"},
        PatchCase{R"([1,2])", R"([{"op":"add","path":"/1","value":9}])", R"([1,9,2])"},
        PatchCase{R"([1,2])", R"([{"op":"add","path":"/2","value":9}])", R"([1,2,9])"},
        PatchCase{R"([1,2])", R"([{"op":"add","path":"/-","value":9}])", R"([1,2,9])"},
        PatchCase{R"([])", R"([{"op":"add","path":"/0","value":9}])", R"([9])"},
        PatchCase{R"({"a~/b":{}})", R"([{"op":"add","path":"/a~0~1b/x","value":1}])",
                  R"({"a~/b":{"x":1}})"},
        PatchCase{R"([1])", R"([{"op":"add","path":"/2","value":9}])", nullptr},
        PatchCase{R"([1])", R"([{"op":"add","path":"/00","value":9}])", nullptr},
        PatchCase{R"([1])", R"([{"op":"add","path":"/-1","value":9}])", nullptr},
        PatchCase{R"([1])", R"([{"op":"add","path":"/x","value":9}])", nullptr},
        PatchCase{R"({})", R"([{"op":"add","path":"/a/b","value":9}])", nullptr},
        PatchCase{R"({"a":1})", R"([{"op":"add","path":"/a/b","value":9}])", nullptr},
        PatchCase{R"({})", R"([{"op":"add","path":"/a"}])", nullptr},
        PatchCase{R"({})", R"([{"op":"add","value":1}])", nullptr},
        PatchCase{R"({})", R"([{"op":"add","path":"a","value":1}])", nullptr},
        PatchCase{R"({})", R"([{"op":"add","path":"/a~2","value":1}])", nullptr},
        PatchCase{R"({})", R"([{"op":"add","path":"/a~","value":1}])", nullptr}));
INSTANTIATE_TEST_SUITE_P(
    RemoveReplaceTest, JsonPatch,
    testing::Values(PatchCase{R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
                    PatchCase{R"([1,2,3])", R"([{"op":"remove","path":"/1"}])", R"([1,3])"},
                    PatchCase{R"({"a":1})", R"([{"op":"remove","path":"/b"}])", nullptr},
                    PatchCase{R"([1])", R"([{"op":"remove","path":"/1"}])", nullptr},
                    PatchCase{R"([1])", R"([{"op":"remove","path":"/-"}])", nullptr},
                    PatchCase{R"([])", R"([{"op":"remove","path":"/0"}])", nullptr},
                    PatchCase{R"({"a":1})", R"([{"op":"replace","path":"/a","value":{"x":1}}])",
                              R"({"a":{"x":1}})"},
                    PatchCase{R"({"a":1})", R"([{"op":"replace","path":"","value":[]}])", R"([])"},
                    PatchCase{R"({"a":1})", R"([{"op":"replace","path":"/b","value":1}])", nullptr},
                    PatchCase{R"({"a":[1,{"b":2}]})",
                              R"([{"op":"test","path":"/a/1/b","value":2}])",
                              R"({"a":[1,{"b":2}]})"},
                    PatchCase{R"({"a":1})", R"([{"op":"test","path":"/a","value":"1"}])", nullptr},
                    PatchCase{R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])", nullptr},
                    PatchCase{R"({"a":1})", R"([{"op":"test","path":"/a","value":1},
                                    {"op":"remove","path":"/a"}])",
                              R"({})"}));
INSTANTIATE_TEST_SUITE_P(
    MoveCopy, JsonPatch,
    testing::Values(
        PatchCase{R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])", R"({"b":1})"},
        PatchCase{R"([1,2,3])", R"([{"op":"move","from":"/0","path":"/2"}])", R"([2,3,1])"},
        PatchCase{R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/b"}])", nullptr},
        PatchCase{R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
        PatchCase{R"([[1],[2]])", R"([{"op":"move","from":"/0","path":"/0/0"}])", nullptr},
        PatchCase{R"([0,[1],[2]])", R"([{"op":"move","from":"/0","path":"/1/0"}])",
                  R"([[1],[0,2]])"},
        PatchCase{R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])",
                  R"({"a":{"b":1},"c":{"b":1}})"},
        PatchCase{R"({"a":1})", R"([{"op":"copy","from":"/x","path":"/c"}])", nullptr},
        PatchCase{R"({"a":1})", R"([{"op":"copy","path":"/c"}])", nullptr}));
INSTANTIATE_TEST_SUITE_P(
    Malformed, JsonPatch,
    testing::Values(PatchCase{R"({})", R"({})", nullptr}, PatchCase{R"({})", R"([1])", nullptr},
                    PatchCase{R"({})", R"([{}])", nullptr},
                    PatchCase{R"({})", R"([{"op":"foo","path":""}])", nullptr},
                    PatchCase{R"({})", R"([{"path":"/a","value":1}])", nullptr},
                    PatchCase{R"({})", R"([])", R"({})"}));

TEST(JsonPatchErrors, NameTheOperationAndLeaveTheTargetAlone) {
  json::value target = json::parse(R"({"a":1})");
  const auto result = apply_json_patch(
      target, json::parse(R"([{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}])"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "JSON patch: operation 1 on \"/a\": the path does not exist");
  EXPECT_EQ(target, json::parse(R"({"a":1})"));
}

TEST(JsonPatchBetween, IsSmall) {
  const auto patch =
      json_patch_between(json::parse(R"({"keep":1,"change":{"x":1,"y":[1]},"gone":2})"),
                         json::parse(R"({"keep":1,"change":{"x":2,"y":[1]},"new~/":{"z":3}})"));
  EXPECT_EQ(json::serialize(patch), R"([{"op":"replace","path":"/change/x","value":2},)"
                                    R"({"op":"remove","path":"/gone"},)"
                                    R"({"op":"add","path":"/new~0~1","value":{"z":3}}])");
  EXPECT_EQ(json::serialize(json_patch_between(json::parse("[1]"), json::parse("[1]"))), "[]");
}

json::value random_patched_json(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::inRange(-3, 3);
    case 3:
    case 4:
      return json::value(*rc::gen::element<std::string>("a", "b", "~", "/", ""));
    case 5: {
      json::array list;
      for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
        list.push_back(random_patched_json(depth - 1));
      }
      return list;
    }
    default: {
      json::object object;
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        object[*rc::gen::element<std::string>("a", "b", "~0", "x/y", "")] =
            random_patched_json(depth - 1);
      }
      return object;
    }
  }
}

RC_GTEST_PROP(JsonPatchBetween, LeadsFromOneToTheOther, ()) {
  json::value from = random_patched_json(3);
  const json::value to = random_patched_json(3);
  RC_ASSERT(apply_json_patch(from, json_patch_between(from, to)).has_value());
  RC_ASSERT(from == to);
}

RC_GTEST_PROP(JsonPatchOfAnything, NeverCrashes, ()) {
  json::value target = random_patched_json(3);
  json::array patch;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    patch.push_back(json::object{
        {"op", *rc::gen::element<std::string>("add", "remove", "replace", "move", "copy", "test")},
        {"path", *rc::gen::element<std::string>("", "/a", "/a/b", "/0", "/-", "/a/0", "/x~1y")},
        {"from", *rc::gen::element<std::string>("", "/a", "/b", "/0", "/a/0")},
        {"value", random_patched_json(1)}});
  }
  apply_json_patch(target, patch);
  apply_merge_patch(target, random_patched_json(3));
}

}  // namespace
}  // namespace millwright::model
