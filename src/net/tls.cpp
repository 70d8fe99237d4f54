#include "net/tls.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

namespace millwright::net {

using base::ErrorKind;
using base::fail;
using base::Result;

// The channel's two strings as OpenSSL sees them: a BIO that reads `input_` and appends to
// `output_`. A memory BIO would do too, but keeps its largest size for as long as it lives.
struct TlsBio {
  static TlsChannel& channel(BIO* bio) { return *static_cast<TlsChannel*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* data, int size) {
    BIO_clear_retry_flags(bio);
    std::string_view& input = channel(bio).input_;
    if (input.empty()) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const std::size_t n = std::min(input.size(), static_cast<std::size_t>(std::max(size, 0)));
    std::memcpy(data, input.data(), n);
    input.remove_prefix(n);
    return static_cast<int>(n);
  }

  static int write(BIO* bio, const char* data, int size) {
    BIO_clear_retry_flags(bio);
    channel(bio).output_.append(data, static_cast<std::size_t>(std::max(size, 0)));
    return size;
  }

  static long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static BIO* make(TlsChannel* channel) {
    static BIO_METHOD* const kMethod = [] {
      BIO_METHOD* method =
          BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "millwright session");
      BIO_meth_set_read(method, read);
      BIO_meth_set_write(method, write);
      BIO_meth_set_ctrl(method, control);
      return method;
    }();
    BIO* bio = BIO_new(kMethod);
    BIO_set_data(bio, channel);
    BIO_set_init(bio, 1);
    return bio;
  }
};

namespace {

template <auto Function>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Function(object);
  }
};
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using X509Ptr = std::unique_ptr<X509, Deleter<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;

// The first reason in OpenSSL's queue, which is emptied.
std::string openssl_reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "unknown reason";
}

base::Result<> invalid(std::string_view what) {
  return fail(ErrorKind::Invalid,
              "TLS identity: " + std::string(what) + " (" + openssl_reason() + ")");
}

BioPtr reader(const std::string& pem) {
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(std::min<std::size_t>(
                                                pem.size(), static_cast<std::size_t>(INT_MAX)))));
}

// A passphrase is never asked for: an encrypted key is an error, not a prompt on the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return 0;
}

Result<> use_chain(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = reader(pem);
  const X509Ptr leaf(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
  if (!leaf) {
    return invalid("certificate_pem holds no readable certificate");
  }
  if (SSL_CTX_use_certificate(context, leaf.get()) != 1) {
    return invalid("the certificate cannot be used");
  }
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)) {
    if (SSL_CTX_add0_chain_cert(context, next) != 1) {
      X509_free(next);
      return invalid("the certificate chain cannot be used");
    }
  }
  ERR_clear_error();  // the end of the PEM text
  return {};
}

Result<> use_key(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = reader(pem);
  const KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!key) {
    return invalid("key_pem holds no readable private key; it must be PEM without a passphrase");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return invalid("the private key does not belong to the certificate");
  }
  return {};
}

Result<> require_clients(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = reader(pem);
  int count = 0;
  while (true) {
    const X509Ptr ca(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
    if (!ca) {
      break;
    }
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca.get());
    SSL_CTX_add_client_CA(context, ca.get());
    ++count;
  }
  if (count == 0) {
    return invalid("client_ca_pem holds no readable certificate");
  }
  ERR_clear_error();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

// HTTP/1.1 is all there is; a peer that offers only something else goes on without ALPN.
int select_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int size, void* /*data*/) {
  constexpr std::string_view kHttp = "http/1.1";
  for (unsigned int at = 0; at < size;) {
    const unsigned int length = offered[at];
    if (at + 1 + length > size) {
      break;
    }
    if (length == kHttp.size() && std::equal(kHttp.begin(), kHttp.end(), offered + at + 1)) {
      *out = offered + at + 1;
      *out_size = static_cast<unsigned char>(length);
      return SSL_TLSEXT_ERR_OK;
    }
    at += 1 + length;
  }
  return SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

void TlsContext::Free::operator()(SSL_CTX* context) const {
  SSL_CTX_free(context);
}
void TlsChannel::Free::operator()(SSL* ssl) const {
  SSL_free(ssl);
}

Result<std::shared_ptr<const TlsContext>> TlsContext::make(const TlsIdentity& identity) {
  ERR_clear_error();
  auto made = std::make_shared<TlsContext>();
  made->context_.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = made->context_.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
    return fail(ErrorKind::Internal, "TLS cannot be set up: " + openssl_reason());
  }
  SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context, select_protocol, nullptr);
  // Resumption with client certificates needs a name for the sessions of this server.
  constexpr std::array<unsigned char, 4> kSessions{'m', 'i', 'l', 'l'};
  SSL_CTX_set_session_id_context(context, kSessions.data(), kSessions.size());
  auto used = use_chain(context, identity.certificate_pem);
  if (used) {
    used = use_key(context, identity.key_pem);
  }
  if (used && !identity.client_ca_pem.empty()) {
    used = require_clients(context, identity.client_ca_pem);
  }
  if (!used) {
    return tl::unexpected(used.error());
  }
  return made;
}

TlsChannel::TlsChannel(const TlsContext& context) : ssl_(SSL_new(context.context_.get())) {
  if (!ssl_) {
    ERR_clear_error();
    throw std::bad_alloc();
  }
  BIO* bio = TlsBio::make(this);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_accept_state(ssl_.get());
}

TlsChannel::~TlsChannel() = default;

TlsChannel::Plain TlsChannel::read(std::span<char> buffer) {
  if (!failure_.empty()) {
    return {Status::Failed, 0};
  }
  ERR_clear_error();
  std::size_t size = 0;
  const int result = SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &size);
  if (result == 1) {
    return {Status::Data, size};
  }
  const int error = SSL_get_error(ssl_.get(), result);
  if (error == SSL_ERROR_WANT_READ) {
    return {Status::Starved, 0};
  }
  if (error == SSL_ERROR_ZERO_RETURN) {
    return {Status::Closed, 0};
  }
  const bool plain = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
  failure_ = openssl_reason();
  return {plain ? Status::PlainHttp : Status::Failed, 0};
}

bool TlsChannel::write(std::string_view plaintext) {
  if (!failure_.empty()) {
    return false;
  }
  ERR_clear_error();
  std::size_t written = 0;
  // The output never fills, so everything is taken at once.
  if (SSL_write_ex(ssl_.get(), plaintext.data(), plaintext.size(), &written) != 1 ||
      written != plaintext.size()) {
    failure_ = openssl_reason();
    return false;
  }
  return true;
}

void TlsChannel::shut_down() {
  if (failure_.empty() && SSL_is_init_finished(ssl_.get()) == 1) {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
  }
}

}  // namespace millwright::net
