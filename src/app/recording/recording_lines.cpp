#include "app/recording/recording_lines.hpp"

#include "app/whatif/cluster/cluster_files.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::app {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using model::text_at;

std::string with_end(const json::value& line) {
  return json::serialize(line) + "\n";
}

base::Result<base::TimePoint> line_time(const json::value& line, std::string_view member) {
  const auto text = text_at(line, member);
  if (const auto time = base::parse_rfc3339(text)) {
    return *time;
  }
  return base::fail(ErrorKind::Invalid, std::string(member) + ": \"" +
                                            std::string(text.substr(0, 40)) +
                                            "\" must be a time like 2026-01-02T03:04:05.000000Z");
}

base::Result<> require(bool holds, std::string_view member, std::string_view what) {
  return holds ? base::Result<>()
               : base::fail(ErrorKind::Invalid, std::string(member) + ": " + std::string(what));
}

// What an object, or the reference to one that is gone, says of itself. `prefix` is its member of
// the line, `metadata` where its name is.
base::Result<> read_identity(const json::value& object, const std::string& prefix,
                             const std::string& metadata, RecordingLine& line) {
  const auto kind = text_at(object, "kind");
  const auto kinds = planned_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const model::Resource& each) {
    return each.kind == kind && each.api_version() == text_at(object, "apiVersion");
  });
  if (found == kinds.end()) {
    return base::fail(ErrorKind::Invalid, prefix + ".kind: \"" + std::string(kind.substr(0, 80)) +
                                              "\" of this apiVersion is not recorded");
  }
  line.resource = &*found;
  line.key = {std::string(text_at(object, metadata + "namespace")),
              std::string(text_at(object, metadata + "name"))};
  line.uid = text_at(object, metadata + "uid");
  const std::string place = prefix + "." + metadata;
  if (auto named = require(!line.key.name.empty(), place + "name", "is missing"); !named) {
    return named;
  }
  if (auto known = require(!line.uid.empty(), place + "uid", "is missing"); !known) {
    return known;
  }
  return require(line.key.namespace_.empty() != found->namespaced, place + "namespace",
                 found->namespaced ? "is missing" : "this kind has none");
}

}  // namespace

std::string header_line(const RecordingHeader& header) {
  return with_end(json::object{{"recording", kRecordingVersion},
                               {"start", base::format_rfc3339_micro(header.start)},
                               {"program", header.program},
                               {"namesHidden", header.names_hidden}});
}

std::string object_line(base::TimePoint at, const json::value& object) {
  return with_end(json::object{{"at", base::format_rfc3339_micro(at)}, {"object", object}});
}

std::string gone_line(base::TimePoint at, const model::Resource& resource,
                      const model::ObjectKey& key, const std::string& uid) {
  json::object gone{{"apiVersion", resource.api_version()}, {"kind", resource.kind}};
  if (resource.namespaced) {
    gone["namespace"] = key.namespace_;
  }
  gone["name"] = key.name;
  gone["uid"] = uid;
  return with_end(json::object{{"at", base::format_rfc3339_micro(at)}, {"gone", std::move(gone)}});
}

std::string listed_line(base::TimePoint at, const std::vector<std::string>& without) {
  json::object line{{"at", base::format_rfc3339_micro(at)}, {"listed", true}};
  line["without"] = json::array(without.begin(), without.end());
  return with_end(line);
}

std::string end_line(base::TimePoint at, std::string_view reason) {
  return with_end(json::object{{"at", base::format_rfc3339_micro(at)}, {"end", reason}});
}

base::Result<RecordingHeader> parse_recording_header(std::string_view text) {
  MW_TRY(line, model::parse_json(text));
  const auto* version = model::member(line, "recording");
  if (version == nullptr || !version->is_int64()) {
    return base::fail(ErrorKind::Invalid,
                      "recording: is missing: this is not what `millwright record` wrote");
  }
  if (version->get_int64() != kRecordingVersion) {
    return base::fail(ErrorKind::Invalid,
                      "recording: version " + std::to_string(version->get_int64()) +
                          " is not known here, only " + std::to_string(kRecordingVersion));
  }
  RecordingHeader header;
  MW_TRY(start, line_time(line, "start"));
  header.start = start;
  header.program = text_at(line, "program");
  const auto* hidden = model::member(line, "namesHidden");
  header.names_hidden = hidden != nullptr && hidden->is_bool() && hidden->get_bool();
  return header;
}

base::Result<RecordingLine> parse_recording_line(std::string_view text) {
  MW_TRY(json, model::parse_json(text));
  RecordingLine line;
  MW_TRY(at, line_time(json, "at"));
  line.at = at;
  auto& members = json.as_object();
  if (auto* object = members.if_contains("object")) {
    if (auto read = read_identity(*object, "object", "metadata.", line); !read) {
      return tl::unexpected(std::move(read).error());
    }
    line.object = std::move(*object);
    return line;
  }
  if (const auto* gone = members.if_contains("gone")) {
    line.kind = RecordingLine::Kind::Gone;
    if (auto read = read_identity(*gone, "gone", "", line); !read) {
      return tl::unexpected(std::move(read).error());
    }
    return line;
  }
  if (members.contains("listed")) {
    line.kind = RecordingLine::Kind::Listed;
    if (const auto* without = members.if_contains("without"); without && without->is_array()) {
      for (const auto& each : without->get_array()) {
        line.without.emplace_back(model::as_text(&each));
      }
    }
    return line;
  }
  if (const auto* end = members.if_contains("end")) {
    line.kind = RecordingLine::Kind::End;
    line.reason = model::as_text(end);
    return line;
  }
  return base::fail(ErrorKind::Invalid,
                    "one of object, gone, listed and end: none of them is there");
}

}  // namespace millwright::app
