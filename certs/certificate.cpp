#include "certs/certificate.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <climits>
#include <ctime>

namespace millwright::certs {
namespace {

using base::ErrorKind;
using base::Result;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

Bio reader(const std::string& text) {
  const std::size_t size = std::min<std::size_t>(text.size(), INT_MAX);
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(size)));
}

std::string contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

// A passphrase is never asked for: an encrypted key is an error, not a prompt on the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return 0;
}

X509* read_certificate(BIO* bio) {
  return PEM_read_bio_X509(bio, nullptr, no_passphrase, nullptr);
}

std::string text_of(const ASN1_OCTET_STRING* address) {
  const unsigned char* bytes = ASN1_STRING_get0_data(address);
  const int size = ASN1_STRING_length(address);
  std::string text;
  std::array<char, 8> part{};
  if (size == 4) {
    for (int i = 0; i < 4; ++i) {
      text += (i != 0 ? "." : "") + std::to_string(bytes[i]);
    }
  } else if (size == 16) {
    for (int i = 0; i < 16; i += 2) {
      std::snprintf(part.data(), part.size(), "%s%x", i != 0 ? ":" : "",
                    static_cast<unsigned>(bytes[i] * 256 + bytes[i + 1]));
      text += part.data();
    }
  }
  return text;
}

void sort_unique(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

}  // namespace

tl::unexpected<base::Error> openssl_failure(ErrorKind kind, std::string_view what) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return base::fail(kind,
                    std::string(what) + ": " + (reason != nullptr ? reason : "unknown reason"));
}

Result<Certificate> parse_certificate(std::string_view what, const std::string& pem) {
  ERR_clear_error();
  Certificate certificate(read_certificate(reader(pem).get()));
  if (!certificate) {
    return openssl_failure(ErrorKind::Invalid, std::string(what) + " is no readable certificate");
  }
  return certificate;
}

Result<std::vector<Certificate>> parse_bundle(std::string_view what, const std::string& pem) {
  ERR_clear_error();
  const Bio bio = reader(pem);
  std::vector<Certificate> all;
  while (X509* next = read_certificate(bio.get())) {
    all.emplace_back(next);
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (all.empty() || !at_end) {
    return openssl_failure(ErrorKind::Invalid,
                           std::string(what) + " holds a certificate that is not readable");
  }
  ERR_clear_error();
  return all;
}

Result<Key> parse_key(std::string_view what, const std::string& pem) {
  ERR_clear_error();
  Key key(PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, no_passphrase, nullptr));
  if (!key) {
    return openssl_failure(ErrorKind::Invalid, std::string(what) + " is no readable private key");
  }
  return key;
}

Result<std::string> to_pem(const X509& certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_X509(bio.get(), &certificate) != 1) {
    return openssl_failure(ErrorKind::Internal, "cannot write a certificate");
  }
  return contents(bio.get());
}

Result<std::string> to_pem(const EVP_PKEY& key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio ||
      PEM_write_bio_PKCS8PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return openssl_failure(ErrorKind::Internal, "cannot write a private key");
  }
  return contents(bio.get());
}

Result<base::TimePoint> to_time(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return openssl_failure(ErrorKind::Invalid, "a certificate's validity is not readable");
  }
  using std::chrono::day, std::chrono::month, std::chrono::year;
  const std::chrono::year_month_day date{year(parts.tm_year + 1900),
                                         month(static_cast<unsigned>(parts.tm_mon) + 1),
                                         day(static_cast<unsigned>(parts.tm_mday))};
  const std::chrono::sys_seconds seconds =
      std::chrono::sys_days(date) + std::chrono::hours(parts.tm_hour) +
      std::chrono::minutes(parts.tm_min) + std::chrono::seconds(parts.tm_sec);
  // "Never" (year 9999) is beyond what nanoseconds can count.
  constexpr auto kFirst = std::chrono::ceil<std::chrono::seconds>(base::TimePoint::min());
  constexpr auto kLast = std::chrono::floor<std::chrono::seconds>(base::TimePoint::max());
  return std::clamp(seconds, kFirst, kLast);
}

Names names_of(const X509& certificate) {
  Names names;
  auto* list = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(list); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(list, i);
    if (name->type == GEN_DNS) {
      const auto* text = name->d.dNSName;
      const auto* data = static_cast<const void*>(ASN1_STRING_get0_data(text));
      names.dns.emplace_back(static_cast<const char*>(data),
                             static_cast<std::size_t>(ASN1_STRING_length(text)));
    } else if (name->type == GEN_IPADD) {
      names.ip.push_back(text_of(name->d.iPAddress));
    }
  }
  GENERAL_NAMES_free(list);
  sort_unique(names.dns);
  sort_unique(names.ip);
  return names;
}

std::string canonical_ip(const std::string& text) {
  ASN1_OCTET_STRING* address = a2i_IPADDRESS(text.c_str());
  if (address == nullptr) {
    ERR_clear_error();
    return {};
  }
  std::string out = text_of(address);
  ASN1_OCTET_STRING_free(address);
  return out;
}

}  // namespace millwright::certs
