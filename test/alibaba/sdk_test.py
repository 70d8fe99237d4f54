#!/usr/bin/env python3
"""Judges the judge: Alibaba Cloud's own SDK is accepted by the cloud of test/alibaba, with both
signatures that it can make, and a request of which one byte was changed after signing, that is sent
again or that is old, is not. Run by `scripts/test alibaba`, which starts the cloud and names it in
MILLWRIGHT_ALIBABA_FACADE."""
import os
import sys
import urllib.request
from datetime import datetime, timedelta, timezone

from alibabacloud_cs20151215 import models as cs_models
from alibabacloud_cs20151215.client import Client as CsClient
from alibabacloud_ecs20140526 import models as ecs_models
from alibabacloud_ecs20140526.client import Client as EcsClient
from alibabacloud_tea_openapi import models as openapi_models
from alibabacloud_tea_openapi.utils import Utils
from alibabacloud_vpc20160428 import models as vpc_models
from alibabacloud_vpc20160428.client import Client as VpcClient
from darabonba.core import DaraCore
from darabonba.exceptions import DaraException

import facade

PLATFORM = "\u5e73\u53f0 a+b&c=d/~*"
failures = []
send = DaraCore.do_action


def check(what, good):
    print(f"{'ok    ' if good else 'FAILED'} {what}")
    if not good:
        failures.append(what)


def client(kind, url, algorithm=None):
    """`protocol` is the SDK's own setting for endpoints without TLS."""
    return kind(openapi_models.Config(
        access_key_id=facade.ROOT_KEYS[0], access_key_secret=facade.ROOT_KEYS[1],
        endpoint=url.removeprefix("http://"), protocol="http", region_id=facade.REGION,
        signature_algorithm=algorithm))


def group(claim):
    tags = [ecs_models.CreateAutoProvisioningGroupRequestLaunchConfigurationTag(key=key, value=value)
            for key, value in (("millwright.io/nodeclaim-uid", claim), ("team", PLATFORM))]
    configuration = ecs_models.CreateAutoProvisioningGroupRequestLaunchConfiguration(
        image_id="m", security_group_ids=["sg-1"], user_data="IyEvYmluL3NoCg==", tag=tags)
    configs = [ecs_models.CreateAutoProvisioningGroupRequestLaunchTemplateConfig(
        instance_type="ecs.g7.large", v_switch_id=f"vsw-{place}") for place in range(3)]
    return ecs_models.CreateAutoProvisioningGroupRequest(
        region_id=facade.REGION, auto_provisioning_group_type="instant", total_target_capacity="1",
        pay_as_you_go_target_capacity="1", spot_target_capacity="0", client_token=claim + "-token",
        launch_template_config=configs, launch_configuration=configuration)


def tagged(claim):
    return ecs_models.DescribeInstancesRequest(
        region_id=facade.REGION, max_results=10,
        tag=[ecs_models.DescribeInstancesRequestTag(key="millwright.io/nodeclaim-uid", value=claim)])


def check_ecs(url, algorithm, name):
    ecs = client(EcsClient, url, algorithm)
    first = ecs.describe_instance_types(ecs_models.DescribeInstanceTypesRequest(max_results=100)).body
    rest = ecs.describe_instance_types(
        ecs_models.DescribeInstanceTypesRequest(max_results=100, next_token=first.next_token)).body
    listed = first.instance_types.instance_type + rest.instance_types.instance_type
    check(f"{name}: the SDK lists types, page by page", len({each.instance_type_id for each in listed}) == 4)
    made = ecs.create_auto_provisioning_group(group("uid-" + name)).body
    ids = made.launch_results.launch_result[0].instance_ids.instance_id
    again = ecs.create_auto_provisioning_group(group("uid-" + name)).body
    check(f"{name}: and launches once for a token",
          len(ids) == 1 and again.launch_results.launch_result[0].instance_ids.instance_id == ids)
    found = ecs.describe_instances(tagged("uid-" + name)).body.instances.instance
    tags = {tag.tag_key: tag.tag_value for tag in found[0].tags.tag}
    check(f"{name}: and finds it by its tag", [each.instance_id for each in found] == ids)
    check(f"{name}: with every character of another", tags["team"] == PLATFORM)
    ecs.delete_instances(ecs_models.DeleteInstancesRequest(region_id=facade.REGION, instance_id=ids,
                                                           force=True))
    check(f"{name}: and deletes it",
          ecs.describe_instances(tagged("uid-" + name)).body.instances.instance == [])


def check_images(url):
    ecs = client(EcsClient, url)

    def found(**given):
        images = ecs.describe_images(ecs_models.DescribeImagesRequest(
            region_id=facade.REGION, page_number=1, page_size=50, **given)).body.images.image
        return [(each.image_id, each.image_family, each.image_owner_id) for each in images]
    check("images: the SDK asks for those of a family and an account as the cloud reads it",
          found(image_family="web", image_owner_alias="others", image_owner_id=facade.NEIGHBOUR)
          == [("m-shared", "web", facade.NEIGHBOUR)])
    check("images: and for none of another family", found(image_family="db") == [])


def check_others(url):
    vpc = client(VpcClient, url)
    switches = vpc.describe_vswitches(vpc_models.DescribeVSwitchesRequest(
        region_id=facade.REGION, page_number=1, page_size=50)).body.v_switches.v_switch
    check("VPC: the SDK lists vSwitches", [each.zone_id for each in switches] == list(facade.ZONES))
    cs = client(CsClient, url)
    check("CS: and describes the cluster",
          cs.describe_cluster_detail(facade.CLUSTER).body.cluster_id == facade.CLUSTER)
    add_on = cs.get_cluster_addon_instance(facade.CLUSTER, "terway-eniip").body
    check("CS: and how Terway is configured", '"ENITrunking": "true"' in add_on.config)
    versions = cs.describe_kubernetes_version_metadata(
        cs_models.DescribeKubernetesVersionMetadataRequest(region=facade.REGION,
                                                           cluster_type="ManagedKubernetes")).body
    check("CS: and its images", len(versions[0].images) == 3)


def outcome(ecs, change):
    """What the cloud says of a call that `change` alters after it was signed."""
    def changed(request, runtime=None):
        change(request)
        return send(request, runtime)
    DaraCore.do_action = staticmethod(changed)
    try:
        ecs.describe_instances(tagged("uid-changed"))
        return "accepted"
    except DaraException as refused:
        return refused.code
    finally:
        DaraCore.do_action = staticmethod(send)


def header(name, edit):
    def change(request):
        request.headers[name] = edit(request.headers[name])
    return change


def query(name, edit):
    def change(request):
        request.query[name] = edit(request.query.get(name, ""))
    return change


def other_last(text):
    return text[:-1] + ("0" if text[-1] != "0" else "1")


def check_refusals(url):
    ecs = client(EcsClient, url)
    check("an untouched request is accepted", outcome(ecs, lambda _: None) == "accepted")
    changes = {
        "a changed parameter": query("Tag.1.Value", other_last),
        "an added parameter": query("Added", lambda _: "1"),
        "a changed action": header("x-acs-action", lambda _: "DescribeInstanceTypes"),
        "a changed nonce": header("x-acs-signature-nonce", other_last),
        "a changed signature": header("Authorization", other_last),
    }
    for what, change in changes.items():
        check(what + " is refused", outcome(ecs, change) == "SignatureDoesNotMatch")

    def unsigned(request):
        request.headers["x-acs-security-token"] = "t"
    check("a header that is not signed is refused", outcome(ecs, unsigned) == "IncompleteSignature")

    def with_body(request):
        request.body = "x"
    check("a body that is not signed is refused",
          outcome(ecs, with_body) in ("IncompleteSignature", "SignatureDoesNotMatch"))
    older = client(EcsClient, url, "v2")
    check("v1: an untouched request is accepted", outcome(older, lambda _: None) == "accepted")
    check("v1: a changed parameter is refused",
          outcome(older, query("Tag.1.Value", other_last)) == "SignatureDoesNotMatch")
    check("v1: a changed signature is refused",
          outcome(older, query("Signature", lambda text: "A" + text[1:] if text[0] != "A" else "B" + text[1:]))
          == "SignatureDoesNotMatch")


def check_replays(url):
    ecs = client(EcsClient, url)
    nonce, stamp = Utils.get_nonce, Utils.get_timestamp
    Utils.get_nonce = staticmethod(lambda: "the-same-nonce")
    first, second = outcome(ecs, lambda _: None), outcome(ecs, lambda _: None)
    Utils.get_nonce = staticmethod(nonce)
    check("a request is accepted once", (first, second) == ("accepted", "SignatureNonceUsed"))

    def aged(minutes):
        when = datetime.now(timezone.utc) - timedelta(minutes=minutes)
        Utils.get_timestamp = staticmethod(lambda: when.strftime("%Y-%m-%dT%H:%M:%SZ"))
        try:
            return outcome(ecs, lambda _: None)
        finally:
            Utils.get_timestamp = staticmethod(stamp)
    check("a quarter of an hour is too old", aged(16) == "InvalidTimeStamp.Expired")
    check("a few minutes are not", aged(10) == "accepted")


def main():
    url = os.environ["MILLWRIGHT_ALIBABA_FACADE"]
    check_ecs(url, None, "ACS3")
    check_ecs(url, "v2", "RPC-v1")
    check_images(url)
    check_others(url)
    check_refusals(url)
    check_replays(url)
    with urllib.request.urlopen(url + "/_facade/ledger") as answer:
        check("no secret was seen where none belongs", b'"leaks": []' in answer.read())
    print(f"alibaba sdk: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
