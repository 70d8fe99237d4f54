// docs/chart-values.md is made of the comments in values.yaml and of upstream-values.yaml. The test
// fails when the page is stale; MILLWRIGHT_UPDATE=1 writes it anew.
package chart

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const page = "../../docs/chart-values.md"

func parse(t *testing.T, name string) *yaml.Node {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manifests, "chart", name))
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}

// comment is the text above a key, without the remark at the head of the file.
func comment(key *yaml.Node) string {
	paragraphs := strings.Split(key.HeadComment, "\n\n")
	lines := strings.Split(paragraphs[len(paragraphs)-1], "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.TrimPrefix(line, "#"))
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

func cell(text string) string {
	return strings.ReplaceAll(text, "|", "\\|")
}

func defaultOf(t *testing.T, value *yaml.Node) string {
	t.Helper()
	var parsed any
	if err := value.Decode(&parsed); err != nil {
		t.Fatal(err)
	}
	if parsed == nil || parsed == "" {
		return ""
	}
	text, err := json.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return "`" + strings.Trim(string(text), `"`) + "`"
}

// A map is described key by key when its keys have comments of their own.
func isTable(value *yaml.Node) bool {
	return value.Kind == yaml.MappingNode && len(value.Content) > 0 &&
		slices.ContainsFunc(value.Content, func(node *yaml.Node) bool {
			return node.HeadComment != "" || isTable(node)
		})
}

func describe(t *testing.T, table *yaml.Node, prefix string, out *strings.Builder) {
	t.Helper()
	for i := 0; i < len(table.Content); i += 2 {
		key, value := table.Content[i], table.Content[i+1]
		path := prefix + key.Value
		text := comment(key)
		if isTable(value) {
			if text != "" {
				fmt.Fprintf(out, "| `%s` | | %s |\n", path, cell(text))
			}
			describe(t, value, path+".", out)
			continue
		}
		if text == "" {
			t.Errorf("values.yaml: %s has no comment", path)
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", path, defaultOf(t, value), cell(text))
	}
}

type upstreamTables struct {
	Moved       map[string]string
	Environment map[string]string
	NotTaken    map[string]string `yaml:"notTaken"`
	Gates       []string
	Ignored     map[string]struct{ Instead string }
	Refused     map[string]struct{ Why string }
}

func sortedKeys[Value any](table map[string]Value) []string {
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func write(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	out.WriteString(`# Values of the chart

<!-- Made by test/chart of manifests/chart/values.yaml and upstream-values.yaml. Do not edit: run
     MILLWRIGHT_UPDATE=1 go test ./... in test/chart. -->

Helm refuses a key that is in none of these tables, and a value of the wrong type.

| key | default | meaning |
|---|---|---|
`)
	describe(t, parse(t, "values.yaml"), "", &out)
	var upstream upstreamTables
	if err := parse(t, "upstream-values.yaml").Decode(&upstream); err != nil {
		t.Fatal(err)
	}
	out.WriteString(`
## Values files of other charts

The chart takes the values files of Karpenter's chart for AWS (1.14.1), of CloudPilot's chart for
Alibaba Cloud (0.2.0) and of Huawei Cloud's chart (0.3.1). Keys that are not in the table above are
treated as follows. Where one of them is given, it wins over ours.

| their key | counts as |
|---|---|
`)
	for _, path := range sortedKeys(upstream.Moved) {
		fmt.Fprintf(&out, "| `%s` | `%s` |\n", path, upstream.Moved[path])
	}
	for _, path := range sortedKeys(upstream.Environment) {
		except := ""
		if value := upstream.NotTaken[path]; value != "" {
			except = ", unless it is Karpenter's default of " + value
		}
		fmt.Fprintf(&out, "| `%s` | environment variable `%s`%s |\n", path,
			upstream.Environment[path], except)
	}
	fmt.Fprintf(&out, "| `settings.featureGates`, `controller.featureGates` | environment variable "+
		"`FEATURE_GATES`: %s |\n", strings.Join(upstream.Gates, ", "))
	out.WriteString(`
These have no effect, nor has a key of ` + "`settings`" + ` or ` + "`controller.settings`" + ` that is in no table.
NOTES.txt names those that a file gives with another value than that chart's default.

| their key | instead |
|---|---|
`)
	for _, path := range sortedKeys(upstream.Ignored) {
		fmt.Fprintf(&out, "| `%s` | %s |\n", path, cell(upstream.Ignored[path].Instead))
	}
	out.WriteString(`
These are refused, because ignoring them would do harm.

| key | refused when | why |
|---|---|---|
`)
	when := map[string]string{
		"settings.assumeRoleARN": "not empty",
		"image.repository":       "it names Karpenter's image",
		"schedulerName":          "`millwright-scheduler`",
	}
	for _, path := range sortedKeys(upstream.Refused) {
		if when[path] == "" {
			t.Errorf("say in this test when %s is refused", path)
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", path, when[path], cell(upstream.Refused[path].Why))
	}
	return out.String()
}

func TestTheReferenceOfValuesIsUpToDate(t *testing.T) {
	want := write(t)
	if os.Getenv("MILLWRIGHT_UPDATE") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("docs/chart-values.md is stale; run MILLWRIGHT_UPDATE=1 go test ./... in test/chart")
	}
}
