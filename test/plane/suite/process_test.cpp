// What a test starts ends with the test, however that ends.

#include "plane/runner/plane.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace millwright::plane {
namespace {

class Processes : public testing::Test {
 protected:
  ~Processes() override { std::filesystem::remove(log_); }
  ProcessSpec shell(const std::string& script) const {
    ProcessSpec spec;
    spec.program = "/bin/sh";
    spec.arguments = {"-c", script};
    spec.environment = {{"PLANE_TEST", "said"}};
    spec.log = log_;
    return spec;
  }

  std::string log_ = std::filesystem::temp_directory_path() /
                     ("millwright-process-" + std::to_string(getpid()) + ".log");
};

TEST_F(Processes, TellHowTheyEndedAndWhatTheySaid) {
  const auto process = Process::start(shell("echo $PLANE_TEST; echo aloud >&2; exit 3"));
  ASSERT_TRUE(process.has_value()) << process.error().message;
  EXPECT_EQ((*process)->wait(milliseconds(10'000)), 3);
  EXPECT_FALSE((*process)->running());
  EXPECT_EQ((*process)->log_text(), "said\naloud\n");
  EXPECT_EQ((*process)->log_tail(1), "aloud\n");
}

TEST_F(Processes, AreKilled) {
  const auto process = Process::start(shell("trap '' TERM; echo deaf; exec sleep 1000"));
  ASSERT_TRUE(process.has_value()) << process.error().message;
  ASSERT_TRUE(wait_until(seconds(10), [&] { return (*process)->log_text() == "deaf\n"; }));
  (*process)->signal(SIGTERM);
  EXPECT_TRUE((*process)->running());
  (*process)->kill();
  EXPECT_EQ((*process)->wait(milliseconds(0)), 128 + SIGKILL);
}

TEST_F(Processes, ThatDoNotExistAreAnError) {
  ProcessSpec spec;
  spec.program = "/nowhere/at/all";
  const auto process = Process::start(spec);
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().kind, base::ErrorKind::NotFound);
}

TEST_F(Processes, DieWithTheOneThatStartedThem) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const auto process = Process::start(shell("exec sleep 1000"));
    const pid_t pid = process ? (*process)->pid() : -1;
    if (write(ends[1], &pid, sizeof pid) == sizeof pid) {
      pause();
    }
    _exit(1);
  }
  pid_t pid = -1;
  ASSERT_EQ(read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  pollfd ended{
      .fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0)), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ended, 1, 0), 0) << "it ended by itself";
  ::kill(parent, SIGKILL);
  EXPECT_EQ(poll(&ended, 1, 10'000), 1) << "it outlived the one that started it";
  waitpid(parent, nullptr, 0);
  close(ended.fd);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace millwright::plane
