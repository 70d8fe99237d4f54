// RFC 7386 merge patch and RFC 6902 JSON patch.
#pragma once

#include "millwright/base/result.hpp"

#include <boost/json/value.hpp>

namespace millwright::model {

void apply_merge_patch(boost::json::value& target, const boost::json::value& patch);
// Invalid names the operation that failed; `target` is then unchanged.
base::Result<> apply_json_patch(boost::json::value& target, const boost::json::value& patch);
// The operations that turn `from` into `to`: objects by key, arrays as a whole.
boost::json::value json_patch_between(const boost::json::value& from, const boost::json::value& to);

}  // namespace millwright::model
