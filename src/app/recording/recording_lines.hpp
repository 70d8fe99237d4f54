// The form of a recording: lines of JSON. The first says what it is; each other one what became
// known when. Pure.
//
//   {"recording":1,"start":"...","program":"0.9.0","namesHidden":false}
//   {"at":"...","object":{...}}      an object as it is from then on
//   {"at":"...","gone":{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web-1","uid":""}}
//   {"at":"...","listed":true,"without":["csinodes"]}   the objects above are what there was
//   {"at":"...","end":"stopped"}
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/time.hpp"
#include "millwright/model/kinds.hpp"
#include "millwright/model/meta.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

inline constexpr std::int64_t kRecordingVersion = 1;

struct RecordingHeader {
  base::TimePoint start;
  std::string program;  // the version that wrote it
  bool names_hidden = false;
  friend bool operator==(const RecordingHeader&, const RecordingHeader&) = default;
};

struct RecordingLine {
  enum class Kind : std::uint8_t { Object, Gone, Listed, End };
  Kind kind = Kind::Object;
  base::TimePoint at;
  // Of Object and Gone.
  const model::Resource* resource = nullptr;
  model::ObjectKey key;
  std::string uid;
  boost::json::value object;         // of Object
  std::vector<std::string> without;  // of Listed: resources that could not be listed
  std::string reason;                // of End
};

// Lines with their end.
std::string header_line(const RecordingHeader& header);
std::string object_line(base::TimePoint at, const boost::json::value& object);
std::string gone_line(base::TimePoint at, const model::Resource& resource,
                      const model::ObjectKey& key, const std::string& uid);
std::string listed_line(base::TimePoint at, const std::vector<std::string>& without);
std::string end_line(base::TimePoint at, std::string_view reason);

// Invalid names the member that is wrong. Members that are not known are left alone.
base::Result<RecordingHeader> parse_recording_header(std::string_view line);
base::Result<RecordingLine> parse_recording_line(std::string_view line);

}  // namespace millwright::app
