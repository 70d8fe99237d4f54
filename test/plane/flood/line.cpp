#include "plane/flood/line.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace millwright::plane {
namespace {

constexpr std::size_t kLargestWrite = 1U << 20;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

std::unique_ptr<BIO, FreeBio> open_pem(const std::string& pem) {
  return std::unique_ptr<BIO, FreeBio>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

bool use_identity(SSL_CTX* context, const std::string& certificate_pem,
                  const std::string& key_pem) {
  const auto certificate_text = open_pem(certificate_pem);
  const auto key_text = open_pem(key_pem);
  const std::unique_ptr<X509, FreeCertificate> certificate(
      PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  const std::unique_ptr<EVP_PKEY, FreeKey> key(
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  return certificate != nullptr && key != nullptr &&
         SSL_CTX_use_certificate(context, certificate.get()) == 1 &&
         SSL_CTX_use_PrivateKey(context, key.get()) == 1;
}

sockaddr_in address_of(const std::string& text, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  return address;
}

const sockaddr* as_generic(const sockaddr_in& address) {
  return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

void be_patient(int socket) {
  const timeval limit{.tv_sec = Line::kPatience.count(), .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  // Also of the connection itself.
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

}  // namespace

void CallerTls::Free::operator()(SSL_CTX* context) const {
  SSL_CTX_free(context);
}

base::Result<CallerTls> CallerTls::make(const std::string& certificate_pem,
                                        const std::string& key_pem) {
  CallerTls tls;
  tls.context_.reset(SSL_CTX_new(TLS_client_method()));
  const bool any = !certificate_pem.empty();
  if (tls.context_ == nullptr ||
      (any && !use_identity(tls.context_.get(), certificate_pem, key_pem))) {
    ERR_clear_error();
    return base::fail(base::ErrorKind::Invalid, "the caller's certificate cannot be used");
  }
  SSL_CTX_set_verify(tls.context_.get(), SSL_VERIFY_NONE, nullptr);
  return tls;
}

std::unique_ptr<Line> Line::open(const std::string& from, int port, const CallerTls* tls) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) {
    return nullptr;
  }
  be_patient(socket);
  const auto here = address_of(from, 0);
  const auto there = address_of("127.0.0.1", port);
  if (::bind(socket, as_generic(here), sizeof here) != 0 ||
      ::connect(socket, as_generic(there), sizeof there) != 0) {
    ::close(socket);
    return nullptr;
  }
  SSL* session = tls == nullptr ? nullptr : SSL_new(tls->context_.get());
  if (session != nullptr) {
    SSL_set_fd(session, socket);
  }
  return std::unique_ptr<Line>(new Line(socket, session));
}

Line::~Line() {
  SSL_free(tls_);
  ::close(socket_);
}

void Line::half_open() {
  if (tls_ == nullptr) {
    send("POS");
    return;
  }
  ERR_clear_error();
  ::fcntl(socket_, F_SETFL, O_NONBLOCK);
  SSL_connect(tls_);
}

bool Line::shake_hands() {
  ERR_clear_error();
  return tls_ == nullptr || SSL_connect(tls_) == 1;
}

long Line::write_some(std::string_view text) {
  const std::size_t size = std::min(text.size(), kLargestWrite);
  if (tls_ == nullptr) {
    return ::send(socket_, text.data(), size, MSG_NOSIGNAL);
  }
  ERR_clear_error();
  return SSL_write(tls_, text.data(), static_cast<int>(size));
}

long Line::read_some(char* into, std::size_t size) {
  if (tls_ == nullptr) {
    return ::recv(socket_, into, size, 0);
  }
  ERR_clear_error();
  return SSL_read(tls_, into, static_cast<int>(size));
}

bool Line::send(std::string_view text) {
  while (!text.empty()) {
    const long sent = write_some(text);
    if (sent <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

int Line::read_status() {
  constexpr std::string_view kBegin = "HTTP/1.1 ";
  constexpr std::size_t kEnough = kBegin.size() + 3;
  std::array<char, 4096> buffer{};
  std::string answer;
  while (answer.size() < kEnough) {
    const long got = read_some(buffer.data(), buffer.size());
    if (got <= 0) {
      return 0;
    }
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return answer.starts_with(kBegin) ? std::atoi(answer.c_str() + kBegin.size()) : 0;
}

}  // namespace millwright::plane
