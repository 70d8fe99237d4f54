// The dashboards and alerts as the chart renders them: what Grafana's sidecar and Prometheus'
// operator get is what the files say.
package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func kinds(rendered map[string]object) map[string]int {
	counts := map[string]int{}
	for _, object := range rendered {
		counts[object["kind"].(string)]++
	}
	return counts
}

func TestDashboardsAndAlertsAreMadeOnDemand(t *testing.T) {
	plain := mustRender(t, "")
	for key := range plain {
		if strings.Contains(key, "dashboard") || strings.HasPrefix(key, "PrometheusRule") {
			t.Errorf("%s is rendered by default", key)
		}
	}
	all := mustRender(t, `{dashboards: {enabled: true}, prometheusRule: {enabled: true}}`)
	if len(all) != len(plain)+5 {
		t.Errorf("four dashboards and a rule are wanted beside %v: %v", kinds(plain), kinds(all))
	}
}

func TestDashboardsArriveAsTheyAreWritten(t *testing.T) {
	rendered := mustRender(t, `
namePrefix: a-
dashboards: {enabled: true, namespace: grafana, annotations: {grafana_folder: Millwright}}`)
	files, err := filepath.Glob(filepath.Join(manifests, "chart", "dashboards", "*.json"))
	if err != nil || len(files) != 4 {
		t.Fatalf("four dashboards are wanted, not %v (%v)", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		found, ok := rendered["ConfigMap grafana/a-millwright-dashboard-"+name]
		if !ok {
			t.Errorf("%s is not rendered", name)
			continue
		}
		metadata := found["metadata"].(object)
		if metadata["labels"].(object)["grafana_dashboard"] != "1" ||
			metadata["annotations"].(object)["grafana_folder"] != "Millwright" {
			t.Errorf("%s: %v", name, metadata)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		data, _ := found["data"].(object)["millwright-"+name+".json"].(string)
		if err := json.Unmarshal([]byte(data), &got); err != nil {
			t.Fatalf("%s: %v in:\n%s", name, err, data)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s is another than its file", name)
		}
	}
}

func TestAlertsArriveAsTheyAreWritten(t *testing.T) {
	rendered := mustRender(t, `prometheusRule: {enabled: true, additionalLabels: {release: prom}}`)
	rule, ok := rendered["PrometheusRule millwright-system/millwright"]
	if !ok {
		t.Fatalf("no PrometheusRule among %v", kinds(rendered))
	}
	if rule["metadata"].(object)["labels"].(object)["release"] != "prom" {
		t.Errorf("labels: %v", rule["metadata"])
	}
	text, err := os.ReadFile(filepath.Join(manifests, "chart", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var want object
	if err := yaml.UnmarshalStrict(text, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, rule["spec"]) {
		t.Errorf("the alerts are others than in rules.yaml: %v", rule["spec"])
	}
	for _, each := range want["groups"].([]any)[0].(object)["rules"].([]any) {
		alert := each.(object)
		severity := alert["labels"].(object)["severity"]
		annotations := alert["annotations"].(object)
		if severity != "critical" && severity != "warning" && severity != "info" ||
			annotations["summary"] == nil || annotations["description"] == nil {
			t.Errorf("alert %v needs a severity, a summary and a description", alert["alert"])
		}
	}
}
