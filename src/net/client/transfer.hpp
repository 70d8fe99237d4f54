// One outgoing request as libcurl sees it. Everything but the constructor runs on the thread of
// the Multi that carries it.
#pragma once

#include "millwright/net/client.hpp"

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::net {

// What all transfers of a client have in common.
struct ClientSetup {
  ClientTls tls;
  ClientOptions options;
};

class Transfer {
 public:
  using Clock = std::chrono::steady_clock;
  // What to do with a piece of a streamed body: false asks to wait until resume(). An empty piece
  // says that the answer has begun.
  using OnData = std::function<bool(std::string_view)>;
  using OnDone = std::function<void(base::Result<Response>)>;

  // `on_data` is empty for a plain request, whose body is collected. `setup` must outlive it.
  Transfer(ClientRequest request, const ClientSetup& setup, OnData on_data, OnDone on_done);
  ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Makes the libcurl handle. Invalid names what is wrong with the request.
  base::Result<> prepare();
  CURL* handle() const { return easy_.get(); }

  // Reports the outcome, once; later calls do nothing.
  void finish(CURLcode code);
  void fail(base::Error error);

  bool is_stream() const { return on_data_ != nullptr; }
  // When a request that is still waiting for its turn is to be given up.
  std::optional<Clock::time_point> turn_deadline() const;
  base::Error turn_error() const;

  void resume();
  // When an idle stream is to be given up; nullopt when it has no idle timeout.
  std::optional<Clock::time_point> idle_deadline() const;
  base::Error idle_error() const;

 private:
  struct Free {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  using List = std::unique_ptr<curl_slist, Free>;

  base::Result<> prepare_headers();
  base::Result<> prepare_server_name();
  void prepare_body();
  void prepare_tls();
  void prepare_limits();
  void prepare_sockets();
  base::Error error_of(CURLcode code) const;
  int status() const;
  std::string name() const;

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  bool take_header(std::string_view line);
  std::size_t take_body(std::string_view bytes);
  static void append(List& list, const std::string& line);
  template <class T>
  void set(CURLoption option, T value);

  ClientRequest request_;
  const ClientTls& tls_;
  const ClientOptions& options_;
  OnData on_data_;
  OnDone on_done_;
  std::unique_ptr<CURL, Free> easy_;
  List headers_;
  List connect_to_;
  std::string url_;
  Response response_;
  std::size_t header_bytes_ = 0;
  bool head_ended_ = false;
  std::optional<base::Error> refused_;  // why a callback ended the transfer
  bool paused_ = false;
  const Clock::time_point created_;
  Clock::time_point last_activity_;
  std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace millwright::net
