// How a server begins, and how it ends.
#include "unit/net/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace millwright::net::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Server, BindingTwiceFailsWithTheAddress) {
  const Site site(echo());
  ServerOptions options = Site::plain();
  options.port = site.port();
  const auto second = Server::start(options, echo());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, base::ErrorKind::Unavailable);
  EXPECT_THAT(second.error().message, HasSubstr("127.0.0.1:" + std::to_string(site.port())));
}

TEST(Server, AnAddressThatIsNoneIsInvalid) {
  ServerOptions options = Site::plain();
  options.address = "nowhere";
  const auto server = Server::start(options, echo());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().kind, base::ErrorKind::Invalid);
}

TEST(Server, StopsWhileAnExchangeIsInProgressAndLetsItFinish) {
  std::shared_ptr<Exchange> kept;
  Event called;
  Site site([&](const Request&, std::shared_ptr<Exchange> exchange) {
    kept = std::move(exchange);
    called.set();
  });
  Wire idle(site.port());
  Wire busy(site.port());
  ASSERT_TRUE(busy.send(kGet));
  ASSERT_TRUE(called.wait());
  std::thread stopping([&] { site.server().stop(kPatience); });
  EXPECT_EQ(idle.read_all(), "") << "idle connections are closed at once";
  kept->respond(Response::text(200, "done"));
  kept.reset();
  EXPECT_THAT(busy.read_all(), AllOf(HasSubstr("Connection: close"), EndsWith("done")));
  stopping.join();
}

TEST(Server, StopsAfterTheGraceThoughAHandlerNeverAnswers) {
  std::shared_ptr<Exchange> kept;
  Event called;
  Event gone;
  Site site([&](const Request&, std::shared_ptr<Exchange> exchange) {
    exchange->on_close([&] { gone.set(); });
    kept = std::move(exchange);
    called.set();
  });
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kGet));
  ASSERT_TRUE(called.wait());
  site.server().stop(milliseconds(20));
  EXPECT_TRUE(gone.is_set());
  EXPECT_EQ(wire.read_all(), "");
  site.destroy();
  kept->respond(Response::text(200, "after the server"));
  kept.reset();
}

TEST(Server, RefusesConnectionsOnceStopped) {
  Site site(echo());
  expect_alive(site);
  site.server().stop(milliseconds(0));
  site.server().stop(milliseconds(0));
  base::RealLoop loop;
  const auto client = make_client(loop);
  const auto answer = client->send_blocking({.url = site.url()});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, base::ErrorKind::Unavailable);
}

}  // namespace
}  // namespace millwright::net::test
