#include "millwright/model/quantity.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace millwright::model {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

struct QuantityCase {
  const char* text;
  std::int64_t milli;
  const char* canonical;
};

class QuantityText : public testing::TestWithParam<QuantityCase> {};
TEST_P(QuantityText, IsReadAndPrintedAsKubernetesDoes) {
  const auto quantity = Quantity::parse(GetParam().text);
  ASSERT_TRUE(quantity) << GetParam().text;
  EXPECT_EQ(quantity->milli(), GetParam().milli) << GetParam().text;
  EXPECT_EQ(quantity->to_string(), GetParam().canonical) << GetParam().text;
}
INSTANTIATE_TEST_SUITE_P(
    Decimal, QuantityText,
    testing::Values(
        QuantityCase{"0", 0, "0"}, QuantityCase{"0n", 0, "0"}, QuantityCase{"-0", 0, "0"},
        QuantityCase{"0.0", 0, "0"}, QuantityCase{"1", 1000, "1"}, QuantityCase{"+1", 1000, "1"},
        QuantityCase{"-1", -1000, "-1"}, QuantityCase{"007", 7000, "7"},
        QuantityCase{"500m", 500, "500m"}, QuantityCase{"0.5", 500, "500m"},
        QuantityCase{".5", 500, "500m"}, QuantityCase{"1.", 1000, "1"},
        QuantityCase{"1.5", 1500, "1500m"}, QuantityCase{"-1.5", -1500, "-1500m"},
        QuantityCase{"1000m", 1000, "1"}, QuantityCase{"1100m", 1100, "1100m"},
        QuantityCase{"100k", 100'000'000, "100k"}, QuantityCase{"1000k", 1'000'000'000, "1M"},
        QuantityCase{"1M", 1'000'000'000, "1M"}, QuantityCase{"1.5G", 1'500'000'000'000, "1500M"},
        QuantityCase{"2T", 2'000'000'000'000'000, "2T"},
        QuantityCase{"3P", 3'000'000'000'000'000'000, "3P"},
        QuantityCase{"123456789", 123'456'789'000, "123456789"},
        QuantityCase{"0.001P", 1'000'000'000'000'000, "1T"}));
INSTANTIATE_TEST_SUITE_P(
    Binary, QuantityText,
    testing::Values(QuantityCase{"0Ki", 0, "0"}, QuantityCase{"1Ki", 1'024'000, "1Ki"},
                    QuantityCase{"1024Ki", 1'048'576'000, "1Mi"},
                    QuantityCase{"1.5Gi", 1'610'612'736'000, "1536Mi"},
                    QuantityCase{"1.Gi", 1'073'741'824'000, "1Gi"},
                    QuantityCase{"1Ti", 1'099'511'627'776'000, "1Ti"},
                    QuantityCase{"1Pi", 1'125'899'906'842'624'000, "1Pi"},
                    QuantityCase{"1023Ki", 1'047'552'000, "1023Ki"},
                    QuantityCase{"-2Mi", -2'097'152'000, "-2Mi"},
                    // Below 1024 or with a fraction a binary suffix would lose the value.
                    QuantityCase{"0.5Ki", 512'000, "512"}, QuantityCase{"0.0001Ki", 103, "103m"},
                    QuantityCase{"1.0001Ki", 1'024'103, "1024103m"}));
INSTANTIATE_TEST_SUITE_P(
    Exponent, QuantityText,
    testing::Values(QuantityCase{"1e3", 1'000'000, "1e3"}, QuantityCase{"1E3", 1'000'000, "1e3"},
                    QuantityCase{"1e0", 1000, "1"}, QuantityCase{"100e2", 10'000'000, "10e3"},
                    QuantityCase{"1.5e3", 1'500'000, "1500"}, QuantityCase{"2e-1", 200, "200e-3"},
                    QuantityCase{"1e+6", 1'000'000'000, "1e6"}, QuantityCase{"1e-3", 1, "1e-3"},
                    QuantityCase{"0e9", 0, "0"}, QuantityCase{"1000000e-6", 1000, "1"}));
INSTANTIATE_TEST_SUITE_P(
    BeyondThousandthsRoundsAwayFromZero, QuantityText,
    testing::Values(QuantityCase{"1n", 1, "1m"}, QuantityCase{"1u", 1, "1m"},
                    QuantityCase{"-1u", -1, "-1m"}, QuantityCase{"1001u", 2, "2m"},
                    QuantityCase{"1.0001", 1001, "1001m"}, QuantityCase{"1e-30", 1, "1e-3"},
                    QuantityCase{"0.00000000000000000000000000001", 1, "1m"},
                    QuantityCase{"1.00000000000000000000000000000000000001", 1001, "1001m"},
                    QuantityCase{"1e-999999999999", 1, "1e-3"}));
INSTANTIATE_TEST_SUITE_P(
    BeyondTheRangeSaturates, QuantityText,
    testing::Values(QuantityCase{"9223372036854775807m", kMax, "9223372036854775807m"},
                    QuantityCase{"9223372036854775808m", kMax, "9223372036854775807m"},
                    QuantityCase{"-9223372036854775808m", kMin, "-9223372036854775808m"},
                    QuantityCase{"1E", kMax, "9223372036854775807m"},
                    QuantityCase{"8Ei", kMax, "9223372036854775807m"},
                    QuantityCase{"-8Ei", kMin, "-9223372036854775808m"},
                    QuantityCase{"99999999999999999999999999999999999999999Ei", kMax,
                                 "9223372036854775807m"},
                    QuantityCase{"1e999999999999", kMax, "9223372036854775807e-3"}));

class NotAQuantity : public testing::TestWithParam<const char*> {};
TEST_P(NotAQuantity, IsInvalidAndTheMessageShowsIt) {
  const auto quantity = Quantity::parse(GetParam());
  ASSERT_FALSE(quantity) << quantity->to_string();
  EXPECT_EQ(quantity.error().kind, base::ErrorKind::Invalid);
  EXPECT_NE(quantity.error().message.find("\"" + std::string(GetParam()) + "\""),
            std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(Texts, NotAQuantity,
                         testing::Values("", " ", "1 ", " 1", "m", "-", "+", ".", "-.", "Ki",
                                         "1.1.M", "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i", "1i",
                                         "-3.01i", "-3.01e-", "1e", "1e1.5", "1e3Ki", "1K", "1ki",
                                         "1KI", "1Mib", "0x10", "--1", "1,5", "1_000", "1e--3",
                                         "1e+-3", "NaN", "inf", "1Gi\n"));

TEST(Quantity, UnitsRoundUp) {
  EXPECT_EQ(Quantity::from_milli(0).units(), 0);
  EXPECT_EQ(Quantity::from_milli(1).units(), 1);
  EXPECT_EQ(Quantity::from_milli(1000).units(), 1);
  EXPECT_EQ(Quantity::from_milli(1001).units(), 2);
  EXPECT_EQ(Quantity::from_milli(-1).units(), -1);
  EXPECT_EQ(Quantity::from_milli(kMax).units(), kMax / 1000 + 1);
  EXPECT_EQ(Quantity::from_milli(kMin).units(), kMin / 1000 - 1);
}

TEST(Quantity, FromUnitsSaturates) {
  EXPECT_EQ(Quantity::from_units(3).milli(), 3000);
  EXPECT_EQ(Quantity::from_units(kMax).milli(), kMax);
  EXPECT_EQ(Quantity::from_units(kMin).milli(), kMin);
  EXPECT_EQ(Quantity::from_units(2048, Quantity::Format::BinarySI).to_string(), "2Ki");
}

TEST(Quantity, AdditionAndSubtractionSaturate) {
  const Quantity most = Quantity::from_milli(kMax);
  const Quantity least = Quantity::from_milli(kMin);
  const Quantity one = Quantity::from_milli(1);
  EXPECT_EQ((most + one).milli(), kMax);
  EXPECT_EQ((least - one).milli(), kMin);
  EXPECT_EQ((least + least).milli(), kMin);
  EXPECT_EQ((one - least).milli(), kMax);
}

TEST(Quantity, SumsKeepTheFormatOfTheFirstThatIsNotZero) {
  const Quantity one_gi = Quantity::parse("1Gi").value();
  EXPECT_EQ((Quantity() + one_gi).to_string(), "1Gi");
  EXPECT_EQ((one_gi + Quantity::parse("1k").value()).to_string(), "1073742824");
  EXPECT_EQ((one_gi + one_gi).to_string(), "2Gi");
}

TEST(Quantity, IsComparedByValueOnly) {
  EXPECT_EQ(Quantity::parse("1024").value(), Quantity::parse("1Ki").value());
  EXPECT_LT(Quantity::parse("1k").value(), Quantity::parse("1Ki").value());
  EXPECT_LT(Quantity::parse("-1").value(), Quantity());
}

RC_GTEST_PROP(Quantity, SurvivesPrintingAndParsing, (std::int64_t milli)) {
  const auto format = *rc::gen::element(Quantity::Format::DecimalSI, Quantity::Format::BinarySI,
                                        Quantity::Format::DecimalExponent);
  // Shifted, so that round numbers of every size occur.
  const int shift = *rc::gen::inRange(0, 60);
  const Quantity quantity = Quantity::from_milli(milli >> shift, format);
  for (const Quantity q : {quantity, Quantity::from_units(milli >> shift, format)}) {
    const auto again = Quantity::parse(q.to_string());
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->milli() == q.milli());
    // Canonical text is its own canonical text; but a binary quantity that no power of 1024
    // divides is printed without a suffix, and so reads back as a decimal one (1000000, then 1M).
    if (format != Quantity::Format::BinarySI) {
      RC_ASSERT(again->to_string() == q.to_string());
    }
  }
}

RC_GTEST_PROP(Quantity, AnySuffixScalesExactly, ()) {
  struct Suffix {
    const char* text;
    std::int64_t milli;
  };
  const auto suffix = *rc::gen::element(
      Suffix{"m", 1}, Suffix{"", 1000}, Suffix{"k", 1'000'000}, Suffix{"M", 1'000'000'000},
      Suffix{"G", 1'000'000'000'000}, Suffix{"Ki", 1'024'000}, Suffix{"Mi", 1'048'576'000},
      Suffix{"Gi", 1'073'741'824'000}, Suffix{"e3", 1'000'000}, Suffix{"e-3", 1});
  const auto number = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000);
  const auto quantity = Quantity::parse(std::to_string(number) + suffix.text);
  RC_ASSERT(quantity.has_value());
  RC_ASSERT(quantity->milli() == number * suffix.milli);
}

RC_GTEST_PROP(Quantity, ArbitraryTextNeverCrashesTheParser, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("0123456789.+-eEnumkKMGTPi ")));
  const auto quantity = Quantity::parse(text);
  if (quantity) {
    const auto again = Quantity::parse(quantity->to_string());
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *quantity);
  }
}

}  // namespace
}  // namespace millwright::model
