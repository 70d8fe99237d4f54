// What expressions come to, by the language alone.
#include "millwright/model/device_selector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::model {
namespace {

using testing::HasSubstr;

std::string result_of(std::string_view expression) {
  const auto selector = DeviceSelector::parse(expression);
  if (!selector) {
    return selector.error().message;
  }
  const auto matches = selector->matches("driver", Device{.name = "d"});
  return matches ? (*matches ? "true" : "false") : matches.error().message;
}

void expect_all_true(std::initializer_list<std::string_view> expressions) {
  for (const std::string_view expression : expressions) {
    EXPECT_EQ(result_of(expression), "true") << expression;
  }
}

struct Failure {
  std::string_view expression;
  std::string_view problem;
};
void expect_failures(std::initializer_list<Failure> failures) {
  for (const auto& [expression, problem] : failures) {
    EXPECT_THAT(result_of(expression), HasSubstr(problem)) << expression;
  }
}

TEST(DeviceSelectorLanguage, HasTheLiteralsOfCel) {
  expect_all_true({
      "0x1F == 31",
      "-0x10 == -16",
      "-9223372036854775808 < 0",
      "18446744073709551615u > 0u",
      "1.5e3 == 1500.0",
      ".5 == 0.5",
      "5e-1 == 0.5",
      "null == null",
      R"("a'b" == 'a\'b')",
      R"('''a'b
c''' == "a'b\nc")",
      R"("""a"b""" == 'a"b')",
      R"(r'\d' == '\\d')",
      R"(R"a\"  == "a\\")",
      R"('\x41\101\u0041\U00000041' == 'AAAA')",
      R"('\u00e4' == 'ä' && '\U0001F600' == '😀')",
      R"(size('\a\b\f\n\r\t\v\\\?\"\'\`') == 12)",
      "[1, 2,] == [1, 2]",
      "{'a': 1,}['a'] == 1",
      "{'a': 1}.a == 1",
      "{1: 'x', true: 'y', 2u: 'z'}[2] == 'z'",
      "true//comment",
  });
  expect_failures({
      {"{1: 2, 1: 3} == {}", "the map has the key 1 already"},
      {"{1.5: 2} == {}", "a map has no keys of type double"},
      {"{null: 2} == {}", "a map has no keys of type null_type"},
  });
}

TEST(DeviceSelectorLanguage, BindsAsStronglyAsCelDoes) {
  expect_all_true({
      "1 + 2 * 3 == 7",
      "(1 + 2) * 3 == 9",
      "10 - 2 - 3 == 5",
      "20 / 2 / 5 == 2",
      "7 % 4 == 3 && -7 % 4 == -3 && -7 / 2 == -3",
      "true || false && false",
      "false ? false : true ? true : false",
      "!false && !!true",
      "-(1) == -1 && - 1 == -1 && 1-1 == 0 && 1 - -1 == 2 && --1 == 1",
      "1 < 2 == true",
      "1 in [1] == true",
      "[[1, 2], [3]][0][1] == 2",
      "-2.5 < 0.0 && -1 + 2 == 1",
  });
}

TEST(DeviceSelectorLanguage, ComparesNumbersByValue) {
  expect_all_true({
      "1 == 1.0 && 1u == 1 && 1.0 == 1u",
      "1 != 1.5 && 2u > 1.5 && -1 < 0u",
      "9007199254740993 > 9007199254740992.0",
      "18446744073709551615u > 9223372036854775807",
      "9223372036854775807 < 9223372036854775808.0",
      "1 != '1' && 'a' != null && [1] != {0: 1} && true != 1",
      "[1, [2.0]] == [1.0, [2]] && [1] != [1, 2]",
      "{'a': 1, 'b': 2} == {'b': 2.0, 'a': 1u} && {'a': 1} != {'b': 1}",
      "'a' < 'b' && 'a' < 'aa' && 'Z' < 'a' && false < true",
      "1.0 in [1, 2] && 2 in {2u: ''} && !('1' in [1])",
      "[1, 2][1.0] == 2 && [1, 2][1u] == 2",
      "0.0 / 0.0 != 0.0 / 0.0 && 1.0 / 0.0 > 1e308",
  });
  expect_failures({
      {"1 < 'a'", "<: int and string have no order"},
      {"[1] < [2]", "list and list have no order"},
      {"0.0 / 0.0 < 1.0", "has no order"},
      {"1 in 'abc'", "in: cannot be applied to (int, string)"},
      {"[1][1] == 1", "no such key: 1"},
      {"[1][-1] == 1", "no such key: -1"},
      {"[1][0.5] == 1", "a list has no index of type double"},
      {"[1]['a'] == 1", "a list has no index of type string"},
      {"[1].a == 1", "a list has no index of type string"},
      {"'a'[0] == 'a'", "a value of type string has no elements"},
      {"has('a'.b)", "a value of type string has no elements"},
  });
}

TEST(DeviceSelectorLanguage, NumbersDoNotOverflow) {
  expect_failures({
      {"9223372036854775807 + 1 == 0", "+: the result does not fit in 64 bits"},
      {"-9223372036854775808 - 1 == 0", "does not fit"},
      {"9223372036854775807 * 2 == 0", "does not fit"},
      {"-9223372036854775808 / -1 == 0", "does not fit"},
      {"-9223372036854775808 % -1 == 0", "does not fit"},
      {"-(-9223372036854775808) == 0", "does not fit"},
      {"0u - 1u == 0u", "does not fit"},
      {"18446744073709551615u + 1u == 0u", "does not fit"},
      {"1 / 0 == 0", "/: division by zero"},
      {"1u % 0u == 0u", "%: division by zero"},
      {"1 + 1u == 2", "+: cannot be applied to (int, uint)"},
      {"1 + 1.0 == 2.0", "+: cannot be applied to (int, double)"},
      {"'a' + 1 == 'a1'", "+: cannot be applied to (string, int)"},
      {"1.5 % 1.0 == 0.5", "%: cannot be applied to (double, double)"},
      {"-'a' == 'a'", "-: cannot be applied to (string)"},
      {"-1u == 1", "cannot be applied to (uint)"},
  });
}

TEST(DeviceSelectorLanguage, HasMacros) {
  expect_all_true({
      "[1, 2, 3].all(x, x > 0) && ![1, 2].all(x, x > 1) && [].all(x, false)",
      "[1, 2].exists(x, x == 2) && ![].exists(x, true)",
      "[1, 2, 2].exists_one(x, x == 1) && ![1, 2, 2].exists_one(x, x == 2)",
      "[1, 2, 3].filter(x, x > 1) == [2, 3]",
      "[1, 2, 3].map(x, x * 2) == [2, 4, 6]",
      "[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]",
      "{'a': 1, 'b': 2}.map(k, k + '!') == ['a!', 'b!']",
      "{'a': 1, 'b': 2}.all(k, k in ['a', 'b'])",
      "[[1, 2], [3]].all(x, x.exists(y, y > 1)) && [1].all(x, [2].all(x, x == 2) && x == 1)",
      "cel.bind(x, 2, cel.bind(y, x + 1, x * y)) == 6",
      "has({'a': 1}.a) && !has({'a': 1}.b)",
      "has({'a': {'b': 1}}.a.b)",
  });
  expect_failures({
      {"1.all(x, true)", "all: expected a list or map, found int"},
      {"[1].filter(x, x) == []", "expected true or false, found int"},
      {"has({'a': 1}.b.c)", "no such key: \"b\""},
      {"[1].map(x, x, x) == []", "expected true or false, found int"},
  });
}

TEST(DeviceSelectorLanguage, HasFunctionsOfText) {
  expect_all_true({
      "size('äöü') == 3 && 'äöü'.size() == 3 && size([1, 2]) == 2 && {'a': 1}.size() == 1",
      "'abc'.contains('b') && 'abc'.startsWith('ab') && 'abc'.endsWith('bc') && 'a'.contains('')",
      "'abc'.matches('b') && !'abc'.matches('^b$') && matches('abc', 'a.c')",
      "'abc'.matches('a' + '.') && !'abc'.matches('[' + '0-9]')",
      "'aBcÄ'.lowerAscii() == 'abcÄ' && 'aBcä'.upperAscii() == 'ABCä'",
      R"(' \t a b\n'.trim() == 'a b' && '  '.trim() == '')",
      "'a,b,,c'.split(',') == ['a', 'b', '', 'c'] && ''.split(',') == ['']",
      "'a,b,c'.split(',', 2) == ['a', 'b,c'] && 'a,b'.split(',', 0) == []",
      "'a,b'.split(',', 1) == ['a,b'] && 'a,b'.split(',', -1) == ['a', 'b']",
      "'aä'.split('') == ['a', 'ä'] && 'abc'.split('', 2) == ['a', 'bc'] && ''.split('') == []",
      "['a', 'b'].join('-') == 'a-b' && ['a', 'b'].join() == 'ab' && [].join('-') == ''",
      "'aaa'.replace('a', 'b') == 'bbb' && 'aaa'.replace('a', 'bb', 2) == 'bbbba'",
      "'aaa'.replace('a', 'b', 0) == 'aaa' && 'ab'.replace('', '-') == '-a-b-'",
      "'äb'.replace('', '-', 2) == '-ä-b' && ''.replace('', 'x') == 'x'",
      "'äbc'.substring(1) == 'bc' && 'äbc'.substring(0, 2) == 'äb' && 'abc'.substring(3) == ''",
      "'äbc'.charAt(0) == 'ä' && 'abc'.charAt(2) == 'c' && 'abc'.charAt(3) == ''",
      "'äbcb'.indexOf('b') == 1 && 'äbcb'.indexOf('b', 2) == 3 && 'abc'.indexOf('x') == -1",
      "'äbcb'.lastIndexOf('b') == 3 && 'äbcb'.lastIndexOf('b', 2) == 1 && 'a'.indexOf('') == 0",
      "'a' + 'b' == 'ab' && [1] + [2] == [1, 2]",
  });
  expect_failures({
      {"'abc'.substring(2, 1) == ''", "substring: the text has no part from 2 to 1"},
      {"'abc'.substring(4) == ''", "the text has no part from 4 to 3"},
      {"'abc'.substring(-1) == ''", "the text has no part from -1"},
      {"'abc'.charAt(4) == ''", "the text has no character 4"},
      {"'abc'.indexOf('a', 4) == 0", "the text has no character 4"},
      {"'abc'.contains(1)", "contains: cannot be applied to (string, int)"},
      {"1.matches('a')", "matches: expected a string, found int"},
      {"'a'.matches('(' + '')", "matches: not a regular expression of RE2"},
      {"['a', 1].join() == ''", "join: joins text only, not a value of type int"},
      {"size(1) == 1", "size: cannot be applied to (int)"},
  });
}

TEST(DeviceSelectorLanguage, ConvertsTypes) {
  expect_all_true({
      "int('-12') == -12 && int('+3') == 3 && int(3u) == 3 && int(-2.9) == -2 && int(7) == 7",
      "uint('12') == 12u && uint(3) == 3u && uint(2.9) == 2u",
      "double('1.5') == 1.5 && double(2) == 2.0 && double(3u) == 3.0 && double('1e3') == 1000.0",
      "string(-1) == '-1' && string(1u) == '1' && string(1.5) == '1.5' && string(true) == 'true'",
      "string(1.0) == '1' && string(1e21) == '1e+21' && string(0.0001) == '0.0001'",
      "string('a') == 'a' && string(1.0 / 0.0) == '+Inf'",
      "bool('true') && !bool('f') && dyn(1) == 1",
  });
  expect_failures({
      {"int('1x') == 1", "int: \"1x\" is not of type int"},
      {"int('') == 1", "is not of type int"},
      {"int('+-1') == 1", "is not of type int"},
      {"int(1e19) == 1", "does not fit in an int"},
      {"int(0.0 / 0.0) == 1", "does not fit in an int"},
      {"int(18446744073709551615u) == 1", "does not fit in an int"},
      {"uint(-1) == 1u", "does not fit in an uint"},
      {"uint(-0.5) == 1u", "does not fit in an uint"},
      {"bool('yes')", "bool: \"yes\" is not of type bool"},
      {"string([1]) == ''", "string: cannot be applied to (list)"},
  });
}

TEST(DeviceSelectorLanguage, HasQuantities) {
  expect_all_true({
      "quantity('1Ki') == quantity('1024') && quantity('1') != quantity('2')",
      "quantity('50M').compareTo(quantity('50Mi')) == -1",
      "quantity('200M').compareTo(quantity('0.2G')) == 0",
      "quantity('150Mi').isGreaterThan(quantity('100Mi'))",
      "quantity('1').isLessThan(quantity('2')) && !quantity('2').isLessThan(quantity('2'))",
      "isQuantity('1.3Gi') && !isQuantity('200K') && !isQuantity('Mi')",
      "quantity('50k').asInteger() == 50000 && quantity('50k').isInteger()",
      "!quantity('1500m').isInteger() && quantity('1500m').asApproximateFloat() == 1.5",
      "quantity('-1').sign() == -1 && quantity('0').sign() == 0 && sign(quantity('1m')) == 1",
      "quantity('50k').add(quantity('20k')) == quantity('70k')",
      "quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20')",
      "quantity('1') in [quantity('2'), quantity('1000m')]",
      "1 != quantity('1') && quantity('1') != null && !(quantity('1') in [1])",
  });
  expect_failures({
      {"quantity('x') == quantity('1')", "quantity: \"x\" is not a quantity"},
      {"quantity(1) == quantity('1')", "quantity: cannot be applied to (int)"},
      {"quantity('1500m').asInteger() == 1", "asInteger: the quantity 1500m is not an integer"},
      {"quantity('1') == 1", "==: quantity and int cannot be compared"},
      {"semver('1.0.0') != '1.0.0'", "!=: semver and string cannot be compared"},
      {"quantity('1') < quantity('2')", "quantity and quantity have no order"},
      {"quantity('1').compareTo(1) == 0", "compareTo: cannot be applied to (quantity, int)"},
      {"quantity('1').compareTo(semver('1.0.0')) == 0", "cannot be applied to (quantity, semver)"},
      {"quantity('1').add('1') == quantity('2')", "cannot be applied to (quantity, string)"},
  });
}

TEST(DeviceSelectorLanguage, HasSemanticVersions) {
  expect_all_true({
      "semver('1.2.3') == semver('1.2.3') && semver('1.2.3') != semver('1.2.4')",
      "semver('1.2.3+linux') == semver('1.2.3+other.1')",
      "semver('1.10.0').isGreaterThan(semver('1.9.9')) && "
      "semver('1.0.0').isLessThan(semver('2.0.0'))",
      "semver('1.2.3').compareTo(semver('2.0.0')) == -1 && "
      "semver('1.2.3').compareTo(semver('0.1.2')) == 1",
      "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == "
      "3",
      "isSemver('1.0.0-alpha.1+build') && !isSemver('1.0') && !isSemver('v1.0.0')",
      "!isSemver('01.0.0') && !isSemver('1.0.0-01') && isSemver('1.0.0-0a') && !isSemver('1.0.0-')",
      "!isSemver('1.0.0-a..b') && !isSemver('1.0.0+') && !isSemver('1.0.0-ä') && !isSemver('')",
      "isSemver('1.0.0+001') && isSemver('1.0.0--') && !isSemver('1.0.0.0') && !isSemver('-1.0.0')",
      "!isSemver('99999999999999999999.0.0') && isSemver('1.0.0-99999999999999999999')",
      "semver('v1.0', true) == semver('1.0.0') && semver('01.01.01', true) == semver('1.1.1')",
      "semver('v1.2.3-rc.1', true) == semver('1.2.3-rc.1') && semver('0', true) == semver('0.0.0')",
      "isSemver('v1', true) && !isSemver('1.0-rc.1', true) && !isSemver('v', true)",
      "!isSemver('1..0', true) && !isSemver('v1', false)",
  });
  // In their order.
  const std::vector<std::string> versions{"1.0.0-1",     "1.0.0-2",       "1.0.0-11",
                                          "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
                                          "1.0.0-beta",  "1.0.0-beta.2",  "1.0.0-beta.11",
                                          "1.0.0-rc.1",  "1.0.0",         "1.0.1-0",
                                          "1.0.1"};
  for (std::size_t i = 0; i + 1 < versions.size(); ++i) {
    const std::string pair = "semver('" + versions[i] + "').compareTo(semver('" + versions[i + 1];
    EXPECT_EQ(result_of(pair + "')) == -1"), "true") << pair;
  }
  expect_failures({
      {"semver('1.2') == semver('1.2.0')", "semver: \"1.2\" is not a semantic version"},
      {"semver(1) == semver('1.2.0')", "semver: cannot be applied to (int)"},
      {"semver('1.0.0').add(1) == 1", "add: cannot be applied to (semver, int)"},
      {"quantity('1').major() == 1", "major: cannot be applied to (quantity)"},
  });
}

TEST(DeviceSelectorLanguage, HasOptionalValues) {
  expect_all_true({
      "{'a': 1}.?a == optional.of(1) && {'a': 1}.?b == optional.none()",
      "{'a': {'b': 1}}.?a.b.orValue(0) == 1 && {'a': {'b': 1}}.?x.b.orValue(0) == 0",
      "{'a': {'b': 1}}.?a.?c.orValue(2) == 2 && [1][?0].value() == 1 && ![1][?1].hasValue()",
      "{'a': 1}.?a.orValue(1 / 0) == 1",
      "{'a': 1}.?b.or({'a': 1}.?a).value() == 1 && optional.of(1).or(optional.of(2)).value() == 1",
      "has({'a': {'b': 1}}.?a.b) && !has({}.?a.b)",
      "false ?.5 > 1.0 : true",
  });
  expect_failures({
      {"1.orValue(2) == 1", "orValue: expected an optional value, found int"},
      {"optional.none().value() == 1", "value: there is no value"},
      {"'a'.hasValue()", "hasValue: cannot be applied to (string)"},
      {"[?1] == []", "unexpected ?"},
  });
}

}  // namespace
}  // namespace millwright::model
