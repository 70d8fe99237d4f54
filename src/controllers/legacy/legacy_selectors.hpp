// AWSNodeTemplate's selector maps as EC2NodeClass selector terms.
#pragma once

#include "millwright/base/result.hpp"

#include <boost/json/value.hpp>

#include <string>

namespace millwright::controllers {

// `selector` is a map of tags or one of aws-ids, aws::ids, aws::name, aws::owners; comma lists
// become several terms (at most 30, EC2NodeClass's own limit). `field` is named in errors.
base::Result<boost::json::array> selector_terms(const boost::json::value& selector,
                                                const std::string& field);

}  // namespace millwright::controllers
