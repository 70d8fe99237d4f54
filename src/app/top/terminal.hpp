// The terminal while `millwright top` draws on it: no echo, keys one by one, the alternate screen.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::app {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

class Terminal {
 public:
  // `on_key` gets each key, on a thread of its own.
  explicit Terminal(std::function<void(char key)> on_key);
  // Leaves the terminal as it was.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void draw(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

bool is_terminal();        // whether standard input and output are one
ScreenSize screen_size();  // of standard output; that of the default where it is none

// `text` over what is drawn already: as many of its lines as the screen has, the last one saying
// how many there are beyond.
std::string frame(std::string_view text, std::size_t rows);

}  // namespace millwright::app
