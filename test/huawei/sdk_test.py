#!/usr/bin/env python3
"""Judges the judge: Huawei Cloud's own SDK is accepted by the cloud of test/huawei, and a request of
which one byte was changed after signing, or that is old, is not. Run by
`scripts/test huawei`, which starts the cloud and names it in MILLWRIGHT_HUAWEI_FACADE."""
import json
import os
import sys
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone

from huaweicloudsdkbss.v2 import BssClient, DemandProductInfo, ListOnDemandResourceRatingsRequest, RateOnDemandReq
from huaweicloudsdkcce.v3 import (
    CceClient, CreateNodeRequest, DeleteNodeRequest, ListNodesRequest, Login, NodeCreateRequest, NodeNicSpec,
    NicSpec, NodeSpec, ShowJobRequest, ShowNodeRequest, Storage, StorageSelectors, StorageSelectorsMatchLabels,
    Taint, Volume)
from huaweicloudsdkcore.auth.credentials import BasicCredentials, GlobalCredentials
from huaweicloudsdkcore.exceptions.exceptions import ClientRequestException
from huaweicloudsdkcore.sdk_request import SdkRequest
from huaweicloudsdkcore.signer.signer import Signer
from huaweicloudsdkecs.v2 import EcsClient, ListFlavorsRequest, ListServerAzInfoRequest
from huaweicloudsdkvpc.v2 import ListSubnetsRequest, VpcClient

import facade

failures = []


def check(what, good):
    print(f"{'ok    ' if good else 'FAILED'} {what}")
    if not good:
        failures.append(what)


def client(kind, url, keys):
    credentials = keys or BasicCredentials(*facade.ROOT_KEYS, facade.PROJECT)
    return kind.new_builder().with_credentials(credentials).with_endpoint(url).build()


def node_order(claim):
    selector = StorageSelectors(name="k8s-data", storage_type="evs",
                                match_labels=StorageSelectorsMatchLabels(size="100", volume_type="SSD", count="1"))
    spec = NodeSpec(flavor="c9.large.4", az="cn-north-4a", os="Huawei Cloud EulerOS 2.0", count=1,
                    login=Login(ssh_key="key"), root_volume=Volume(size=40, volumetype="SSD"),
                    data_volumes=[Volume(size=100, volumetype="SSD")],
                    storage=Storage(storage_selectors=[selector], storage_groups=[]),
                    node_nic_spec=NodeNicSpec(primary_nic=NicSpec(subnet_id=facade.SUBNET)),
                    taints=[Taint(key="a", value="b", effect="NoSchedule")],
                    k8s_tags={"karpenter.k8s.huawei/nodeclaim-uid": claim})
    return NodeCreateRequest(kind="Node", api_version="v3", spec=spec)


def check_sdk(url):
    ecs = client(EcsClient, url, None)
    flavors = ecs.list_flavors(ListFlavorsRequest(limit=1000)).flavors
    check("the SDK lists a page of flavors", len(flavors) == 1000)
    more = ecs.list_flavors(ListFlavorsRequest(limit=1000, marker=flavors[-1].id)).flavors
    check("and the next", 0 < len(more) < 1000)
    check("and zones", len(ecs.list_server_az_info(ListServerAzInfoRequest()).availability_zones) == 3)
    subnets = client(VpcClient, url, None).list_subnets(ListSubnetsRequest(limit=500)).subnets
    check("and subnets", [each.id for each in subnets] == [facade.SUBNET])
    product = DemandProductInfo(
        id="c9.large.4", cloud_service_type="hws.service.type.ec2", resource_type="hws.resource.type.vm",
        resource_spec="c9.large.4.linux", region=facade.REGION, usage_factor="Duration", usage_value=1,
        usage_measure_id=4, subscription_num=1)
    bss = client(BssClient, url, GlobalCredentials(*facade.ROOT_KEYS, facade.DOMAIN))
    rated = bss.list_on_demand_resource_ratings(ListOnDemandResourceRatingsRequest(
        RateOnDemandReq(project_id=facade.PROJECT, inquiry_precision=1, product_infos=[product])))
    check("and prices", rated.product_rating_results[0].amount > 0)
    cce = client(CceClient, url, None)
    made = cce.create_node(CreateNodeRequest(cluster_id=facade.CLUSTER, body=node_order("uid-\u5e73\u53f0")))
    check("and makes a node", bool(made.metadata.uid))
    listed = cce.list_nodes(ListNodesRequest(cluster_id=facade.CLUSTER)).items
    check("and finds it by its tag", [each.spec.k8s_tags["karpenter.k8s.huawei/nodeclaim-uid"]
                                      for each in listed] == ["uid-\u5e73\u53f0"])
    uid = made.metadata.uid
    job = cce.show_job(ShowJobRequest(job_id=made.status.job_id))
    check("and looks at the job that makes it", job.spec.sub_jobs[0].status.phase == "Success")
    cce.delete_node(DeleteNodeRequest(cluster_id=facade.CLUSTER, node_id=uid))
    show = ShowNodeRequest(cluster_id=facade.CLUSTER, node_id=uid)
    check("and deletes it", cce.show_node(show).status.phase == "Deleting")
    try:
        cce.show_node(show)
        check("until it is gone", False)
    except ClientRequestException as gone:
        check("until it is gone", gone.status_code == 404)


def send(url, request, headers=None, target=None, body=None):
    """The HTTP status of what the SDK signed, changed or not."""
    query = "&".join(f"{key}={value}" for key, value in request.query_params)
    path = target or request.resource_path + ("?" + query if query else "")
    asked = urllib.request.Request(url + path, method=request.method, data=body or request.body,
                                   headers={**request.header_params, **(headers or {})})
    try:
        return urllib.request.urlopen(asked).status
    except urllib.error.HTTPError as refused:
        return refused.code


def signed(url, age=timedelta()):
    date = (datetime.now(timezone.utc) - age).strftime("%Y%m%dT%H%M%SZ")
    host = url.removeprefix("http://")
    request = SdkRequest(
        method="POST", schema="http", host=host,
        resource_path=f"/api/v3/projects/{facade.PROJECT}/clusters/{facade.CLUSTER}/nodes", uri="",
        query_params=[], header_params={"X-Sdk-Date": date, "X-Project-Id": facade.PROJECT,
                                        "Content-Type": "application/json;charset=UTF-8"},
        body=json.dumps({"kind": "Node", "apiVersion": "v3", "spec": {}}))
    return Signer(BasicCredentials(*facade.ROOT_KEYS, facade.PROJECT)).sign(request)


def check_refusals(url):
    whole = signed(url)
    check("an untouched request passes the signature", send(url, whole) == 400)
    check("a changed byte of the body is refused",
          send(url, whole, body=whole.body.replace(b"v3", b"v4")) == 401)
    check("a changed path is refused", send(url, whole, target=whole.resource_path + "x") == 401)
    check("an added query is refused", send(url, whole, target=whole.resource_path + "?a=b") == 401)
    check("a changed header is refused", send(url, whole, headers={"X-Project-Id": "other"}) == 401)
    authorization = whole.header_params["Authorization"]
    last = "0" if authorization[-1] != "0" else "1"
    check("a changed signature is refused",
          send(url, whole, headers={"Authorization": authorization[:-1] + last}) == 401)
    check("a scope that is not signed is refused", send(url, whole, headers={"X-Domain-Id": "d"}) == 401)
    check("a quarter of an hour is too old", send(url, signed(url, timedelta(minutes=16))) == 401)
    check("a few minutes are not", send(url, signed(url, timedelta(minutes=10))) == 400)


def main():
    url = os.environ["MILLWRIGHT_HUAWEI_FACADE"]
    check_sdk(url)
    check_refusals(url)
    with urllib.request.urlopen(url + "/_facade/ledger") as answer:
        check("no secret was seen where none belongs", json.load(answer)["leaks"] == [])
    print(f"huawei sdk: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
