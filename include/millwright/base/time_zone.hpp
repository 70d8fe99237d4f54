// Time zones of the IANA database, as it is installed on the machine (package tzdata).
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/time.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace millwright::base {

// Cheap to copy; any thread may use it.
class TimeZone {
 public:
  // By its name: "Europe/Berlin", "UTC". Reads a file when a zone is asked for the first time.
  // Invalid when the database has no such zone.
  static Result<TimeZone> find(std::string_view name);

  // A time without a change of the zone's clocks.
  struct Period {
    Duration offset{};             // what they are ahead of UTC
    std::optional<TimePoint> end;  // when they are changed next; nullopt: never, as far as is known
  };
  Period period_at(TimePoint time) const;

 private:
  struct Zone;
  explicit TimeZone(std::shared_ptr<const Zone> zone) : zone_(std::move(zone)) {}

  std::shared_ptr<const Zone> zone_;
};

}  // namespace millwright::base
