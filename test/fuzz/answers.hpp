// What the fuzz targets of every cloud's answers share.
#pragma once

#include <cstdint>
#include <string>

namespace millwright::cloud {

// The first two bytes choose what is asked and the answer's status; the rest is the body.
struct Input {
  Input(const std::uint8_t* data, std::size_t size) {
    const std::string all(data, data + size);
    choice = all.empty() ? 0U : static_cast<unsigned char>(all[0]);
    const auto kind = all.size() < 2 ? 0U : static_cast<unsigned char>(all[1]);
    status = kind % 8 == 1 ? 400 : kind % 8 == 2 ? 503 : kind % 8 == 3 ? 404 : 200;
    body = all.size() < 2 ? std::string() : all.substr(2);
  }
  unsigned choice = 0;
  int status = 200;
  std::string body;
};

// An error that says nothing helps nobody.
template <class Answer>
void expect_explained(const Answer& answer) {
  if (!answer && answer.error().message.empty()) {
    __builtin_trap();
  }
}

}  // namespace millwright::cloud
