// Another program, for tests: started with its output in a file, and always ended. It dies with the
// object, and also when the thread that started it dies (Linux's parent death signal): start
// programs from the thread that lives longest. Not for several threads.
#pragma once

#include "millwright/base/result.hpp"

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millwright::plane {

using std::chrono::milliseconds;

struct ProcessSpec {
  std::string program;  // a path
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // added to ours
  std::string log;                                 // file that takes both output streams
  std::string input;                               // file read from; empty: nothing to read
  bool append_log = false;
};

class Process {
 public:
  // NotFound: the program cannot be run.
  static base::Result<std::unique_ptr<Process>> start(ProcessSpec spec);
  ~Process();  // SIGKILL
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  void signal(int number);
  // The exit status (128 + number for a signal), or nullopt when it still runs after `limit`.
  std::optional<int> wait(milliseconds limit);
  // SIGKILL, and waits until it is gone.
  void kill();
  std::string log_text() const;
  std::string log_tail(std::size_t lines = 15) const;
  const ProcessSpec& spec() const { return spec_; }

 private:
  Process(ProcessSpec spec, pid_t pid, int pid_fd);
  ProcessSpec spec_;
  pid_t pid_;
  int pid_fd_;
  std::optional<int> status_;
};

// A port on 127.0.0.1 that nothing listens on. Another program may take it before it is used;
// whoever starts a server there tries again with another one.
int free_port();
std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);  // readable by its owner only

}  // namespace millwright::plane
