#include "unit/net/support.hpp"

#include "unit/net/sockets.hpp"

#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace millwright::net::test {
Wire::Wire(std::uint16_t port, int receive_buffer) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
  if (receive_buffer > 0) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
  }
  set_patience(fd_);
  const sockaddr_in address = local(port);
  EXPECT_EQ(::connect(fd_, generic(address), sizeof(address)), 0);
}

Wire::~Wire() {
  close();
}

void Wire::close() {
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
}

void Wire::reset() {
  const linger now{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  close();
}

bool Wire::readable() const {
  char byte = 0;
  return !buffer_.empty() || ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

void Wire::finish_sending() const {
  ::shutdown(fd_, SHUT_WR);
}

bool Wire::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool Wire::receive() {
  char chunk[16384];
  const ssize_t n = ::recv(fd_, chunk, sizeof(chunk), 0);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    ADD_FAILURE() << "nothing came; so far: " << buffer_;
  }
  if (n <= 0) {
    return false;
  }
  buffer_.append(chunk, static_cast<std::size_t>(n));
  return true;
}

std::string Wire::read_until(std::string_view end) {
  std::size_t from = 0;
  while (true) {
    const std::size_t found = buffer_.find(end, from);
    if (found != std::string::npos) {
      std::string out = buffer_.substr(0, found + end.size());
      buffer_.erase(0, out.size());
      return out;
    }
    from = buffer_.size() > end.size() ? buffer_.size() - end.size() : 0;
    if (!receive()) {
      return std::exchange(buffer_, {});
    }
  }
}

std::string Wire::read_answer() {
  std::string answer = read_until("\r\n\r\n");
  const std::size_t at = answer.find("Content-Length: ");
  if (at == std::string::npos) {
    return answer;
  }
  const std::size_t size = std::stoul(answer.substr(at + 16));
  while (buffer_.size() < size) {
    if (!receive()) {
      break;
    }
  }
  answer += buffer_.substr(0, size);
  buffer_.erase(0, std::min(size, buffer_.size()));
  return answer;
}

std::string Wire::read_all() {
  while (receive()) {
  }
  return std::exchange(buffer_, {});
}

TlsWire::TlsWire(std::uint16_t port, const Options& options)
    : wire_(port), context_(SSL_CTX_new(TLS_client_method())), ssl_(nullptr) {
  SSL_CTX_set_security_level(context_, 0);  // so that old protocols can be offered at all
  SSL_CTX_set_min_proto_version(context_, options.min_version);
  SSL_CTX_set_max_proto_version(context_, options.max_version);
  ssl_ = SSL_new(context_);
  if (!options.client.key_pem.empty()) {
    BIO* bio = BIO_new_mem_buf(options.client.certificate_pem.data(), -1);
    X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    bio = BIO_new_mem_buf(options.client.key_pem.data(), -1);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    SSL_use_certificate(ssl_, certificate);
    SSL_use_PrivateKey(ssl_, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  std::vector<unsigned char> protocols;
  for (const std::string& name : options.alpn) {
    protocols.push_back(static_cast<unsigned char>(name.size()));
    protocols.insert(protocols.end(), name.begin(), name.end());
  }
  if (!protocols.empty()) {
    SSL_set_alpn_protos(ssl_, protocols.data(), static_cast<unsigned>(protocols.size()));
  }
  SSL_set_fd(ssl_, wire_.fd());
  connected_ = SSL_connect(ssl_) == 1;
  ERR_clear_error();
}

TlsWire::~TlsWire() {
  SSL_free(ssl_);
  SSL_CTX_free(context_);
}

std::string TlsWire::version() const {
  return SSL_get_version(ssl_);
}

std::string TlsWire::alpn() const {
  const unsigned char* data = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_, &data, &size);
  return {data, data + size};
}

std::string TlsWire::peer_serial() const {
  X509* peer = SSL_get1_peer_certificate(ssl_);
  if (peer == nullptr) {
    return {};
  }
  BIGNUM* number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(peer), nullptr);
  char* text = BN_bn2hex(number);
  std::string serial = text;
  OPENSSL_free(text);
  BN_free(number);
  X509_free(peer);
  return serial;
}

std::string TlsWire::get(const std::string& path) {
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
  std::string answer;
  if (SSL_write(ssl_, request.data(), static_cast<int>(request.size())) > 0) {
    char c = 0;
    while (!answer.ends_with("\r\n\r\n") && SSL_read(ssl_, &c, 1) == 1) {
      answer.push_back(c);
    }
  }
  ERR_clear_error();
  return answer;
}

const Identities& identities() {
  static const Identities kAll = [] {
    using std::chrono::hours;
    const auto now = base::system_now();
    const certs::Validity life{now - hours(1), now + hours(48)};
    Identities all;
    all.ca = *certs::make_ca("test CA", life);
    all.other_ca = *certs::make_ca("other CA", life);
    all.server = *certs::make_leaf(all.ca, "server", {"localhost"}, {"127.0.0.1"}, life);
    all.renewed = *certs::make_leaf(all.ca, "server", {"localhost"}, {"127.0.0.1"}, life);
    all.client = *certs::make_client_leaf(all.ca, "client", {}, life);
    all.foreign_client = *certs::make_client_leaf(all.other_ca, "client", {}, life);
    return all;
  }();
  return kAll;
}

TlsIdentity server_identity(const std::string& client_ca) {
  return {identities().server.certificate_pem, identities().server.key_pem, client_ca};
}

ServerOptions Site::plain() {
  ServerOptions options;
  options.tls = false;
  return options;
}
ServerOptions Site::tls() {
  return {};
}

Site::Site(Handler handler, ServerOptions options, TlsIdentity identity) : tls_(options.tls) {
  if (tls_ && identity.key_pem.empty()) {
    identity = server_identity();
  }
  auto started = Server::start(std::move(options), std::move(handler), std::move(identity));
  EXPECT_TRUE(started) << started.error().message;
  server_ = std::move(started).value();
}

std::string Site::url(const std::string& path) const {
  return (tls_ ? "https" : "http") + ("://127.0.0.1:" + std::to_string(port())) + path;
}

std::string post(const std::string& body) {
  return "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

void expect_alive(const Site& site) {
  Wire wire(site.port());
  EXPECT_TRUE(wire.send(kGet));
  EXPECT_TRUE(wire.read_answer().starts_with("HTTP/1.1 200 OK\r\n"));
}

Handler echo() {
  return [](Request request, const std::shared_ptr<Exchange>& exchange) {
    Response response = Response::text(200, std::move(request.body));
    response.headers.set("X-Seen", request.method + " " + request.target);
    exchange->respond(std::move(response));
  };
}

void Event::set() {
  const std::scoped_lock lock(mutex_);
  set_ = true;
  changed_.notify_all();
}

bool Event::is_set() const {
  const std::scoped_lock lock(mutex_);
  return set_;
}

bool Event::wait() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [this] { return set_; });
}

bool Event::wait_for(const std::function<bool()>& condition) {
  std::unique_lock lock(mutex_);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    changed_.wait_for(lock, std::chrono::milliseconds(1));
  }
  return true;
}

namespace {

base::Task<void> run_then_stop(base::RealLoop& loop, base::Task<void> task) {
  co_await std::move(task);
  loop.stop();
}

}  // namespace

void run_on(base::RealLoop& loop, base::Task<void> task) {
  base::TaskGroup group(loop);
  group.spawn(run_then_stop(loop, std::move(task)));
  loop.run();
}

}  // namespace millwright::net::test
