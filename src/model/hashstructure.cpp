#include "millwright/model/hashstructure.hpp"

#include <array>
#include <cstddef>

namespace millwright::model::hashstructure {
namespace {

using WordBytes = std::array<unsigned char, 8>;

// FNV-1, 64 bits.
class Fnv {
 public:
  template <class Bytes>
  Fnv& add(const Bytes& bytes) {
    for (const auto byte : bytes) {
      hash_ *= 0x100000001b3ULL;
      hash_ ^= static_cast<unsigned char>(byte);
    }
    return *this;
  }
  Hash hash() const { return hash_; }

 private:
  Hash hash_ = 0xcbf29ce484222325ULL;
};

WordBytes little_endian(std::uint64_t word) {
  WordBytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(word >> (8 * i));
  }
  return bytes;
}

Hash ordered(Hash a, Hash b) {
  return Fnv().add(little_endian(a)).add(little_endian(b)).hash();
}
Hash finished(Hash unordered) {
  return Fnv().add(little_endian(unordered)).hash();
}

}  // namespace

Hash of_bytes(std::span<const unsigned char> bytes) {
  return Fnv().add(bytes).hash();
}
Hash of_text(std::string_view text) {
  return Fnv().add(text).hash();
}
Hash of_int64(std::int64_t value) {
  return of_bytes(little_endian(static_cast<std::uint64_t>(value)));
}
Hash of_int32(std::int32_t value) {
  const WordBytes bytes = little_endian(static_cast<std::uint32_t>(value));
  return of_bytes(std::span(bytes).first<4>());
}
Hash of_bool(bool value) {
  const std::array<unsigned char, 1> byte{static_cast<unsigned char>(value ? 1 : 0)};
  return of_bytes(byte);
}

Map& Map::entry(std::string_view key, Hash value) {
  hash_ ^= ordered(of_text(key), value);
  return *this;
}
Hash Map::hash() const {
  return finished(hash_);
}

Hash of_map(const StringMap& map) {
  Map hash;
  for (const auto& [key, value] : map) {
    hash.entry(key, of_text(value));
  }
  return hash.hash();
}

Struct& Struct::field(std::string_view go_name, Hash value) {
  hash_ = finished(hash_ ^ ordered(of_text(go_name), value));
  return *this;
}
Struct& Struct::text(std::string_view go_name, std::string_view value) {
  return value.empty() ? *this : field(go_name, of_text(value));
}

Hash of_duration(base::Duration value) {
  Struct hash("Duration");
  if (value != base::Duration::zero()) {
    hash.field("Duration", of_int64(value.count()));
  }
  return hash.hash();
}

}  // namespace millwright::model::hashstructure
