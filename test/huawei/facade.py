#!/usr/bin/env python3
"""A Huawei Cloud on loopback: IAM, ECS, VPC, BSS and CCE for one project and one cluster. Verifies every
signature by the algorithm of Huawei's API Gateway guide, with code of its own; pages, throttles, sells
out, loses answers, answers late, and writes a ledger of all calls. Standard library only.

Prints one line of JSON with its URL when it is ready. Control, without signatures:
  GET  /_facade/ledger                   calls by name, nodes asked for by claim, refusals of signatures,
                                         secrets seen where none belongs
  GET  /_facade/nodes                    every CCE node there ever was
  POST /_facade/sold-out  {"flavor","zone"}    an offering that CCE refuses; {} forgets all
  POST /_facade/throttle  {"call","count"}     that many calls are told to slow down
  POST /_facade/lose      {"call","count"}     that many are carried out and their connections closed
  POST /_facade/late      {"count","seconds"}  that many nodes show so much later, their answers lost
  POST /_facade/hostile   {"call","answer"}    the call answers this: html, truncated, types, huge; {} ends
  POST /_facade/refuse    {"status","code","message"}  the next order of a node is refused so
  POST /_facade/fail      {"phase","reason"}   the next node that is made comes to this phase, its job fails
  POST /_facade/keep      {"seconds"}          nodes cannot be deleted before they are so old; 0 ends it
  GET  /openstack/latest/securitykey     keys of the machine's agency
"""
import copy
import hashlib
import hmac
import json
import re
import sys
import threading
import time
import urllib.parse
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REGION = "cn-north-4"
PROJECT = "0123456789abcdef0123456789abcdef"
DOMAIN = "fakedomainid"
CLUSTER = "b1c2d3e4-0000-1111-2222-333344445555"
SUBNET = "30abcb7b-ddeb-4a93-9e83-0b21f59b07a3"
ZONES = [REGION + letter for letter in "abc"]
ROOT_KEYS = ("HWFAKEACCESSKEY00001", "fakeHuaweiSecretKeyNotReal0123456789abcd")
AGENCY_KEYS = ("HWFAKEAGENCYKEY00001", "fakeAgencySecretNotReal0123456789abcdefg", "agency/token+with==")
MAX_SKEW = timedelta(minutes=15)
ALGORITHM = "SDK-HMAC-SHA256"
MOST_PRODUCTS = 100
# Headers that carry a secret, or what is made of one.
SECRET_HEADERS = ("authorization", "x-security-token")


def real_flavors():
    sizes = {"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32}
    for family, ratio in (("c9", 2), ("c9", 4), ("s7", 4), ("m7", 8)):
        for size, cpus in sizes.items():
            yield {
                "id": f"{family}.{size}.{ratio}", "name": f"{family}.{size}.{ratio}", "vcpus": str(cpus),
                "ram": cpus * ratio * 1024, "disk": "0",
                "os_extra_specs": {"ecs:performancetype": "computingv3", "quota:max_rate": str(1000 * cpus),
                                   "cond:operation:status": "normal",
                                   "cond:spot:operation:status": "normal" if family == "s7" else "abandon"},
            }


def filler_flavors(count):
    """Flavors that are sold no more, so that the list has more than one page."""
    for number in range(count):
        name = f"x{number:04}.large.4"
        yield {"id": name, "name": name, "vcpus": "2", "ram": 8192, "disk": "0",
               "os_extra_specs": {"cond:operation:status": "abandon"}}


class Cloud:
    """What the cloud knows; one lock for all of it."""

    def __init__(self):
        self.lock = threading.RLock()
        self.keys = {ROOT_KEYS[0]: (ROOT_KEYS[1], None), AGENCY_KEYS[0]: AGENCY_KEYS[1:]}
        self.flavors = list(real_flavors()) + list(filler_flavors(1050))
        self.nodes = {}  # uid -> node; "gone" when it is, "shows" from when it is listed
        self.asked = {}  # claim UID -> how many nodes were made for it
        self.calls = {}
        self.bad_signatures = []
        self.leaks = []
        self.sold_out = set()
        self.throttle, self.lose, self.hostile = {}, {}, {}
        self.late = (0, 0)
        self.refusal = None
        self.failure = None
        self.keep = 0
        self.made = 0
        self.stale = None  # until when, and the nodes as they were

    def price(self, flavor):
        found = next((each for each in self.flavors if each["name"] == flavor), None)
        if found is None or found["os_extra_specs"]["cond:operation:status"] != "normal":
            return None
        return round(0.2 * int(found["vcpus"]) + found["ram"] / 1024 * 0.03, 6)


def encoded(text):
    return urllib.parse.quote(text, safe="-_.~")


def expected_signature(method, target, headers, body, signed, secret):
    """As the guide describes it; `headers` by lower-case name."""
    path, _, query = target.partition("?")
    segments = [encoded(each) for each in urllib.parse.unquote(path).split("/")]
    uri = "/".join(segments)
    uri = uri if uri.endswith("/") else uri + "/"
    pairs = sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))
    canonical_query = "&".join(f"{encoded(key)}={encoded(value)}" for key, value in pairs)
    lines = "".join(f"{name}:{headers.get(name, '').strip()}\n" for name in signed)
    payload = headers.get("x-sdk-content-sha256") or hashlib.sha256(body).hexdigest()
    canonical = "\n".join([method, uri, canonical_query, lines, ";".join(signed), payload])
    to_sign = "\n".join([ALGORITHM, headers.get("x-sdk-date", ""),
                         hashlib.sha256(canonical.encode()).hexdigest()])
    return hmac.new(secret.encode(), to_sign.encode(), hashlib.sha256).hexdigest()


def signature_problem(cloud, method, target, headers, body):
    """Why the request is not acceptable; None when it is."""
    match = re.fullmatch(ALGORITHM + r" Access=(\w+), SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})",
                         headers.get("authorization", ""))
    if not match:
        return "no signature"
    access, signed, signature = match.group(1), match.group(2).split(";"), match.group(3)
    if access not in cloud.keys:
        return "unknown access key"
    secret, token = cloud.keys[access]
    if token is not None and headers.get("x-security-token") != token:
        return "wrong security token"
    needed = {"host", "x-sdk-date"} | {name for name in headers if name in (
        "x-project-id", "x-domain-id", "x-security-token", "x-sdk-content-sha256")}
    if not needed <= set(signed) or signed != sorted(signed):
        return "headers are not signed"
    try:
        date = datetime.strptime(headers.get("x-sdk-date", ""), "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return "no date"
    if abs(datetime.now(timezone.utc) - date) > MAX_SKEW:
        return "the clocks differ"
    if not hmac.compare_digest(expected_signature(method, target, headers, body, signed, secret), signature):
        return "the signature does not match"
    return None


HOSTILE = {
    "html": b"<html><body>" + ROOT_KEYS[1].encode() + b"</body></html>",
    "truncated": b'{"items":[{"metadata":{"uid":"u1"',
    "types": b'{"items":7,"flavors":"x","subnets":{"id":3},"availability_zones":null,"metadata":[],"spec":1}',
    "huge": b'{"items":[' + b'{"metadata":{"uid":7},"spec":[]},' * 100000 + b"null]}",
    "page": b"<html><body>502 Bad Gateway</body></html>",
    "cut": b'{"items":[{"metadata":',
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cloud = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.handle_any("GET")

    def do_POST(self):
        self.handle_any("POST")

    def do_PUT(self):
        self.handle_any("PUT")

    def do_DELETE(self):
        self.handle_any("DELETE")

    def reply(self, status, answer):
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json;charset=utf8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Request-Id", f"req-{time.monotonic_ns()}")
        self.end_headers()
        self.wfile.write(body)

    def reply_hostile(self, answer):
        if answer == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(2 * len(HOSTILE["cut"])))
            self.end_headers()
            self.wfile.write(HOSTILE["cut"])
            return self.hang_up()
        return self.reply(502 if answer == "page" else 200, HOSTILE[answer])

    def refuse(self, status, code, message):
        self.reply(status, {"error_code": code, "error_msg": message})

    def hang_up(self):
        self.close_connection = True

    def handle_any(self, method):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = urllib.parse.urlsplit(self.path).path
        with self.cloud.lock:
            if path.startswith("/_facade/"):
                return self.control(path[len("/_facade/"):], json.loads(body) if body else {})
            if path == "/meta-data/latest/api/token" and method == "PUT":
                return self.reply(200, b"metadata-token")
            if path == "/openstack/latest/securitykey":
                return self.securitykey()
            return self.serve(method, path, headers, body)

    def securitykey(self):
        end = datetime.now(timezone.utc) + timedelta(hours=24)
        access, secret, token = AGENCY_KEYS
        self.reply(200, {"credential": {"access": access, "secret": secret, "securitytoken": token,
                                        "expires_at": end.strftime("%Y-%m-%dT%H:%M:%S.000000Z")}})

    def look_for_secrets(self, name, headers, body):
        shown = self.path + body.decode(errors="replace") + "".join(
            value for header, value in headers.items() if header not in SECRET_HEADERS)
        if any(secret in shown for secret in (ROOT_KEYS[1], *AGENCY_KEYS[1:])):
            self.cloud.leaks.append(name)

    def name_of(self, method, path):
        routes = [
            ("GET", r"/v3/projects", "projects"),
            ("GET", r"/v3/auth/domains", "domains"),
            ("GET", rf"/v1/{PROJECT}/cloudservers/flavors", "flavors"),
            ("GET", rf"/v1/{PROJECT}/availability-zones", "zones"),
            ("GET", rf"/v1/{PROJECT}/subnets", "subnets"),
            ("POST", r"/v2/bills/ratings/on-demand-resources", "prices"),
            ("POST", rf"/api/v3/projects/{PROJECT}/clusters/{CLUSTER}/nodes", "create"),
            ("GET", rf"/api/v3/projects/{PROJECT}/clusters/{CLUSTER}/nodes", "list"),
            ("GET", rf"/api/v3/projects/{PROJECT}/clusters/{CLUSTER}/nodes/[^/]+", "get"),
            ("DELETE", rf"/api/v3/projects/{PROJECT}/clusters/{CLUSTER}/nodes/[^/]+", "delete"),
            ("GET", rf"/api/v3/projects/{PROJECT}/jobs/[^/]+", "job"),
        ]
        return next((name for verb, pattern, name in routes
                     if verb == method and re.fullmatch(pattern, path)), None)

    def spend(self, counts, name):
        left = counts.get(name, 0)
        counts[name] = max(left - 1, 0)
        return left > 0

    def serve(self, method, path, headers, body):
        cloud = self.cloud
        name = self.name_of(method, path)
        cloud.calls[name or f"{method} {path}"] = cloud.calls.get(name or f"{method} {path}", 0) + 1
        self.look_for_secrets(name, headers, body)
        problem = signature_problem(cloud, method, self.path, headers, body)
        if problem:
            cloud.bad_signatures.append(f"{name}: {problem}")
            return self.refuse(401, "APIGW.0301", f"Incorrect IAM authentication information: {problem}")
        if name is None:
            return self.refuse(404, "APIGW.0101", "The API does not exist")
        scope = {"projects": None, "domains": None, "prices": ("x-domain-id", DOMAIN)}.get(
            name, ("x-project-id", PROJECT))
        if scope and headers.get(scope[0]) != scope[1]:
            return self.refuse(403, "APIGW.0302", f"{scope[0]} is missing or wrong")
        if self.spend(cloud.throttle, name):
            return self.refuse(429, "APIGW.0308", "The throttling threshold has been reached")
        if name in cloud.hostile:
            return self.reply_hostile(cloud.hostile[name])
        answer = getattr(self, "answer_" + name)(path, body)
        if answer is None or self.spend(cloud.lose, name):
            return self.hang_up()
        return self.reply(*answer)

    def page(self, items, usual):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        marker, limit = query.get("marker"), int(query.get("limit", usual))
        first = 0
        if marker:
            first = next((at + 1 for at, item in enumerate(items) if item["id"] == marker), len(items))
        return items[first:first + limit]

    def answer_projects(self, *_):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        known = query.get("name") in (None, REGION)
        return 200, {"projects": [{"id": PROJECT, "name": REGION}] if known else []}

    def answer_domains(self, *_):
        return 200, {"domains": [{"id": DOMAIN, "name": "demo"}]}

    def answer_flavors(self, *_):
        return 200, {"flavors": self.page(self.cloud.flavors, 50)}

    def answer_zones(self, *_):
        return 200, {"availability_zones": [{"availability_zone_id": zone, "type": "Core"} for zone in ZONES]}

    def answer_subnets(self, *_):
        living = sum("gone" not in node for node in self.cloud.nodes.values())
        return 200, {"subnets": self.page([{"id": SUBNET, "name": "nodes", "status": "ACTIVE",
                                            "available_ip_address_count": 250 - living}], 500)}

    def answer_prices(self, _, body):
        products = json.loads(body)["product_infos"]
        if len(products) > MOST_PRODUCTS:
            return 400, {"error_code": "CBC.0100", "error_msg": "too many products"}
        results = []
        for product in products:
            price = self.cloud.price(product["resource_spec"].removesuffix(".linux"))
            if price is None:
                return 400, {"error_code": "CBC.99006006",
                             "error_msg": f"Can not find product {product['resource_spec']}"}
            results.append({"id": product["id"], "amount": price, "official_website_amount": price})
        return 200, {"currency": "CNY", "product_rating_results": results}

    def answer_create(self, _, body):
        cloud, asked = self.cloud, json.loads(body)
        if cloud.refusal:
            refusal, cloud.refusal = cloud.refusal, None
            return refusal["status"], {"error_code": refusal["code"], "error_msg": refusal["message"]}
        problem = order_problem(asked, cloud)
        if problem:
            return 400, {"errorCode": "CCE.01400001", "errorMsg": problem}
        spec = asked["spec"]
        if (spec["flavor"], spec["az"]) in cloud.sold_out:
            return 400, {"errorCode": "CCE_CM.0021", "errorMsg": "the flavor is sold out in the az"}
        cloud.made += 1
        uid = f"{cloud.made:08x}-1111-2222-3333-444455556666"
        count, seconds = cloud.late
        cloud.late = (max(count - 1, 0), seconds)
        shows = time.monotonic() + (seconds if count else 0)
        cloud.nodes[uid] = {"spec": spec, "number": cloud.made, "created": datetime.now(timezone.utc),
                            "shows": shows, "phase": "Build", "failure": cloud.failure}
        cloud.failure = None
        claim = spec.get("k8sTags", {}).get("karpenter.k8s.huawei/nodeclaim-uid", "")
        cloud.asked[claim] = cloud.asked.get(claim, 0) + 1
        return None if count else (201, shown(uid, cloud.nodes[uid]))

    def visible(self):
        now = time.monotonic()
        nodes = self.cloud.nodes
        if self.cloud.stale and now < self.cloud.stale[0]:
            nodes = self.cloud.stale[1]
        return {uid: node for uid, node in nodes.items()
                if "gone" not in node and node["shows"] <= now}

    def answer_list(self, *_):
        return 200, {"kind": "List", "apiVersion": "v3",
                     "items": [shown(uid, node) for uid, node in self.visible().items()]}

    def one(self, path):
        uid = urllib.parse.unquote(path.rsplit("/", 1)[1])
        return uid, self.visible().get(uid)

    def answer_get(self, path, _):
        uid, node = self.one(path)
        if node is None:
            return 404, {"errorCode": "CCE.01404001", "errorMsg": "Resource not found"}
        answer = 200, shown(uid, node)
        if node["phase"] == "Deleting":
            node["gone"] = True  # by the next look
        return answer

    def answer_delete(self, path, _):
        uid, node = self.one(path)
        if node is None:
            return 404, {"errorCode": "CCE.01404001", "errorMsg": "Resource not found"}
        if age_of(node) < self.cloud.keep:
            return 409, {"errorCode": "CCE.01409002", "errorMsg": "The node is being created"}
        node["phase"] = "Deleting"
        return 200, shown(uid, node)

    def answer_job(self, path, _):
        node = self.visible().get(path.rsplit("/job-", 1)[1])
        if node is None:
            return 404, {"errorCode": "CCE.01404001", "errorMsg": "Resource not found"}
        step = {"kind": "Job", "spec": {"type": "InstallNode"}, "status": {"phase": "Success"}}
        if node["failure"]:
            step["status"] = {"phase": "Failed", "reason": node["failure"]["reason"]}
        return 200, {"kind": "Job", "apiVersion": "v3", "spec": {"type": "CreateNode", "subJobs": [step]},
                     "status": {"phase": step["status"]["phase"]}}

    def control(self, what, asked):
        cloud = self.cloud
        if what == "ledger":
            return self.reply(200, {"calls": cloud.calls, "asked": cloud.asked, "leaks": cloud.leaks,
                                    "bad_signatures": cloud.bad_signatures})
        if what == "nodes":
            return self.reply(200, {uid: {"spec": node["spec"], "gone": "gone" in node,
                                          "phase": node["phase"], "address": address_of(node)}
                                    for uid, node in cloud.nodes.items()})
        if what == "sold-out":
            cloud.sold_out = cloud.sold_out | {(asked["flavor"], asked["zone"])} if asked else set()
        elif what in ("throttle", "lose"):
            getattr(cloud, what)[asked["call"]] = asked["count"]
        elif what == "late":
            cloud.late = (asked["count"], asked["seconds"])
        elif what == "hostile":
            cloud.hostile = {asked["call"]: asked["answer"]} if asked else {}
        elif what == "refuse":
            cloud.refusal = asked
        elif what == "fail":
            cloud.failure = asked
        elif what == "keep":
            cloud.keep = asked["seconds"]
        elif what == "stale":
            cloud.stale = (time.monotonic() + asked["seconds"], copy.deepcopy(cloud.nodes))
        elif what == "reclaim":
            cloud.nodes[asked["node"]]["gone"] = True
        else:
            return self.reply(404, {})
        return self.reply(200, {})


def order_problem(asked, cloud):
    """What CCE would say of the body; empty when it is in order."""
    spec = asked.get("spec", {})
    if asked.get("kind") != "Node" or asked.get("apiVersion") != "v3":
        return "kind and apiVersion must be Node and v3"
    for field, kind in {"flavor": str, "az": str, "os": str, "login": dict, "rootVolume": dict,
                        "dataVolumes": list, "count": int, "k8sTags": dict, "taints": list}.items():
        if not isinstance(spec.get(field), kind):
            return f"spec.{field} is missing or of a wrong type"
    if spec["flavor"] not in {each["name"] for each in cloud.flavors} or spec["az"] not in ZONES:
        return "no such flavor or zone"
    if spec.get("nodeNicSpec", {}).get("primaryNic", {}).get("subnetId") != SUBNET:
        return "no such subnet"
    if ("sshKey" in spec["login"]) == ("userPassword" in spec["login"]):
        return "spec.login needs a key or a password"
    selector = spec.get("storage", {}).get("storageSelectors", [{}])[0].get("matchLabels", {})
    if selector.get("size") != str(spec["dataVolumes"][0].get("size")):
        return "spec.storage selects no data volume"
    if any(len(value) > 63 for value in spec["k8sTags"].values()):
        return "a value of spec.k8sTags is too long"
    market = spec.get("extendParam", {}).get("marketType")
    extras = next(each["os_extra_specs"] for each in cloud.flavors if each["name"] == spec["flavor"])
    if market not in (None, "spot") or (market and extras.get("cond:spot:operation:status") != "normal"):
        return "the flavor is not sold so"
    return ""


def age_of(node):
    return (datetime.now(timezone.utc) - node["created"]).total_seconds()


def address_of(node):
    return f"10.0.{node['number'] // 250}.{node['number'] % 250 + 5}"


def shown(uid, node):
    # As CCE: the password is not told, the phase goes on.
    spec = {**node["spec"], "login": {key: value for key, value in node["spec"]["login"].items()
                                      if key == "sshKey"}}
    if node["phase"] == "Build" and age_of(node) > 1:
        node["phase"] = node["failure"]["phase"] if node["failure"] else "Active"
    created = node["created"].strftime("%Y-%m-%d %H:%M:%S.%f +0000 UTC")
    return {"kind": "Node", "apiVersion": "v3",
            "metadata": {"uid": uid, "name": f"cce-node-{node['number']}", "creationTimestamp": created},
            "spec": spec,
            "status": {"phase": node["phase"], "jobID": f"job-{uid}", "serverId": f"server-{uid}",
                       "privateIP": address_of(node)}}


def main():
    Handler.cloud = Cloud()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
