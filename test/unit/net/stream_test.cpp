// Chunked answers that last: watches.
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

constexpr const char* kWatch = "GET /watch HTTP/1.1\r\nHost: h\r\n\r\n";

// A handler that begins a stream and hands its exchange to the test.
struct Streams {
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> open;
  std::atomic<int> closed{0};
  Event changed;

  Handler handler() {
    return [this](const Request&, std::shared_ptr<Exchange> exchange) {
      exchange->on_close([this] { ++closed; });
      exchange->start(200, {});
      const std::scoped_lock lock(mutex);
      open.push_back(std::move(exchange));
    };
  }
  std::size_t count() {
    const std::scoped_lock lock(mutex);
    return open.size();
  }
  bool wait_for_open(std::size_t n) {
    return changed.wait_for([&] { return count() >= n; });
  }
  bool wait_for_closed(int n) {
    return changed.wait_for([&] { return closed >= n; });
  }
};

TEST(Stream, ChunksArriveAsTheyAreWritten) {
  Streams streams;
  const Site site(streams.handler());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kWatch));
  EXPECT_THAT(wire.read_until("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n"));
  ASSERT_TRUE(streams.wait_for_open(1));
  streams.open[0]->write("first\n");
  EXPECT_EQ(wire.read_until("\n\r\n"), "6\r\nfirst\n\r\n");
  streams.open[0]->write("");
  streams.open[0]->write("second\n");
  EXPECT_EQ(wire.read_until("\n\r\n"), "7\r\nsecond\n\r\n");
  streams.open[0]->finish();
  streams.open[0]->write("too late");
  EXPECT_EQ(wire.read_until("\r\n\r\n"), "0\r\n\r\n");
  EXPECT_EQ(streams.closed, 0) << "the peer is still there";
  ASSERT_TRUE(wire.send(kWatch));
  EXPECT_THAT(wire.read_until("\r\n\r\n"), HasSubstr("200 OK")) << "the connection lives on";
}

TEST(Stream, AnOldPeerGetsItWithoutChunks) {
  Streams streams;
  const Site site(streams.handler());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send("GET / HTTP/1.0\r\n\r\n"));
  ASSERT_TRUE(streams.wait_for_open(1));
  streams.open[0]->write("plain");
  streams.open[0]->finish();
  EXPECT_THAT(wire.read_all(), AllOf(EndsWith("\r\n\r\nplain"), Not(HasSubstr("chunked"))));
}

TEST(Stream, APeerThatLeavesIsNoticed) {
  Streams streams;
  const Site site(streams.handler());
  for (int i = 0; i < 6; ++i) {
    Wire wire(site.port());
    ASSERT_TRUE(wire.send(kWatch));
    wire.read_until("\r\n\r\n");
    if (i % 3 == 0) {
      wire.reset();
    } else if (i % 3 == 1) {
      wire.finish_sending();
      EXPECT_EQ(wire.read_all(), "") << "a stream does not outlive its reader";
    } else {
      wire.close();
    }
    EXPECT_TRUE(streams.wait_for_closed(i + 1)) << i;
  }
  for (const auto& exchange : streams.open) {
    exchange->write("to nobody");
    exchange->finish();
  }
}

TEST(Stream, APeerThatDoesNotReadIsCutAtTheLimit) {
  Streams streams;
  ServerOptions options = Site::plain();
  options.stream_queue_limit = 1U << 20;
  const Site site(streams.handler(), options);
  Wire slow(site.port(), 4096);
  ASSERT_TRUE(slow.send(kWatch));
  ASSERT_TRUE(streams.wait_for_open(1));
  const std::string chunk(64U << 10, 'x');
  Event cut;
  EXPECT_TRUE(cut.wait_for([&] {
    streams.open[0]->write(chunk);
    return streams.closed == 1;
  }));
}

TEST(Stream, AWriteBeyondTheLimitAtOnceIsCut) {
  Streams streams;
  ServerOptions options = Site::plain();
  options.stream_queue_limit = 1000;
  const Site site(streams.handler(), options);
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kWatch));
  ASSERT_TRUE(streams.wait_for_open(1));
  streams.open[0]->write(std::string(1001, 'x'));
  EXPECT_TRUE(streams.wait_for_closed(1));
  EXPECT_THAT(wire.read_all(), Not(HasSubstr("0\r\n\r\n"))) << "it must not look complete";
}

TEST(Stream, AHandlerThatLeavesItUnfinishedCutsIt) {
  Streams streams;
  const Site site(streams.handler());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kWatch));
  ASSERT_TRUE(streams.wait_for_open(1));
  streams.open.clear();
  EXPECT_THAT(wire.read_all(), Not(HasSubstr("0\r\n\r\n")));
}

TEST(Stream, ManyAreServedFromManyThreads) {
  Streams streams;
  ServerOptions options = Site::plain();
  options.threads = 2;
  const Site site(streams.handler(), options);
  constexpr std::size_t kStreams = 200;
  constexpr int kChunks = 50;
  std::vector<std::unique_ptr<Wire>> wires;
  for (std::size_t i = 0; i < kStreams; ++i) {
    wires.push_back(std::make_unique<Wire>(site.port()));
    ASSERT_TRUE(wires.back()->send(kWatch));
  }
  ASSERT_TRUE(streams.wait_for_open(kStreams));
  std::vector<std::thread> writers;
  for (std::size_t t = 0; t < 4; ++t) {
    writers.emplace_back([&, t] {
      for (int n = 0; n < kChunks; ++n) {
        for (std::size_t i = t; i < kStreams; i += 4) {
          streams.open[i]->write("<" + std::to_string(n) + ">");
        }
      }
      for (std::size_t i = t; i < kStreams; i += 4) {
        streams.open[i]->finish();
      }
    });
  }
  std::string expected;
  for (int n = 0; n < kChunks; ++n) {
    expected += "<" + std::to_string(n) + ">";
  }
  for (auto& wire : wires) {
    wire->read_until("\r\n\r\n");
    std::string body;
    while (true) {
      const std::size_t size = std::stoul(wire->read_until("\r\n"), nullptr, 16);
      const std::string data = wire->read_until("\r\n");
      if (size == 0) {
        break;
      }
      ASSERT_EQ(data.size(), size + 2);
      body += data.substr(0, size);
    }
    ASSERT_EQ(body, expected);
  }
  for (auto& writer : writers) {
    writer.join();
  }
}

TEST(Stream, AStoppingServerEndsStreamsInGoodOrder) {
  Streams streams;
  Site site(streams.handler());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kWatch));
  ASSERT_TRUE(streams.wait_for_open(1));
  streams.open[0]->write("last");
  site.server().stop(kPatience);
  EXPECT_EQ(streams.closed, 1);
  EXPECT_THAT(wire.read_all(), EndsWith("4\r\nlast\r\n0\r\n\r\n"));
  streams.open[0]->write("after the end");
}

TEST(Stream, ACallbackThatHoldsTheExchangeDoesNotKeepItForever) {
  std::weak_ptr<Exchange> watched;
  Event started;
  {
    const Site site([&](const Request&, std::shared_ptr<Exchange> exchange) {
      watched = exchange;
      exchange->start(200, {});
      exchange->on_close([exchange] { exchange->finish(); });
      started.set();
    });
    Wire wire(site.port());
    ASSERT_TRUE(wire.send(kWatch));
    ASSERT_TRUE(started.wait());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Stream, AThrowingCallbackHarmsNobody) {
  Event started;
  Event closed;
  const Site site([&](const Request&, const std::shared_ptr<Exchange>& exchange) {
    exchange->start(200, {});
    exchange->on_close([&, exchange] {
      closed.set();
      throw std::runtime_error("no matter");
    });
    started.set();
  });
  {
    Wire wire(site.port());
    ASSERT_TRUE(wire.send(kWatch));
    ASSERT_TRUE(started.wait());
  }
  EXPECT_TRUE(closed.wait());
  Wire next(site.port());
  ASSERT_TRUE(next.send(kWatch));
  EXPECT_THAT(next.read_until("\r\n\r\n"), HasSubstr("200 OK"));
}

}  // namespace
}  // namespace millwright::net::test
