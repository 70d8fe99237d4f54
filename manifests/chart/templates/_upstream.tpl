{{/* Values files of other charts: upstream-values.yaml says what becomes of their keys. */}}

{{/* The value at a dotted path as JSON: {"value": …}, or {} where there is none. */}}
{{- define "millwright.get" -}}
{{- $node := .values -}}
{{- $found := true -}}
{{- range splitList "." .path -}}
{{- if and $found (kindIs "map" $node) (hasKey $node .) -}}
{{- $node = index $node . -}}
{{- else -}}
{{- $found = false -}}
{{- end -}}
{{- end -}}
{{- if $found -}}{{- dict "value" $node | toJson -}}{{- else -}}{}{{- end -}}
{{- end -}}

{{- define "millwright.set" -}}
{{- $node := .values -}}
{{- $steps := splitList "." .path -}}
{{- range initial $steps -}}
{{- if not (kindIs "map" (index $node .)) -}}
{{- $_ := set $node . (dict) -}}
{{- end -}}
{{- $node = index $node . -}}
{{- end -}}
{{- $_ := set $node (last $steps) .value -}}
{{- end -}}

{{/* Refuses what must not be ignored, then gives moved values their names here. Every template begins
with it; it does its work once. */}}
{{- define "millwright.fold" -}}
{{- if not (hasKey .Values "folded") -}}
{{- $values := .Values -}}
{{- $upstream := .Files.Get "upstream-values.yaml" | fromYaml -}}
{{- $refusals := list -}}
{{- range $path, $rule := $upstream.refused -}}
{{- $given := (include "millwright.get" (dict "values" $values "path" $path) | fromJson).value -}}
{{- if and $given (or (not $rule.value) (eq (toString $given) (toString $rule.value))) (or (not $rule.pattern) (regexMatch ($rule.pattern | default "") (toString $given))) -}}
{{- $refusals = append $refusals (printf "%s: %s: %s" $path (toString $given) $rule.why) -}}
{{- end -}}
{{- end -}}
{{- if $refusals -}}
{{- fail (join "\n" $refusals) -}}
{{- end -}}
{{- range $path, $ours := $upstream.moved -}}
{{- $given := (include "millwright.get" (dict "values" $values "path" $path) | fromJson).value -}}
{{- if $given -}}
{{- include "millwright.set" (dict "values" $values "path" $ours "value" $given) -}}
{{- end -}}
{{- end -}}
{{- $_ := set .Values "folded" true -}}
{{- end -}}
{{- end -}}

{{/* Environment variables from other charts' settings, as JSON {name: value}; without those that
controller.env sets itself. */}}
{{- define "millwright.upstreamEnvironment" -}}
{{- $values := .Values -}}
{{- $upstream := .Files.Get "upstream-values.yaml" | fromYaml -}}
{{- $variables := dict -}}
{{- range $path, $name := $upstream.environment -}}
{{- $given := (include "millwright.get" (dict "values" $values "path" $path) | fromJson).value -}}
{{- $counts := or $given (and (kindIs "bool" $given) (has $path $upstream.falseCounts)) -}}
{{- if and $counts (ne (toString $given) (get $upstream.notTaken $path | toString)) -}}
{{- $_ := set $variables $name (toString $given) -}}
{{- end -}}
{{- end -}}
{{- $gates := list -}}
{{- range $path := $upstream.featureGates -}}
{{- $given := (include "millwright.get" (dict "values" $values "path" $path) | fromJson).value | default dict -}}
{{- range $gate := $upstream.gates -}}
{{- if hasKey $given $gate -}}
{{- $gates = append $gates (printf "%s=%v" (title $gate) (index $given $gate)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $gates -}}
{{- $_ := set $variables "FEATURE_GATES" (join "," $gates) -}}
{{- end -}}
{{- range .Values.controller.env -}}
{{- $_ := unset $variables .name -}}
{{- end -}}
{{- $variables | toJson -}}
{{- end -}}

{{/* What became of other charts' keys, one line each, for NOTES.txt. */}}
{{- define "millwright.upstreamNotes" -}}
{{- $values := .Values -}}
{{- $upstream := .Files.Get "upstream-values.yaml" | fromYaml -}}
{{- range $path, $ours := $upstream.moved -}}
{{- if (include "millwright.get" (dict "values" $values "path" $path) | fromJson).value }}
  {{ $path }} is taken as {{ $ours }}
{{- end -}}
{{- end -}}
{{- range $path, $rule := $upstream.ignored -}}
{{- $given := (include "millwright.get" (dict "values" $values "path" $path) | fromJson).value -}}
{{- if and $given (ne (toJson $given) (toJson $rule.default)) }}
  {{ $path }} has no effect: {{ $rule.instead }}
{{- end -}}
{{- end -}}
{{- range $path, $default := $upstream.notTaken -}}
{{- $given := (include "millwright.get" (dict "values" $values "path" $path) | fromJson).value -}}
{{- if and $given (eq (toString $given) (toString $default)) }}
  {{ $path }} has no effect: {{ $default }} is Karpenter's default, which only delays plans here
{{- end -}}
{{- end -}}
{{- $own := list "clusterName" "clusterID" "clusterEndpoint" "featureGates" "awsFeatureGates" -}}
{{- range $table := list "settings" "controller.settings" -}}
{{- range $key, $given := (include "millwright.get" (dict "values" $values "path" $table) | fromJson).value | default dict -}}
{{- $path := printf "%s.%s" $table $key -}}
{{- if and $given (not (has $key $own)) (not (hasKey $upstream.environment $path)) (not (hasKey $upstream.ignored $path)) }}
  {{ $path }} has no effect: Millwright has no such setting (docs/settings.md)
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Terms of affinity and spread without a label selector concern the Deployment's own pods, as in
Karpenter's chart. */}}
{{- define "millwright.selected" -}}
{{- $labels := dict "matchLabels" (dict "app.kubernetes.io/name" "millwright" "app.kubernetes.io/instance" .Release.Name) -}}
{{- range $kind := list "podAffinity" "podAntiAffinity" -}}
{{- $terms := get $.Values.affinity $kind | default dict -}}
{{- range $term := $terms.requiredDuringSchedulingIgnoredDuringExecution -}}
{{- if not $term.labelSelector -}}{{- $_ := set $term "labelSelector" $labels -}}{{- end -}}
{{- end -}}
{{- range $weighted := $terms.preferredDuringSchedulingIgnoredDuringExecution -}}
{{- if not $weighted.podAffinityTerm.labelSelector -}}{{- $_ := set $weighted.podAffinityTerm "labelSelector" $labels -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $constraint := $.Values.topologySpreadConstraints -}}
{{- if not $constraint.labelSelector -}}{{- $_ := set $constraint "labelSelector" $labels -}}{{- end -}}
{{- end -}}
{{- end -}}
