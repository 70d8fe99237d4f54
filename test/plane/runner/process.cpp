#include "plane/runner/process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

extern char** environ;

namespace millwright::plane {
namespace {

constexpr int kCannotRun = 127;

// Everything the child needs, made before fork(): afterwards only calls that are safe in the child
// of a program with threads.
struct Child {
  std::vector<std::string> texts;
  std::vector<char*> argv;
  std::vector<char*> envp;
  int input = -1;
  int output = -1;
};

Child prepare(const ProcessSpec& spec) {
  Child child;
  child.texts.push_back(spec.program);
  child.texts.insert(child.texts.end(), spec.arguments.begin(), spec.arguments.end());
  const std::size_t arguments = child.texts.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!spec.environment.contains(std::string(text.substr(0, text.find('='))))) {
      child.texts.emplace_back(text);
    }
  }
  for (const auto& [name, value] : spec.environment) {
    child.texts.push_back(name + "=" + value);
  }
  for (std::size_t i = 0; i < child.texts.size(); ++i) {
    (i < arguments ? child.argv : child.envp).push_back(child.texts[i].data());
  }
  child.argv.push_back(nullptr);
  child.envp.push_back(nullptr);
  const std::string input = spec.input.empty() ? "/dev/null" : spec.input;
  const std::string output = spec.log.empty() ? "/dev/null" : spec.log;
  const int mode = spec.append_log ? O_APPEND : O_TRUNC;
  child.input = open(input.c_str(), O_RDONLY | O_CLOEXEC);
  child.output = open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0600);
  return child;
}

[[noreturn]] void become(const Child& child, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(kCannotRun);  // the parent died before the line above
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(child.input, STDIN_FILENO);
  dup2(child.output, STDOUT_FILENO);
  dup2(child.output, STDERR_FILENO);
  execve(child.argv[0], child.argv.data(), child.envp.data());
  _exit(kCannotRun);
}

}  // namespace

base::Result<std::unique_ptr<Process>> Process::start(ProcessSpec spec) {
  if (access(spec.program.c_str(), X_OK) != 0) {
    return base::fail(base::ErrorKind::NotFound,
                      "cannot run " + spec.program + ": " + std::strerror(errno));
  }
  const Child child = prepare(spec);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    become(child, parent);
  }
  close(child.input);
  close(child.output);
  if (pid < 0) {
    return base::fail(base::ErrorKind::Unavailable, std::string("fork: ") + std::strerror(errno));
  }
  const int pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  return std::unique_ptr<Process>(new Process(std::move(spec), pid, pid_fd));
}

Process::Process(ProcessSpec spec, pid_t pid, int pid_fd)
    : spec_(std::move(spec)), pid_(pid), pid_fd_(pid_fd) {}

Process::~Process() {
  kill();
  close(pid_fd_);
}

bool Process::running() {
  return !wait(milliseconds(0));
}

void Process::signal(int number) {
  if (running()) {
    ::kill(pid_, number);
  }
}

std::optional<int> Process::wait(milliseconds limit) {
  if (status_) {
    return status_;
  }
  pollfd ended{.fd = pid_fd_, .events = POLLIN, .revents = 0};
  int status = 0;
  if (poll(&ended, 1, static_cast<int>(limit.count())) <= 0 ||
      waitpid(pid_, &status, WNOHANG) != pid_) {
    return std::nullopt;
  }
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

void Process::kill() {
  signal(SIGKILL);
  while (!wait(milliseconds(1000))) {
  }
}

std::string Process::log_text() const {
  return read_text(spec_.log);
}

std::string Process::log_tail(std::size_t lines) const {
  const std::string text = log_text();
  std::size_t from = text.size();
  for (std::size_t i = 0; i <= lines && from != std::string::npos && from > 0; ++i) {
    from = text.rfind('\n', from - 1);
  }
  return from == std::string::npos || from == 0 ? text : text.substr(from + 1);
}

int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = bind(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0;
  close(fd);
  return bound ? ntohs(address.sin_port) : 0;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  const mode_t before = umask(077);
  std::ofstream(path, std::ios::trunc) << text;
  umask(before);
}

}  // namespace millwright::plane
