#include "millwright/cloud/error_text.hpp"

#include <gtest/gtest.h>

namespace millwright::cloud {
namespace {

TEST(ErrorText, LastsWithoutIdsOfRequestsAndCopiesOfThem) {
  EXPECT_EQ(lasting_text("RunInstances: no" + request_id_note("1f-2e")), "RunInstances: no");
  EXPECT_EQ(request_id_note(""), "");
  EXPECT_EQ(lasting_text("nothing: A (no (request id 1)) in a; B (no (request id 2)) in b"),
            "nothing: A (no) in a; B (no) in b");
  EXPECT_EQ(lasting_text("You may not. Encoded authorization failure message: a-_+/=9; allow it"),
            "You may not.; allow it");
  EXPECT_EQ(lasting_text("cut off (request id 1f"), "cut off");
  EXPECT_EQ(lasting_text("as it is (docs/aws.md)"), "as it is (docs/aws.md)");
  EXPECT_EQ(lasting_text(""), "");
}

}  // namespace
}  // namespace millwright::cloud
