// The four patch types of the API: merge (RFC 7386), JSON (RFC 6902), strategic merge for built-in
// kinds, and server-side apply. Pure functions of JSON.
#pragma once

#include "sandbox/apiserver/rest/errors.hpp"

#include <string>
#include <string_view>

namespace millwright::sandbox {

enum class PatchKind : std::uint8_t { Merge, JsonPatch, Strategic, Apply };

// How a list merges: as a whole, as a set of scalars, or item by item under a key field.
struct ListRule {
  enum class Type : std::uint8_t { Atomic, Set, Map } type = Type::Atomic;
  std::string_view key;
};
// `field` is the list's own name, `path` the dotted way to it. Custom kinds have atomic lists but
// for conditions; built-in kinds follow the patch strategies of their Go types.
ListRule list_rule(const ResourceInfo& info, std::string_view path, std::string_view field);

// Unsupported media type for a strategic patch of a custom kind; bad request or invalid when the
// patch does not apply.
ApiResult<Json> apply_patch(const ResourceInfo& info, const Json& current, PatchKind kind,
                            const Json& patch);

struct ApplyRequest {
  std::string manager;
  bool force = false;
  std::string now;  // RFC 3339, for managedFields
};
// Server-side apply: `current` is nullptr when the object does not exist yet. Fields this manager
// applied before and left out now go, unless somebody else applied them too. Conflict names the
// other managers, unless forced.
ApiResult<Json> apply_configuration(const ResourceInfo& info, const Json* current,
                                    const Json& configuration, const ApplyRequest& request);

}  // namespace millwright::sandbox
