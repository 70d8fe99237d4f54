// The only file that sees yaml-cpp. It takes the parser's events rather than its nodes, so that
// typing, duplicate keys, merge keys and limits are decided here.
#include "millwright/model/codec.hpp"
#include "model/yaml/scalar.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace millwright::model {
namespace {

namespace json = boost::json;

// Leaves the parser through its callbacks; caught in parse_yaml.
struct Problem {
  int line;  // from 0
  std::string text;
};

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

// The bytes of the first character; 0 when there is none in UTF-8: no overlong form, no surrogate,
// nothing beyond U+10FFFF.
std::size_t character_length(std::string_view text) {
  const auto byte = [text](std::size_t i) -> unsigned {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) {
      return 0;
    }
  }
  const bool is_none = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                       (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return is_none ? 0 : length;
}

// C0 but for tab and line ends, DEL, and C1 but for NEL.
bool is_control_character(std::string_view character) {
  const auto last = static_cast<unsigned char>(character.back());
  if (character.size() == 1) {
    return last == 0x7f || (last < 0x20 && last != '\t' && last != '\n' && last != '\r');
  }
  return character.size() == 2 && character.front() == '\xc2' && last < 0xa0 && last != 0x85;
}

// kubectl's reader refuses these texts, too. yaml-cpp takes byte 4 for the end, and would drop
// without a word what follows, and makes of UTF-16 text that is not UTF-8.
void check_characters(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw Problem{0, "the text is UTF-16; save it as UTF-8"};
  }
  int line = 0;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      throw Problem{line, "the text is not UTF-8"};
    }
    if (is_control_character(text.substr(0, length))) {
      throw Problem{line, "a control character; write it as an escape in double quotes"};
    }
    line += text.front() == '\n' ? 1 : 0;
    text.remove_prefix(length);
  }
}

// What an anchor stands for, with what an alias to it costs.
struct Measured {
  json::value value;
  std::size_t count = 1;   // values in it, itself included
  std::size_t height = 0;  // levels of lists and objects
  std::size_t bytes = 0;   // of the texts in it
};

class Composer final : public YAML::EventHandler {
 public:
  explicit Composer(std::size_t most_values) : most_values_(most_values) {}

  std::vector<json::value> take() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {
    anchors_.clear();
    document_ = nullptr;
  }
  void OnDocumentEnd() override {
    if (!document_.is_null()) {
      documents_.push_back(std::move(document_));
    }
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({json::value(nullptr)}, anchor, mark.line);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (tag == "?" && text == "<<" && expects_key()) {
      stack_.back().merging = true;
      stack_.back().key = text;
      return;
    }
    add({.value = typed(tag, text, mark.line), .bytes = text.size()}, anchor, mark.line);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw Problem{mark.line, "the alias stands inside of what it refers to"};
    }
    // Charged before it is copied: a few lines of nested aliases can stand for billions of values.
    charge(found->second.count, found->second.height, mark.line);
    repeated_ += found->second.bytes;
    if (repeated_ > kMaxRepeated) {
      throw Problem{mark.line, "aliases repeat more than 2 MiB of text"};
    }
    add_charged(found->second, mark.line);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(json::array(), anchor, mark.line);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(json::object(), anchor, mark.line);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override {
    Frame& frame = stack_.back();
    json::object& object = frame.content.value.get_object();
    // Own keys win over merged ones, earlier merges over later ones.
    for (const json::value& merged : frame.merges) {
      for (const auto& entry : merged.get_object()) {
        object.insert(entry);
      }
    }
    close();
  }

 private:
  static constexpr std::size_t kMaxDepth = 64;
  static constexpr std::size_t kMaxRepeated = std::size_t{2} << 20;

  struct Frame {
    Measured content;
    YAML::anchor_t anchor = 0;
    int line = 0;
    std::optional<std::string> key;
    bool merging = false;
    std::vector<json::value> merges;
  };

  bool expects_key() const {
    return !stack_.empty() && stack_.back().content.value.is_object() && !stack_.back().key;
  }

  static json::value typed(const std::string& tag, const std::string& text, int line) {
    if (tag.starts_with(kCoreTag) && tag != "tag:yaml.org,2002:str") {
      return explicitly_typed(tag.substr(kCoreTag.size()), text, line);
    }
    if (tag != "?") {
      return json::value(json::string(text));  // quoted, !!str or a tag of one's own
    }
    auto value = yaml::resolve_plain(text);
    if (!value) {
      throw Problem{line, "\"" + text + "\" has no JSON form; quote it if text is meant"};
    }
    return std::move(*value);
  }

  static json::value explicitly_typed(const std::string& type, const std::string& text, int line) {
    if (type == "timestamp") {
      return json::value(json::string(text));
    }
    auto value = yaml::resolve_plain(text);
    const bool matches =
        value && ((type == "int" && (value->is_int64() || value->is_uint64())) ||
                  (type == "float" && value->is_number()) || (type == "bool" && value->is_bool()) ||
                  (type == "null" && value->is_null()));
    if (!matches) {
      throw Problem{line, "\"" + text + "\" cannot be read as !!" + type};
    }
    return std::move(*value);
  }

  void charge(std::size_t count, std::size_t height, int line) {
    total_ += count;
    if (total_ > most_values_) {
      throw Problem{line, "more than " + std::to_string(most_values_) + " values; split the file"};
    }
    if (stack_.size() + height > kMaxDepth) {
      throw Problem{line, "nested deeper than 64 levels"};
    }
  }

  void open(json::value empty, YAML::anchor_t anchor, int line) {
    charge(1, 1, line);
    stack_.push_back({.content = {std::move(empty), 1, 1}, .anchor = anchor, .line = line});
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    if (frame.anchor != 0) {
      anchors_[frame.anchor] = frame.content;
    }
    add_charged(std::move(frame.content), frame.line);
  }

  void add(Measured measured, YAML::anchor_t anchor, int line) {
    charge(measured.count, 0, line);
    if (anchor != 0) {
      anchors_[anchor] = measured;
    }
    add_charged(std::move(measured), line);
  }

  void add_charged(Measured measured, int line) {
    if (stack_.empty()) {
      document_ = std::move(measured.value);
      return;
    }
    Frame& frame = stack_.back();
    frame.content.count += measured.count;
    frame.content.bytes += measured.bytes;
    frame.content.height = std::max(frame.content.height, measured.height + 1);
    if (auto* const list = frame.content.value.if_array()) {
      list->push_back(std::move(measured.value));
    } else if (!frame.key) {
      set_key(frame, measured.value, line);
    } else if (frame.merging) {
      merge(frame, std::move(measured.value), line);
    } else {
      frame.content.value.get_object().emplace(*frame.key, std::move(measured.value));
      frame.key.reset();
    }
  }

  static void set_key(Frame& frame, const json::value& value, int line) {
    std::string key;
    if (const auto* const text = value.if_string()) {
      key = std::string(*text);
    } else if (value.is_bool()) {
      key = value.get_bool() ? "true" : "false";
    } else if (value.is_int64()) {
      key = std::to_string(value.get_int64());
    } else if (value.is_uint64()) {
      key = std::to_string(value.get_uint64());
    } else {
      throw Problem{line, "a key must be text; quote it"};
    }
    if (frame.content.value.get_object().contains(key)) {
      throw Problem{line, "key \"" + key + "\" is given twice in one object"};
    }
    frame.key = std::move(key);
  }

  static void merge(Frame& frame, json::value value, int line) {
    frame.key.reset();
    frame.merging = false;
    if (value.is_object()) {
      frame.merges.push_back(std::move(value));
      return;
    }
    json::array* const list = value.if_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if (!(*list)[i].is_object()) {
        throw Problem{line, "<< can merge objects only"};
      }
      frame.merges.push_back(std::move((*list)[i]));
    }
    if (list == nullptr) {
      throw Problem{line, "<< can merge objects only"};
    }
  }

  const std::size_t most_values_;
  std::vector<json::value> documents_;
  json::value document_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Measured> anchors_;
  std::size_t total_ = 0;
  std::size_t repeated_ = 0;
};

base::Error yaml_error(int line, const std::string& text) {
  return {base::ErrorKind::Invalid, "YAML: line " + std::to_string(line + 1) + ": " + text, {}};
}

}  // namespace

base::Result<std::vector<json::value>> parse_yaml(std::string_view text, std::size_t most_values) {
  try {
    check_characters(text);
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Composer composer(most_values);
    while (parser.HandleNextDocument(composer)) {
    }
    return composer.take();
  } catch (const Problem& problem) {
    return tl::unexpected(yaml_error(problem.line, problem.text));
  } catch (const YAML::Exception& error) {
    return tl::unexpected(yaml_error(error.mark.line, error.msg));
  }
}

}  // namespace millwright::model
