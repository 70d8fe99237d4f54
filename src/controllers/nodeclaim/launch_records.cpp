#include "millwright/controllers/nodeclaim/launch_records.hpp"

#include <algorithm>

namespace millwright::controllers {

bool is_launch_recorded(const scheduling::Snapshot& snapshot, std::string_view id) {
  return std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(), [id](const auto& record) {
    const auto& claim = record->claim;
    return claim && !claim->provider_id.empty() &&
           (claim->provider_id == id || claim->meta.uid == id);
  });
}

}  // namespace millwright::controllers
