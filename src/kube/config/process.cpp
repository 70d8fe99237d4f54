#include "kube/config/process.hpp"

#include "kube/calls/status.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace millwright::kube {
namespace {

using base::ErrorKind;

constexpr std::size_t kKeptDiagnostics = 4096;
constexpr std::size_t kShownDiagnostics = 400;
// Words of this many token characters are taken for secrets.
constexpr std::size_t kSecretLength = 40;
// How often a silent child is looked after. A grandchild may hold the pipes open for longer than
// the child lives, so that their end says nothing.
constexpr int kTickMilliseconds = 20;

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read;
  Fd write;
};

base::Error system_error(const std::string& what, int code) {
  return {ErrorKind::Unavailable, what + ": " + std::strerror(code)};
}

base::Result<Pipe> make_pipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
    return tl::unexpected(system_error("cannot make a pipe", errno));
  }
  Pipe pipe{.read = Fd(fds[0]), .write = Fd(fds[1])};
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

// The arguments and environment in the form that exec wants.
class ExecImage {
 public:
  explicit ExecImage(const ProcessSpec& spec) {
    texts_.push_back(spec.command);
    texts_.insert(texts_.end(), spec.args.begin(), spec.args.end());
    const std::size_t arguments = texts_.size();
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      if (!spec.env.contains(std::string(text.substr(0, text.find('='))))) {
        texts_.emplace_back(text);
      }
    }
    for (const auto& [name, value] : spec.env) {
      texts_.push_back(name + "=" + value);
    }
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      (i < arguments ? argv_ : envp_).push_back(texts_[i].data());
    }
    argv_.push_back(nullptr);
    envp_.push_back(nullptr);
  }
  char** argv() { return argv_.data(); }
  char** envp() { return envp_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> argv_;
  std::vector<char*> envp_;
};

class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      // Its own process group, so that its children die with it.
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  // The error number of the spawn; 0 when it runs.
  int spawn(const ProcessSpec& spec, int out, int err) {
    ExecImage image(spec);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error = ::posix_spawnp(&pid_, spec.command.c_str(), &actions, &attributes,
                                     image.argv(), image.envp());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      pid_ = -1;
    }
    return error;
  }
  bool has_ended() {
    siginfo_t info{};
    const bool known =
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    if (known && info.si_pid != pid_) {
      return false;
    }
    // What it left behind goes too, before its number can belong to another group.
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
    pid_ = -1;
    return true;
  }
  int status() const { return status_; }

 private:
  pid_t pid_ = -1;
  int status_ = 0;
};

// Takes what is there, which is at most what a pipe holds unless the writer goes on meanwhile;
// false at the end of the pipe.
bool drain(int fd, std::string& into) {
  std::array<char, 8192> buffer{};
  for (int i = 0; i < 128; ++i) {
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) {
      return count < 0 && (errno == EAGAIN || errno == EINTR);
    }
    into.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return true;
}

bool is_token_character(unsigned char c) {
  return std::isalnum(c) != 0 || c == '+' || c == '/' || c == '=' || c == '_' || c == '-' ||
         c == '.';
}

std::string mask_secrets(std::string_view text) {
  std::string masked;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_token_character(static_cast<unsigned char>(text[end]))) {
      ++end;
    }
    masked.append(end - at >= kSecretLength ? "[masked]" : text.substr(at, end - at));
    if (end < text.size()) {
      masked.push_back(text[end++]);
    }
    at = end;
  }
  return masked;
}

std::string describe_exit(int status, const std::string& diagnostics) {
  std::string text = WIFSIGNALED(status)
                         ? "was killed by signal " + std::to_string(WTERMSIG(status))
                         : "ended with exit code " + std::to_string(WEXITSTATUS(status));
  // Masked before it is cut, so that no secret is shortened below the length that gives it away.
  std::string masked = mask_secrets(diagnostics);
  if (masked.size() > kShownDiagnostics) {
    masked.erase(0, masked.size() - kShownDiagnostics);
  }
  if (const auto shown = excerpt(masked, kShownDiagnostics); !shown.empty()) {
    text.append(": ").append(shown);
  }
  return text;
}

struct Watch {
  Fd timer;
  Fd stopped;
};

base::Result<Watch> make_watch(std::chrono::milliseconds timeout) {
  Watch watch{.timer = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
              .stopped = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
  if (watch.timer.get() < 0 || watch.stopped.get() < 0) {
    return tl::unexpected(system_error("cannot make a timer", errno));
  }
  const auto wait = std::max(timeout, std::chrono::milliseconds(1));
  itimerspec spec{};
  spec.it_value.tv_sec = static_cast<time_t>(wait.count() / 1000);
  spec.it_value.tv_nsec = static_cast<long>(wait.count() % 1000) * 1'000'000;
  ::timerfd_settime(watch.timer.get(), 0, &spec, nullptr);
  return watch;
}

}  // namespace

base::Result<std::string> run_process(const ProcessSpec& spec, std::stop_token stop) {
  MW_TRY(out, make_pipe());
  MW_TRY(err, make_pipe());
  MW_TRY(watch, make_watch(spec.timeout));
  const std::stop_callback on_stop(stop, [fd = watch.stopped.get()] { ::eventfd_write(fd, 1); });
  Child child;
  if (const int error = child.spawn(spec, out.write.get(), err.write.get()); error != 0) {
    auto failure = system_error(spec.command + ": cannot be run", error);
    failure.kind = error == ENOENT ? ErrorKind::NotFound : ErrorKind::Unavailable;
    return tl::unexpected(std::move(failure));
  }
  out.write.reset();
  err.write.reset();
  std::string output;
  std::string diagnostics;
  while (true) {
    std::array<pollfd, 4> fds{pollfd{out.read.get(), POLLIN, 0}, pollfd{err.read.get(), POLLIN, 0},
                              pollfd{watch.timer.get(), POLLIN, 0},
                              pollfd{watch.stopped.get(), POLLIN, 0}};
    ::poll(fds.data(), fds.size(), kTickMilliseconds);
    const bool ended = child.has_ended();
    if (out.read.get() >= 0 && !drain(out.read.get(), output)) {
      out.read.reset();
    }
    if (err.read.get() >= 0 && !drain(err.read.get(), diagnostics)) {
      err.read.reset();
    }
    if (diagnostics.size() > kKeptDiagnostics) {
      diagnostics.erase(0, diagnostics.size() - kKeptDiagnostics);
    }
    if (output.size() > spec.output_limit) {
      return base::fail(ErrorKind::Unavailable, spec.command + ": wrote more than " +
                                                    std::to_string(spec.output_limit) +
                                                    " bytes; that is no credential");
    }
    if (ended) {
      break;
    }
    if (stop.stop_requested()) {
      return base::fail(ErrorKind::Cancelled, spec.command + ": stopped");
    }
    if ((fds[2].revents & POLLIN) != 0) {
      return base::fail(ErrorKind::Timeout, spec.command + ": did not end within " +
                                                std::to_string(spec.timeout.count()) + " ms");
    }
  }
  if (child.status() != 0) {
    return base::fail(ErrorKind::Unavailable,
                      spec.command + ": " + describe_exit(child.status(), diagnostics));
  }
  return output;
}

}  // namespace millwright::kube
