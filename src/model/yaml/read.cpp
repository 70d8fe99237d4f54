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

// What an anchor stands for, with what an alias to it costs.
struct Measured {
  json::value value;
  std::size_t count = 1;   // values in it, itself included
  std::size_t height = 0;  // levels of lists and objects
};

class Composer final : public YAML::EventHandler {
 public:
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
    add({typed(tag, text, mark.line)}, anchor, mark.line);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw Problem{mark.line, "the alias stands inside of what it refers to"};
    }
    // Charged before it is copied: a few lines of nested aliases can stand for billions of values.
    charge(found->second.count, found->second.height, mark.line);
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
  static constexpr std::size_t kMaxValues = 100'000;
  static constexpr std::size_t kMaxDepth = 64;

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
    if (total_ > kMaxValues) {
      throw Problem{line, "more than 100000 values; split the file"};
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

  std::vector<json::value> documents_;
  json::value document_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Measured> anchors_;
  std::size_t total_ = 0;
};

base::Error yaml_error(int line, const std::string& text) {
  return {base::ErrorKind::Invalid, "YAML: line " + std::to_string(line + 1) + ": " + text, {}};
}

}  // namespace

base::Result<std::vector<json::value>> parse_yaml(std::string_view text) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Composer composer;
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
