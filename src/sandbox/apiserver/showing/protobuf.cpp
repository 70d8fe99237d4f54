#include "sandbox/apiserver/showing/protobuf.hpp"

#include "millwright/base/base64.hpp"
#include "millwright/base/time.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <map>
#include <sstream>

namespace millwright::sandbox {

namespace {

struct Field {
  std::string name;
  std::string type;
};
using Message = std::map<std::uint64_t, Field>;

const std::map<std::string, Message, std::less<>>& messages() {
  static const auto kMessages = [] {
    std::map<std::string, Message, std::less<>> all;
    std::istringstream text{std::string(protobuf_schema())};
    Message* current = nullptr;
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      std::string word;
      if (!line.empty() && line.front() != ' ') {
        words >> word;
        current = &all[word];
      }
      while (words >> word) {
        const auto first = word.find(':');
        const auto second = word.find(':', first + 1);
        (*current)[std::stoul(word.substr(first + 1, second - first - 1))] =
            Field{word.substr(0, first), word.substr(second + 1)};
      }
    }
    return all;
  }();
  return kMessages;
}

// One field as it stands on the wire.
struct Token {
  std::uint64_t number = 0;
  bool is_bytes = false;
  std::uint64_t value = 0;
  std::string_view bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  bool broken() const { return broken_; }

  Token next() {
    Token token;
    const auto tag = varint();
    token.number = tag >> 3U;
    switch (tag & 7U) {
      case 0:
        token.value = varint();
        break;
      case 2: {
        token.is_bytes = true;
        const auto size = varint();
        if (size > rest_.size()) {
          give_up();
          break;
        }
        token.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        break;
      }
      default:
        give_up();  // the API's messages have no fixed-width fields
    }
    return token;
  }

 private:
  void give_up() {
    broken_ = true;
    rest_ = {};
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) {
        give_up();
        return 0;
      }
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
    give_up();
    return 0;
  }

  std::string_view rest_;
  bool broken_ = false;
};

class Decoder {
 public:
  Json message(std::string_view name, std::string_view bytes, int depth) {
    boost::json::object object;
    const auto found = messages().find(name);
    if (found == messages().end() || depth > kMaxDepth) {
      problem_ = fmt::format("{} is not known to the sandbox in protobuf; send it as JSON", name);
      return object;
    }
    Reader reader(bytes);
    while (!reader.done() && problem_.empty()) {
      const auto token = reader.next();
      const auto field = found->second.find(token.number);
      if (field != found->second.end()) {
        set(object, field->second, token, depth);
      } else if (token.is_bytes ? !token.bytes.empty() : token.value != 0) {
        problem_ = fmt::format(
            "field {} of {} is not known to the sandbox in protobuf; send the "
            "object as JSON",
            token.number, name);
      }
    }
    if (reader.broken()) {
      problem_ = fmt::format("the protobuf bytes of {} are broken", name);
    }
    return object;
  }

  const std::string& problem() const { return problem_; }

 private:
  static constexpr int kMaxDepth = 32;

  void set(boost::json::object& object, const Field& field, const Token& token, int depth) {
    std::string_view type = field.type;
    if (type == "-") {
      return;
    }
    if (type.starts_with('*')) {
      auto& list = object[field.name];
      if (!list.is_array()) {
        list.emplace_array();
      }
      list.get_array().push_back(value(type.substr(1), token, depth));
    } else if (type.starts_with('%')) {
      add_to_map(object, field, token, depth);
    } else if (!is_absent(type, token)) {
      object[field.name] = value(type, token, depth);
    }
  }

  void add_to_map(boost::json::object& object, const Field& field, const Token& token, int depth) {
    auto& map = object[field.name];
    if (!map.is_object()) {
      map.emplace_object();
    }
    std::string key;
    Json held = "";
    Reader reader(token.bytes);
    while (!reader.done()) {
      const auto part = reader.next();
      if (part.number == 1) {
        key = part.bytes;
      } else if (part.number == 2) {
        held = value(std::string_view(field.type).substr(1), part, depth);
      }
    }
    map.get_object()[key] = std::move(held);
  }

  // Go leaves such values out of JSON.
  static bool is_absent(std::string_view type, const Token& token) {
    if (type == "s" || type == "y" || type == "Time" || type == "MicroTime") {
      return token.bytes.empty();
    }
    return (type == "b" || type == "i") && token.value == 0;
  }

  Json value(std::string_view type, const Token& token, int depth) {
    if (type == "s") {
      return Json(token.bytes);
    }
    if (type == "y") {
      return Json(base::encode_base64(token.bytes));
    }
    if (type == "b" || type == "B") {
      return token.value != 0;
    }
    if (type == "i" || type == "I") {
      return static_cast<std::int64_t>(token.value);
    }
    if (type == "Quantity") {
      return Json(first_text(token.bytes));
    }
    if (type == "IntOrString") {
      return int_or_string(token.bytes);
    }
    if (type == "Time" || type == "MicroTime") {
      return time(token.bytes, type == "MicroTime");
    }
    return message(type, token.bytes, depth + 1);
  }

  static std::string_view first_text(std::string_view bytes) {
    Reader reader(bytes);
    return reader.done() ? std::string_view{} : reader.next().bytes;
  }

  static Json int_or_string(std::string_view bytes) {
    std::int64_t number = 0;
    std::string_view text;
    bool is_text = false;
    for (Reader reader(bytes); !reader.done();) {
      const auto token = reader.next();
      if (token.number == 1) {
        is_text = token.value == 1;
      } else if (token.number == 2) {
        number = static_cast<std::int64_t>(token.value);
      } else if (token.number == 3) {
        text = token.bytes;
      }
    }
    return is_text ? Json(text) : Json(number);
  }

  static Json time(std::string_view bytes, bool micro) {
    base::TimePoint point;
    for (Reader reader(bytes); !reader.done();) {
      const auto token = reader.next();
      const auto number = static_cast<std::int64_t>(token.value);
      point +=
          token.number == 1 ? base::Duration(std::chrono::seconds(number)) : base::Duration(number);
    }
    return Json(micro ? base::format_rfc3339_micro(point) : base::format_rfc3339(point));
  }

  std::string problem_;
};

}  // namespace

ApiResult<Json> decode_protobuf(std::string_view body) {
  // runtime.Unknown behind four magic bytes: 1 TypeMeta{1 apiVersion, 2 kind}, 2 the object.
  constexpr std::string_view kMagic("k8s\0", 4);
  if (!body.starts_with(kMagic)) {
    return bad_request("the body of the request is not a protobuf API object");
  }
  std::string api_version;
  std::string kind;
  std::string_view raw;
  Reader reader(body.substr(kMagic.size()));
  while (!reader.done()) {
    const auto token = reader.next();
    if (token.number == 1) {
      for (Reader type(token.bytes); !type.done();) {
        const auto part = type.next();
        (part.number == 1 ? api_version : kind) = part.bytes;
      }
    } else if (token.number == 2) {
      raw = token.bytes;
    }
  }
  if (reader.broken() || kind.empty()) {
    return bad_request("the protobuf envelope of the request is broken");
  }
  Decoder decoder;
  auto object = decoder.message(kind, raw, 0);
  if (!decoder.problem().empty()) {
    return bad_request(decoder.problem());
  }
  object.as_object()["apiVersion"] = api_version;
  object.as_object()["kind"] = kind;
  return object;
}

}  // namespace millwright::sandbox
