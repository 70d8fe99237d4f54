// The server over plain HTTP, seen from the wire: what is answered, and how.
#include "unit/net/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace millwright::net::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Server, TheHandlerIsToldTheAddressOfTheCaller) {
  const Site site([](const Request&, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(Response::text(200, exchange->peer()));
  });
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kGet));
  EXPECT_THAT(wire.read_answer(), testing::EndsWith("127.0.0.1"));
}

TEST(Server, AnswersRequestAfterRequestOnOneConnection) {
  const Site site(echo());
  Wire wire(site.port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(wire.send(post("body " + std::to_string(i))));
    const std::string answer = wire.read_answer();
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("X-Seen: POST /x\r\n"),
                              Not(HasSubstr("Connection: close")),
                              EndsWith("\r\n\r\nbody " + std::to_string(i))));
  }
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  const Site site(echo());
  Wire wire(site.port());
  std::string all;
  constexpr int kCount = 300;
  for (int i = 0; i < kCount; ++i) {
    all += post("number " + std::to_string(i));
  }
  ASSERT_TRUE(wire.send(all));
  for (int i = 0; i < kCount; ++i) {
    ASSERT_THAT(wire.read_answer(), EndsWith("\r\n\r\nnumber " + std::to_string(i)));
  }
}

TEST(Server, AnswersPipelinedRequestsInOrderThoughHandlersAnswerLater) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  {
    const Site site([&](const Request& request, const std::shared_ptr<Exchange>& exchange) {
      const std::scoped_lock lock(mutex);
      threads.emplace_back(
          [exchange, body = request.body] { exchange->respond(Response::text(200, body)); });
    });
    Wire wire(site.port());
    ASSERT_TRUE(wire.send(post("a") + post("b") + post("c")));
    EXPECT_THAT(wire.read_answer(), EndsWith("\r\n\r\na"));
    EXPECT_THAT(wire.read_answer(), EndsWith("\r\n\r\nb"));
    EXPECT_THAT(wire.read_answer(), EndsWith("\r\n\r\nc"));
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

TEST(Server, ReadsARequestThatComesByteByByte) {
  const Site site(echo());
  Wire wire(site.port());
  for (const char c : "\r\n" + post("slow")) {
    ASSERT_TRUE(wire.send({&c, 1}));
  }
  EXPECT_THAT(wire.read_answer(), EndsWith("\r\n\r\nslow"));
}

TEST(Server, ReadsAChunkedBodyAndDropsItsTrailers) {
  const Site site([](const Request& request, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(
        Response::text(200, request.body + "|" + std::string(request.headers.get("X-Trailer"))));
  });
  Wire wire(site.port());
  ASSERT_TRUE(
      wire.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                "3;ext=1\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Trailer: late\r\n\r\n"));
  EXPECT_THAT(wire.read_answer(), EndsWith("\r\n\r\nabcdefg|"));
}

TEST(Server, CarriesLargeBodiesBothWays) {
  ServerOptions options = Site::plain();
  options.body_limit = 64U << 20;
  const Site site(echo(), options);
  std::string body(9'000'017, 'x');
  for (std::size_t i = 0; i < body.size(); i += 1000) {
    body[i] = static_cast<char>('a' + i / 1000 % 26);
  }
  Wire wire(site.port());
  std::thread sender([&] { EXPECT_TRUE(wire.send(post(body))); });
  const std::string answer = wire.read_answer();
  sender.join();
  EXPECT_TRUE(answer.ends_with(body));
}

TEST(Server, ClosesAfterTheAnswerWhenAskedTo) {
  const Site site(echo());
  for (const std::string request :
       {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    Wire wire(site.port());
    ASSERT_TRUE(wire.send(request));
    EXPECT_THAT(wire.read_all(),
                AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Connection: close\r\n")));
  }
}

TEST(Server, AnswersAPeerThatHasFinishedSending) {
  const Site site(echo());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(post("last words")));
  wire.finish_sending();
  EXPECT_THAT(wire.read_all(), EndsWith("last words"));
}

TEST(Server, AHeadAnswerHasTheLengthAndNoBody) {
  const Site site([](const Request&, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(Response::text(200, "12345"));
  });
  Wire wire(site.port());
  ASSERT_TRUE(wire.send("HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(wire.read_until("\r\n\r\n"), HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(wire.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(wire.read_all(), "12345");
}

TEST(Server, ANoContentAnswerHasNoLength) {
  const Site site([](const Request&, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(Response{.status = 204});
  });
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(std::string(kGet) + kGet));
  EXPECT_EQ(wire.read_until("\r\n\r\n"), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(wire.read_until("\r\n\r\n"), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(Server, HeadersCannotBeForgedByAValue) {
  const Site site([](const Request&, const std::shared_ptr<Exchange>& exchange) {
    Response response = Response::text(200, "");
    response.headers.set("X-Text", "a\r\nX-Forged: b");
    response.headers.set("Content-Length", "99");
    response.headers.set("Transfer-Encoding", "chunked");
    exchange->respond(std::move(response));
  });
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kGet));
  const std::string head = wire.read_until("\r\n\r\n");
  EXPECT_THAT(head, AllOf(HasSubstr("X-Text: a  X-Forged: b\r\n"), Not(HasSubstr("\r\nX-Forged")),
                          HasSubstr("Content-Length: 0\r\n"), Not(HasSubstr("Content-Length: 99")),
                          Not(HasSubstr("Transfer-Encoding"))));
}

TEST(Server, LeaveToContinueIsGivenWhenTheBodyIsWelcome) {
  const Site site(echo());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send("POST / HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(wire.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(wire.send("body"));
  EXPECT_THAT(wire.read_answer(), EndsWith("\r\n\r\nbody"));
}

TEST(Server, LeaveToContinueIsNotGivenWhenTheBodyIsTooLarge) {
  const Site site(echo());
  Wire wire(site.port());
  ASSERT_TRUE(
      wire.send("POST / HTTP/1.1\r\nContent-Length: 8388609\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 413 "));
  wire.finish_sending();
  EXPECT_EQ(wire.read_all(), "");
}

TEST(Server, APeerThatDoesNotReadIsDropped) {
  ServerOptions options = Site::plain();
  options.write_timeout = milliseconds(50);
  Event gone;
  const Site site(
      [&](const Request&, const std::shared_ptr<Exchange>& exchange) {
        exchange->on_close([&] { gone.set(); });
        exchange->respond(Response::text(200, std::string(64U << 20, 'x')));
      },
      options);
  Wire wire(site.port(), 4096);
  ASSERT_TRUE(wire.send(kGet));
  EXPECT_TRUE(gone.wait());
}

TEST(Server, ExceptionsOfHandlersBecome500) {
  const Site site([](const Request& request, const std::shared_ptr<Exchange>& exchange) {
    if (request.target == "/after") {
      exchange->respond(Response::text(200, "answered first"));
    }
    if (request.target == "/int") {
      throw 42;
    }
    throw std::runtime_error("secret detail");
  });
  Wire wire(site.port());
  ASSERT_TRUE(wire.send("GET /a HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(wire.read_answer(),
              AllOf(StartsWith("HTTP/1.1 500 "), Not(HasSubstr("secret detail"))));
  ASSERT_TRUE(wire.send("GET /int HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 500 "));
  ASSERT_TRUE(wire.send("GET /after HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(wire.read_answer(), EndsWith("answered first"));
}

TEST(Server, AnUnansweredExchangeIsAnswered500) {
  std::shared_ptr<Exchange> kept;
  Event called;
  const Site site([&](const Request&, std::shared_ptr<Exchange> exchange) {
    kept = std::move(exchange);
    called.set();
  });
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kGet));
  ASSERT_TRUE(called.wait());
  kept.reset();
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 500 "));
}

TEST(Server, OnlyTheFirstAnswerCounts) {
  const Site site([](const Request&, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(Response::text(200, "first"));
    exchange->respond(Response::text(200, "second"));
    exchange->start(200, {});
    exchange->write("third");
    exchange->finish();
  });
  Wire wire(site.port());
  ASSERT_TRUE(wire.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(wire.read_all(), EndsWith("\r\n\r\nfirst"));
}

TEST(Server, TellsTheHandlerOfAPeerThatLeavesBeforeTheAnswer) {
  std::shared_ptr<Exchange> kept;
  Event gone;
  const Site site([&](const Request&, std::shared_ptr<Exchange> exchange) {
    exchange->on_close([&] { gone.set(); });
    kept = std::move(exchange);
  });
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kGet));
  wire.close();
  EXPECT_TRUE(gone.wait());
  kept->respond(Response::text(200, "to nobody"));
  Event late;
  kept->on_close([&] { late.set(); });
  EXPECT_TRUE(late.wait()) << "the peer is gone already, so the callback is called at once";
  kept.reset();
  expect_alive(Site(echo()));
}

TEST(Server, ServesManyClientsAtOnceOnTwoThreads) {
  ServerOptions options = Site::plain();
  options.threads = 2;
  const Site site(echo(), options);
  std::atomic<int> good{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([&, i] {
      Wire wire(site.port());
      for (int j = 0; j < 50; ++j) {
        const std::string body = std::to_string(i) + "/" + std::to_string(j);
        wire.send(post(body));
        good += wire.read_answer().ends_with("\r\n\r\n" + body) ? 1 : 0;
      }
    });
  }
  for (auto& client : clients) {
    client.join();
  }
  EXPECT_EQ(good, 16 * 50);
}

}  // namespace
}  // namespace millwright::net::test
