"""The real program: as a sandbox on loopback, with its console's address and its cluster's API, and
as the commands that ask it."""
import base64
import http.client
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = REPOSITORY / "build" / "release" / "src" / "app" / "millwright"
KINDS = {  # where objects are, by kind
    "Namespace": "/api/v1/namespaces", "Node": "/api/v1/nodes", "Pod": "/api/v1/pods",
    "Deployment": "/apis/apps/v1/deployments", "NodePool": "/apis/karpenter.sh/v1/nodepools",
    "NodeClaim": "/apis/karpenter.sh/v1/nodeclaims",
    "KWOKNodeClass": "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses",
}


class Refused(Exception):
    """The API server does not take it."""


def eventually(check, seconds: float = 60):
    """Calls `check` until it raises no AssertionError, and gives what it gives."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > end:
                raise
        pause.wait(0.05)


class Running:
    """A command of the program that runs until it is told to end; what it says is read."""

    def __init__(self, *words, kubeconfig: pathlib.Path):
        self.process = subprocess.Popen(
            [PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"KUBECONFIG": str(kubeconfig)})
        self.lines = queue.Queue()
        self.said = ""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.said += line
            self.lines.put(line)
        self.lines.put(None)  # it ended

    def await_line(self, pattern: str) -> str:
        until = time.monotonic() + 60
        try:
            while (line := self.lines.get(timeout=max(0, until - time.monotonic()))) is not None:
                if found := re.search(pattern, line):
                    return found.group(1)
        except queue.Empty:
            raise TimeoutError(f"{self.process.args[1]} did not say {pattern}: {self.said}") \
                from None
        raise RuntimeError(f"{self.process.args[1]} ended: {self.said}")

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit status; None when it had to be killed."""
        self.process.send_signal(number)
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            status = None
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        return status


class Sandbox:
    def __init__(self, speed: float):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="millwright-console-"))
        self.kubeconfig = self.folder / "kubeconfig"
        self.decision_log = self.folder / "decisions.jsonl"
        self.program = Running("sandbox", "--speed", str(speed), "--kubeconfig", self.kubeconfig,
                               "--asking-port", "0", "--metrics-port", "0",
                               "--decision-log", self.decision_log,
                               kubeconfig=self.kubeconfig)
        self.console = self.program.await_line(r"^\s*(http://127\.0\.0\.1:\d+/\w+/console/)")
        self.asking = self.program.await_line(r"--server (https://127\.0\.0\.1:\d+) ")
        self.metrics = self.program.await_line(r"^\s*(http://127\.0\.0\.1:\d+/metrics)")
        self.program.await_line(r"^(The sandbox stays up)")
        text = self.kubeconfig.read_text(encoding="utf-8")
        self.server = urllib.parse.urlsplit(re.search(r"server: (\S+)", text).group(1))
        self.token = re.search(r"token: (\S+)", text).group(1)
        authority = re.search(r"certificate-authority-data: (\S+)", text).group(1)
        self.trust = ssl.create_default_context(cadata=base64.b64decode(authority).decode())

    def close(self):
        if self.program.process.returncode is None:
            self.program.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- as a person asks it

    def certificate_authority(self) -> pathlib.Path:
        """What `kubectl get secret -n millwright-system millwright-certs` gives."""
        secret = self.request(
            "GET", "/api/v1/namespaces/millwright-system/secrets/millwright-certs")
        path = self.folder / "ca.crt"
        path.write_bytes(base64.b64decode(secret["data"]["ca.crt"]))
        return path

    def server_options(self) -> list:
        return ["--server", self.asking, "--certificate-authority", self.certificate_authority()]

    def run(self, *words) -> subprocess.CompletedProcess:
        """A command that answers and ends; what it says on both streams is in stdout."""
        return subprocess.run(
            [PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
            env=os.environ | {"KUBECONFIG": str(self.kubeconfig)})

    def start(self, *words) -> Running:
        return Running(*words, kubeconfig=self.kubeconfig)

    # ---- the cluster

    def request(self, method: str, path: str, body=None):
        connection = http.client.HTTPSConnection(self.server.hostname, self.server.port,
                                                 context=self.trust, timeout=60)
        kind = "merge-patch+json" if method == "PATCH" else "json"
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/" + kind}
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status >= 300:
            raise Refused(f"{response.status}: {answer.get('message')}")
        return answer

    def path_of(self, kind: str, namespace: str = "") -> str:
        folder, plural = KINDS[kind].rsplit("/", 1)
        return f"{folder}/namespaces/{namespace}/{plural}" if namespace else KINDS[kind]

    def create(self, thing: dict):
        namespace = thing["metadata"].get("namespace", "")
        return self.request("POST", self.path_of(thing["kind"], namespace), thing)

    def list(self, kind: str) -> list:
        return self.request("GET", self.path_of(kind))["items"]

    def scale(self, namespace: str, name: str, replicas: int):
        self.request("PATCH", self.path_of("Deployment", namespace) + "/" + name,
                     {"spec": {"replicas": replicas}})

    # ---- what the program itself answers, as `top` and `why` show it

    def ask(self, path: str) -> str:
        url = urllib.parse.urlsplit(self.console)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
        try:
            connection.request("GET", url.path.removesuffix("/console/") + path)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        assert response.status == 200, f"{path}: {response.status} {text}"
        return text

    def cluster(self) -> dict:
        return json.loads(self.ask("/cluster"))

    def decisions(self) -> list:
        return [json.loads(line) for line in self.ask("/decisions").splitlines()]


# ---- manifests

def node_class(name: str, delay: str) -> dict:
    return {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
            "metadata": {"name": name}, "spec": {"nodeRegistrationDelay": delay}}


def node_pool(name: str, of_class: str = "quick", consolidate_after: str = "Never",
              requirements: tuple = (), annotations=None) -> dict:
    needed = [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
              {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}, *requirements]
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": of_class}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"template": {"spec": {"nodeClassRef": reference, "requirements": needed}},
                     "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized",
                                    "consolidateAfter": consolidate_after}}}


def pod_spec(cpu: str, **more) -> dict:
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10",
                 "resources": {"requests": {"cpu": cpu, "memory": "128Mi"}}}
    return {"terminationGracePeriodSeconds": 0, "containers": [container], **more}


def deployment(namespace: str, name: str, replicas: int, spec: dict) -> dict:
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": spec}}}


def pod(namespace: str, name: str, spec: dict, annotations=None) -> dict:
    return {"apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"namespace": namespace, "name": name, "annotations": annotations or {}}}


def pool_of(name: str) -> dict:
    return {"nodeSelector": {"karpenter.sh/nodepool": name}}
