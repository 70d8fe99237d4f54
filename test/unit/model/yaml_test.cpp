#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <filesystem>

namespace millwright::model {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;

json::value one(std::string_view text) {
  auto documents = parse_yaml(text);
  EXPECT_TRUE(documents) << documents.error().message;
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << "expected one document";
    return nullptr;
  }
  return (*documents)[0];
}

struct Scalar {
  const char* yaml;
  const char* json;
};
class YamlScalar : public testing::TestWithParam<Scalar> {};
TEST_P(YamlScalar, IsTypedAsKubectlDoes) {
  const json::value value = one(std::string("a: ") + GetParam().yaml + "\n");
  EXPECT_EQ(json::serialize(value.at("a")), GetParam().json) << GetParam().yaml;
}
INSTANTIATE_TEST_SUITE_P(
    Booleans, YamlScalar,
    testing::Values(Scalar{"true", "true"}, Scalar{"True", "true"}, Scalar{"TRUE", "true"},
                    Scalar{"yes", "true"}, Scalar{"Yes", "true"}, Scalar{"YES", "true"},
                    Scalar{"y", "true"}, Scalar{"Y", "true"}, Scalar{"on", "true"},
                    Scalar{"On", "true"}, Scalar{"ON", "true"}, Scalar{"false", "false"},
                    Scalar{"no", "false"}, Scalar{"No", "false"}, Scalar{"NO", "false"},
                    Scalar{"n", "false"}, Scalar{"N", "false"}, Scalar{"off", "false"},
                    Scalar{"Off", "false"}, Scalar{"OFF", "false"}, Scalar{"tRue", "\"tRue\""},
                    Scalar{"yEs", "\"yEs\""}, Scalar{"\"yes\"", "\"yes\""},
                    Scalar{"'true'", "\"true\""}, Scalar{"!!str yes", "\"yes\""}));
INSTANTIATE_TEST_SUITE_P(Nulls, YamlScalar,
                         testing::Values(Scalar{"", "null"}, Scalar{"~", "null"},
                                         Scalar{"null", "null"}, Scalar{"Null", "null"},
                                         Scalar{"NULL", "null"}, Scalar{"nULL", "\"nULL\""},
                                         Scalar{"''", "\"\""}, Scalar{"'~'", "\"~\""},
                                         Scalar{"!!str", "\"\""}));
INSTANTIATE_TEST_SUITE_P(
    Integers, YamlScalar,
    testing::Values(Scalar{"0", "0"}, Scalar{"1", "1"}, Scalar{"-1", "-1"}, Scalar{"+1", "1"},
                    Scalar{"0777", "511"}, Scalar{"0o17", "15"}, Scalar{"0x1F", "31"},
                    Scalar{"-0x10", "-16"}, Scalar{"0b101", "5"}, Scalar{"-0b101", "-5"},
                    Scalar{"1_000", "1000"}, Scalar{"0x_1f", "31"}, Scalar{"08", "8"},
                    Scalar{"-08", "-8"}, Scalar{"9223372036854775807", "9223372036854775807"},
                    Scalar{"9223372036854775808", "9223372036854775808"},
                    Scalar{"-9223372036854775808", "-9223372036854775808"},
                    Scalar{"18446744073709551615", "18446744073709551615"},
                    Scalar{"18446744073709551616", "1.8446744073709552E19"}, Scalar{"+", "\"+\""},
                    Scalar{"0x", "\"0x\""}, Scalar{"0b2", "\"0b2\""}, Scalar{"1a", "\"1a\""},
                    Scalar{"1 2", "\"1 2\""}, Scalar{"--1", "\"--1\""}, Scalar{"!!int 5", "5"},
                    Scalar{"_1", "\"_1\""}));
INSTANTIATE_TEST_SUITE_P(Floats, YamlScalar,
                         testing::Values(Scalar{"1.5", "1.5E0"}, Scalar{"-1.5", "-1.5E0"},
                                         Scalar{".5", "5E-1"}, Scalar{"+.5", "5E-1"},
                                         Scalar{"1.", "1"}, Scalar{"1.0", "1"},
                                         Scalar{"1e3", "1000"}, Scalar{"1E+3", "1000"},
                                         Scalar{"1e-3", "1E-3"}, Scalar{"1_0.5", "1.05E1"},
                                         Scalar{"!!float 1", "1"}, Scalar{"1e400", "\"1e400\""},
                                         Scalar{"1e-400", "0"}, Scalar{".", "\".\""},
                                         Scalar{"1.2.3", "\"1.2.3\""}, Scalar{"1e", "\"1e\""},
                                         Scalar{".5m", "\".5m\""}));
INSTANTIATE_TEST_SUITE_P(Texts, YamlScalar,
                         testing::Values(Scalar{"500m", "\"500m\""}, Scalar{"1Gi", "\"1Gi\""},
                                         Scalar{"2026-01-02", "\"2026-01-02\""},
                                         Scalar{"2026-01-02T03:04:05Z", "\"2026-01-02T03:04:05Z\""},
                                         Scalar{"1:30", "\"1:30\""}, Scalar{"a b", "\"a b\""},
                                         Scalar{"<<", "\"<<\""}, Scalar{"!custom 5", "\"5\""},
                                         Scalar{"! 5", "\"5\""},
                                         Scalar{"\"a\\nb\\u00e9\"", "\"a\\nb\u00e9\""},
                                         Scalar{"!!timestamp 2026-01-02", "\"2026-01-02\""}));

TEST(ParseYaml, ReadsSeveralDocumentsAndSkipsEmptyOnes) {
  const auto documents =
      parse_yaml("# only a comment\n---\na: 1\n---\n---\n# more\n---\n- b\n...\n");
  ASSERT_TRUE(documents) << documents.error().message;
  EXPECT_THAT(*documents, ElementsAre(json::parse(R"({"a":1})"), json::parse(R"(["b"])")));
  EXPECT_TRUE(parse_yaml("").value().empty());
  EXPECT_TRUE(parse_yaml("# nothing").value().empty());
}

TEST(ParseYaml, TakesAsManyValuesAsTheCallerAllows) {
  EXPECT_TRUE(parse_yaml("[1, 2, 3]", 4));
  const auto refused = parse_yaml("[1, 2, 3]", 3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "YAML: line 1: more than 3 values; split the file");
}

TEST(ParseYaml, ReadsEveryStyle) {
  EXPECT_EQ(one("a: {b: [1, two], \"c\": 'd'}\ne:\n- f: 1\n  g: 2\n-\n  - h\n"
                "lit: |\n  x\n   y\nfold: >-\n  p\n  q\n? long\n: key\n"),
            json::parse(R"({"a":{"b":[1,"two"],"c":"d"},"e":[{"f":1,"g":2},["h"]],
                            "lit":"x\n y\n","fold":"p q","long":"key"})"));
  EXPECT_EQ(one(R"({"json": [1, 2.5, null, true, "x"]})"),
            json::parse(R"({"json":[1,2.5,null,true,"x"]})"));
}

TEST(ParseYaml, KeysBecomeText) {
  EXPECT_EQ(one("1: a\ntrue: b\nplain: c\n0x10: d\n"),
            json::parse(R"({"1":"a","true":"b","plain":"c","16":"d"})"));
}

TEST(ParseYaml, AliasesAndMergeKeysApply) {
  EXPECT_EQ(one("base: &b {k: 1, l: 2}\nown:\n  <<: *b\n  l: 3\nlist: [*b]\n"),
            json::parse(R"({"base":{"k":1,"l":2},"own":{"l":3,"k":1},"list":[{"k":1,"l":2}]})"));
  EXPECT_EQ(one("a: &a {k: 1}\nb: &b {k: 2, m: 2}\nc: {<<: [*a, *b], w: 0}\n").at("c"),
            json::parse(R"({"w":0,"k":1,"m":2})"));
  EXPECT_EQ(one("a: {l: 1, <<: {l: 2, k: 3}}").at("a"), json::parse(R"({"l":1,"k":3})"));
  // Quoted, it is a key like any other.
  EXPECT_EQ(one("\"<<\": 1\n"), json::parse(R"({"<<":1})"));
  EXPECT_EQ(one("a: &n null\nb: *n\nc: &s text\nd: *s\n"),
            json::parse(R"({"a":null,"b":null,"c":"text","d":"text"})"));
  EXPECT_EQ(one("a: &k key\n*k : 1\n"), json::parse(R"({"a":"key","key":1})"));
}

struct BadYaml {
  std::string text;
  const char* named;
};
class YamlProblem : public testing::TestWithParam<BadYaml> {};
TEST_P(YamlProblem, IsInvalidAndTheMessageNamesTheLine) {
  const auto documents = parse_yaml(GetParam().text);
  ASSERT_FALSE(documents);
  EXPECT_EQ(documents.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(documents.error().message, HasSubstr(GetParam().named));
}
INSTANTIATE_TEST_SUITE_P(
    Texts, YamlProblem,
    testing::Values(
        BadYaml{"a: 1\nb: 2\na: 3\n", "line 3: key \"a\" is given twice"},
        BadYaml{"x:\n  - {a: 1, 'a': 2}\n", "line 2: key \"a\""},
        BadYaml{"1: a\n\"1\": b\n", "line 2: key \"1\""}, BadYaml{"a: [1, 2\n", "line "},
        BadYaml{"a: b: c\n", "line 1"}, BadYaml{"a: 1\n\tb: 2\n", "line 2"},
        BadYaml{std::string("\xff\xfe"
                            "a\0:\0 \0001\0\n\0",
                            12),
                "line 1: the text is UTF-16"},
        BadYaml{"a: *unknown\n", "line 1"}, BadYaml{"a: &x [*x]\n", "line 1: the alias"},
        BadYaml{"a: .inf\n", "line 1: \".inf\" has no JSON form"},
        BadYaml{"- 1\n- .NaN\n", "line 2"}, BadYaml{"? [1, 2]\n: 3\n", "a key must be text"},
        BadYaml{"~: 3\n", "a key must be text"},
        BadYaml{"a:\n  <<: 5\n", "line 2: << can merge objects only"},
        BadYaml{"a:\n  <<: [{b: 1}, 5]\n", "line 2: << can merge objects only"},
        BadYaml{"a: !!int x\n", "line 1: \"x\" cannot be read as !!int"},
        BadYaml{"a: !!binary aGk=\n", "cannot be read as !!binary"}, BadYaml{"'a", "line "},
        BadYaml{"a: -\n", "line 1"}, BadYaml{"%YAML 3.0\n---\na", "line "},
        BadYaml{"a: \"\\q\"\n", "line 1"}, BadYaml{"@a: 1\n", "line 1"},
        BadYaml{"a: 1\n\x04\nb: 2\n", "line 2: a control character"},
        BadYaml{"a: \x7f\n", "line 1: a control character"},
        BadYaml{"a: 1\nb: \xc2\x80\n", "line 2: a control character"},
        BadYaml{"a: 1\nb: \xff\n", "line 2: the text is not UTF-8"},
        BadYaml{"a: \xc2", "not UTF-8"}, BadYaml{"a: \xc0\x80", "not UTF-8"},
        BadYaml{"a: \xed\xa0\x80", "not UTF-8"}, BadYaml{"a: \xf4\x90\x80\x80", "not UTF-8"}));

TEST(ParseYaml, RefusesAliasBombs) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) {
      text += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    }
    text += "]\n";
  }
  const auto documents = parse_yaml(text);
  ASSERT_FALSE(documents);
  EXPECT_THAT(documents.error().message, HasSubstr("more than 100000 values"));
}

// A hundred thousand aliases to a text of a megabyte are few values.
TEST(ParseYaml, LimitsTheTextThatAliasesRepeat) {
  const auto repeated = [](int times) {
    std::string text = "a: &a " + std::string(100'000, 'x') + "\nb: {c: &b [*a, *a]}\nd: [";
    for (int i = 0; i < times; ++i) {
      text += i == 0 ? "*b" : ", *b";
    }
    return text + "]\n";
  };
  EXPECT_TRUE(parse_yaml(repeated(9)));
  const auto documents = parse_yaml(repeated(10));
  ASSERT_FALSE(documents);
  EXPECT_THAT(documents.error().message, HasSubstr("line 3: aliases repeat more than 2 MiB"));
}

TEST(ParseYaml, LimitsTheDepthAlsoThroughAliases) {
  EXPECT_TRUE(parse_yaml(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(parse_yaml(std::string(70, '[') + std::string(70, ']')));
  EXPECT_FALSE(parse_yaml(std::string(100'000, '[')));
  std::string text = "a0: &a0 [1]\n";
  for (int i = 1; i < 100; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  }
  const auto documents = parse_yaml(text);
  ASSERT_FALSE(documents);
  EXPECT_THAT(documents.error().message, HasSubstr("nested deeper"));
}

TEST(ParseYaml, ReadsANodePoolAsUsersWriteIt) {
  const NodePool pool = decode<NodePool>(one(R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  template:
    spec:
      nodeClassRef: # a comment
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: default
      requirements:
        - key: "karpenter.k8s.aws/instance-category"
          operator: In
          values: ["c", "m", "r"]
          minValues: 2
        - key: "karpenter.k8s.aws/instance-cpu"
          operator: In
          values: ["4", "8"]
  disruption:
    budgets:
      - nodes: 10%
      - schedule: "0 9 * * mon-fri"
        duration: 8h
        nodes: "0"
  limits:
    cpu: 1000
    memory: 1000Gi
  weight: 10
)"))
                            .value();
  EXPECT_EQ(pool.template_.requirements[1].values, (std::vector<std::string>{"4", "8"}));
  EXPECT_EQ(pool.budgets[1].nodes, "0");
  EXPECT_EQ(to_string(*pool.limits), "{cpu: 1k, memory: 1000Gi}");
}

TEST(ToYaml, IsBlockStyleInTheOrderOfTheKeys) {
  EXPECT_EQ(to_yaml(json::parse(R"({"kind":"NodePool","spec":{"b":1,"a":[1,"x",{"k":true,"l":null},
                 [2,[3]],{},[]],"empty":{},"none":[]},"last":{"deep":{"deeper":-1.5}}})")),
            R"(kind: NodePool
spec:
  b: 1
  a:
  - 1
  - x
  - k: true
    l: null
  - - 2
    - - 3
  - {}
  - []
  empty: {}
  none: []
last:
  deep:
    deeper: -1.5
)");
  EXPECT_EQ(to_yaml(json::parse("[]")), "[]\n");
  EXPECT_EQ(to_yaml(json::parse("7")), "7\n");
  EXPECT_EQ(to_yaml(json::parse(R"([{"a":[1]},"b"])")), "- a:\n  - 1\n- b\n");
}

TEST(ToYaml, QuotesTextThatWouldReadAsAnotherType) {
  for (const std::string text : {"true",
                                 "yes",
                                 "no",
                                 "on",
                                 "off",
                                 "y",
                                 "N",
                                 "null",
                                 "~",
                                 "",
                                 "1",
                                 "-1",
                                 "+1",
                                 "1.5",
                                 "0x1f",
                                 "0777",
                                 "1e3",
                                 "1_000",
                                 ".5",
                                 ".inf",
                                 ".nan",
                                 "2026-01-02",
                                 "2026-01-02T03:04:05Z",
                                 "1:30",
                                 "0o17",
                                 "<<",
                                 "=",
                                 "- a",
                                 "? a",
                                 "a: b",
                                 "a #b",
                                 "a:",
                                 " a",
                                 "a ",
                                 "*a",
                                 "&a",
                                 "!a",
                                 "%a",
                                 "@a",
                                 "`a",
                                 "{a",
                                 "[a",
                                 "'a",
                                 "\"a",
                                 "|",
                                 ">",
                                 "#a",
                                 ",a",
                                 "-",
                                 "---",
                                 "..."}) {
    EXPECT_EQ(to_yaml(json::value(text)).front(), '"') << text;
    EXPECT_EQ(one(to_yaml(json::object{{"k", text}})).at("k"), json::value(text));
  }
  for (const std::string text :
       {"a", "500m", "1Gi", "720h", "10%", "karpenter.sh/nodepool", "a:b", "a#b", "WhenEmpty",
        "0 9 * * mon-fri", "é", "sim:///a/b", "3y", "/path", "a\"b", "a'b", "(x)"}) {
    EXPECT_EQ(to_yaml(json::value(text)), text + "\n");
    EXPECT_EQ(one(to_yaml(json::object{{"k", text}})).at("k"), json::value(text));
  }
}

TEST(ToYaml, ShowsLinesAsALiteralBlock) {
  EXPECT_EQ(to_yaml(json::parse(R"({"a":"x\n y\n","b":["p\nq"],"c":"r\n\n","d":"s\n\nt"})")),
            "a: |\n  x\n   y\nb:\n- |-\n  p\n  q\nc: |+\n  r\n\nd: |-\n  s\n\n  t\n");
  for (const std::string text : {"x\n", "\nx", "\n", " x\ny", "x\n\n\n", "x\r\ny", "\tx\ny",
                                 "x\n\ty", "x \ny ", "# x\n- y", "x\u2028y\nz", "x\n \ny"}) {
    EXPECT_EQ(one(to_yaml(json::object{{"k", text}})).at("k"), json::value(text))
        << to_yaml(json::value(text));
    EXPECT_EQ(one(to_yaml(json::array{text, 1})).at(0), json::value(text));
  }
}

json::value random_json(int depth) {
  const auto text = [] {
    const auto simple = rc::gen::elementOf(std::vector<std::string>{
        "",       "a",   "yes", "1", "-",  ":",    "#",    " ",      "a: b",
        "x\ny\n", "\n",  "\t",  "'", "\"", "\\",   "é",    "{",      "[]",
        "0x1",    "1e5", "~",   "%", "- ", "\x01", "\x7f", "\u0085", "\ufeff"});
    std::string out;
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
      out += *simple;
    }
    return out;
  };
  switch (*rc::gen::inRange(0, depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *rc::gen::inRange(-1000, 1000) + 0.25;
    case 4:
    case 5:
      return json::value(text());
    case 6: {
      json::array list;
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        list.push_back(random_json(depth - 1));
      }
      return list;
    }
    default: {
      json::object object;
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        object[text()] = random_json(depth - 1);
      }
      return object;
    }
  }
}

RC_GTEST_PROP(ToYaml, ReadsBackAsTheSameValue, ()) {
  const json::value value = json::object{{"root", random_json(4)}};
  const std::string text = to_yaml(value);
  const auto again = parse_yaml(text);
  RC_LOG() << text;
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->size() == 1U);
  RC_ASSERT((*again)[0] == value);
  RC_ASSERT(to_yaml((*again)[0]) == text);
}

TEST(ToYaml, WritesLongKeysSoThatTheyReadBack) {
  for (const std::size_t size : {200, 300, 2000}) {
    const json::value value =
        json::object{{std::string(size, 'k'), json::object{{"a", 1}}}, {"b", json::array{2}}};
    EXPECT_EQ(one(to_yaml(value)), value) << size;
  }
  // Four characters each.
  const json::value escaped = json::object{{std::string(256, '\x01'), 1}};
  EXPECT_EQ(one(to_yaml(escaped)), escaped);
}

RC_GTEST_PROP(ParseYaml, ArbitraryTextNeverCrashesTheReader, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("ab:- \n\t&*[]{},'\"#|>?!<%~1.0\\")));
  parse_yaml(text);
}

}  // namespace
}  // namespace millwright::model
