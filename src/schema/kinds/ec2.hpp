// Pieces that EC2NodeClass and the legacy AWSNodeTemplate share.
#pragma once

#include "schema/engine/field.hpp"

#include <optional>
#include <string>

namespace millwright::schema {

// `volume_size` is text of whole Gi, G, Ti or T in v1 and any quantity in the legacy kind.
Field ec2_block_devices(Field volume_size);

// Defaults are written into new objects only where the kind says so.
enum class Defaults : std::uint8_t { None, Filled };
Field ec2_metadata_options(Defaults defaults);

// Selector terms of EC2NodeClass.
Field ec2_subnet_terms();
Field ec2_capacity_reservation_terms();
Field ec2_image_terms();
// The family in "family@version", as amiFamily spells it; empty when it is none.
std::string ec2_family_of_alias(std::string_view alias);

}  // namespace millwright::schema
