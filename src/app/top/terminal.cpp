#include "app/top/terminal.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>
#include <utility>

namespace millwright::app {
namespace {

constexpr std::string_view kBegin = "\x1b[?1049h\x1b[?25l";  // alternate screen, no cursor
constexpr std::string_view kEnd = "\x1b[?25h\x1b[?1049l";

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// Until `end` is readable, or standard input ends.
void read_keys(int end, const std::function<void(char)>& on_key) {
  std::array<pollfd, 2> waited{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{end, POLLIN, 0}};
  while (true) {
    const int ready = poll(waited.data(), waited.size(), -1);
    if (ready < 0) {
      continue;  // a signal
    }
    char key = 0;
    if (waited[1].revents != 0 || read(STDIN_FILENO, &key, 1) != 1) {
      return;
    }
    on_key(key);
  }
}

}  // namespace

struct Terminal::State {
  termios before{};
  int end = -1;  // written to when the keys are not wanted any more
  std::thread keys;
};

Terminal::Terminal(std::function<void(char)> on_key) : state_(std::make_unique<State>()) {
  tcgetattr(STDIN_FILENO, &state_->before);
  termios raw = state_->before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  put(kBegin);
  state_->end = eventfd(0, EFD_CLOEXEC);
  state_->keys =
      std::thread([end = state_->end, on_key = std::move(on_key)] { read_keys(end, on_key); });
}

Terminal::~Terminal() {
  eventfd_write(state_->end, 1);
  state_->keys.join();
  close(state_->end);
  put(kEnd);
  tcsetattr(STDIN_FILENO, TCSANOW, &state_->before);
}

void Terminal::draw(std::string_view text) {
  put(frame(text, screen_size().rows));
}

bool is_terminal() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

ScreenSize screen_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {.columns = size.ws_col, .rows = size.ws_row};
}

std::string frame(std::string_view text, std::size_t rows) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const std::size_t most = rows > 1 ? rows - 1 : 1;  // the cursor stands on a line of its own
  const std::size_t shown = lines > most ? most - 1 : lines;
  std::string out = "\x1b[H";
  for (std::size_t i = 0; i < shown; ++i) {
    const auto end = text.find('\n');
    out.append(text.substr(0, end)).append("\x1b[K\r\n");
    text.remove_prefix(end + 1);
  }
  if (shown < lines) {
    out += fmt::format("... {} more lines\x1b[K\r\n", lines - shown);
  }
  return out + "\x1b[J";
}

}  // namespace millwright::app
