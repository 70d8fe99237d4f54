// The controller's process from its first moment on.
#include "app/commands/controller_command.hpp"

#include "unit/kube/temp_dir.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

namespace millwright::app {
namespace {

using Clock = std::chrono::steady_clock;

// An API server that takes connections, and says nothing.
class SilentPeer {
 public:
  SilentPeer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = static_cast<sockaddr*>(static_cast<void*>(&address));
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, generic, size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
    const timeval patience{30, 0};
    EXPECT_EQ(::setsockopt(listener_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    port_ = ntohs(address.sin_port);
  }
  ~SilentPeer() { ::close(listener_); }
  SilentPeer(const SilentPeer&) = delete;
  SilentPeer& operator=(const SilentPeer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // Until somebody has connected, who then waits for an answer as long as the process lives. False:
  // nobody has.
  bool wait() const { return ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC) >= 0; }

 private:
  int listener_;
  int port_ = 0;
};

// Sends SIGTERM to this process once `peer` is asked, and says when. The thread itself takes no
// signal, so that it is for the thread that runs the command to expect it.
std::thread end_once_asked(const SilentPeer& peer, std::optional<Clock::time_point>* told) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread sender([&peer, told] {
    if (peer.wait()) {
      *told = Clock::now();
    }
    ::kill(::getpid(), SIGTERM);  // if nobody has asked, too: the command must end
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return sender;
}

// The exit status, or 100 if it did not leave at once: it would wait for the answer for five
// seconds.
int run_and_end_early() {
  const kube::test::TempDir directory;
  const SilentPeer peer;
  const std::string kubeconfig = directory.write("config", R"(apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: ")" + peer.url() + R"("}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
)");
  std::optional<Clock::time_point> told;
  std::thread sender = end_once_asked(peer, &told);
  const int status = run_controller({{"kubeconfig", kubeconfig}}, [](const std::string&) {
    return std::optional<std::string>();
  });
  const auto ended = Clock::now();
  sender.join();
  return told && ended - *told < std::chrono::seconds(4) ? status : 100;
}

TEST(ControllerCommandDeathTest, ASignalIsExpectedFromTheFirstMomentOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(run_and_end_early()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace millwright::app
