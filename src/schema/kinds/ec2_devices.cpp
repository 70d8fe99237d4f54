// Disks and the metadata service of EC2 instances.
#include "schema/engine/rules.hpp"
#include "schema/kinds/ec2.hpp"

#include <utility>

namespace millwright::schema {
namespace {

Field ebs(Field volume_size) {
  return object("Volume of the device.",
                {optional("deleteOnTermination",
                          boolean("Whether the volume goes with the instance.")),
                 optional("encrypted", boolean("Whether the volume is encrypted.")),
                 optional("iops", int64("I/O operations per second, for io1, io2 and gp3.")),
                 optional("kmsKeyID", string("Key that encrypts the volume.")),
                 optional("snapshotID", string("Snapshot that the volume starts from.")),
                 optional("throughput", int64("Throughput in MiB/s, for gp3.")),
                 optional(
                     "volumeInitializationRate",
                     int32("Rate in MiB/s at which the snapshot is downloaded.").between(100, 300)),
                 optional("volumeSize", std::move(volume_size)),
                 optional("volumeType",
                          string("Kind of volume.")
                              .one_of({"standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"}))})
      .rule(rules::at_least_one_of({"snapshotID", "volumeSize"}))
      .rule({"!has(self.volumeInitializationRate) || has(self.snapshotID)",
             "volumeInitializationRate needs snapshotID",
             [](const json::value& self) {
               return !has(self, "volumeInitializationRate") || has(self, "snapshotID");
             },
             {}});
}

}  // namespace

Field ec2_block_devices(Field volume_size) {
  return list_of("Disks of the instances; those of the image when absent.",
                 object("A disk.",
                        {optional("deviceName", string("Name of the device, such as /dev/xvda.")),
                         optional("ebs", ebs(std::move(volume_size))),
                         optional("rootVolume",
                                  boolean("Whether this disk is the kubelet's root, whose size "
                                          "counts as ephemeral storage."))}))
      .size_at_most(50)
      .rule(rules::at_most_one_true("rootVolume"));
}

Field ec2_metadata_options(Defaults defaults) {
  Field options = object(
      "How instances reach the metadata service.",
      {optional("httpEndpoint",
                string("Whether the service answers at all.").one_of({"enabled", "disabled"})),
       optional("httpProtocolIPv6",
                string("Whether the service answers over IPv6.").one_of({"enabled", "disabled"})),
       optional("httpPutResponseHopLimit",
                int64("Most network hops that the answer to a token request may travel.")
                    .between(1, 64)),
       optional("httpTokens", string("Whether a session token (IMDSv2) is demanded.")
                                  .one_of({"required", "optional"}))});
  if (defaults == Defaults::None) {
    return options;
  }
  const json::object values{{"httpEndpoint", "enabled"},
                            {"httpProtocolIPv6", "disabled"},
                            {"httpPutResponseHopLimit", 1},
                            {"httpTokens", "required"}};
  for (Member& member : options.members) {
    member.field.default_value = values.at(member.name);
  }
  return std::move(options).with_default(values);
}

}  // namespace millwright::schema
