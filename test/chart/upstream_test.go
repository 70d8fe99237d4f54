// Values files of the charts people come from (testdata): what has a meaning here keeps it, what has
// none is named in NOTES.txt, and what must not be ignored is refused with the reason.
package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readValues gives one of testdata's values files.
func readValues(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func notes(t *testing.T, values string) string {
	t.Helper()
	files, err := renderFiles(t, values)
	if err != nil {
		t.Fatal(err)
	}
	return files["millwright/templates/NOTES.txt"]
}

func expectNotes(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("NOTES.txt lacks %q:\n%s", want, text)
		}
	}
}

const deployment = "Deployment " + namespace + "/millwright"
const pod = "spec/template/spec/"

func TestAValuesFileOfTheAWSChartIsTaken(t *testing.T) {
	values := readValues(t, "aws-1.14.1.yaml")
	rendered := mustRender(t, values)
	expect(t, rendered, deployment, "spec/replicas", 3)
	expect(t, rendered, deployment, "spec/revisionHistoryLimit", 5)
	expect(t, rendered, deployment, "spec/template/metadata/labels/team", "platform")
	expect(t, rendered, deployment, pod+"serviceAccountName", "millwright")
	expect(t, rendered, deployment, pod+"terminationGracePeriodSeconds", 45)
	expect(t, rendered, deployment, pod+"hostNetwork", true)
	expect(t, rendered, deployment, pod+"dnsPolicy", "ClusterFirstWithHostNet")
	expect(t, rendered, deployment, pod+"securityContext/fsGroup", 65532)
	expect(t, rendered, deployment, pod+"volumes/0/name", "prices")
	expect(t, rendered, deployment, pod+"containers/1/name", "sidecar")
	const container = pod + "containers/0/"
	expect(t, rendered, deployment, container+"image", "millwright:"+load(t).Metadata.AppVersion)
	expect(t, rendered, deployment, container+"imagePullPolicy", "Always")
	expect(t, rendered, deployment, container+"resources/limits", object{"cpu": "1", "memory": "1Gi"})
	expect(t, rendered, deployment, container+"securityContext/seLinuxOptions/level", "s0:c1,c2")
	expect(t, rendered, deployment, container+"envFrom/0/configMapRef/name", "proxy")
	expect(t, rendered, deployment, container+"volumeMounts/0/mountPath", "/prices")
	expect(t, rendered, "Service "+namespace+"/millwright", "metadata/annotations",
		object{"prometheus.io/scrape": "true"})
	expect(t, rendered, "PodDisruptionBudget "+namespace+"/millwright", "spec/maxUnavailable", 2)
	monitor := "ServiceMonitor " + namespace + "/millwright"
	expect(t, rendered, monitor, "metadata/labels/release", "prometheus")
	expect(t, rendered, monitor, "spec/endpoints/0",
		object{"port": "metrics", "path": "/metrics", "interval": "30s"})
	if !strings.Contains(toJSON(rendered["ClusterRole <nil>/millwright-write"]), "configmaps") {
		t.Error("additionalClusterRoleRules are not in the ClusterRole")
	}
	variables := environment(rendered, deployment)
	for name, want := range map[string]string{
		"CLUSTER_NAME": "prod", "CLUSTER_ENDPOINT": "https://prod.example.com",
		"CLUSTER_CA_BUNDLE": "Q0E=", "ISOLATED_VPC": "true", "VM_MEMORY_OVERHEAD_PERCENT": "0.05",
		"INTERRUPTION_QUEUE": "prod-events", "ENABLE_ZONAL_SHIFT": "true", "RESERVED_ENIS": "1",
		"DISABLE_DRY_RUN": "true", "PREFERENCE_POLICY": "Ignore", "MIN_VALUES_POLICY": "BestEffort",
		"METRICS_PORT": "9080", "HEALTH_PROBE_PORT": "9081", "LOG_LEVEL": "debug",
		"AWS_REGION": "eu-west-1", "EKS_CONTROL_PLANE": "true", "AMI_REFRESH_INTERVAL": "1m",
		"FEATURE_GATES": "NodeOverlay=true,ReservedCapacity=true,SpotToSpotConsolidation=true," +
			"StaticCapacity=false,CapacityBuffer=false,NodeRepair=false",
	} {
		if variables[name] != want {
			t.Errorf("%s is %v, not %s", name, variables[name], want)
		}
	}
	// Karpenter's defaults, which only delay plans here.
	for _, name := range []string{"BATCH_MAX_DURATION", "BATCH_IDLE_DURATION"} {
		if variables[name] != nil {
			t.Errorf("%s is %v", name, variables[name])
		}
	}
	expectNotes(t, notes(t, values), "replicas is taken as replicaCount",
		"fullnameOverride has no effect: names are fixed",
		"controller.image.repository has no effect: use image.repository",
		"settings.batchMaxDuration has no effect",
		"settings.featureGates.podDeletionCostManagement has no effect",
		"--set controller.clouds=aws")
	if text := notes(t, values); strings.Contains(text, "logOutputPaths") ||
		strings.Contains(text, "amiRefreshInterval") {
		t.Errorf("defaults of the other chart are complained about:\n%s", text)
	}
}

func TestAFalseSettingCountsWhereTrueIsTheDefault(t *testing.T) {
	for given, want := range map[string]any{"false": "false", "true": "true"} {
		rendered := mustRender(t, "settings: {ignoreDRARequests: "+given+", isolatedVPC: false}")
		variables := environment(rendered, deployment)
		if variables["IGNORE_DRA_REQUESTS"] != want {
			t.Errorf("IGNORE_DRA_REQUESTS is %v, not %v", variables["IGNORE_DRA_REQUESTS"], want)
		}
		if variables["ISOLATED_VPC"] != nil {
			t.Errorf("ISOLATED_VPC is %v", variables["ISOLATED_VPC"])
		}
	}
}

func TestTermsWithoutASelectorConcernTheDeploymentsOwnPods(t *testing.T) {
	rendered := mustRender(t, readValues(t, "aws-1.14.1.yaml"))
	own := object{"matchLabels": object{
		"app.kubernetes.io/name": "millwright", "app.kubernetes.io/instance": "millwright"}}
	expect(t, rendered, deployment, pod+
		"affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/labelSelector", own)
	expect(t, rendered, deployment, pod+"topologySpreadConstraints/0/labelSelector", own)
}

func TestAValuesFileOfTheAlibabaChartIsTaken(t *testing.T) {
	values := readValues(t, "alibaba-0.2.0.yaml")
	rendered := mustRender(t, values)
	expect(t, rendered, deployment, "spec/replicas", 1)
	expect(t, rendered, deployment, "spec/revisionHistoryLimit", 4)
	expect(t, rendered, deployment, pod+"priorityClassName", "system-node-critical")
	expect(t, rendered, deployment, pod+"terminationGracePeriodSeconds", 20)
	expect(t, rendered, deployment, pod+"containers/0/imagePullPolicy", "Always")
	expect(t, rendered, deployment, pod+"containers/0/resources/limits/memory", "2Gi")
	expect(t, rendered, deployment, pod+"tolerations/0/key", "CriticalAddonsOnly")
	expect(t, rendered, deployment, pod+"containers/0/envFrom/0/secretRef/name",
		"alibabacloud-credentials")
	expect(t, rendered, "PodDisruptionBudget "+namespace+"/millwright", "spec",
		object{"minAvailable": 1, "selector": object{"matchLabels": object{
			"app.kubernetes.io/name": "millwright", "app.kubernetes.io/instance": "millwright"}}})
	expect(t, rendered, "Secret "+namespace+"/alibabacloud-credentials", "stringData", object{
		"ALIBABA_CLOUD_ACCESS_KEY_ID":     "id",
		"ALIBABA_CLOUD_ACCESS_KEY_SECRET": "secret",
		"ALIBABA_CLOUD_REGION_ID":         "cn-beijing",
	})
	variables := environment(rendered, deployment)
	for name, want := range map[string]string{
		"CLUSTER_ID": "c0123", "METRICS_PORT": "8000", "HEALTH_PROBE_PORT": "8082",
		"VM_MEMORY_OVERHEAD_PERCENT": "0.065", "BATCH_IDLE_DURATION": "2s",
		"FEATURE_GATES": "SpotToSpotConsolidation=true"} {
		if variables[name] != want {
			t.Errorf("%s is %v, not %s", name, variables[name], want)
		}
	}
	// The keys are read: its chart is for this cloud alone.
	expect(t, rendered, deployment, pod+"containers/0/args",
		[]any{"controller", "--clouds=alibaba", "--simulated-clouds="})
	expectNotes(t, notes(t, values), "Instances are launched for real in: alibaba.",
		"nameOverride has no effect", "controller.replicaCount is taken as replicaCount",
		"controller.settings.batchMaxDuration has no effect",
		"controller.settings.telemetryShare has no effect: no telemetry")
}

func TestTheClusterOfTheAlibabaChartIsNamed(t *testing.T) {
	variables := environment(mustRender(t,
		`controller: {settings: {clusterID: c1, clusterEndpoint: "https://10.0.0.1:6443"}}`), deployment)
	if variables["CLUSTER_ID"] != "c1" || variables["CLUSTER_ENDPOINT"] != "https://10.0.0.1:6443" {
		t.Errorf("the cluster is not named: %v", variables)
	}
}

func TestAValuesFileOfTheHuaweiChartIsTakenWithAnImageOfOurs(t *testing.T) {
	values := readValues(t, "huawei-0.3.1.yaml")
	if _, err := render(t, values); err == nil ||
		!strings.Contains(err.Error(), "set image.repository and image.tag") {
		t.Errorf("Karpenter's image would be started as Millwright: %v", err)
	}
	values = strings.NewReplacer("hwclouddeveloper/cce/karpenter/controller", "mine/millwright",
		`"0.3.1"`, `"0.1.0"`).Replace(values)
	rendered := mustRender(t, values)
	const prefixed = "Deployment " + namespace + "/karpenter-provider-huawei-millwright"
	if !strings.Contains(toJSON(at(rendered[prefixed], "spec/template/metadata/annotations")),
		`"yangtse.io/pod-with-eip":"true"`) {
		t.Error("pods on a CCE Turbo cluster get no address")
	}
	variables := environment(rendered, prefixed)
	if variables["METRICS_PORT"] != "8090" || variables["HEALTH_PROBE_PORT"] != "8091" {
		t.Errorf("ports are lost: %v", variables)
	}
	expect(t, rendered, "Secret "+namespace+"/karpenter-provider-huawei-huawei-credentials",
		"stringData", object{
			"HUAWEICLOUD_SDK_AK":             "key",
			"HUAWEICLOUD_SDK_SK":             "secret",
			"HUAWEICLOUD_SDK_REGION_ID":      "cn-north-4",
			"HUAWEICLOUD_SDK_CCE_CLUSTER_ID": "cluster",
			"HUAWEICLOUD_SDK_PROJECT_ID":     "project",
		})
	if rendered["ServiceMonitor "+namespace+"/karpenter-provider-huawei-millwright"] == nil {
		t.Error("no ServiceMonitor")
	}
	expect(t, rendered, prefixed, pod+"containers/0/args",
		[]any{"controller", "--clouds=huawei", "--simulated-clouds="})
	expect(t, rendered, prefixed, pod+"containers/0/envFrom/0/secretRef/name",
		"karpenter-provider-huawei-huawei-credentials")
	expectNotes(t, notes(t, values), "Instances are launched for real in: huawei.",
		"podIdentity.enabled has no effect", "clusterInfo.clusterID is taken as credentials.clusterID")
}

func TestValuesOfTheHuaweiChartKeepTheirMeaning(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(manifests, "examples", "huawei-values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	rendered := mustRender(t, string(text))
	const prefix = "karpenter-provider-huawei-"
	deployment := "Deployment " + namespace + "/" + prefix + "millwright"
	secret := "Secret " + namespace + "/" + prefix + "huawei-credentials"
	account := prefix + "controller-manager"
	expect(t, rendered, deployment, "spec/replicas", 1)
	expect(t, rendered, deployment, "spec/template/spec/serviceAccountName", account)
	const container = "spec/template/spec/containers/0/"
	expect(t, rendered, deployment, container+"image", "controller:latest")
	expect(t, rendered, deployment, container+"resources/limits",
		object{"cpu": "1", "memory": "512Mi"})
	expect(t, rendered, deployment, container+"envFrom/0/secretRef/name",
		prefix+"huawei-credentials")
	expect(t, rendered, secret, "stringData", object{
		"HUAWEICLOUD_SDK_AK":             "your-access-key",
		"HUAWEICLOUD_SDK_SK":             "your-secret-key",
		"HUAWEICLOUD_SDK_REGION_ID":      "your-region-id",
		"HUAWEICLOUD_SDK_CCE_CLUSTER_ID": "your-cluster-id",
	})
	expect(t, rendered, "ServiceAccount "+namespace+"/"+account, "metadata/name", account)
	for _, role := range []string{"millwright-read", "millwright-write"} {
		expect(t, rendered, "ClusterRoleBinding <nil>/"+prefix+role, "subjects/0/name", account)
	}
	// The file says `affinity: {}`, which must not take the default placement away.
	if at(rendered[deployment], "spec/template/spec/affinity/podAntiAffinity") == nil {
		t.Error("an empty affinity took the default one away")
	}
	condition := fmt.Sprint(at(rendered["ValidatingWebhookConfiguration <nil>/millwright"],
		"webhooks/0/matchConditions/0/expression"))
	if !strings.Contains(condition, ":"+account+"'") {
		t.Errorf("the webhook is called for our own writes: %s", condition)
	}
}

func TestWhatMustNotBeIgnoredIsRefusedWithTheReason(t *testing.T) {
	for text, reason := range map[string]string{
		`settings: {assumeRoleARN: "arn:aws:iam::111122223333:role/r"}`: "give the ServiceAccount the role",
		"image: {repository: public.ecr.aws/karpenter/controller}":      "Karpenter's image",
		"schedulerName: millwright-scheduler":                           "would wait for the scheduler",
	} {
		if _, err := render(t, text); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: the message does not say %q: %v", text, reason, err)
		}
	}
	for _, text := range []string{
		"image: {repository: registry.example.com/karpenter-team/millwright}",
		"schedulerName: default-scheduler",
	} {
		mustRender(t, text)
	}
}

func TestASettingThatNobodyKnowsIsNamedInTheNotes(t *testing.T) {
	expectNotes(t, notes(t, "settings: {fromTheFuture: 1}"),
		"settings.fromTheFuture has no effect: Millwright has no such setting")
}

func TestAnEnvironmentVariableOfOursWinsOverAnothersSetting(t *testing.T) {
	rendered := mustRender(t, `
settings: {reservedENIs: "1"}
controller: {env: [{name: RESERVED_ENIS, value: "2"}]}
`)
	list, _ := at(rendered[deployment], pod+"containers/0/env").([]any)
	var found []string
	for _, variable := range list {
		if at(variable, "name") == "RESERVED_ENIS" {
			found = append(found, fmt.Sprint(at(variable, "value")))
		}
	}
	if len(found) != 1 || found[0] != "2" {
		t.Errorf("RESERVED_ENIS is given as %v", found)
	}
}

func TestNotesOfTheDefaultsNameNoOtherChart(t *testing.T) {
	if text := notes(t, ""); strings.Contains(text, "another chart") ||
		strings.Contains(text, "WARNING") {
		t.Errorf("the notes of a plain installation complain:\n%s", text)
	}
}
