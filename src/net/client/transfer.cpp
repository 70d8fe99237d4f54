#include "net/client/transfer.hpp"

#include "millwright/base/text.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace millwright::net {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

constexpr std::size_t kResponseHeaderLimit = 256U << 10;

bool has_line_break(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

// For messages: user names, passwords and queries may be secrets.
std::string without_secrets(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) {
    return std::string(url.substr(url.rfind('@') + 1));
  }
  const std::size_t host = scheme + 3;
  const std::string_view authority = url.substr(host, url.find('/', host) - host);
  const std::size_t user_end = authority.rfind('@');
  std::string out(url.substr(0, host));
  return out.append(url.substr(user_end == std::string_view::npos ? host : host + user_end + 1));
}

// A peer whose machine is gone acknowledges nothing and resets nothing. The system would send again
// for 15 minutes, and send no keepalive meanwhile; and libcurl, whose requests share a connection
// (HTTP/2), goes on with it after a request that timed out. A window that stays shut, since the
// peer does not read, is the same to the system.
void find_dead_peer(int socket, std::chrono::milliseconds unacknowledged_limit) {
  const auto limit = static_cast<unsigned int>(unacknowledged_limit.count());
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
}

// Credential plugins run as child processes and must not inherit connections.
curl_socket_t open_socket(void* options, curlsocktype /*purpose*/, curl_sockaddr* address) {
  const int opened = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (opened >= 0) {
    find_dead_peer(opened, static_cast<const ClientOptions*>(options)->unacknowledged_limit);
  }
  return opened;
}

struct CurlFree {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
  void operator()(char* text) const { curl_free(text); }
};
using UrlPtr = std::unique_ptr<CURLU, CurlFree>;

std::string part_of(CURLU* url, CURLUPart part, unsigned int flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) {
    return {};
  }
  const std::unique_ptr<char, CurlFree> owned(text);
  return text;
}

}  // namespace

template <class T>
void Transfer::set(CURLoption option, T value) {
  curl_easy_setopt(easy_.get(), option, value);
}

Transfer::Transfer(ClientRequest request, const ClientSetup& setup, OnData on_data, OnDone on_done)
    : request_(std::move(request)),
      tls_(setup.tls),
      options_(setup.options),
      on_data_(std::move(on_data)),
      on_done_(std::move(on_done)),
      url_(request_.url),
      created_(Clock::now()),
      last_activity_(created_) {}

std::string Transfer::name() const {
  return request_.method + " " + without_secrets(request_.url);
}

void Transfer::append(List& list, const std::string& line) {
  if (curl_slist* grown = curl_slist_append(list.get(), line.c_str())) {
    static_cast<void>(list.release());
    list.reset(grown);
  }
}

Result<> Transfer::prepare() {
  last_activity_ = Clock::now();
  easy_.reset(curl_easy_init());
  if (!easy_) {
    return base::fail(ErrorKind::Internal, name() + ": libcurl cannot be set up");
  }
  if (has_line_break(request_.url) || has_line_break(request_.method)) {
    return base::fail(ErrorKind::Invalid, name() + ": the URL must not contain a line break");
  }
  auto ready = prepare_headers();
  if (ready && !tls_.server_name.empty()) {
    ready = prepare_server_name();
  }
  if (!ready) {
    return ready;
  }
  prepare_body();
  prepare_tls();
  prepare_limits();
  prepare_sockets();
  set(CURLOPT_URL, url_.c_str());
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_ERRORBUFFER, error_.data());
  set(CURLOPT_HTTPHEADER, headers_.get());
  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  set(CURLOPT_WRITEDATA, this);
  return {};
}

Result<> Transfer::prepare_headers() {
  for (const auto& [key, value] : request_.headers) {
    if (key.empty() || has_line_break(key) || has_line_break(value)) {
      return base::fail(ErrorKind::Invalid, name() + ": the header " +
                                                (has_line_break(key) ? "name" : "\"" + key + "\"") +
                                                " must not be empty or contain a line break");
    }
    // libcurl's spelling of a header without a value.
    append(headers_, value.empty() ? key + ";" : key + ": " + value);
  }
  if (request_.headers.find("User-Agent") == nullptr) {
    append(headers_, "User-Agent: millwright/" MILLWRIGHT_VERSION);
  }
  // libcurl would invent a form's type, and wait a second for leave to send a large body.
  if (request_.headers.find("Content-Type") == nullptr) {
    append(headers_, "Content-Type:");
  }
  append(headers_, "Expect:");
  return {};
}

// Asks for `server_name` and connects to the URL's own host: so both SNI and the verification use
// the name, and connections are shared by name.
Result<> Transfer::prepare_server_name() {
  const UrlPtr url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, request_.url.c_str(), 0) != CURLUE_OK) {
    return base::fail(ErrorKind::Invalid, name() + ": the URL is not understood");
  }
  const std::string host = part_of(url.get(), CURLUPART_HOST);
  const std::string port = part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (host == tls_.server_name) {
    return {};
  }
  if (request_.headers.find("Host") == nullptr) {
    const std::string explicit_port = part_of(url.get(), CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
    append(headers_, "Host: " + host + (explicit_port.empty() ? "" : ":" + explicit_port));
  }
  if (curl_url_set(url.get(), CURLUPART_HOST, tls_.server_name.c_str(), 0) != CURLUE_OK) {
    return base::fail(ErrorKind::Invalid,
                      name() + ": \"" + tls_.server_name + "\" is not a valid server name");
  }
  url_ = part_of(url.get(), CURLUPART_URL);
  append(connect_to_, tls_.server_name + ":" + port + ":" + host + ":" + port);
  set(CURLOPT_CONNECT_TO, connect_to_.get());
  return {};
}

void Transfer::prepare_body() {
  const std::string& method = request_.method;
  if (method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
    return;
  }
  if (!request_.body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set(CURLOPT_POSTFIELDS, request_.body.c_str());
  }
  set(CURLOPT_CUSTOMREQUEST, method.c_str());
}

void Transfer::prepare_tls() {
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  const auto blob = [this](CURLoption option, const std::string& pem) {
    if (!pem.empty()) {
      // libcurl only reads it, and copies what it keeps beyond this transfer.
      curl_blob data{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_NOCOPY};
      set(option, &data);
    }
  };
  blob(CURLOPT_CAINFO_BLOB, tls_.ca_pem);
  if (!tls_.ca_pem.empty()) {
    // libcurl was built with a directory of CAs that it would trust besides.
    set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
  }
  blob(CURLOPT_SSLCERT_BLOB, tls_.certificate_pem);
  blob(CURLOPT_SSLKEY_BLOB, tls_.key_pem);
  if (tls_.insecure_skip_verify) {
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
}

void Transfer::prepare_limits() {
  set(CURLOPT_NOSIGNAL, 1L);
  // Or giving up a transfer while its name is being resolved would hold up all others.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Rather share a connection that is being made than make another. Without TLS only the first
  // answer would tell that it cannot be shared, and a watch may be long in answering.
  if (url_.starts_with("https:")) {
    set(CURLOPT_PIPEWAIT, 1L);
  }
  set(CURLOPT_PATH_AS_IS, 1L);  // signatures cover the path as it was given
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, request_.follow_redirects ? 1L : 0L);
  set(CURLOPT_MAXREDIRS, 5L);
  set(CURLOPT_FRESH_CONNECT, request_.fresh_connection ? 1L : 0L);
  if (const auto deadline = turn_deadline()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
    set(CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
  }
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_timeout.count()));
}

void Transfer::prepare_sockets() {
  set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(CURLOPT_OPENSOCKETDATA, &options_);
  // Of a connection that is idle Linux heeds the limit alone, not how many probes were lost. So
  // several must fit into it, or one that is lost would end a connection that lives. By default
  // that is the first after 10 s, and one each 5 s.
  const long seventh =
      std::chrono::duration_cast<std::chrono::seconds>(options_.unacknowledged_limit).count() / 7;
  const long interval = std::max(1L, seventh);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, 2 * interval);
  set(CURLOPT_TCP_KEEPINTVL, interval);
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  const std::string_view line(data, size * count);
  return static_cast<Transfer*>(self)->take_header(line) ? line.size() : 0;
}

bool Transfer::take_header(std::string_view line) {
  last_activity_ = Clock::now();
  header_bytes_ += line.size();
  if (header_bytes_ > kResponseHeaderLimit) {
    refused_ = Error{ErrorKind::Unavailable, name() + ": the answer's headers do not end"};
    return false;
  }
  if (line.starts_with("HTTP/")) {
    response_.headers = {};  // of an answer before: 100 Continue, a redirect, a proxy's
    head_ended_ = false;
    return true;
  }
  if (line == "\r\n" || line == "\n") {
    head_ended_ = true;
    if (on_data_ && status() == 200) {
      on_data_({});
    }
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    response_.headers.add(std::string(line.substr(0, colon)),
                          std::string(base::trimmed(line.substr(colon + 1))));
  }
  return true;
}

int Transfer::status() const {
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->take_body({data, size * count});
}

std::size_t Transfer::take_body(std::string_view bytes) {
  last_activity_ = Clock::now();
  if (on_data_ && status() == 200) {
    if (on_data_(bytes)) {
      return bytes.size();
    }
    paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  if (response_.body.size() + bytes.size() > request_.body_limit) {
    refused_ = Error{ErrorKind::Invalid, name() + ": the answer is larger than the limit of " +
                                             std::to_string(request_.body_limit) + " bytes"};
    return 0;
  }
  response_.body.append(bytes);
  return bytes.size();
}

void Transfer::resume() {
  paused_ = false;
  last_activity_ = Clock::now();
  curl_easy_pause(easy_.get(), CURLPAUSE_CONT);
}

std::optional<Transfer::Clock::time_point> Transfer::idle_deadline() const {
  if (request_.idle_timeout.count() <= 0 || paused_) {
    return std::nullopt;
  }
  return last_activity_ + request_.idle_timeout;
}

Error Transfer::idle_error() const {
  return {ErrorKind::Timeout, name() + ": nothing arrived for " +
                                  std::to_string(request_.idle_timeout.count()) + " ms"};
}

std::optional<Transfer::Clock::time_point> Transfer::turn_deadline() const {
  if (request_.timeout.count() <= 0) {
    return std::nullopt;
  }
  return created_ + request_.timeout;
}

Error Transfer::turn_error() const {
  return {ErrorKind::Unavailable, name() + ": not sent within " +
                                      std::to_string(request_.timeout.count()) +
                                      " ms, since too many requests were under way"};
}

void Transfer::fail(Error error) {
  if (const auto done = std::exchange(on_done_, nullptr)) {
    done(tl::unexpected(std::move(error)));
  }
}

void Transfer::finish(CURLcode code) {
  if (code != CURLE_OK) {
    fail(refused_ ? std::move(*refused_) : error_of(code));
    return;
  }
  if (!head_ended_) {
    // libcurl takes a connection that closes here for the end of the headers.
    fail({ErrorKind::Unavailable, name() + ": the answer ended within its headers"});
    return;
  }
  response_.status = status();
  if (const auto done = std::exchange(on_done_, nullptr)) {
    done(std::move(response_));
  }
}

Error Transfer::error_of(CURLcode code) const {
  const char* detail = error_.front() != '\0' ? error_.data() : curl_easy_strerror(code);
  const std::string message = name() + ": " + detail;
  curl_off_t connected_after = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_PRETRANSFER_TIME_T, &connected_after);
  const bool connected = connected_after > 0;
  if (code == CURLE_UNSUPPORTED_PROTOCOL && connected) {
    return {ErrorKind::Unavailable, message};  // the peer's protocol, not the URL's
  }
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      // Before the request was sent this is only a connection that did not come about.
      return {connected ? ErrorKind::Timeout : ErrorKind::Unavailable, message};
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {ErrorKind::Invalid, message + "; give a URL such as https://host:443/path"};
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
      return {ErrorKind::Invalid, message + "; check the client certificate, key and CA given"};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {ErrorKind::Unavailable,
              message + "; check that the CA given is the one that signed the server"};
    case CURLE_OUT_OF_MEMORY:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_FAILED_INIT:
      return {ErrorKind::Internal, message};
    default:
      return {ErrorKind::Unavailable, message};
  }
}

}  // namespace millwright::net
