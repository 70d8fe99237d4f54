#include "millwright/model/device_selector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::model {
namespace {

using testing::HasSubstr;

constexpr std::string_view kDriver = "gpu.nvidia.com";

Device gpu() {
  return {.name = "gpu-0",
          .attributes = {{"gpu.nvidia.com/type", std::string("gpu")},
                         {"gpu.nvidia.com/productName", std::string("NVIDIA A100-SXM4-40GB")},
                         {"gpu.nvidia.com/index", std::int64_t{3}},
                         {"gpu.nvidia.com/mig", false},
                         {"gpu.nvidia.com/driverVersion", DeviceVersion{"535.104.5"}},
                         {"dra.net/rdma", true},
                         {"dra.net/ifName", std::string("eth1")},
                         {"resource.kubernetes.io/pcieRoot", std::string("pci0000:01")}},
          .capacity = {{"gpu.nvidia.com/memory", Quantity::parse("40Gi").value()},
                       {"gpu.nvidia.com/multiprocessors", Quantity::from_units(108)}},
          .multiple_allocations = true};
}

// "true", "false", or what went wrong.
std::string outcome(std::string_view expression, const Device& device = gpu()) {
  const auto selector = DeviceSelector::parse(expression);
  if (!selector) {
    return "refused: " + selector.error().message;
  }
  const auto matches = selector->matches(kDriver, device);
  if (!matches) {
    return "failed: " + matches.error().message;
  }
  return *matches ? "true" : "false";
}

struct Selection {
  std::string_view expression;
  std::string_view wanted;  // a part of the outcome
};
void PrintTo(const Selection& selection, std::ostream* out) {
  *out << selection.expression;
}

class DeviceSelection : public testing::TestWithParam<Selection> {};

TEST_P(DeviceSelection, ComesToThis) {
  EXPECT_THAT(outcome(GetParam().expression), HasSubstr(GetParam().wanted));
}

INSTANTIATE_TEST_SUITE_P(
    AsUsersWriteThem, DeviceSelection,
    testing::Values(
        Selection{R"(device.driver == "gpu.nvidia.com")", "true"},
        Selection{R"(device.driver == "gpu.nvidia.com" &&
                     device.attributes["gpu.nvidia.com"].type == "gpu")",
                  "true"},
        Selection{R"(device.driver == 'gpu.nvidia.com' &&
                     device.attributes['gpu.nvidia.com'].type == 'mig')",
                  "false"},
        Selection{R"(device.attributes["gpu.nvidia.com"].productName.lowerAscii()
                     .matches('^.*a100.*$'))",
                  "true"},
        Selection{R"(device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0)",
                  "true"},
        Selection{R"(device.capacity["gpu.nvidia.com"].memory == quantity("40Gi"))", "true"},
        Selection{R"(device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("80Gi")))",
                  "false"},
        Selection{R"(cel.bind(dra, device.attributes["dra.net"],
                              dra.rdma && dra.ifName.startsWith("eth")))",
                  "true"},
        Selection{R"(device.attributes["gpu.nvidia.com"].driverVersion
                     .isGreaterThan(semver("535.0.0")))",
                  "true"},
        Selection{R"(device.attributes["gpu.nvidia.com"].driverVersion
                     .compareTo(semver('550.54.14')) >= 0)",
                  "false"},
        Selection{R"("rdma" in device.attributes["dra.net"] && device.attributes["dra.net"].rdma)",
                  "true"},
        Selection{R"(has(device.attributes["dra.net"].rdma))", "true"},
        Selection{R"(device.attributes["gpu.nvidia.com"].index in [1, 3])", "true"},
        Selection{R"(!device.attributes["gpu.nvidia.com"].mig)", "true"},
        Selection{R"(device.allowMultipleAllocations)", "true"},
        Selection{R"(device.allowMultipleAllocations == true)", "true"},
        Selection{R"(["A100", "H100"].exists(m,
                     device.attributes["gpu.nvidia.com"].productName.contains(m)))",
                  "true"},
        Selection{R"(device.attributes["resource.kubernetes.io"].pcieRoot.split(":")[1] == "01")",
                  "true"},
        Selection{R"(device.attributes["dra.net"].?ifName.orValue("") == "eth1")", "true"},
        Selection{R"(device.attributes["dra.net"][?"mtu"].orValue(1500) > 9000)", "false"},
        Selection{"// the one GPU\n device.driver.endsWith('nvidia.com') // all of them", "true"}));

INSTANTIATE_TEST_SUITE_P(
    WhatTheDeviceLacks, DeviceSelection,
    testing::Values(
        Selection{
            R"(device.attributes["gpu.nvidia.com"].model == "x")",
            R"(failed: device selector, for device gpu-0: at character 37: no such key: "model")"},
        Selection{R"(device.capacity["gpu.nvidia.com"].cores.isLessThan(quantity("1")))",
                  R"(no such key: "cores")"},
        Selection{R"(device.attributes["other.com"].model == "x")", R"(no such key: "model")"},
        Selection{R"(has(device.attributes["other.com"].model))", "false"},
        Selection{R"("model" in device.attributes["other.com"])", "false"},
        Selection{R"("other.com" in device.attributes)", "false"},
        Selection{R"("dra.net" in device.attributes)", "true"},
        Selection{R"(device.attributes["other.com"].size() == 0)", "true"},
        Selection{R"(device.attributes["other.com"].?model.hasValue())", "false"},
        Selection{R"(device.attributes["other.com"].?model.value() == 1)", "there is no value"},
        Selection{R"(device.capacity["other.com"] == {})", "true"},
        Selection{R"(device.model == "x")",
                  "refused: device selector: at character 8: device has no"},
        Selection{R"(device["model"] == "x")", R"(no such key: "model")"}));

INSTANTIATE_TEST_SUITE_P(
    ErrorsInLogic, DeviceSelection,
    testing::Values(
        Selection{"1 / 0 == 1 || true", "true"}, Selection{"true || 1 / 0 == 1", "true"},
        Selection{"1 / 0 == 1 || false", "division by zero"},
        Selection{"1 / 0 == 1 && false", "false"}, Selection{"false && 1 / 0 == 1", "false"},
        Selection{"1 / 0 == 1 && true", "division by zero"},
        Selection{"1 / 0 == 1 || 2 / 0 == 1 || true", "true"}, Selection{"1 && false", "false"},
        Selection{"1 && true", "expected true or false, found int"},
        Selection{"'a' || true", "true"}, Selection{"!1", "!: cannot be applied to (int)"},
        Selection{"true ? true : 1 / 0 == 1", "true"},
        Selection{"1 ? true : false", "expected true or false, found int"},
        Selection{"1 / 0 == 1 ? true : true", "division by zero"},
        Selection{"[0, 1].exists(x, 1 / x == 1)", "true"},
        Selection{"[0, 2].exists(x, 1 / x == 1)", "division by zero"},
        Selection{"[0, 2].all(x, 1 / x == 1)", "false"},
        Selection{"[0, 1].all(x, 1 / x == 1)", "division by zero"},
        Selection{"[0, 1].exists_one(x, 1 / x == 1)", "division by zero"},
        Selection{"cel.bind(x, 1 / 0, true || x == 1)", "true"},
        Selection{"cel.bind(x, 1 / 0, x == 1)", "division by zero"},
        Selection{"cel.bind(x, 1 / 0, false && x == 1)", "false"}));

INSTANTIATE_TEST_SUITE_P(
    Refused, DeviceSelection,
    testing::Values(
        Selection{"", "refused: device selector: at character 1: the expression ends too early"},
        Selection{"device.driver ==", "at character 17: the expression ends too early"},
        Selection{"claim.name == 'a'", "at character 1: unknown variable claim"},
        Selection{"true && nope(1)", "at character 9: unknown function nope"},
        Selection{"'ä'.nope()", "at character 5: unknown function nope"},
        Selection{"size()", "wrong number of arguments for size"},
        Selection{"'a'.startsWith()", "wrong number of arguments for startsWith"},
        Selection{"startsWith('a', 'b')", "unknown function startsWith"},
        Selection{"cel.nope(1)", "unknown function cel.nope"},
        Selection{"[1].all(1, true)", "expected the name of a variable"},
        Selection{"[1].all(x)", "expected the name of a variable, and a comma"},
        Selection{"[1].all(x, x == 1) && x == 1", "at character 23: unknown variable x"},
        Selection{"[1].all(in, true)", "expected the name"},
        Selection{"has(device)", "has() takes the field of something"},
        Selection{"has(device.attributes['a'])", "has() takes the field of something"},
        Selection{"for == 1", "for is a reserved word"}, Selection{"true true", "unexpected true"},
        Selection{"(true", "ends too early"}, Selection{"true)", "unexpected )"},
        Selection{"[1, 2", "ends too early"}, Selection{"{1: 2", "ends too early"},
        Selection{"{1}", "unexpected }"}, Selection{"device{}", "unexpected {"},
        Selection{"true # false", "unexpected character"},
        Selection{"a = b", "at character 3: unexpected character"},
        Selection{"true = true", "unexpected character"}, Selection{"true & true", "unexpected"},
        Selection{"b'abc' == b'abc'", "bytes are not supported"},
        Selection{"'abc", "text without its closing quote"},
        Selection{"'a\nb' == ''", "text without its closing quote"},
        Selection{R"('\q' == '')", "unknown escape"},
        Selection{R"('\ud800' == '')", "unknown escape"},
        Selection{R"('\x4' == '')", "unknown escape"}, Selection{R"('\)", "unknown escape"},
        Selection{"9223372036854775808 > 0", "does not fit in 64 bits"},
        Selection{"18446744073709551616u > 0u", "does not fit in 64 bits"},
        Selection{"1e999 > 0.0", "does not fit in 64 bits"},
        Selection{"'a'.matches('(')", "at character 13: not a regular expression of RE2"},
        Selection{"'a'.matches('(?=a)')", "not a regular expression of RE2"},
        Selection{"1 + 1", "the result is of type int, not bool"},
        Selection{"device", "the result is of type map, not bool"},
        Selection{"null", "the result is of type null_type, not bool"}));

TEST(DeviceSelector, AVersionThatIsNoneSpoilsTheDevice) {
  Device device = gpu();
  device.attributes["gpu.nvidia.com/driverVersion"] = DeviceVersion{"535"};
  EXPECT_THAT(
      outcome("device.driver == 'gpu.nvidia.com'", device),
      HasSubstr("attribute gpu.nvidia.com/driverVersion: \"535\" is not a semantic version"));
}

TEST(DeviceSelector, NamesWithoutADomainAreOfTheDriver) {
  EXPECT_EQ(
      outcome("device.attributes['gpu.nvidia.com'].a == 1 && "
              "device.attributes['gpu.nvidia.com'].z == 2",
              {.attributes = {{"a", std::int64_t{1}}, {"gpu.nvidia.com/z", std::int64_t{2}}}}),
      "true");
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) {
    text += part;
  }
  return text;
}

TEST(DeviceSelector, RefusesWhatIsTooLong) {
  EXPECT_EQ(outcome("true" + std::string(10 * 1024 - 4, ' ')), "true");
  EXPECT_THAT(outcome("true" + std::string(10 * 1024 - 3, ' ')),
              HasSubstr("more than 10240 bytes"));
  EXPECT_THAT(outcome(std::string(1'000'000, '(')), HasSubstr("more than 10240 bytes"));
}

TEST(DeviceSelector, RefusesWhatIsNestedTooDeeply) {
  for (const auto& [open, close] :
       {std::pair{"(", ")"}, std::pair{"[", "]"}, std::pair{"!", ""}, std::pair{"-", ""},
        std::pair{"{1:", "}"}, std::pair{"size(", ")"}, std::pair{"true?true:", ""},
        std::pair{"[1].map(x,", ")"}, std::pair{"", "[0]"}, std::pair{"", ".a"},
        std::pair{"1+", ""}, std::pair{"1<", ""}}) {
    EXPECT_THAT(outcome(repeated(open, 800) + "1" + repeated(close, 800)),
                HasSubstr("nested too deeply"))
        << open << close;
  }
  EXPECT_THAT(outcome(repeated("(", 10'240)), HasSubstr("nested too deeply"));
  EXPECT_EQ(outcome(repeated("(", 90) + "true" + repeated(")", 90)), "true");
  EXPECT_EQ(outcome(repeated("1 + ", 90) + "1 == 91"), "true");
  EXPECT_EQ(outcome(repeated("false || ", 1000) + "true"), "true")
      << "one chain, whatever its length";
}

TEST(DeviceSelector, EndsWhatCostsTooMuch) {
  const std::string ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
  const std::string nines(5000, '9');
  std::string doubled = "size(z) > 0";
  for (char name = 'z'; name > 'a'; --name) {
    doubled = std::string("cel.bind(") + name + ", " + static_cast<char>(name - 1) + " + " +
              static_cast<char>(name - 1) + ", " + doubled + ")";
  }
  for (const std::string& expression : {
           ten + ".all(a, " + ten + ".all(b, " + ten + ".all(c, " + ten + ".all(d, " + ten +
               ".all(e, " + ten + ".all(f, " + ten + ".all(g, true)))))))",
           ten + ".map(a, " + ten + ".map(b, " + ten + ".map(c, " + ten + ".map(d, " + ten +
               ".map(e, " + ten + ".map(f, [a, b, c, d, e, f])))))).size() >= 0",
           // An error is overruled by an operand that decides; the end of the budget is not.
           "(" + ten + ".all(a, " + ten + ".all(b, " + ten + ".all(c, " + ten + ".all(d, " + ten +
               ".all(e, " + ten + ".all(f, true)))))) && false) || true",
           "cel.bind(a, '" + std::string(1000, 'x') + "', " + doubled + ")",
           "cel.bind(a, [1, 2, 3], " + doubled + ")",
           "cel.bind(a, '" + nines + "', a.replace('', a).size() > 0)",
           "cel.bind(a, '" + nines + "', a.split('').join(a).size() > 0)",
           "cel.bind(a, '" + nines + "', " + ten + ".exists(x, (a + a + a + a).contains(a + '8')))",
           "cel.bind(a, '" + nines.substr(0, 4000) +
               "'.split(''), a.all(x, x in a + ['8']) && "
               "a.all(x, ('8' in a) == false))",
           ten + ".exists(a, " + ten + ".exists(b, " + ten +
               ".exists(c, 'x'.matches('x{' + '9}'))))",
           "cel.bind(a, '" + nines + "', " + ten + ".exists(x, a.matches('9[0-9]{1,900}8')))",
       }) {
    EXPECT_THAT(outcome(expression), HasSubstr("the expression costs too much"))
        << expression.substr(0, 100);
  }
}

TEST(DeviceSelector, SharedValuesAreComparedOnlyAsFarAsTheBudgetGoes) {
  std::string expression = "z == [z][0]";
  for (char name = 'z'; name > 'a'; --name) {
    const std::string inner(1, static_cast<char>(name - 1));
    expression =
        std::string("cel.bind(") + name + ", [" + inner + ", " + inner + "], " + expression + ")";
  }
  EXPECT_THAT(outcome("cel.bind(a, [1], " + expression + ")"),
              HasSubstr("the expression costs too much"));
}

TEST(DeviceSelector, AnyTextIsReadOrRefused) {
  const std::string sample =
      R"(cel.bind(d, device.attributes["dra.net"], d.rdma && [1u, -2, 0x3, .5].map(x, x > 1, x)
         .exists(y, y != 'a\u00e4\n' ? d.?ifName.orValue("") in {"k": r'\d'} : !has(d.b))))";
  for (std::size_t i = 0; i < sample.size(); ++i) {
    outcome(sample.substr(0, i));
    outcome(sample.substr(i));
    for (const char c : {'\0', '\xff', '\x80', '"', '(', '.', '-', '0', '\\'}) {
      std::string changed = sample;
      changed[i] = c;
      outcome(changed);
    }
  }
}

}  // namespace
}  // namespace millwright::model
