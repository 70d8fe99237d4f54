#include "millwright/base/money.hpp"

#include <gtest/gtest.h>

namespace millwright::base {
namespace {

TEST(Money, ThreeDigitsThatCountAreShown) {
  EXPECT_EQ(format_price(0), "$0/h");
  EXPECT_EQ(format_price(0.21724), "$0.217/h");
  EXPECT_EQ(format_price(8.3333), "$8.33/h");
  EXPECT_EQ(format_price(0.000123456), "$0.000123/h");
}

TEST(Money, LargeAmountsHaveNoExponent) {
  EXPECT_EQ(format_price(999.4), "$999/h");
  EXPECT_EQ(format_price(999.7), "$1000/h");
  EXPECT_EQ(format_price(1234.5), "$1234/h");
  EXPECT_EQ(format_price(2'500'000), "$2500000/h");
}

}  // namespace
}  // namespace millwright::base
