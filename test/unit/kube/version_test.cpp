#include "millwright/kube/version.hpp"

#include "fake_transport.hpp"

#include <gtest/gtest.h>

namespace millwright::kube::test {
namespace {

TEST(AskingForTheVersion, GivesMajorAndMinor) {
  base::VirtualLoop loop{kStart};
  const auto transport = std::make_shared<FakeTransport>(loop);
  transport->answer = [](const ApiRequest&) { return ok({{"major", "1"}, {"minor", "33+"}}); };
  EXPECT_EQ(run(loop, ask_version(transport)), "1.33");
  EXPECT_EQ(transport->seen.back().request.path, "/version");
}

TEST(AskingForTheVersion, FailsWhereThereIsNone) {
  base::VirtualLoop loop{kStart};
  const auto transport = std::make_shared<FakeTransport>(loop);
  transport->answer = [](const ApiRequest&) { return ok({{"kind", "Status"}}); };
  EXPECT_FALSE(run(loop, ask_version(transport)));
}

}  // namespace
}  // namespace millwright::kube::test
