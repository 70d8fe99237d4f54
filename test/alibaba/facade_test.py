#!/usr/bin/env python3
"""The peer server judges right: every published signature passes, a changed byte, a used nonce and a
wrong clock do not; and it keeps its promises about launches, pages, stock and lost replies."""
import hashlib
import http.client
import json
import pathlib
import threading
import unittest
import urllib.parse
import uuid
from datetime import datetime, timedelta, timezone

import facade

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "alibaba" / "signing_vectors.json"


class Vectors(unittest.TestCase):
    def setUp(self):
        self.vectors = json.loads(DATA.read_text(encoding="utf-8"))

    def test_every_acs3_vector_has_its_signature(self):
        for vector in self.vectors["acs3"]:
            with self.subTest(vector["name"]):
                url = urllib.parse.urlsplit(vector["url"])
                headers = {k.lower(): v for k, v in vector["headers"].items()} | {"host": url.netloc}
                signed = vector["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
                target = url.path + ("?" + url.query if url.query else "")
                made = facade.acs3_signature(vector["method"], target, headers, signed,
                                             vector["secretKey"])
                self.assertEqual(made, vector["authorization"].rsplit("=", 1)[1])

    def test_every_rpc_vector_has_its_signature(self):
        for vector in self.vectors["rpc"]:
            with self.subTest(vector["name"]):
                made = facade.rpc_signature(vector["method"], vector["parameters"],
                                            vector["secretKey"])
                self.assertEqual(made, vector["signature"])


class Calls(unittest.TestCase):
    def setUp(self):
        self.server = facade.serve()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.host = f"127.0.0.1:{self.server.server_address[1]}"

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def send(self, method, target, headers=None, body=b""):
        connection = http.client.HTTPConnection(self.host, timeout=10)
        try:
            connection.request(method, target, body, headers or {})
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def order(self, what, body=None):
        method = "GET" if body is None else "POST"
        return self.send(method, "/_facade/" + what, body=json.dumps(body or {}).encode())[1]

    def call(self, action, parameters, nonce=None, when=None, change=None):
        query = "&".join(f"{facade.enc(k)}={facade.enc(v)}" for k, v in parameters.items())
        when = when or datetime.now(timezone.utc)
        headers = {"host": self.host, "x-acs-action": action, "x-acs-version": "2014-05-26",
                   "x-acs-date": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                   "x-acs-signature-nonce": nonce or uuid.uuid4().hex,
                   "x-acs-content-sha256": hashlib.sha256(b"").hexdigest()}
        signed = sorted(headers)
        signature = facade.acs3_signature("POST", "/?" + query, headers, signed,
                                          facade.ROOT_KEYS[1])
        headers["Authorization"] = (f"ACS3-HMAC-SHA256 Credential={facade.ROOT_KEYS[0]},"
                                    f"SignedHeaders={';'.join(signed)},Signature={signature}")
        return self.send("POST", "/?" + query + (change or ""), headers)

    def launch(self, token, kinds=(("ecs.g7.large", "vsw-0"),)):
        parameters = {"SpotTargetCapacity": "1", "ClientToken": token,
                      "LaunchConfiguration.ImageId": "m", "LaunchConfiguration.Tag.1.Key": "a",
                      "LaunchConfiguration.Tag.1.Value": "b"}
        for place, (kind, vswitch) in enumerate(kinds, 1):
            parameters[f"LaunchTemplateConfig.{place}.InstanceType"] = kind
            parameters[f"LaunchTemplateConfig.{place}.VSwitchId"] = vswitch
        return self.call("CreateAutoProvisioningGroup", parameters)

    def test_a_changed_byte_is_refused(self):
        self.assertEqual(self.call("DescribeInstances", {"A": "b"})[0], 200)
        status, answer = self.call("DescribeInstances", {"A": "b"}, change="c")
        self.assertEqual((status, answer["Code"]), (400, "SignatureDoesNotMatch"))
        self.assertEqual(self.order("ledger")["badSignatures"], 1)

    def test_a_nonce_serves_once(self):
        self.assertEqual(self.call("DescribeInstances", {}, nonce="n")[0], 200)
        self.assertEqual(self.call("DescribeInstances", {}, nonce="n")[1]["Code"],
                         "SignatureNonceUsed")
        self.assertEqual(self.order("ledger")["badSignatures"], 0)
        self.assertEqual(self.order("ledger")["replays"], 1)

    def test_a_wrong_clock_is_refused(self):
        late = datetime.now(timezone.utc) - timedelta(minutes=16)
        self.assertEqual(self.call("DescribeInstances", {}, when=late)[1]["Code"],
                         "InvalidTimeStamp.Expired")

    def test_without_a_signature_nothing_is_answered(self):
        self.assertEqual(self.send("POST", "/?Action=DescribeInstances")[1]["Code"],
                         "IncompleteSignature")

    def test_a_token_launches_once(self):
        first = self.launch("t1")[1]
        self.assertEqual(first, self.launch("t1")[1])
        self.assertEqual(len(self.order("machines")), 1)
        other = self.launch("t1", (("ecs.c7.large", "vsw-1"),))[1]
        self.assertEqual(other["Code"], "IdempotentParameterMismatch")

    def test_a_lost_reply_leaves_its_instance(self):
        self.order("lose", {"action": "CreateAutoProvisioningGroup"})
        with self.assertRaises(http.client.HTTPException):
            self.launch("t1")
        self.assertEqual(len(self.order("machines")), 1)
        self.assertEqual(self.launch("t1")[0], 200)
        self.assertEqual(len(self.order("machines")), 1)

    def test_what_is_sold_out_says_so_and_the_next_is_taken(self):
        self.order("sold-out", {"type": "ecs.g7.large", "zone": "cn-hangzhou-h"})
        kinds = (("ecs.g7.large", "vsw-0"), ("ecs.g7.large", "vsw-1"))
        results = self.launch("t1", kinds)[1]["LaunchResults"]["LaunchResult"]
        self.assertEqual(results[0]["ZoneId"], "cn-hangzhou-i")
        self.assertEqual(results[1]["ErrorCode"], "NoInstanceStock")

    def images(self, **given):
        answer = self.call("DescribeImages", {"PageNumber": "1", "PageSize": "50"} | given)[1]
        return [each["ImageId"] for each in answer["Images"]["Image"]]

    def test_images_are_of_the_family_and_the_owner_that_are_asked_for(self):
        self.assertEqual(len(self.images()), len(facade.IMAGES))
        self.assertEqual(self.images(ImageFamily="web"), ["m-web-1", "m-web-2", "m-shared"])
        self.assertEqual(self.images(ImageFamily="web", ImageOwnerAlias="others"), ["m-shared"])
        self.assertEqual(self.images(ImageFamily="web", ImageOwnerId=str(facade.ACCOUNT)),
                         ["m-web-1", "m-web-2"])
        # ECS looks at the account of shared images alone.
        self.assertEqual(self.images(ImageFamily="web", ImageOwnerId=str(facade.NEIGHBOUR)),
                         ["m-web-1", "m-web-2", "m-shared"])
        self.assertEqual(self.images(ImageName="web *", ImageOwnerAlias="self"),
                         ["m-web-1", "m-web-2"])
        refused = self.call("DescribeImages", {"PageNumber": "1", "PageSize": "50",
                                               "ImageOwnerId": "me"})[1]
        self.assertEqual(refused["Code"], "InvalidParameter")

    def test_lists_have_pages(self):
        for number in range(3):
            self.launch(f"t{number}")
        first = self.call("DescribeInstances", {"Tag.1.Key": "a", "Tag.1.Value": "b"})[1]
        self.assertEqual(len(first["Instances"]["Instance"]), 2)
        second = self.call("DescribeInstances", {"Tag.1.Key": "a", "NextToken": first["NextToken"]})[1]
        self.assertEqual(len(second["Instances"]["Instance"]), 1)
        self.assertEqual(second["NextToken"], "")

    def test_a_late_instance_can_neither_be_seen_nor_deleted(self):
        self.order("late", {"seconds": 60})
        launched = self.launch("t1")[1]["LaunchResults"]["LaunchResult"][0]
        made = launched["InstanceIds"]["InstanceId"][0]
        self.assertEqual(self.call("DescribeInstances", {})[1]["Instances"]["Instance"], [])
        self.assertEqual(self.call("DeleteInstances", {"InstanceId.1": made})[1]["Code"],
                         "IncorrectInstanceStatus.Initializing")

    def test_orders_to_refuse_and_to_throttle_are_kept_once(self):
        self.order("throttle", {"action": "DescribeInstances"})
        self.order("refuse", {"action": "RunInstances", "code": "Forbidden.RAM"})
        self.assertEqual(self.call("DescribeInstances", {})[1]["Code"], "Throttling.User")
        self.assertEqual(self.call("DescribeInstances", {})[0], 200)
        self.assertEqual(self.call("RunInstances", {})[1]["Code"], "Forbidden.RAM")


if __name__ == "__main__":
    unittest.main()
