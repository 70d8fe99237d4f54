#include "net/server/request_parser.hpp"

#include "net/server/paths.hpp"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>

namespace millwright::net {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

// A declared length is only a claim: no more than this is reserved for it in advance.
constexpr std::uint64_t kReserveLimit = 64U << 10;

std::size_t limit_of(std::string_view target, std::size_t otherwise,
                     std::span<const BodyLimit> by_path) {
  const std::string_view path = target.substr(0, target.find('?'));
  const BodyLimit* best = nullptr;
  for (const BodyLimit& each : by_path) {
    if (covers(each.prefix, path) && (!best || each.prefix.size() > best->prefix.size())) {
      best = &each;
    }
  }
  return best == nullptr ? otherwise : best->bytes;
}

}  // namespace

// Collects straight into a Request. Trailers of a chunked body are dropped: a header that comes
// after the body was checked must not be mistaken for one that came before it.
class RequestParser::Grammar final : public http::basic_parser<true> {
 public:
  Grammar(std::size_t body_limit, std::span<const BodyLimit> by_path)
      : otherwise_(body_limit), by_path_(by_path) {}

  Request request;
  std::optional<Failure> failure;
  bool expects_continue = false;
  bool is_http_1_1 = false;

  void note(const error_code& ec) {
    if (ec == http::error::body_limit) {
      failure = Failure{413, "the request body is larger than this server accepts"};
    } else if (ec == http::error::header_limit) {
      failure = Failure{431, "too many or too large request headers"};
    } else {
      failure = Failure{400, "malformed request: " + ec.message()};
    }
  }

 private:
  void on_request_impl(http::verb /*method*/, string_view method_str, string_view target,
                       int version, error_code& /*ec*/) override {
    request.method.assign(method_str.data(), method_str.size());
    request.target.assign(target.data(), target.size());
    body_limit(limit_of(request.target, otherwise_, by_path_));
    is_http_1_1 = version >= 11;
  }
  void on_response_impl(int /*code*/, string_view /*reason*/, int /*version*/,
                        error_code& /*ec*/) override {}
  void on_field_impl(http::field name, string_view name_string, string_view value,
                     error_code& ec) override {
    if (is_header_done() || in_body_) {
      return;
    }
    if (++fields_ > kFieldLimit) {
      ec = http::error::header_limit;
      return;
    }
    if (name == http::field::expect) {
      expects_continue = boost::beast::iequals(value, "100-continue");
    } else if (name == http::field::transfer_encoding && !boost::beast::iequals(value, "chunked")) {
      // Any other coding would leave the end of the body open to interpretation.
      ec = http::error::bad_transfer_encoding;
      return;
    }
    request.headers.add(std::string(name_string), std::string(value));
  }
  void on_header_impl(error_code& /*ec*/) override { in_body_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& content_length,
                         error_code& /*ec*/) override {
    request.body.reserve(
        static_cast<std::size_t>(std::min(content_length.value_or(0), kReserveLimit)));
  }
  std::size_t on_body_impl(string_view body, error_code& /*ec*/) override {
    request.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, string_view /*extensions*/,
                            error_code& /*ec*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, string_view body,
                                 error_code& /*ec*/) override {
    request.body.append(body.data(), body.size());
    return body.size();
  }
  void on_finish_impl(error_code& /*ec*/) override {}

  std::size_t otherwise_;
  std::span<const BodyLimit> by_path_;
  std::size_t fields_ = 0;
  bool in_body_ = false;
};

RequestParser::RequestParser(std::size_t body_limit, std::span<const BodyLimit> by_path)
    : grammar_(std::make_unique<Grammar>(body_limit, by_path)) {
  grammar_->header_limit(static_cast<std::uint32_t>(kHeaderLimit));
  grammar_->eager(true);
}

RequestParser::~RequestParser() = default;

std::size_t RequestParser::put(std::string_view bytes) {
  error_code ec;
  const std::size_t used = grammar_->put(boost::asio::buffer(bytes.data(), bytes.size()), ec);
  if (ec && ec != http::error::need_more) {
    grammar_->note(ec);
  }
  return used;
}

bool RequestParser::has_head() const {
  return grammar_->is_header_done();
}
bool RequestParser::done() const {
  return grammar_->is_done();
}
const std::optional<RequestParser::Failure>& RequestParser::failure() const {
  return grammar_->failure;
}
bool RequestParser::expects_continue() const {
  return grammar_->expects_continue;
}
bool RequestParser::is_http_1_1() const {
  return grammar_->is_http_1_1;
}
bool RequestParser::keep_alive() const {
  return grammar_->keep_alive();
}
std::size_t RequestParser::body_size() const {
  return grammar_->request.body.size();
}
Request RequestParser::take() {
  return std::move(grammar_->request);
}

}  // namespace millwright::net
