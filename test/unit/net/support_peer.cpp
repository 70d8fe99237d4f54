// The peers that the tests play themselves.
#include "unit/net/sockets.hpp"
#include "unit/net/support.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <thread>

namespace millwright::net::test {
namespace {

// A proxy of the developer's own must not stand between the tests and their peers.
const bool kNoProxies = [] {
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    ::unsetenv(name);
  }
  return true;
}();

}  // namespace

struct FakePeer::State {
  std::function<void(int)> serve;
  int listener = -1;
  std::thread acceptor;
  std::mutex mutex;
  std::vector<int> open;
  std::vector<std::thread> threads;
};

FakePeer::FakePeer(std::function<void(int)> serve) : state_(std::make_shared<State>()) {
  state_->serve = std::move(serve);
  state_->listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = local(0);
  EXPECT_EQ(::bind(state_->listener, generic(address), sizeof(address)), 0);
  EXPECT_EQ(::listen(state_->listener, 64), 0);
  socklen_t size = sizeof(address);
  ::getsockname(state_->listener, static_cast<sockaddr*>(static_cast<void*>(&address)), &size);
  port_ = ntohs(address.sin_port);
  state_->acceptor = std::thread([state = state_.get()] {
    while (true) {
      const int fd = ::accept(state->listener, nullptr, nullptr);
      if (fd < 0) {
        return;
      }
      set_patience(fd);
      const std::scoped_lock lock(state->mutex);
      state->open.push_back(fd);
      state->threads.emplace_back([state, fd] {
        state->serve(fd);
        ::shutdown(fd, SHUT_RDWR);
      });
    }
  });
}

FakePeer::~FakePeer() {
  ::shutdown(state_->listener, SHUT_RDWR);
  state_->acceptor.join();
  for (const int fd : state_->open) {
    ::shutdown(fd, SHUT_RDWR);
  }
  for (auto& thread : state_->threads) {
    thread.join();
  }
  for (const int fd : state_->open) {
    ::close(fd);
  }
  ::close(state_->listener);
}

std::string FakePeer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

bool read_head(int fd, std::string* head) {
  std::string text;
  char c = 0;
  while (!text.ends_with("\r\n\r\n")) {
    if (::recv(fd, &c, 1, 0) != 1) {
      return false;
    }
    text.push_back(c);
  }
  if (head != nullptr) {
    *head = text;
  }
  return true;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void wait_for_end(int fd) {
  char bytes[4096];
  while (::recv(fd, bytes, sizeof(bytes), 0) > 0) {
  }
}

}  // namespace millwright::net::test
