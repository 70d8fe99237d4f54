// The server over plain HTTP, seen from the wire: what is answered, refused and survived.
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

constexpr const char* kGet = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n";

std::string post(const std::string& body) {
  return "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

// A server is alive when a new connection is answered.
void expect_alive(const Site& site) {
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kGet));
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 200 OK\r\n"));
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

struct Refusal {
  const char* what;
  std::string request;
  int status;
};

TEST(Server, RefusesWhatItCannotServeAndLives) {
  ServerOptions options = Site::plain();
  options.body_limit = 1000;
  const Site site(echo(), options);
  const std::vector<Refusal> cases{
      {"nonsense", "nonsense\r\n\r\n", 400},
      {"binary", std::string("\x16\x03\x01\x00\xa5\x01\x00\r\n\r\n", 11), 400},
      {"no version", "GET /\r\n\r\n", 400},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"header without a colon", "GET / HTTP/1.1\r\nhello\r\n\r\n", 400},
      {"space before the colon", "GET / HTTP/1.1\r\nA : b\r\n\r\n", 400},
      {"bare line feed", "GET / HTTP/1.1\nHost: h\n\n", 400},
      {"length of letters", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400},
      {"negative length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"length and chunks",
       "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"chunks and length",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
      {"unknown coding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
      {"coding on top", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400},
      {"bad chunk size", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"bad chunk end", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", 400},
      {"endless chunk extension",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(400'000, 'x'), 400},
      {"body one byte too long", post(std::string(1001, 'x')), 413},
      {"huge length", "POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n", 413},
      {"chunks too long",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x'),
       413},
      {"many chunks too long",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n" + std::string(500, 'x') +
           "\r\n1f5\r\n" + std::string(501, 'x') + "\r\n0\r\n\r\n",
       413},
      {"long header", "GET / HTTP/1.1\r\nA: " + std::string(40'000, 'x') + "\r\n\r\n", 431},
      {"long target", "GET /" + std::string(40'000, 'x') + " HTTP/1.1\r\n\r\n", 431},
      {"endless header", "GET / HTTP/1.1\r\nA: " + std::string(300'000, 'x'), 431},
  };
  for (const Refusal& c : cases) {
    Wire wire(site.port());
    wire.send(c.request);
    const std::string answer = wire.read_answer();
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 " + std::to_string(c.status) + " "),
                              HasSubstr("Connection: close\r\n")))
        << c.what;
    wire.finish_sending();
    EXPECT_EQ(wire.read_all(), "") << c.what << ": must close after the refusal";
  }
  expect_alive(site);
}

TEST(Server, ABodyOfExactlyTheLimitIsServed) {
  ServerOptions options = Site::plain();
  options.body_limit = 1000;
  const Site site(echo(), options);
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(post(std::string(1000, 'x'))));
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(Server, ARefusalReachesAPeerThatGoesOnSending) {
  const Site site(echo());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send("POST / HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n"));
  const std::string block(1U << 20, 'x');
  for (int i = 0; i < 4; ++i) {
    wire.send(block);
  }
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 413 "));
  expect_alive(site);
}

TEST(Server, TruncatedRequestsNeverReachTheHandler) {
  std::atomic<int> calls{0};
  ServerOptions options = Site::plain();
  const Site site(
      [&](const Request&, const std::shared_ptr<Exchange>& exchange) {
        ++calls;
        exchange->respond(Response::text(200, ""));
      },
      options);
  const std::string whole = post("0123456789");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Wire wire(site.port());
    wire.send(whole.substr(0, size));
    wire.finish_sending();
    EXPECT_EQ(wire.read_all(), "") << size;
  }
  EXPECT_EQ(calls, 0);
  Wire wire(site.port());
  wire.send(whole);
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 200"));
}

TEST(Server, PeersThatResetAreForgotten) {
  const Site site(echo());
  for (int i = 0; i < 50; ++i) {
    Wire wire(site.port());
    wire.send(i % 2 == 0 ? kGet : "GET / HT");
    wire.reset();
  }
  expect_alive(site);
}

TEST(Server, SlowSendersAreDroppedAtTheirDeadline) {
  ServerOptions options = Site::plain();
  options.header_timeout = milliseconds(30);
  options.body_timeout = milliseconds(30);
  options.idle_timeout = milliseconds(30);
  const Site site(echo(), options);
  struct Case {
    const char* what;
    std::string sent;
    const char* answer;
  };
  const std::vector<Case> cases{
      {"silence", "", ""},
      {"half a start line", "GET /", "HTTP/1.1 408 "},
      {"half a head", "GET / HTTP/1.1\r\nHost: h\r\n", "HTTP/1.1 408 "},
      {"half a body", post("12345").substr(0, post("12345").size() - 2), "HTTP/1.1 408 "},
      {"silence after an answer", kGet, "HTTP/1.1 200 "},
  };
  for (const Case& c : cases) {
    Wire wire(site.port());
    ASSERT_TRUE(wire.send(c.sent));
    EXPECT_THAT(wire.read_answer(), StartsWith(c.answer)) << c.what;
    EXPECT_EQ(wire.read_all(), "") << c.what;
  }
}

TEST(Server, DripFeedingDoesNotPostponeTheDeadline) {
  ServerOptions options = Site::plain();
  options.header_timeout = milliseconds(50);
  const Site site(echo(), options);
  Wire wire(site.port());
  wire.send("GET / HTTP/1.1\r\nA: ");
  // Each byte comes long before the deadline would end if it started anew.
  Event waiting;
  EXPECT_TRUE(waiting.wait_for([&] {
    wire.send("x");
    return wire.readable();
  }));
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 408 "));
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

TEST(Server, ConnectionsBeyondTheLimitAreClosed) {
  ServerOptions options = Site::plain();
  options.max_connections = 2;
  const Site site(echo(), options);
  auto first = std::make_unique<Wire>(site.port());
  Wire second(site.port());
  for (Wire* wire : {first.get(), &second}) {
    ASSERT_TRUE(wire->send(kGet));
    EXPECT_THAT(wire->read_answer(), StartsWith("HTTP/1.1 200"));
  }
  Wire third(site.port());
  EXPECT_EQ(third.read_all(), "");
  first.reset();
  Event waiting;
  EXPECT_TRUE(waiting.wait_for([&] {
    Wire next(site.port());
    return next.send(kGet) && next.read_answer().starts_with("HTTP/1.1 200");
  })) << "room is made when one leaves";
}

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
