#!/usr/bin/env python3
"""An AWS on loopback: moto behind a front that verifies every signature (SigV4), keeps CreateFleet
idempotent by its client token, adds what moto lacks (prices, EKS image parameters, security groups of
launched instances, sold out offerings, capacity reservations, placement groups, dry runs of fleets,
throttling, the lowest price strategy) and writes a ledger of all calls. What is secret is looked for in everything but the headers that are there to carry it.

Prints one line of JSON with its URL when it is ready. Control, without signatures:
  GET  /_facade/ledger                    calls by name, launches by client token, secrets seen
  GET  /_facade/machines                  every instance there ever was, with its hardware and user data
  GET  /_facade/leftovers                 launch templates and instance profiles that exist
  POST /_facade/sold-out   {"type","zone"} an offering that CreateFleet refuses; {} forgets all
  POST /_facade/reservation {"id","type","zone","left"} a capacity reservation of the account's;
                           with {"id","ended": true} it is over and its instances run on
  POST /_facade/unhealthy  {"instance","zone","check"} an instance that fails "instance" or "system"
                           checks since an hour, or of which an "event" is planned; {} forgets all
  POST /_facade/placement-group {"id","name","strategy","partitions"} a placement group of the account's;
                           with {"id","deleted": true} there is none
  POST /_facade/zonal-shift {"zone","seconds"} the cluster is shifted away from a zone (by id); {} ends all
  POST /_facade/deny       {"action"}     the role may not call it (dry runs say so); {} forgets all
  POST /_facade/throttle   {"action","count"} that many calls are told to slow down
  GET  /latest/...                        instance metadata, version 2
  GET  /v1/credentials                    the EKS Pod Identity agent
"""
import hashlib
import hmac
import json
import re
import secrets
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from moto.moto_server.threaded_moto_server import ThreadedMotoServer

REGION = "us-west-2"
ROOT_KEYS = ("AKIDMILLWRIGHTTEST00", "not-a-real-secret/0123456789+abcdefghijkl")
POD_TOKEN = "pod-identity-token"
MAX_SKEW = timedelta(minutes=5)
PAGE = 100
CLUSTER = "demo"
ROLES = ("node-role", "KarpenterNodeRole", f"KarpenterNodeRole-{CLUSTER}")
# Headers that carry a secret, or what is made of one.
SECRET_HEADERS = ("authorization", "x-amz-security-token", "x-aws-ec2-metadata-token")


class Front:
    """What the front knows; one lock for all of it."""

    def __init__(self, moto_url):
        self.moto_url = moto_url
        self.lock = threading.RLock()
        self.keys = {ROOT_KEYS[0]: (ROOT_KEYS[1], None)}
        self.calls = {}
        self.bad_signatures = 0
        self.fleets = {}  # client token -> (body, status, headers, answer)
        self.launches = {}  # client token -> instance ids
        self.wanted = {}  # client token -> how many instances were asked for
        self.reservations = {}  # id -> the control call that made it
        self.reserved = {}  # instance id -> the reservation that it was launched into
        self.placement_groups = {}  # id -> the control call that made it
        self.placed = {}  # instance id -> (placement group id, partition or None)
        self.denied = set()  # actions
        self.shifts = []  # as ARC tells them
        self.unhealthy = []  # the control calls that said so
        self.template_reservations = {}  # launch template name -> reservation
        self.template_placements = {}  # launch template name -> (placement group id, partition)
        self.template_groups = {}  # launch template name -> security group ids
        self.template_user_data = {}  # launch template name -> base64
        self.user_data = {}  # instance id -> base64
        self.hardware = {}  # instance type -> (vCPUs, MiB)
        self.leaks = []  # calls that showed a secret where none belongs
        self.sold_out = set()
        self.throttle = {}
        self.images = {}
        self.products = []

    def note_leaks(self, action, target, headers, body):
        shown = [target.encode(), body]
        shown += [value.encode() for name, value in headers.items() if name.lower() not in SECRET_HEADERS]
        with self.lock:
            secret_texts = [part for key in self.keys.values() for part in key if part] + [POD_TOKEN]
            for secret in secret_texts:
                quoted = urllib.parse.quote(secret, safe="")
                if any(text.encode() in each for text in (secret, quoted) for each in shown):
                    self.leaks.append(action)

    def issue_keys(self):
        key, secret, token = "ASIA" + secrets.token_hex(8).upper(), secrets.token_hex(20), secrets.token_hex(30)
        with self.lock:
            self.keys[key] = (secret, token)
        return key, secret, token


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature_problem(front, method, target, headers, body):
    """Why the request's signature is not right; None when it is."""
    match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, "
                         r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})", headers.get("Authorization", ""))
    if not match:
        return "no AWS4-HMAC-SHA256 signature"
    key, day, region, service, names, given = match.groups()
    if key not in front.keys:
        return "unknown access key"
    secret, token = front.keys[key]
    if (headers.get("X-Amz-Security-Token") or None) != token:
        return "wrong session token"
    names = names.split(";")
    for needed in ("host", "x-amz-date") + (("x-amz-security-token",) if token else ()):
        if needed not in names:
            return f"{needed} is not signed"
    stamp = headers.get("X-Amz-Date", "")
    signed_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
    if abs(datetime.now(timezone.utc) - signed_at) > MAX_SKEW or not stamp.startswith(day):
        return "signed for another time"
    path, _, query = target.partition("?")
    canonical_query = "&".join("=".join(pair) for pair in sorted(
        tuple((part + "=").split("=", 2)[:2]) for part in query.split("&") if part))
    lines = [f"{name}:{' '.join((headers.get(name) or '').split())}" for name in names]
    canonical = "\n".join([method, urllib.parse.quote(path, safe="/-_.~"), canonical_query, *lines, "",
                           ";".join(names), sha256(body)])
    scope = f"{day}/{region}/{service}/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, sha256(canonical.encode())])
    signing = mac(mac(mac(mac(("AWS4" + secret).encode(), day), region), service), "aws4_request")
    wanted = hmac.new(signing, to_sign.encode(), hashlib.sha256).hexdigest()
    return None if hmac.compare_digest(wanted, given) else "the signature does not match"


def ec2_error(code, message, status=400):
    text = (f"<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
            f"<RequestID>{secrets.token_hex(8)}</RequestID></Response>")
    return status, {"Content-Type": "text/xml"}, text.encode()


def to_moto(front, method, target, headers, body):
    passed = {k: v for k, v in headers.items() if k.lower() not in ("host", "content-length", "connection")}
    request = urllib.request.Request(front.moto_url + target, data=body or None, headers=passed, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return reply.status, dict(reply.headers), reply.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def setup_call(front, action, **fields):
    """An EC2 call of the front's own, straight to moto."""
    form = urllib.parse.urlencode({"Action": action, "Version": "2016-11-15", **fields}).encode()
    headers = {"Authorization": f"AWS4-HMAC-SHA256 Credential=X/20260101/{REGION}/ec2/aws4_request, "
                                "SignedHeaders=host, Signature=x",
               "Content-Type": "application/x-www-form-urlencoded"}
    return to_moto(front, "POST", "/", headers, form)[2].decode()


def items(text, tag):
    return re.findall(rf"<{tag}>([^<]*)</{tag}>", text)


def query(service, version, action, **fields):
    """Headers and body of a Query call of the front's own."""
    headers = {"Authorization": f"AWS4-HMAC-SHA256 Credential=X/20260101/us-east-1/{service}/aws4_request, "
                                "SignedHeaders=host, Signature=x",
               "Content-Type": "application/x-www-form-urlencoded"}
    return headers, urllib.parse.urlencode({"Action": action, "Version": version, **fields}).encode()


def prepare_network(front):
    """Subnets and a security group with the tags that people's manifests ask for, and nodes' roles."""
    vpc = items(setup_call(front, "DescribeVpcs"), "vpcId")[0]
    text = setup_call(front, "CreateSecurityGroup", GroupName="nodes", GroupDescription="nodes", VpcId=vpc)
    tagged = items(text, "groupId")[:1] + items(setup_call(front, "DescribeSubnets"), "subnetId")
    setup_call(front, "CreateTags", **{f"ResourceId.{n + 1}": each for n, each in enumerate(tagged)},
               **{"Tag.1.Key": "karpenter.sh/discovery", "Tag.1.Value": CLUSTER,
                  "Tag.2.Key": "alpha.eksctl.io/cluster-name", "Tag.2.Value": CLUSTER,
                  "Tag.3.Key": f"kubernetes.io/cluster/{CLUSTER}", "Tag.3.Value": "owned"})
    for role in ROLES:
        headers, body = query("iam", "2010-05-08", "CreateRole", RoleName=role, AssumeRolePolicyDocument="{}")
        to_moto(front, "POST", "/", headers, body)


def prepare(front):
    """Images for the EKS parameters and a price for every type."""
    prepare_network(front)
    for arch in ("x86_64", "arm64"):
        text = setup_call(front, "RegisterImage", Name=f"eks-node-al2023-{arch}", Architecture=arch,
                          RootDeviceName="/dev/xvda")
        front.images[arch] = items(text, "imageId")[0]
    text = setup_call(front, "DescribeInstanceTypes")
    for item in re.split(r"<instanceType>", text)[1:]:
        name = item[:item.index("<")]
        cpus, memory = items(item, "defaultVCpus"), items(item, "sizeInMiB")
        if not cpus or not memory:
            continue
        front.hardware[name] = (int(cpus[0]), int(memory[0]))
        price = f"{int(cpus[0]) * 0.03 + int(memory[0]) / 1024 * 0.005:.6f}"
        front.products.append((name.endswith("metal"), json.dumps({
            "product": {"attributes": {"instanceType": name}},
            "terms": {"OnDemand": {"A.B": {"priceDimensions": {"A.B.C": {"pricePerUnit": {"USD": price}}}}}}})))
    cluster = {"name": CLUSTER, "roleArn": "arn:aws:iam::123456789012:role/x", "version": "1.31",
               "resourcesVpcConfig": {"subnetIds": []}}
    headers = {"Authorization": f"AWS4-HMAC-SHA256 Credential=X/20260101/{REGION}/eks/aws4_request, "
                                "SignedHeaders=host, Signature=x", "Content-Type": "application/json"}
    to_moto(front, "POST", "/clusters", headers, json.dumps(cluster).encode())


def get_products(front, body):
    asked = json.loads(body)
    metal = any("bare metal" in each["Value"] for each in asked["Filters"])
    products = [text for is_metal, text in front.products if is_metal == metal]
    start = int(asked.get("NextToken", "0"))
    answer = {"FormatVersion": "aws_v1", "PriceList": products[start:start + PAGE]}
    if start + PAGE < len(products):
        answer["NextToken"] = str(start + PAGE)
    return 200, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps(answer).encode()


def get_parameter(front, name):
    match = re.fullmatch(r"/aws/service/eks/optimized-ami/[\d.]+/amazon-linux-2(023/(x86_64|arm64)/standard|(-arm64)?)/.*",
                         name)
    if not match:
        return None
    arch = match.group(2) or ("arm64" if match.group(3) else "x86_64")
    answer = {"Parameter": {"Name": name, "Type": "String", "Value": front.images[arch]}}
    return 200, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps(answer).encode()


def choose_offering(front, fields):
    """As the lowest price strategy does: the form with only the cheapest override that is in stock (None
    when there is none), and an error item for each that is sold out."""
    pattern = re.compile(r"LaunchTemplateConfigs\.(\d+)\.Overrides\.\d+\.InstanceType")
    in_stock, errors = [], ""
    for name in fields:
        match = pattern.fullmatch(name)
        if not match:
            continue
        prefix = name[:-len("InstanceType")]
        offering = (fields[name], fields.get(prefix + "AvailabilityZone", ""))
        template = fields.get(f"LaunchTemplateConfigs.{match.group(1)}.LaunchTemplateSpecification.LaunchTemplateName")
        reservation = front.template_reservations.get(template)
        full = reservation and front.reservations.get(reservation, {}).get("left", 0) <= 0
        if offering not in front.sold_out and not full:
            in_stock.append((float(fields.get(prefix + "Priority", "0")), match.group(1), prefix))
            continue
        errors += ("<item><launchTemplateAndOverrides><overrides>"
                   f"<instanceType>{offering[0]}</instanceType><availabilityZone>{offering[1]}</availabilityZone>"
                   "</overrides></launchTemplateAndOverrides><errorCode>"
                   f"{'ReservationCapacityExceeded' if full else 'InsufficientInstanceCapacity'}</errorCode>"
                   f"<errorMessage>no {offering[0]} in {offering[1]}</errorMessage></item>")
    if not in_stock:
        return None, errors
    _, config, chosen = min(in_stock)
    kept = {name: value for name, value in fields.items() if not name.startswith("LaunchTemplateConfigs.")}
    for name, value in fields.items():
        template = f"LaunchTemplateConfigs.{config}.LaunchTemplateSpecification."
        if name.startswith(template):
            kept["LaunchTemplateConfigs.1.LaunchTemplateSpecification." + name[len(template):]] = value
        elif name.startswith(chosen):
            kept["LaunchTemplateConfigs.1.Overrides.1." + name[len(chosen):]] = value
    return kept, errors


def describe_reservations(front, fields):
    wanted = [value for name, value in fields.items() if name.startswith("CapacityReservationId.")]
    for each in wanted:
        if each not in front.reservations:
            return ec2_error("InvalidCapacityReservationId.NotFound", f"{each} does not exist")
    found = "".join(
        f"<item><capacityReservationId>{each['id']}</capacityReservationId><ownerId>123456789012</ownerId>"
        f"<instanceType>{each['type']}</instanceType><availabilityZone>{each['zone']}</availabilityZone>"
        "<instanceMatchCriteria>targeted</instanceMatchCriteria><state>active</state>"
        f"<availableInstanceCount>{each['left']}</availableInstanceCount></item>"
        for each in front.reservations.values() if not wanted or each["id"] in wanted)
    return 200, {"Content-Type": "text/xml"}, (
        "<DescribeCapacityReservationsResponse><capacityReservationSet>" + found +
        "</capacityReservationSet></DescribeCapacityReservationsResponse>").encode()


def describe_instance_status(front, fields):
    """With the filters, which moto ignores."""
    which = {"instance-status.status": "instance", "system-status.status": "system", "event.code": "event"}
    failed = ("<status>impaired</status><details><item><name>reachability</name><status>failed</status>"
              f"<impairedSince>{(datetime.now(timezone.utc) - timedelta(hours=1)).isoformat()}</impairedSince>"
              "</item></details>")
    shown = {"instance": f"<instanceStatus>{failed}</instanceStatus>",
             "system": f"<systemStatus>{failed}</systemStatus>",
             "event": "<eventsSet><item><code>system-maintenance</code><description>soon</description></item>"
                      "</eventsSet>"}
    wanted = which.get(fields.get("Filter.1.Name"))
    found = "".join(
        f"<item><instanceId>{each['instance']}</instanceId><availabilityZone>{each['zone']}</availabilityZone>"
        f"{shown[each['check']]}</item>" for each in front.unhealthy if wanted in (None, each["check"]))
    return 200, {"Content-Type": "text/xml"}, (
        "<DescribeInstanceStatusResponse><instanceStatusSet>" + found +
        "</instanceStatusSet></DescribeInstanceStatusResponse>").encode()


def describe_placement_groups(front, fields):
    wanted = fields.get("GroupId.1") or fields.get("GroupName.1")
    found = "".join(
        f"<item><groupName>{each['name']}</groupName><groupId>{each['id']}</groupId>"
        f"<strategy>{each['strategy']}</strategy><state>available</state>" +
        (f"<partitionCount>{each['partitions']}</partitionCount>" if "partitions" in each else "") + "</item>"
        for each in front.placement_groups.values()
        if wanted is None or wanted == each["id" if "GroupId.1" in fields else "name"])
    if wanted and not found:
        return ec2_error("InvalidPlacementGroup.Unknown", f"The Placement Group '{wanted}' is unknown.")
    return 200, {"Content-Type": "text/xml"}, (
        "<DescribePlacementGroupsResponse><placementGroupSet>" + found +
        "</placementGroupSet></DescribePlacementGroupsResponse>").encode()


def show_placements(front, text):
    """DescribeInstances' answer with the placement groups, which moto does not keep either."""
    for instance, (group, partition) in front.placed.items():
        shown = f"<groupId>{group}</groupId>"
        if partition:
            shown += f"<partitionNumber>{partition}</partitionNumber>"
        text = re.sub(rf"(<instanceId>{instance}</instanceId>.*?<placement>)", rf"\1{shown}", text,
                      count=1, flags=re.S)
    return text


def show_reservations(front, text):
    """DescribeInstances' answer with what moto does not keep: where an instance was launched into, and
    whether it still runs there."""
    for instance, reservation in front.reserved.items():
        here = f"<capacityReservationId>{reservation}</capacityReservationId>"
        text = text.replace(
            f"<instanceId>{instance}</instanceId>",
            f"<instanceId>{instance}</instanceId>" + (here if reservation in front.reservations else "") +
            "<capacityReservationSpecification><capacityReservationTarget>" + here +
            "</capacityReservationTarget></capacityReservationSpecification>")
    return text


def furnish(front, instance, template):
    """What moto leaves out of a launch template: placement group, reservation, security groups and user
    data."""
    group, partition = front.template_placements.get(template) or (None, None)
    if group:
        count = front.placement_groups[group].get("partitions", 0)
        front.placed[instance] = (group, partition or (len(front.placed) % count + 1 if count else None))
    reservation = front.template_reservations.get(template)
    if reservation:
        front.reserved[instance] = reservation
        front.reservations[reservation]["left"] -= 1
    front.user_data[instance] = front.template_user_data.get(template, "")
    setup_call(front, "ModifyInstanceAttribute", InstanceId=instance,
               **{f"GroupId.{n + 1}": group for n, group in enumerate(front.template_groups.get(template, []))})


def create_fleet(front, headers, fields):
    if fields.get("DryRun") == "true":
        return ec2_error("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)
    token = fields.get("ClientToken", "")
    body = urllib.parse.urlencode(sorted(fields.items()))
    with front.lock:
        known = front.fleets.get(token)
        if known:
            return known[1] if known[0] == body else ec2_error(
                "IdempotentParameterMismatch", "the token was used with other parameters")
        kept, errors = choose_offering(front, fields)
        answer = (200, {"Content-Type": "text/xml"}, b"<CreateFleetResponse><fleetInstanceSet/>"
                  b"<errorSet></errorSet></CreateFleetResponse>")
        if kept:
            answer = to_moto(front, "POST", "/", headers, urllib.parse.urlencode(kept).encode())
        status, reply_headers, text = answer
        if status == 200:
            text = re.sub(rb"<errorSet\s*/>|<errorSet>.*</errorSet>", b"", text, flags=re.S)
            text = text.replace(b"</CreateFleetResponse>",
                                b"<errorSet>" + errors.encode() + b"</errorSet></CreateFleetResponse>")
            front.wanted[token] = int(fields["TargetCapacitySpecification.TotalTargetCapacity"])
            front.launches[token] = re.findall(r"<item>(i-[0-9a-f]+)</item>", text.decode())
            for instance in front.launches[token]:
                furnish(front, instance, kept["LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName"])
            front.fleets[token] = (body, (status, reply_headers, text))
        return status, reply_headers, text


def machines(front):
    """Every instance, the terminated ones too, as whoever plays its kubelet needs to know it."""
    text = re.sub(r' xmlns="[^"]*"', "", setup_call(front, "DescribeInstances"))
    result = []
    for item in ElementTree.fromstring(text).iterfind(".//instancesSet/item"):
        identity, kind = item.findtext("instanceId"), item.findtext("instanceType")
        cpus, memory = front.hardware.get(kind, (0, 0))
        result.append({"id": identity, "type": kind, "zone": item.findtext("placement/availabilityZone"),
                       "state": item.findtext("instanceState/name"), "dns": item.findtext("privateDnsName"),
                       "cpus": cpus, "memory_mib": memory, "user_data": front.user_data.get(identity, ""),
                       "tags": {tag.findtext("key"): tag.findtext("value")
                                for tag in item.iterfind("tagSet/item")}})
    return result


def leftovers(front):
    headers, body = query("iam", "2010-05-08", "ListInstanceProfiles")
    profiles = to_moto(front, "POST", "/", headers, body)[2].decode()
    return {"templates": items(setup_call(front, "DescribeLaunchTemplates"), "launchTemplateName"),
            "profiles": items(profiles, "InstanceProfileName")}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    front = None

    def log_message(self, *_):
        pass

    def reply(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply_json(self, value, status=200):
        self.reply(status, {"Content-Type": "application/json"}, json.dumps(value).encode())

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.startswith("/_facade/"):
            self.control(body)
        elif self.path.startswith("/latest/") or self.path.startswith("/v1/"):
            self.machine()
        else:
            self.reply(*self.answer(body))

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def control(self, body):
        front, asked = self.front, json.loads(body or b"{}")
        with front.lock:
            if self.path == "/_facade/ledger":
                self.reply_json({"calls": front.calls, "launches": front.launches,
                                 "wanted": front.wanted,
                                 "bad_signatures": front.bad_signatures, "images": front.images,
                                 "leaks": front.leaks})
                return
            if self.path == "/_facade/machines":
                self.reply_json(machines(front))
                return
            if self.path == "/_facade/leftovers":
                self.reply_json(leftovers(front))
                return
            if self.path == "/_facade/sold-out":
                if asked:
                    front.sold_out.add((asked["type"], asked["zone"]))
                else:
                    front.sold_out.clear()
            elif self.path == "/_facade/reservation":
                if asked.get("ended"):
                    front.reservations.pop(asked["id"])
                else:
                    front.reservations[asked["id"]] = asked
            elif self.path == "/_facade/placement-group":
                if asked.get("deleted"):
                    front.placement_groups.pop(asked["id"])
                else:
                    front.placement_groups[asked["id"]] = asked
            elif self.path == "/_facade/deny":
                if asked:
                    front.denied.add(asked["action"])
                else:
                    front.denied.clear()
            elif self.path == "/_facade/zonal-shift":
                front.shifts = [] if not asked else front.shifts + [
                    {"appliedStatus": "APPLIED", "awayFrom": asked["zone"],
                     "expiryTime": datetime.now(timezone.utc).timestamp() + asked["seconds"]}]
            elif self.path == "/_facade/unhealthy":
                if asked:
                    front.unhealthy.append(asked)
                else:
                    front.unhealthy.clear()
            elif self.path == "/_facade/throttle":
                front.throttle[asked["action"]] = asked["count"]
            self.reply_json({})

    def machine(self):
        """Instance metadata and the Pod Identity agent."""
        if self.path == "/latest/api/token":
            self.reply(200 if self.command == "PUT" else 405, {}, b"metadata-token")
            return
        is_pod = self.path.startswith("/v1/")
        given = self.headers.get("Authorization" if is_pod else "X-aws-ec2-metadata-token")
        if given != (POD_TOKEN if is_pod else "metadata-token"):
            self.reply(401, {}, b"")
        elif self.path == "/latest/meta-data/placement/region":
            self.reply(200, {}, REGION.encode())
        elif self.path == "/latest/meta-data/iam/security-credentials/":
            self.reply(200, {}, b"node-role")
        else:
            key, secret, token = self.front.issue_keys()
            expires = (datetime.now(timezone.utc) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
            self.reply_json({"Code": "Success", "AccessKeyId": key, "SecretAccessKey": secret, "Token": token,
                             "Expiration": expires})

    def answer(self, body):
        front = self.front
        fields = {}
        if "form" in (self.headers.get("Content-Type") or ""):
            fields = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
        target = self.headers.get("X-Amz-Target") or ""
        action = fields.get("Action") or target.partition(".")[2] or f"{self.command} {self.path}"
        front.note_leaks(action, self.path, self.headers, body)
        with front.lock:
            front.calls[action] = front.calls.get(action, 0) + 1
            if front.throttle.get(action, 0) > 0:
                front.throttle[action] -= 1
                return ec2_error("RequestLimitExceeded", "Request limit exceeded.", 503)
        if action != "AssumeRoleWithWebIdentity":
            problem = signature_problem(front, self.command, self.path, self.headers, body)
            if problem:
                with front.lock:
                    front.bad_signatures += 1
                return ec2_error("SignatureDoesNotMatch", problem, 403)
        if action in front.denied:
            return ec2_error("UnauthorizedOperation", f"You are not authorized to perform {action}.", 403)
        return self.perform(action, fields, body)

    def perform(self, action, fields, body):
        front = self.front
        if action == "GetProducts":
            return get_products(front, body)
        if action == "GetParameter":
            found = get_parameter(front, json.loads(body)["Name"])
            if found:
                return found
        if action == "DescribeCapacityReservations":
            return describe_reservations(front, fields)
        if action.startswith("GET /managedresources/"):
            known = action.endswith(urllib.parse.quote(f":cluster/{CLUSTER}", safe=""))
            answer = {"arn": "x", "zonalShifts": front.shifts} if known else {"message": "not registered"}
            return 200 if known else 404, {"Content-Type": "application/json"}, json.dumps(answer).encode()
        if action == "DescribeInstanceStatus":
            return describe_instance_status(front, fields)
        if action == "DescribePlacementGroups":
            return describe_placement_groups(front, fields)
        if action == "CreateFleet":
            return create_fleet(front, self.headers, fields)
        if action == "CreateLaunchTemplate":
            groups = [value for name, value in sorted(fields.items()) if "SecurityGroupId." in name]
            with front.lock:
                front.template_groups[fields["LaunchTemplateName"]] = groups
                front.template_placements[fields["LaunchTemplateName"]] = tuple(
                    fields.get(f"LaunchTemplateData.Placement.{name}") for name in ("GroupId", "PartitionNumber"))
                front.template_reservations[fields["LaunchTemplateName"]] = fields.get(
                    "LaunchTemplateData.CapacityReservationSpecification."
                    "CapacityReservationTarget.CapacityReservationId")
                front.template_user_data[fields["LaunchTemplateName"]] = fields.get(
                    "LaunchTemplateData.UserData", "")
        status, headers, answer = to_moto(front, self.command, self.path, self.headers, body)
        if action == "DescribeInstances" and status == 200:
            with front.lock:
                answer = show_placements(front, show_reservations(front, answer.decode())).encode()
        if action.startswith("AssumeRole") and status == 200:
            text = answer.decode()
            with front.lock:
                front.keys[items(text, "AccessKeyId")[0]] = (items(text, "SecretAccessKey")[0],
                                                             items(text, "SessionToken")[0])
        return status, headers, answer


def main():
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    front = Front(f"http://{host}:{port}")
    prepare(front)
    Handler.front = front
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    moto.stop()
    return 0


sys.exit(main())
