// The hash of github.com/mitchellh/hashstructure/v2, format 2, with the options IgnoreZeroValue,
// SlicesAsSets and ZeroNil: Karpenter's drift hashes are made with it. It walks Go values, and the
// Go names of types and fields are part of it. Whoever builds a value here leaves out what Go calls
// zero (a nil pointer, slice or map, "", 0, false); what is present but empty counts.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/model/labels.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace millwright::model::hashstructure {

using Hash = std::uint64_t;

Hash of_bytes(std::span<const unsigned char> bytes);
Hash of_text(std::string_view text);
// An integer is hashed in its own width: Go's int64 and int32 with the same value differ.
Hash of_int64(std::int64_t value);
Hash of_int32(std::int32_t value);
Hash of_bool(bool value);

class Map {
 public:
  Map& entry(std::string_view key, Hash value);
  Hash hash() const;

 private:
  Hash hash_ = 0;
};
Hash of_map(const StringMap& map);

// A slice: its order does not count, and two equal elements cancel each other.
class Set {
 public:
  Set& add(Hash element) {
    hash_ ^= element;
    return *this;
  }
  Hash hash() const { return hash_; }

 private:
  Hash hash_ = 0;
};

// Fields must be given in the order in which Go declares them.
class Struct {
 public:
  explicit Struct(std::string_view go_type) : hash_(of_text(go_type)) {}
  Struct& field(std::string_view go_name, Hash value);
  // A Go string, not a pointer to one: empty text is left out.
  Struct& text(std::string_view go_name, std::string_view value);
  Hash hash() const { return hash_; }

 private:
  Hash hash_;
};

// metav1.Duration, a struct that holds its value directly.
Hash of_duration(base::Duration value);

}  // namespace millwright::model::hashstructure
