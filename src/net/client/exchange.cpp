#include "net/client/exchange.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace millwright::net {
namespace {

std::string_view reason_phrase(int status) {
  struct Phrase {
    int status;
    std::string_view text;
  };
  static constexpr std::array kPhrases{
      Phrase{100, "Continue"},
      Phrase{200, "OK"},
      Phrase{201, "Created"},
      Phrase{202, "Accepted"},
      Phrase{204, "No Content"},
      Phrase{301, "Moved Permanently"},
      Phrase{302, "Found"},
      Phrase{304, "Not Modified"},
      Phrase{307, "Temporary Redirect"},
      Phrase{308, "Permanent Redirect"},
      Phrase{400, "Bad Request"},
      Phrase{401, "Unauthorized"},
      Phrase{403, "Forbidden"},
      Phrase{404, "Not Found"},
      Phrase{405, "Method Not Allowed"},
      Phrase{406, "Not Acceptable"},
      Phrase{408, "Request Timeout"},
      Phrase{409, "Conflict"},
      Phrase{410, "Gone"},
      Phrase{413, "Content Too Large"},
      Phrase{415, "Unsupported Media Type"},
      Phrase{422, "Unprocessable Content"},
      Phrase{429, "Too Many Requests"},
      Phrase{431, "Request Header Fields Too Large"},
      Phrase{500, "Internal Server Error"},
      Phrase{501, "Not Implemented"},
      Phrase{502, "Bad Gateway"},
      Phrase{503, "Service Unavailable"},
      Phrase{504, "Gateway Timeout"},
  };
  for (const Phrase& phrase : kPhrases) {
    if (phrase.status == status) {
      return phrase.text;
    }
  }
  return "Status";
}

bool has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

bool equals_ignoring_case(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

bool is_framing(std::string_view name) {
  return equals_ignoring_case(name, "content-length") ||
         equals_ignoring_case(name, "transfer-encoding") ||
         equals_ignoring_case(name, "connection");
}

// A line break inside a value would let it forge headers of its own.
void append_clean(std::string& out, std::string_view text) {
  for (const char c : text) {
    out.push_back(c == '\r' || c == '\n' || c == '\0' ? ' ' : c);
  }
}

class Handle final : public Exchange {
 public:
  Handle(std::shared_ptr<Outbox> outbox, std::string peer)
      : outbox_(std::move(outbox)), peer_(std::move(peer)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() override { outbox_->abandon(); }
  void respond(Response response) override { outbox_->respond(std::move(response)); }
  void start(int status, Headers headers) override { outbox_->start(status, std::move(headers)); }
  void write(std::string chunk) override { outbox_->write(std::move(chunk)); }
  void finish() override { outbox_->finish(); }
  void on_close(std::function<void()> callback) override { outbox_->on_close(std::move(callback)); }
  std::string peer() const override { return peer_; }

 private:
  std::shared_ptr<Outbox> outbox_;
  std::string peer_;
};

}  // namespace

std::string render_head(int status, const Headers& headers, std::string_view framing,
                        bool keep_alive) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + " ";
  out.append(reason_phrase(status)).append("\r\n");
  for (const auto& [name, value] : headers) {
    if (is_framing(name)) {
      continue;
    }
    append_clean(out, name);
    out.append(": ");
    append_clean(out, value);
    out.append("\r\n");
  }
  out.append(framing);
  if (!keep_alive) {
    out.append("Connection: close\r\n");
  }
  return out.append("\r\n");
}

std::string render_refusal(int status, std::string_view text) {
  Headers headers;
  headers.set("Content-Type", "text/plain; charset=utf-8");
  std::string body(text);
  body.push_back('\n');
  return render_head(status, headers, "Content-Length: " + std::to_string(body.size()) + "\r\n",
                     false) +
         body;
}

std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Outbox> outbox, std::string peer) {
  return std::make_shared<Handle>(std::move(outbox), std::move(peer));
}

Outbox::Outbox(Traits traits, std::function<void()> wake)
    : traits_(traits), wake_(std::move(wake)) {}

void Outbox::wake_locked() {
  if (!detached_ && !wake_pending_) {
    wake_pending_ = true;
    wake_();
  }
}

void Outbox::break_locked(const char* reason) {
  broken_ = reason;
  queue_.clear();
  queued_ = front_taken_ = 0;
  // A wake may be pending for long: until what is being written is written.
  wake_pending_ = false;
  wake_locked();
}

void Outbox::respond(Response response) {
  const std::scoped_lock lock(mutex_);
  if (begun_ || detached_) {
    return;
  }
  begun_ = finished_ = true;
  status_ = response.status;
  headers_ = std::move(response.headers);
  queued_ = response.body.size();
  if (queued_ != 0) {
    queue_.push_back(std::move(response.body));
  }
  wake_locked();
}

void Outbox::start(int status, Headers headers) {
  const std::scoped_lock lock(mutex_);
  if (begun_ || detached_) {
    return;
  }
  begun_ = streaming_ = true;
  status_ = status;
  headers_ = std::move(headers);
  wake_locked();
}

void Outbox::write(std::string chunk) {
  const std::scoped_lock lock(mutex_);
  if (!streaming_ || finished_ || detached_ || broken_ != nullptr || chunk.empty()) {
    return;
  }
  if (queued_ + chunk.size() > traits_.queue_limit) {
    break_locked("the peer reads its stream too slowly");
    return;
  }
  if (!traits_.head_only) {
    queued_ += chunk.size();
    queue_.push_back(std::move(chunk));
  }
  wake_locked();
}

void Outbox::finish() {
  const std::scoped_lock lock(mutex_);
  if (streaming_ && !finished_) {
    finished_ = true;
    wake_locked();
  }
}

void Outbox::abandon() {
  const std::scoped_lock lock(mutex_);
  if (finished_ || detached_) {
    return;
  }
  if (streaming_) {
    break_locked("the handler left its stream unfinished");
    return;
  }
  begun_ = finished_ = true;
  Response response = Response::text(500, "the request was not answered\n");
  status_ = response.status;
  headers_ = std::move(response.headers);
  queued_ = response.body.size();
  queue_.push_back(std::move(response.body));
  wake_locked();
}

void Outbox::on_close(std::function<void()> callback) {
  {
    const std::scoped_lock lock(mutex_);
    if (!peer_gone_) {
      if (!detached_) {
        on_close_.swap(callback);
      }
      return;
    }
  }
  callback();
}

void Outbox::take_head_locked(std::string& out, bool keep_alive) {
  head_taken_ = true;
  std::string framing;
  if (!streaming_) {
    if (has_body(status_)) {
      framing = "Content-Length: " + std::to_string(queued_) + "\r\n";
    }
  } else if (traits_.chunked) {
    framing = "Transfer-Encoding: chunked\r\n";
  }
  out = render_head(status_, headers_, framing, keep_alive);
  if (traits_.head_only || !has_body(status_)) {
    queue_.clear();
    queued_ = 0;
  }
}

std::string Outbox::take_payload_locked(std::size_t limit) {
  if (!queue_.empty() && front_taken_ == 0 && queue_.front().size() >= queued_ &&
      queued_ <= limit) {
    std::string whole = std::move(queue_.front());
    queue_.clear();
    queued_ = 0;
    return whole;
  }
  std::string payload;
  payload.reserve(std::min(limit, queued_));
  while (!queue_.empty() && payload.size() < limit) {
    const std::string& front = queue_.front();
    const std::size_t n = std::min(front.size() - front_taken_, limit - payload.size());
    payload.append(front, front_taken_, n);
    front_taken_ += n;
    if (front_taken_ == front.size()) {
      queue_.pop_front();
      front_taken_ = 0;
    }
  }
  queued_ -= payload.size();
  return payload;
}

const char* Outbox::broken() const {
  const std::scoped_lock lock(mutex_);
  return broken_;
}

Outbox::Taken Outbox::take(std::size_t limit, bool keep_alive) {
  const std::scoped_lock lock(mutex_);
  wake_pending_ = false;
  Taken taken;
  if (!begun_) {
    return taken;
  }
  if (!head_taken_) {
    close_asked_ = !keep_alive || (streaming_ && !traits_.chunked) ||
                   equals_ignoring_case(headers_.get("Connection"), "close");
    take_head_locked(taken.bytes, !close_asked_);
  }
  const std::string payload = take_payload_locked(limit);
  if (streaming_ && traits_.chunked && !traits_.head_only) {
    if (!payload.empty()) {
      std::array<char, 16> size{};
      const auto end = std::to_chars(size.data(), size.data() + size.size(), payload.size(), 16);
      taken.bytes.append(size.data(), end.ptr).append("\r\n").append(payload).append("\r\n");
    }
    if (finished_ && queue_.empty() && !end_taken_) {
      end_taken_ = true;
      taken.bytes.append("0\r\n\r\n");
    }
  } else if (taken.bytes.empty()) {
    taken.bytes = payload;
  } else {
    taken.bytes.append(payload);
  }
  taken.done = finished_ && queue_.empty();
  taken.keep_alive = !close_asked_;
  return taken;
}

void Outbox::hold_wakes(bool hold) {
  const std::scoped_lock lock(mutex_);
  wake_pending_ = hold;
}

bool Outbox::streaming() const {
  const std::scoped_lock lock(mutex_);
  return streaming_;
}

void Outbox::close_stream() {
  const std::scoped_lock lock(mutex_);
  if (streaming_) {
    finished_ = true;
  }
}

void Outbox::notify_closed() {
  std::function<void()> callback;
  {
    const std::scoped_lock lock(mutex_);
    peer_gone_ = true;
    callback.swap(on_close_);
  }
  if (callback) {
    callback();
  }
}

void Outbox::detach(bool notify) {
  {
    const std::scoped_lock lock(mutex_);
    detached_ = true;
    queue_.clear();
    queued_ = 0;
  }
  if (notify) {
    notify_closed();
  } else {
    // Let go outside the lock: it may hold an exchange.
    std::function<void()> forgotten;
    const std::scoped_lock lock(mutex_);
    forgotten.swap(on_close_);
  }
}

}  // namespace millwright::net
