// HTTP messages shared by the server and the client. Header names compare without case.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::net {

class Headers {
 public:
  // Replaces every entry of that name.
  void set(std::string name, std::string value);
  // Keeps earlier entries of that name (Warning, Set-Cookie); find() and get() give the first.
  void add(std::string name, std::string value);
  // nullptr when absent.
  const std::string* find(std::string_view name) const;
  std::string_view get(std::string_view name) const;  // empty when absent
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

struct Request {
  std::string method = "GET";
  std::string target;  // path and query as sent: "/api/v1/pods?watch=1"
  Headers headers;
  std::string body;

  // Everything before the question mark, still percent-encoded.
  std::string_view path() const;
  // Decoded value of a query parameter; nullopt when absent.
  std::optional<std::string> query(std::string_view name) const;
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;

  static Response text(int status, std::string body);
  static Response json(int status, std::string body);
};

// Takes as long whatever the first difference is, so that nobody guesses a secret piece by piece.
// Texts of different length are told apart at once.
bool is_same_secret(std::string_view told, std::string_view secret);

std::string url_encode(std::string_view text);  // for one path segment or query value
std::string url_decode(std::string_view text);

}  // namespace millwright::net
