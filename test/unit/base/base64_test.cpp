#include "millwright/base/base64.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace millwright::base {
namespace {

TEST(Base64, EncodesTheVectorsOfRfc4648) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : cases) {
    EXPECT_EQ(encode_base64(plain), encoded);
    EXPECT_EQ(decode_base64(encoded), plain);
  }
}

TEST(Base64, ReadsWrappedLines) {
  EXPECT_EQ(decode_base64("Zm9v\r\nYmFy\n"), "foobar");
}

TEST(Base64, RefusesWhatIsNotBase64AndNeverShowsIt) {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9v!", "Z=g=", "Zm9vYg"}) {
    const auto decoded = decode_base64(text);
    ASSERT_FALSE(decoded) << text;
    EXPECT_EQ(decoded.error().kind, ErrorKind::Invalid);
    EXPECT_EQ(decoded.error().message.find(text), std::string::npos);
  }
}

TEST(Base64, GivesBackWhatItWasGiven) {
  EXPECT_TRUE(rc::check("decode(encode(x)) == x", [](const std::string& bytes) {
    RC_ASSERT(decode_base64(encode_base64(bytes)) == bytes);
  }));
}

}  // namespace
}  // namespace millwright::base
