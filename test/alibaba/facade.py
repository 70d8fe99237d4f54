#!/usr/bin/env python3
"""An Alibaba Cloud on loopback: verifies every signature (ACS3-HMAC-SHA256 and the RPC style's
HMAC-SHA1) with code of its own, keeps launches idempotent by their client token, pages, runs out of
stock by zone, throttles, loses replies, shows new instances late, keeps old lists, takes its time to
start and to release, takes spot instances back, answers nonsense, and writes a ledger of all calls.

Prints one line of JSON with its URL when it is ready. All services have that one URL; ECS, VPC and
STS are told apart by the action, CS by its path. Control, without signatures:
  GET  /_facade/ledger                   calls by action, refused signatures, requests that came again
                                         with their nonce, launches by token,
                                         instances by the claim that they were asked for, calls that
                                         showed a secret where none belongs
  GET  /_facade/machines                 every instance there ever was
  POST /_facade/sold-out  {"type","zone"} an offering that no launch gets; {} forgets all
  POST /_facade/throttle  {"action","count"} that many calls are told to slow down
  POST /_facade/refuse    {"action","code","count"} that many calls are refused with the code
  POST /_facade/lose      {"action","count"} that many calls are carried out and not answered
  POST /_facade/late      {"seconds"}     how long a new instance is not listed, and cannot be deleted
  POST /_facade/stale     {"seconds"}     how long instances are described as they are now
  POST /_facade/starting  {"seconds"}     how long a new instance is Pending, and cannot be deleted
  POST /_facade/releasing {"seconds"}     how long a deleted instance is Stopping before it is gone
  POST /_facade/recycle   {"instance"}    a spot instance that is taken back
  POST /_facade/change    {"instance", ...} replaces what is kept of an instance: image, groups, vswitch
  POST /_facade/stranger  {"tags"}        an instance with these tags that no launch of ours made
  POST /_facade/hostile   {"action","answer"} the call answers this: html, truncated, types, huge, cut
                                         (the connection ends in the middle), page (an HTML page with
                                         status 502); {} ends it
"""
import base64
import copy
import fnmatch
import hashlib
import hmac
import json
import secrets
import sys
import threading
import time
import urllib.parse
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REGION = "cn-hangzhou"
CLUSTER = "c0123456789abcdef"
ROOT_KEYS = ("LTAIMILLWRIGHTTEST00", "not-a-real-secret-0123456789abc")
OIDC_TOKEN = "oidc.token.of-the-pod"
MAX_SKEW = timedelta(minutes=15)
ZONES = ("cn-hangzhou-h", "cn-hangzhou-i", "cn-hangzhou-j")
PAGE = 2  # small, so that every list has pages
# Name, cores, GiB, price per hour.
TYPES = (("ecs.c7.large", 2, 4, 0.38), ("ecs.g7.large", 2, 8, 0.49), ("ecs.g7.xlarge", 4, 16, 0.98),
         ("ecs.r7.large", 2, 16, 0.65), ("ecs.g8y.large", 2, 8, 0.39))
NOT_AS_SPOT = ("ecs.g8y.large",)
ACCOUNT, NEIGHBOUR = 1000000000000001, 1000000000000002
# Id, name, architecture, day, family, who owns it. The neighbour shares an image of the same family.
IMAGES = (("m-own", "own image", "x86_64", "2026-01-01", "", "self", ACCOUNT),
          ("m-web-1", "web 1", "x86_64", "2026-01-01", "web", "self", ACCOUNT),
          ("m-web-2", "web 2", "x86_64", "2026-02-01", "web", "self", ACCOUNT),
          ("m-shared", "web 3", "x86_64", "2026-03-01", "web", "others", NEIGHBOUR),
          ("m-public", "public", "x86_64", "2026-04-01", "acs:alibaba_cloud_linux_3_2104_lts_x64",
           "system", 0))
SCRIPT = ("#!/bin/sh\ncurl http://aliacs-k8s.oss/attach_node.sh | bash -s -- --docker-version 1.6.28 "
          "--token abcdef.0123456789abcdef --endpoint 192.168.0.1:6443 --cluster-dns 172.21.0.10")


# Headers that carry a secret, or what is made of one.
SECRET_HEADERS = ("authorization", "x-acs-security-token")
HOSTILE = {
    "html": b"<html><body>please log in</body></html>",
    "page": b"<html><body>502 Bad Gateway</body></html>",
    "cut": b'{"RequestId":"r","Instances":{"Instance":[',
    "truncated": b'{"RequestId":"r","Instances":{"Instance":[{"InstanceId":"i-1"',
    "types": (b'{"Instances":7,"InstanceTypes":{"InstanceType":"x"},"LaunchResults":[],"VSwitches":null,'
              b'"SecurityGroups":{"SecurityGroup":{"a":1}},"AvailableZones":3,"current_version":{},'
              b'"InstanceIdSets":"i-1"}'),
    "huge": (b'{"Instances":{"Instance":[' + b'{"InstanceId":7,"Tags":[]},' * 100000 + b'null]},'
             b'"LaunchResults":{"LaunchResult":[' + b'{"InstanceIds":7},' * 100000 + b'null]}}'),
}


class Refusal(Exception):
    def __init__(self, code, message="refused", status=400):
        super().__init__(code)
        self.code, self.message, self.status = code, message, status


def enc(text):
    return urllib.parse.quote(text, safe="-_.~")


def parse_time(text):
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def acs3_signature(method, target, headers, signed, secret):
    """The signature of a request whose headers, lower case, are in `headers`."""
    parts = urllib.parse.urlsplit(target)
    pairs = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
    query = "&".join(f"{enc(k)}={enc(v)}" for k, v in sorted(pairs))
    lines = "".join(f"{name}:{headers[name].strip()}\n" for name in signed)
    canonical = "\n".join([method, parts.path or "/", query, lines, ";".join(signed),
                           headers["x-acs-content-sha256"]])
    to_sign = "ACS3-HMAC-SHA256\n" + hashlib.sha256(canonical.encode()).hexdigest()
    return hmac.new(secret.encode(), to_sign.encode(), hashlib.sha256).hexdigest()


def rpc_signature(method, parameters, secret):
    """Of parameters without "Signature"."""
    canonical = "&".join(f"{enc(k)}={enc(v)}" for k, v in sorted(parameters.items()))
    to_sign = f"{method}&%2F&{enc(canonical)}"
    digest = hmac.new((secret + "&").encode(), to_sign.encode(), hashlib.sha1).digest()
    return base64.b64encode(digest).decode()


class Judge:
    """Who asks, by the signature."""

    def __init__(self):
        self.keys = {ROOT_KEYS[0]: (ROOT_KEYS[1], None)}  # id: secret, token
        self.nonces = set()
        self.refused = 0
        self.replays = 0

    def judge(self, request):
        try:
            authorization = request.headers.get("authorization", "")
            if authorization:
                self.acs3(request, authorization)
            else:
                self.rpc(request)
        except Refusal as refusal:
            # A request that comes again, as it was, is no wrong one: HTTP clients send one again
            # whose connection was closed.
            if refusal.code == "SignatureNonceUsed":
                self.replays += 1
            else:
                self.refused += 1
            raise

    def secret_of(self, key, token):
        if key not in self.keys:
            raise Refusal("InvalidAccessKeyId.NotFound", status=404)
        secret, expected = self.keys[key]
        if token != expected:
            raise Refusal("InvalidSecurityToken.Malformed")
        return secret

    def fresh(self, when, nonce):
        try:
            skew = abs(datetime.now(timezone.utc) - parse_time(when))
        except ValueError:
            raise Refusal("InvalidTimeStamp.Format") from None
        if skew > MAX_SKEW:
            raise Refusal("InvalidTimeStamp.Expired")
        if not nonce or nonce in self.nonces:
            raise Refusal("SignatureNonceUsed")
        self.nonces.add(nonce)

    def acs3(self, request, authorization):
        scheme, _, rest = authorization.partition(" ")
        fields = dict(part.partition("=")[::2] for part in rest.split(","))
        if scheme != "ACS3-HMAC-SHA256" or set(fields) != {"Credential", "SignedHeaders",
                                                           "Signature"}:
            raise Refusal("IncompleteSignature")
        signed = fields["SignedHeaders"].split(";")
        needed = {"host"} | {n for n in request.headers if n.startswith("x-acs-")}
        if request.body:
            needed.add("content-type")
        if signed != sorted(signed) or not needed <= set(signed):
            raise Refusal("IncompleteSignature", "a header is not signed")
        if any(name not in request.headers for name in signed):
            raise Refusal("IncompleteSignature", "a signed header is absent")
        if request.headers.get("x-acs-content-sha256") != hashlib.sha256(request.body).hexdigest():
            raise Refusal("SignatureDoesNotMatch", "the body is another one")
        secret = self.secret_of(fields["Credential"], request.headers.get("x-acs-security-token"))
        expected = acs3_signature(request.method, request.target, request.headers, signed, secret)
        if not hmac.compare_digest(expected, fields["Signature"]):
            raise Refusal("SignatureDoesNotMatch")
        self.fresh(request.headers["x-acs-date"], request.headers.get("x-acs-signature-nonce"))

    def rpc(self, request):
        given = dict(request.parameters)
        signature = given.pop("Signature", "")
        if given.get("SignatureMethod") != "HMAC-SHA1" or given.get("SignatureVersion") != "1.0":
            raise Refusal("IncompleteSignature")
        secret = self.secret_of(given.get("AccessKeyId"), given.get("SecurityToken"))
        if not hmac.compare_digest(rpc_signature(request.method, given, secret), signature):
            raise Refusal("SignatureDoesNotMatch")
        self.fresh(given.get("Timestamp", ""), given.get("SignatureNonce"))


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.body = method, target, body
        self.headers = {name.lower(): value for name, value in headers.items()}
        parts = urllib.parse.urlsplit(target)
        self.path = parts.path
        self.parameters = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.action = self.headers.get("x-acs-action") or self.parameters.get("Action", "")

    def list(self, prefix):
        found = []
        while (value := self.parameters.get(f"{prefix}.{len(found) + 1}")) is not None:
            found.append(value)
        return found

    def tags(self, prefix="Tag"):
        found = []
        while (key := self.parameters.get(f"{prefix}.{len(found) + 1}.Key")) is not None:
            found.append((key, self.parameters.get(f"{prefix}.{len(found) + 1}.Value")))
        return found


class Cloud:
    """What there is; one lock for all of it."""

    def __init__(self):
        self.lock = threading.RLock()
        self.judge = Judge()
        self.calls = {}
        self.instances = {}
        self.launches = {}  # client token: (what was asked, the answer)
        self.sold_out = set()
        self.plans = {"throttle": {}, "refuse": {}, "lose": {}}
        self.waits = {"late": 0.0, "starting": 0.0, "releasing": 0.0}
        self.stale = None  # until when, and the instances as they were
        self.hostile = {}
        self.asked = {}  # claim UID: how many instances were made for it
        self.leaks = []

    # Orders of the test.

    def control(self, what, body):
        with self.lock:
            if what == "ledger":
                return {"calls": self.calls, "badSignatures": self.judge.refused,
                        "replays": self.judge.replays,
                        "launches": {token: kept[1] for token, kept in self.launches.items()},
                        "asked": self.asked, "leaks": self.leaks}
            if what == "machines":
                return [{**each, "gone": self.is_gone(each)} for each in self.instances.values()]
            if what == "sold-out":
                self.sold_out = self.sold_out | {(body["type"], body["zone"])} if body else set()
            elif what in self.plans:
                self.plans[what][body["action"]] = [body.get("count", 1), body.get("code")]
            elif what in self.waits:
                self.waits[what] = float(body["seconds"])
            elif what == "stale":
                self.stale = (time.time() + body["seconds"], copy.deepcopy(self.instances))
            elif what == "recycle":
                self.instances[body["instance"]]["recycling"] = True
            elif what == "change":
                self.instances[body.pop("instance")].update(body)
            elif what == "stranger":
                place = {"type": TYPES[0][0], "zone": ZONES[0], "vswitch": "vsw-0", "spot": False}
                return {"instance": self.add(place, {"image": "m", "groups": ["sg-1"],
                                                     "tags": body["tags"], "userData": ""})}
            elif what == "hostile":
                self.hostile = {body["action"]: body["answer"]} if body else {}
            else:
                raise Refusal("NoSuchOrder", status=404)
            return {}

    def planned(self, plan, action):
        kept = self.plans[plan].get(action)
        if not kept or kept[0] <= 0:
            return None
        kept[0] -= 1
        return kept

    # Calls. The answer and whether it is lost.
    def answer(self, request):
        with self.lock:
            self.calls[request.action] = self.calls.get(request.action, 0) + 1
            self.look_for_secrets(request)
            if request.action == "AssumeRoleWithOIDC":
                return self.assume(request), False
            self.judge.judge(request)
            if self.planned("throttle", request.action):
                raise Refusal("Throttling.User")
            if kept := self.planned("refuse", request.action):
                raise Refusal(kept[1], status=403)
            if hostile := self.hostile.get(request.action):
                return HOSTILE[hostile], hostile == "cut"
            known = getattr(self, "on_" + request.action, None)
            if known is None:
                raise Refusal("InvalidAction.NotFound", request.action, 404)
            return known(request), self.planned("lose", request.action) is not None

    def look_for_secrets(self, request):
        shown = request.target + request.body.decode(errors="replace") + "".join(
            value for name, value in request.headers.items() if name not in SECRET_HEADERS)
        secrets_ = [secret for secret, _ in self.judge.keys.values()]
        if any(secret in urllib.parse.unquote(shown) for secret in secrets_):
            self.leaks.append(request.action)

    def assume(self, request):
        form = dict(urllib.parse.parse_qsl(request.body.decode()))
        if form.get("OIDCToken") != OIDC_TOKEN or "authorization" in request.headers:
            raise Refusal("AuthenticationFail.OIDCToken.Invalid")
        key, secret, token = ("STS." + secrets.token_hex(8), secrets.token_hex(16),
                              "CAIS+/=" + secrets.token_hex(16))
        self.judge.keys[key] = (secret, token)
        expires = datetime.now(timezone.utc) + timedelta(seconds=int(form["DurationSeconds"]))
        return {"Credentials": {"AccessKeyId": key, "AccessKeySecret": secret,
                                "SecurityToken": token,
                                "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}}

    def paged(self, request, outer, inner, items):
        """By NextToken, as ECS's newer lists."""
        start = int(request.parameters.get("NextToken") or 0)
        size = min(PAGE, int(request.parameters.get("MaxResults", PAGE)))
        more = start + size < len(items)
        return {outer: {inner: items[start:start + size]}, "RequestId": secrets.token_hex(8),
                "NextToken": str(start + size) if more else ""}

    def on_DescribeInstanceTypes(self, request):
        items = [{"InstanceTypeId": name, "InstanceTypeFamily": name.rsplit(".", 1)[0],
                  "CpuArchitecture": "ARM" if "y." in name else "X86", "CpuCoreCount": cpus,
                  "MemorySize": float(gib), "EniQuantity": 3, "EniPrivateIpAddressQuantity": 6,
                  "EniTotalQuantity": 6, "EniTrunkSupported": "y." not in name,
                  "GPUAmount": 0, "GPUSpec": ""} for name, cpus, gib, _ in TYPES]
        return self.paged(request, "InstanceTypes", "InstanceType", items)

    def on_DescribeAvailableResource(self, _request):
        def supported(zone):
            return [{"Value": name, "StatusCategory":
                     "WithoutStock" if (name, zone) in self.sold_out else "WithStock"}
                    for name, *_ in TYPES]
        return {"AvailableZones": {"AvailableZone": [
            {"ZoneId": zone, "AvailableResources": {"AvailableResource": [
                {"Type": "InstanceType", "SupportedResources": {
                    "SupportedResource": supported(zone)}}]}} for zone in ZONES]}}

    def on_DescribeSpotPriceHistory(self, request):
        if request.parameters["InstanceType"] in NOT_AS_SPOT:
            return {"SpotPrices": {"SpotPriceType": []}, "NextOffset": 0}
        price = next((p for name, _, _, p in TYPES if name == request.parameters["InstanceType"]), 0)
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:00:00Z")
        return {"SpotPrices": {"SpotPriceType": [
            {"ZoneId": zone, "SpotPrice": round(price * (0.2 + 0.1 * place), 4),
             "OriginPrice": price, "Timestamp": now} for place, zone in enumerate(ZONES)]},
            "NextOffset": 0}

    def on_DescribePrice(self, request):
        price = next((p for name, _, _, p in TYPES if name == request.parameters["InstanceType"]), 0)
        return {"PriceInfo": {"Price": {"OriginalPrice": price, "TradePrice": price}}}

    def on_DescribeVSwitches(self, request):
        items = [{"VSwitchId": f"vsw-{place}", "ZoneId": zone, "AvailableIpAddressCount": 250,
                  "Status": "Available"} for place, zone in enumerate(ZONES)]
        page, size = int(request.parameters["PageNumber"]), int(request.parameters["PageSize"])
        return {"VSwitches": {"VSwitch": items[(page - 1) * size:page * size]},
                "TotalCount": len(items)}

    def on_DescribeImages(self, request):
        given = request.parameters
        owner = given.get("ImageOwnerId", "0")
        if not owner.isdigit():
            raise Refusal("InvalidParameter", "ImageOwnerId is a whole number")

        def selected(image, name, family, alias, account):
            return (given.get("ImageId") in (None, image)
                    and fnmatch.fnmatchcase(name, given.get("ImageName", "*"))
                    and given.get("ImageFamily") in (None, family)
                    and given.get("ImageOwnerAlias") in (None, alias)
                    and not request.tags()  # none of them has tags
                    # As documented, the account counts for shared images alone.
                    and (alias != "others" or int(owner) in (0, account)))
        items = [{"ImageId": image, "ImageName": name, "Architecture": architecture,
                  "CreationTime": day + "T00:00:00Z", "ImageFamily": family,
                  "ImageOwnerAlias": alias, "ImageOwnerId": account}
                 for image, name, architecture, day, family, alias, account in IMAGES
                 if selected(image, name, family, alias, account)]
        page, size = int(given["PageNumber"]), int(given["PageSize"])
        return {"Images": {"Image": items[(page - 1) * size:page * size]}, "TotalCount": len(items)}

    def on_DescribeSecurityGroups(self, request):
        return self.paged(request, "SecurityGroups", "SecurityGroup",
                          [{"SecurityGroupId": "sg-1", "SecurityGroupName": "nodes"}])

    def on_DescribeInstances(self, request):
        now = time.time()
        kept = self.instances
        if self.stale and now < self.stale[0]:
            kept = self.stale[1]
        wanted = request.parameters.get("InstanceIds")
        ids = None if wanted is None else json.loads(wanted)
        tags = request.tags()

        def shown(each):
            return (not self.is_gone(each) and now >= each["visible"]
                    and (ids is None or each["id"] in ids)
                    and all(key in each["tags"] and value in (None, each["tags"][key])
                            for key, value in tags))
        items = [self.described(each) for each in kept.values() if shown(each)]
        return self.paged(request, "Instances", "Instance", items)

    def described(self, each):
        locks = [{"LockReason": "Recycling"}] if each["recycling"] else []
        status = ("Stopping" if each["deleted"] is not None else
                  "Pending" if time.time() < each["started"] else "Running")
        return {"InstanceId": each["id"], "InstanceType": each["type"], "ZoneId": each["zone"],
                "Status": status, "ImageId": each["image"],
                "SpotStrategy": "SpotAsPriceGo" if each["spot"] else "NoSpot",
                "CreationTime": each["created"],
                "VpcAttributes": {"VSwitchId": each["vswitch"],
                                  "PrivateIpAddress": {"IpAddress": [each["address"]]}},
                "SecurityGroupIds": {"SecurityGroupId": each["groups"]},
                "Tags": {"Tag": [{"TagKey": k, "TagValue": v} for k, v in each["tags"].items()]},
                "OperationLocks": {"LockReason": locks}}

    def once(self, request, launch):
        """By the client token: the same question has the same answer, another one is refused."""
        token = request.parameters.get("ClientToken", "")
        if not token or len(token) > 64:
            raise Refusal("InvalidParameter.ClientToken")
        asked = {k: v for k, v in request.parameters.items()
                 if k not in ("Signature", "SignatureNonce", "Timestamp")}
        if token in self.launches:
            before, answer = self.launches[token]
            if before != asked:
                raise Refusal("IdempotentParameterMismatch")
            return answer
        answer = launch()
        self.launches[token] = (asked, answer)
        return answer

    def make(self, request, prefix, place):
        tags = dict(request.tags(prefix + "Tag"))
        claim = tags.get("millwright.io/nodeclaim-uid", "")
        self.asked[claim] = self.asked.get(claim, 0) + 1
        return self.add(place, {"image": request.parameters[prefix + "ImageId"],
                                "groups": request.list(prefix + "SecurityGroupIds"), "tags": tags,
                                "userData": request.parameters.get(prefix + "UserData", "")})

    def add(self, place, shape):
        made, now = "i-" + secrets.token_hex(10), time.time()
        self.instances[made] = {
            **place, **shape, "id": made,
            "address": f"10.0.{len(self.instances) // 250}.{len(self.instances) % 250 + 1}",
            "created": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
            "visible": now + self.waits["late"], "started": now + self.waits["starting"],
            "recycling": False, "deleted": None}
        return made

    def is_gone(self, instance):
        deleted = instance["deleted"]
        return deleted is not None and time.time() >= deleted + self.waits["releasing"]

    def on_CreateAutoProvisioningGroup(self, request):
        return self.once(request, lambda: self.launch_group(request))

    def launch_group(self, request):
        spot = request.parameters.get("SpotTargetCapacity") == "1"
        results, place = [], 0
        while kind := request.parameters.get(f"LaunchTemplateConfig.{place + 1}.InstanceType"):
            place += 1
            vswitch = request.parameters[f"LaunchTemplateConfig.{place}.VSwitchId"]
            zone = ZONES[int(vswitch.removeprefix("vsw-"))]
            result = {"InstanceType": kind, "ZoneId": zone,
                      "SpotStrategy": "SpotAsPriceGo" if spot else "NoSpot"}
            if (kind, zone) in self.sold_out:
                results.append(result | {"ErrorCode": "NoInstanceStock", "ErrorMsg": "none left"})
                continue
            made = self.make(request, "LaunchConfiguration.",
                             {"type": kind, "zone": zone, "vswitch": vswitch, "spot": spot})
            results.insert(0, result | {"InstanceIds": {"InstanceId": [made]}})
            break
        if place > 20:
            raise Refusal("InvalidParameter.LaunchTemplateConfig")
        return {"AutoProvisioningGroupId": "apg-" + secrets.token_hex(8),
                "LaunchResults": {"LaunchResult": results}}

    def on_RunInstances(self, request):
        return self.once(request, lambda: self.run_one(request))

    def run_one(self, request):
        kind, vswitch = request.parameters["InstanceType"], request.parameters["VSwitchId"]
        zone = ZONES[int(vswitch.removeprefix("vsw-"))]
        if (kind, zone) in self.sold_out:
            raise Refusal("OperationDenied.NoStock", status=403)
        spot = request.parameters.get("SpotStrategy", "NoSpot") != "NoSpot"
        made = self.make(request, "", {"type": kind, "zone": zone, "vswitch": vswitch,
                                       "spot": spot})
        return {"InstanceIdSets": {"InstanceIdSet": [made]}}

    def on_DeleteInstances(self, request):
        for each in request.list("InstanceId"):
            instance = self.instances.get(each)
            if instance is None or self.is_gone(instance):
                raise Refusal("InvalidInstanceId.NotFound", status=404)
            if time.time() < max(instance["visible"], instance["started"]):
                raise Refusal("IncorrectInstanceStatus.Initializing", status=403)
        for each in request.list("InstanceId"):
            if self.instances[each]["deleted"] is None:
                self.instances[each]["deleted"] = time.time()
        return {"RequestId": secrets.token_hex(8)}

    # CS, by path.

    def on_DescribeClusterDetail(self, request):
        if request.path != "/clusters/" + CLUSTER:
            raise Refusal("ErrorClusterNotFound", status=404)
        return {"cluster_id": CLUSTER, "current_version": "1.31.1-aliyun.1",
                "meta_data": json.dumps({"Capabilities": {"Network": "terway-eniip"}})}

    def on_GetClusterAddonInstance(self, request):
        if request.path != f"/clusters/{CLUSTER}/addon_instances/terway-eniip":
            raise Refusal("AddonNotFound", status=404)
        return {"name": "terway-eniip", "state": "active", "version": "v1.14.3",
                "config": json.dumps({"IPVlan": "false", "ENITrunking": "true"})}

    def on_DescribeKubernetesVersionMetadata(self, _request):
        return [{"version": "1.31.1-aliyun.1", "images": [
            {"image_id": "lifsea_3_x64_20G_alibase_20240601.vhd", "image_name": "ContainerOS 3.2",
             "architecture": "x86_64"},
            {"image_id": "aliyun_3_x64_20G_alibase_20240528.vhd",
             "image_name": "Alibaba Cloud Linux 3", "architecture": "x86_64"},
            {"image_id": "aliyun_3_arm64_20G_alibase_20240528.vhd",
             "image_name": "Alibaba Cloud Linux 3", "architecture": "arm64"}]}]

    def on_DescribeClusterAttachScripts(self, request):
        if request.path != f"/clusters/{CLUSTER}/attachscript":
            raise Refusal("ErrorClusterNotFound", status=404)
        if not json.loads(request.body)["keep_instance_name"]:
            raise Refusal("InvalidParameter")
        return SCRIPT


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cloud = None

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        lost, status = False, 200
        try:
            if self.path.startswith("/_facade/"):
                orders = json.loads(body) if body else {}
                answer = self.cloud.control(self.path.removeprefix("/_facade/"), orders)
            else:
                request = Request(self.command, self.path, self.headers, body)
                answer, lost = self.cloud.answer(request)
        except Refusal as refusal:
            status = refusal.status
            answer = {"Code": refusal.code, "Message": refusal.message,
                      "RequestId": secrets.token_hex(8), "HostId": "facade"}
        except (KeyError, ValueError) as problem:
            status = 400
            answer = {"Code": "InvalidParameter", "Message": repr(problem), "RequestId": "r"}
        if lost:
            self.close_connection = True
            if isinstance(answer, bytes):
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer) + 1000))
                self.end_headers()
                self.wfile.write(answer)
            return
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        status = 502 if text == HOSTILE["page"] else status
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_DELETE = handle_one

    def log_message(self, *_):
        pass


def serve(port=0):
    Handler.cloud = Cloud()
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


if __name__ == "__main__":
    running = serve()
    print(json.dumps({"url": f"http://127.0.0.1:{running.server_address[1]}", "region": REGION,
                      "cluster": CLUSTER, "accessKeyId": ROOT_KEYS[0],
                      "accessKeySecret": ROOT_KEYS[1], "oidcToken": OIDC_TOKEN}))
    sys.stdout.flush()
    running.serve_forever()
