#include "plane/runner/forwarder.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace millwright::plane {
namespace {

constexpr int kAcceptPoll = 100;  // ms

sockaddr_in on_loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int connect_to(int port) {
  const int socket_fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = on_loopback(port);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the sockets API
  if (::connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_fd);
    return -1;
  }
  return socket_fd;
}

// False when either end is over.
bool pass_on(int from, int to) {
  std::array<char, 16384> buffer{};
  const ssize_t got = ::recv(from, buffer.data(), buffer.size(), 0);
  if (got <= 0) {
    return false;
  }
  for (ssize_t sent = 0; sent < got;) {
    const ssize_t now =
        ::send(to, buffer.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
    if (now <= 0) {
      return false;
    }
    sent += now;
  }
  return true;
}

}  // namespace

struct Forwarder::State {
  std::function<int()> target;
  int listener = -1;
  int port = 0;
  std::atomic<bool> stopping{false};
  std::atomic<bool> is_cut{false};
  std::mutex mutex;    // of what follows
  std::set<int> open;  // both ends of every connection
  std::list<std::thread> pumps;
  std::thread acceptor;

  void accept_all() {
    while (!stopping) {
      pollfd waiting{.fd = listener, .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, kAcceptPoll) <= 0) {
        continue;
      }
      const int near = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (near < 0) {
        continue;
      }
      const int wanted = is_cut ? 0 : target();
      const int far = wanted == 0 ? -1 : connect_to(wanted);
      if (far < 0) {
        ::close(near);
        continue;
      }
      const std::scoped_lock lock(mutex);
      open.insert({near, far});
      pumps.emplace_back([this, near, far] { pump(near, far); });
    }
  }

  void pump(int near, int far) {
    std::array<pollfd, 2> ends{pollfd{.fd = near, .events = POLLIN, .revents = 0},
                               pollfd{.fd = far, .events = POLLIN, .revents = 0}};
    bool alive = true;
    while (alive && ::poll(ends.data(), ends.size(), -1) > 0) {
      alive = (ends[0].revents == 0 || pass_on(near, far)) &&
              (ends[1].revents == 0 || pass_on(far, near));
    }
    const std::scoped_lock lock(mutex);
    open.erase(near);
    open.erase(far);
    ::close(near);
    ::close(far);
  }

  void end_all() {
    const std::scoped_lock lock(mutex);
    for (const int one : open) {
      ::shutdown(one, SHUT_RDWR);  // its pump closes it
    }
  }
};

base::Result<std::unique_ptr<Forwarder>> Forwarder::start(std::function<int()> target) {
  std::unique_ptr<Forwarder> forwarder(new Forwarder());
  forwarder->state_ = std::make_unique<State>();
  State& state = *forwarder->state_;
  state.target = std::move(target);
  state.listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = on_loopback(0);
  socklen_t size = sizeof address;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the sockets API
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(state.listener, any, size) != 0 || ::listen(state.listener, SOMAXCONN) != 0 ||
      ::getsockname(state.listener, any, &size) != 0) {
    return base::fail(base::ErrorKind::Unavailable, "the forwarder cannot listen on 127.0.0.1");
  }
  state.port = ntohs(address.sin_port);
  state.acceptor = std::thread([&state] { state.accept_all(); });
  return forwarder;
}

Forwarder::~Forwarder() {
  state_->stopping = true;
  if (state_->acceptor.joinable()) {
    state_->acceptor.join();
  }
  state_->end_all();
  for (auto& pump : state_->pumps) {
    pump.join();
  }
  if (state_->listener >= 0) {
    ::close(state_->listener);
  }
}

int Forwarder::port() const {
  return state_->port;
}

void Forwarder::cut() {
  state_->is_cut = true;
  state_->end_all();
}

void Forwarder::mend() {
  state_->is_cut = false;
}

}  // namespace millwright::plane
