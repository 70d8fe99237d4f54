// The chart in manifests/chart, rendered by Helm's own engine: its defaults are what
// `millwright install` prints, the values people bring from other charts keep their meaning, and
// the schema refuses what the templates would render wrongly.
package chart

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const (
	manifests = "../../manifests"
	namespace = "millwright-system"
)

type object = map[string]any

// The image's last stage installs what the program is linked with, or no pod of it starts.
func TestTheImageHasTheLibrariesOfTheProgram(t *testing.T) {
	program, err := elf.Open("../../build/release/src/app/millwright")
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	libraries, err := program.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	dockerfile, err := os.ReadFile(filepath.Join(manifests, "image", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	stages := strings.Split(string(dockerfile), "\nFROM ")
	installed := strings.Fields(stages[len(stages)-1])
	// Those that Debian's C++ packages depend on themselves.
	installed = append(installed, "libc6", "libgcc-s1", "libstdc++6")
	for _, library := range libraries {
		found, err := exec.Command("dpkg", "-S", "*/"+library).Output()
		if err != nil {
			t.Fatalf("no package has %s: %v", library, err)
		}
		// "libssl3:amd64: /usr/lib/x86_64-linux-gnu/libssl.so.3"; packages for other machines, too.
		isInstalled := slices.ContainsFunc(strings.Split(string(found), "\n"), func(line string) bool {
			owner, _, _ := strings.Cut(line, ":")
			return slices.Contains(installed, owner)
		})
		if !isInstalled {
			t.Errorf("the program needs %s, and the Dockerfile does not install it: %s", library, found)
		}
	}
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	loaded, err := loader.LoadDir(filepath.Join(manifests, "chart"))
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// renderFiles gives the text of every template, NOTES.txt included.
func renderFiles(t *testing.T, text string) (map[string]string, error) {
	t.Helper()
	values, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	options := chartutil.ReleaseOptions{Name: "millwright", Namespace: namespace, IsInstall: true}
	loaded := load(t)
	// Checks the values against values.schema.json, as `helm install` does.
	all, err := chartutil.ToRenderValues(loaded, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(loaded, all)
}

func render(t *testing.T, text string) (map[string]object, error) {
	t.Helper()
	files, err := renderFiles(t, text)
	if err != nil {
		return nil, err
	}
	rendered := map[string]object{}
	for name, content := range files {
		if strings.HasSuffix(name, ".yaml") {
			add(t, rendered, []byte(content))
		}
	}
	return rendered, nil
}

func mustRender(t *testing.T, text string) map[string]object {
	t.Helper()
	rendered, err := render(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

func add(t *testing.T, to map[string]object, text []byte) {
	t.Helper()
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var parsed object
		if err := yaml.UnmarshalStrict(document, &parsed); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		if parsed == nil {
			continue
		}
		key := keyOf(parsed)
		if _, doubled := to[key]; doubled {
			t.Fatalf("%s is rendered twice", key)
		}
		to[key] = parsed
	}
}

func keyOf(parsed object) string {
	metadata, _ := parsed["metadata"].(object)
	return fmt.Sprintf("%v %v/%v", parsed["kind"], metadata["namespace"], metadata["name"])
}

func readFile(t *testing.T, name string) map[string]object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manifests, name))
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]object{}
	add(t, objects, text)
	return objects
}

func compare(t *testing.T, got, want map[string]object) {
	t.Helper()
	for key, expected := range want {
		actual, there := got[key]
		if !there {
			t.Errorf("%s is not rendered", key)
		} else if !reflect.DeepEqual(actual, expected) {
			t.Errorf("%s differs:\nchart:   %s\ninstall: %s", key, toJSON(actual), toJSON(expected))
		}
	}
	for key := range got {
		if _, there := want[key]; !there {
			t.Errorf("%s is rendered, but is not in what `millwright install` prints", key)
		}
	}
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// at follows names and list indices separated by slashes; nil where the way ends.
func at(value any, path string) any {
	for _, step := range strings.Split(path, "/") {
		switch current := value.(type) {
		case object:
			value = current[step]
		case []any:
			var index int
			if _, err := fmt.Sscanf(step, "%d", &index); err != nil || index >= len(current) {
				return nil
			}
			value = current[index]
		default:
			return nil
		}
	}
	return value
}

func expect(t *testing.T, rendered map[string]object, key, path string, want any) {
	t.Helper()
	if got := at(rendered[key], path); toJSON(got) != toJSON(want) {
		t.Errorf("%s: %s is %s, not %s", key, path, toJSON(got), toJSON(want))
	}
}

func environment(rendered map[string]object, deployment string) map[string]any {
	found := map[string]any{}
	list, _ := at(rendered[deployment], "spec/template/spec/containers/0/env").([]any)
	for _, variable := range list {
		found[fmt.Sprint(at(variable, "name"))] = at(variable, "value")
	}
	return found
}

func TestDefaultsOfEachModeAreWhatInstallPrints(t *testing.T) {
	for _, mode := range []string{"extender", "second-scheduler", "alone"} {
		t.Run(mode, func(t *testing.T) {
			want := readFile(t, "install/"+mode+".yaml")
			got := mustRender(t, "mode: "+mode)
			// Helm makes the namespace itself (--create-namespace), and keeps CRDs apart so that
			// uninstalling leaves them.
			delete(want, "Namespace <nil>/"+namespace)
			for _, crd := range load(t).CRDObjects() {
				add(t, got, crd.File.Data)
			}
			compare(t, got, want)
		})
	}
}

func TestWithAnAskingPortTheChartIsWhatInstallPrints(t *testing.T) {
	want := readFile(t, "../test/chart/testdata/install-asking.yaml")
	delete(want, "Namespace <nil>/"+namespace)
	compare(t, mustRender(t, "controller: {askingPort: 8445}"), want)
}

// The variable opens the port too, so the roles follow it.
func TestAnAskingPortOfTheEnvironmentGetsItsRoles(t *testing.T) {
	for value, open := range map[string]bool{"8445": true, "0": false} {
		rendered := mustRender(t,
			`controller: {env: [{name: ASKING_PORT, value: "`+value+`"}]}`)
		for _, key := range []string{"ClusterRole <nil>/millwright-asking",
			"ClusterRole <nil>/millwright-viewer", "ClusterRoleBinding <nil>/millwright-asking"} {
			if _, there := rendered[key]; there != open {
				t.Errorf("ASKING_PORT=%s: %s is there: %v", value, key, there)
			}
		}
	}
}

func TestTheDefaultModeIsExtender(t *testing.T) {
	compare(t, mustRender(t, ""), mustRender(t, "mode: extender"))
}

func TestTheOptInPolicyIsWhatInstallPrints(t *testing.T) {
	want := readFile(t, "scheduler/opt-in-policy.yaml")
	for key, value := range mustRender(t, "mode: second-scheduler") {
		want[key] = value
	}
	compare(t, mustRender(t, "{mode: second-scheduler, secondScheduler: {optInPolicy: true}}"), want)
}

func TestTheVersionIsTheProgramsOwn(t *testing.T) {
	text, err := os.ReadFile("../../CMakeLists.txt")
	if err != nil {
		t.Fatal(err)
	}
	metadata := load(t).Metadata
	if !strings.Contains(string(text), "project(millwright VERSION "+metadata.AppVersion+" ") {
		t.Errorf("appVersion %s is not the version in CMakeLists.txt", metadata.AppVersion)
	}
}

func TestOnACCETurboClusterPodsGetAnAddressOfTheirOwn(t *testing.T) {
	const path = "spec/template/metadata/annotations"
	const deployment = "Deployment " + namespace + "/millwright"
	rendered := mustRender(t, "clusterInfo: {category: eni}")
	expect(t, rendered, deployment, path, object{"yangtse.io/pod-with-eip": "true"})
	expect(t, mustRender(t, ""), deployment, path, nil)
}

func TestChangedCredentialsStartThePodsAnew(t *testing.T) {
	annotations := func(key string) string {
		rendered := mustRender(t, "controller: {settings: {clusterID: c}}\n"+
			"alibabacloud: {access_key_secret: s, region_id: r, access_key_id: "+key+"}")
		return toJSON(at(rendered["Deployment "+namespace+"/millwright"],
			"spec/template/metadata/annotations"))
	}
	if annotations("a") == annotations("b") {
		t.Error("pods keep running with the old credentials")
	}
}

func TestARealCloudIsNamedWithItsClusterAndNothingIsSimulatedBesideIt(t *testing.T) {
	rendered := mustRender(t, "controller: {clouds: aws, settings: {clusterName: prod}}")
	const deployment = "Deployment " + namespace + "/millwright"
	expect(t, rendered, deployment, "spec/template/spec/containers/0/args",
		[]any{"controller", "--clouds=aws", "--simulated-clouds="})
	if got := environment(rendered, deployment)["CLUSTER_NAME"]; got != "prod" {
		t.Errorf("CLUSTER_NAME is %v", got)
	}
	if strings.Contains(toJSON(rendered["ClusterRole <nil>/millwright-write"]), `["create","get"]`) {
		t.Error("Nodes may be created though nothing is simulated")
	}
}

func TestEveryRealCloudMayBeNamedAtOnce(t *testing.T) {
	rendered := mustRender(t, `
controller: {clouds: "aws,alibaba,huawei", settings: {clusterName: prod, clusterID: c0123}}
alibabacloud: {region_id: cn-hangzhou}
credentials: {region: cn-north-4, clusterID: cce, projectId: p1}
`)
	const deployment = "Deployment " + namespace + "/millwright"
	expect(t, rendered, deployment, "spec/template/spec/containers/0/args",
		[]any{"controller", "--clouds=aws,alibaba,huawei", "--simulated-clouds="})
	// Pods with an identity of their own need no keys, but the rest.
	expect(t, rendered, deployment, "spec/template/spec/containers/0/envFrom", nil)
	variables := environment(rendered, deployment)
	for name, want := range map[string]string{
		"CLUSTER_NAME": "prod", "CLUSTER_ID": "c0123", "ALIBABA_CLOUD_REGION_ID": "cn-hangzhou",
		"HUAWEICLOUD_SDK_REGION_ID": "cn-north-4", "HUAWEICLOUD_SDK_CCE_CLUSTER_ID": "cce",
		"HUAWEICLOUD_SDK_PROJECT_ID": "p1"} {
		if variables[name] != want {
			t.Errorf("%s is %v, not %s", name, variables[name], want)
		}
	}
}

func TestTheConsoleIsServedWhereTheAskingPortIsOpen(t *testing.T) {
	deployment := "Deployment " + namespace + "/millwright"
	for text, want := range map[string]any{
		"controller: {askingPort: 8445}":                                         nil,
		"controller: {askingPort: 8445, console: true}":                          "true",
		`controller: {env: [{name: ASKING_PORT, value: "8445"}], console: true}`: "true",
	} {
		if got := environment(mustRender(t, text), deployment)["CONSOLE"]; got != want {
			t.Errorf("%s: CONSOLE is %v, not %v", text, got, want)
		}
	}
	_, err := render(t, "controller: {console: true}")
	if err == nil || !strings.Contains(err.Error(), "controller.askingPort") {
		t.Errorf("a console without its port: the message does not name it: %v", err)
	}
}

func TestKeysStandInTheirSecretAlone(t *testing.T) {
	rendered := mustRender(t, `
controller: {settings: {clusterID: c0123}}
alibabacloud: {access_key_id: id-of-a, access_key_secret: secret-of-a, region_id: cn-hangzhou}
credentials: {accessKey: id-of-h, secretKey: secret-of-h, region: cn-north-4, clusterID: cce}
`)
	expect(t, rendered, "Deployment "+namespace+"/millwright", "spec/template/spec/containers/0/args",
		[]any{"controller", "--clouds=alibaba,huawei", "--simulated-clouds="})
	for key, rendered := range rendered {
		if strings.Contains(toJSON(rendered), "secret-of-") != strings.HasPrefix(key, "Secret ") {
			t.Errorf("%s: the keys belong into Secrets, and nowhere else", key)
		}
	}
}

func TestKeysOfACloudThatIsNotServedAreSaid(t *testing.T) {
	text := notes(t, `
controller: {clouds: ""}
alibabacloud: {access_key_id: a, access_key_secret: b, region_id: c}
credentials: {existingSecret: mine}
`)
	expectNotes(t, text, "controller.clouds does not name alibaba",
		"controller.clouds does not name huawei")
}

func TestASecretThatIsThereIsUsedAndNotMade(t *testing.T) {
	rendered := mustRender(t, "credentials: {existingSecret: mine, accessKey: ignored}")
	expect(t, rendered, "Deployment "+namespace+"/millwright",
		"spec/template/spec/containers/0/envFrom/0/secretRef/name", "mine")
	for key := range rendered {
		if strings.HasPrefix(key, "Secret ") {
			t.Errorf("%s is rendered", key)
		}
	}
}

func TestChangedPortsReachTheProgramAndTheService(t *testing.T) {
	rendered := mustRender(t,
		"controller: {metricsPort: 9080, healthProbePort: 9081, servingPort: 9443, extenderPort: 9444}")
	const deployment = "Deployment " + namespace + "/millwright"
	variables := environment(rendered, deployment)
	for name, want := range map[string]string{
		"METRICS_PORT": "9080", "HEALTH_PROBE_PORT": "9081", "SERVING_PORT": "9443",
		"EXTENDER_PORT": "9444"} {
		if variables[name] != want {
			t.Errorf("%s is %v, not %s", name, variables[name], want)
		}
	}
	expect(t, rendered, deployment, "spec/template/spec/containers/0/ports", []any{
		object{"name": "https", "containerPort": 9443},
		object{"name": "extender", "containerPort": 9444},
		object{"name": "metrics", "containerPort": 9080},
		object{"name": "health", "containerPort": 9081},
	})
	expect(t, rendered, "Service "+namespace+"/millwright", "spec/ports/1/port", 9080)
	const policy = "NetworkPolicy " + namespace + "/millwright"
	expect(t, rendered, policy, "spec/ingress/0/ports/0/port", 9443)
	expect(t, rendered, policy, "spec/ingress/0/ports/1/port", 9080)
	expect(t, rendered, policy, "spec/ingress/1/ports/0/port", 9444)
}

func TestTheNetworkPolicyCanBeLeftOut(t *testing.T) {
	if mustRender(t, "networkPolicy: {enabled: false}")["NetworkPolicy "+namespace+"/millwright"] != nil {
		t.Error("it is rendered")
	}
}

func TestTheAdmissionPoliciesAreOfTheAccountAndCanBeLeftOut(t *testing.T) {
	own := 0
	for key, policy := range mustRender(t, "serviceAccount: {name: mine}") {
		if !strings.HasPrefix(key, "ValidatingAdmissionPolicy ") {
			continue
		}
		text := fmt.Sprint(at(policy, "spec/matchConditions/0/expression"))
		if strings.HasSuffix(text, "== 'system:serviceaccount:"+namespace+":mine'") {
			own++
		} else if !strings.Contains(text, "'system:nodes' in") {
			t.Errorf("%s is about nobody: %s", key, text)
		}
	}
	if own != 5 {
		t.Errorf("%d policies are about the account, not 5", own)
	}
	for key := range mustRender(t, "admissionPolicies: {enabled: false}") {
		if strings.Contains(key, "AdmissionPolicy") {
			t.Errorf("%s is rendered", key)
		}
	}
}

func TestTheLeaseMovesWithItsRoleAndItsBinding(t *testing.T) {
	rendered := mustRender(t, "leaderElection: {namespace: kube-system}")
	for _, kind := range []string{"Role", "RoleBinding"} {
		if rendered[kind+" kube-system/millwright-leader-election"] == nil {
			t.Errorf("no %s for the Lease in kube-system", kind)
		}
	}
	variables := environment(rendered, "Deployment "+namespace+"/millwright")
	if variables["LEADER_ELECTION_NAMESPACE"] != "kube-system" {
		t.Errorf("the program looks elsewhere: %v", variables)
	}
}

func TestWithoutWebhooksOrAnAccountOfItsOwn(t *testing.T) {
	rendered := mustRender(t, `
webhook: {enabled: false}
namePrefix: my-
serviceAccount: {create: false, name: theirs}
`)
	for key := range rendered {
		if strings.Contains(key, "WebhookConfiguration") || strings.HasPrefix(key, "ServiceAccount") {
			t.Errorf("%s is rendered", key)
		}
	}
	expect(t, rendered, "Deployment "+namespace+"/my-millwright",
		"spec/template/spec/serviceAccountName", "theirs")
}

func TestTheSchemaRefusesWhatWouldBeRenderedWrongly(t *testing.T) {
	for text, field := range map[string]string{
		"mode: both":                               "mode",
		"replicaCount: 0":                          "replicaCount",
		"replicaCout: 2":                           "replicaCout",
		"controller: {metricsPort: 70000}":         "metricsPort",
		"controller: {simulatedClouds: azure}":     "simulatedClouds",
		"controller: {clouds: \"aws,kwok\"}":       "clouds",
		"image: {pullPolicy: Sometimes}":           "pullPolicy",
		"webhook: {failurePolicy: Warn}":           "failurePolicy",
		"credentials: {accesskey: wrong-case}":     "accesskey",
		"namePrefix: Upper":                        "namePrefix",
		"secondScheduler: {optInPolicy: \"true\"}": "optInPolicy",
	} {
		if _, err := render(t, text); err == nil {
			t.Errorf("%s is accepted", text)
		} else if !strings.Contains(err.Error(), field) {
			t.Errorf("%s: the message does not name %s: %v", text, field, err)
		}
	}
}

func TestHalfOfTheCredentialsIsRefusedByName(t *testing.T) {
	for text, field := range map[string]string{
		"controller: {clouds: aws}":     "controller.settings.clusterName",
		"controller: {clouds: alibaba}": "controller.settings.clusterID",
		"credentials: {accessKey: a}":   "credentials.secretKey",
		"{controller: {settings: {clusterID: c}}, alibabacloud: {access_key_id: a}}": "alibabacloud.access_key_secret",
		"credentials: {accessKey: a, secretKey: b, region: c}":                       "credentials.clusterID",
	} {
		if _, err := render(t, text); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: the message does not name %s: %v", text, field, err)
		}
	}
}
