{{/* Real clouds, separated by commas. */}}
{{- define "millwright.clouds" -}}
{{- if ne .Values.controller.clouds "auto" -}}
{{ .Values.controller.clouds }}
{{- else -}}
{{- $clouds := list -}}
{{- if .Values.alibabacloud.access_key_id -}}{{- $clouds = append $clouds "alibaba" -}}{{- end -}}
{{- if include "millwright.huaweiSecret" . -}}{{- $clouds = append $clouds "huawei" -}}{{- end -}}
{{- join "," $clouds -}}
{{- end -}}
{{- end -}}

{{/* Environment variables of the clouds beside their keys, as JSON {name: value}. */}}
{{- define "millwright.cloudEnvironment" -}}
{{- $variables := dict -}}
{{- $clouds := splitList "," (include "millwright.clouds" .) -}}
{{- $settings := .Values.controller.settings -}}
{{- with $settings.clusterName -}}{{- $_ := set $variables "CLUSTER_NAME" . -}}{{- end -}}
{{- if has "aws" $clouds -}}
{{- $_ := required "controller.settings.clusterName is needed beside cloud aws" $settings.clusterName -}}
{{- end -}}
{{- with $settings.clusterID -}}{{- $_ := set $variables "CLUSTER_ID" . -}}{{- end -}}
{{- if has "alibaba" $clouds -}}
{{- $_ := required "controller.settings.clusterID is needed beside cloud alibaba" $settings.clusterID -}}
{{- if and .Values.alibabacloud.region_id (not .Values.alibabacloud.access_key_id) -}}
{{- $_ := set $variables "ALIBABA_CLOUD_REGION_ID" .Values.alibabacloud.region_id -}}
{{- end -}}
{{- end -}}
{{- if and (has "huawei" $clouds) (not (include "millwright.huaweiSecret" .)) -}}
{{- $given := .Values.credentials -}}
{{- with $given.region -}}{{- $_ := set $variables "HUAWEICLOUD_SDK_REGION_ID" . -}}{{- end -}}
{{- with $given.clusterID -}}{{- $_ := set $variables "HUAWEICLOUD_SDK_CCE_CLUSTER_ID" . -}}{{- end -}}
{{- with $given.projectId -}}{{- $_ := set $variables "HUAWEICLOUD_SDK_PROJECT_ID" . -}}{{- end -}}
{{- with $given.bssEndpoint -}}{{- $_ := set $variables "HUAWEICLOUD_SDK_BSS_ENDPOINT" . -}}{{- end -}}
{{- end -}}
{{- range .Values.controller.env -}}
{{- $_ := unset $variables .name -}}
{{- end -}}
{{- $variables | toJson -}}
{{- end -}}

{{/* The asking port, also where controller.env opens it; empty where it is closed. */}}
{{- define "millwright.askingPort" -}}
{{- $port := toString (int .Values.controller.askingPort) -}}
{{- range .Values.controller.env -}}
{{- if eq .name "ASKING_PORT" -}}{{- $port = toString .value -}}{{- end -}}
{{- end -}}
{{- if ne $port "0" -}}{{ $port }}{{- end -}}
{{- end -}}

{{- define "millwright.simulatedClouds" -}}
{{- if ne .Values.controller.simulatedClouds "auto" -}}
{{ .Values.controller.simulatedClouds }}
{{- else if not (include "millwright.clouds" .) -}}
kwok
{{- end -}}
{{- end -}}

{{- define "millwright.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.namePrefix }}{{ .Values.serviceAccount.name | default "millwright" }}
{{- else -}}
{{ required "serviceAccount.name is needed beside serviceAccount.create=false" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{/* Name of the Secret with Huawei Cloud's credentials; empty where there are none. */}}
{{- define "millwright.huaweiSecret" -}}
{{- if .Values.credentials.existingSecret -}}
{{ .Values.credentials.existingSecret }}
{{- else if and .Values.credentials.create .Values.credentials.accessKey -}}
{{ .Values.namePrefix }}{{ .Values.credentials.name }}
{{- end -}}
{{- end -}}

{{/* Restarts the pods when credentials change: containers read them once. */}}
{{- define "millwright.podAnnotations" -}}
{{- $annotations := dict -}}
{{- if or .Values.credentials.accessKey .Values.alibabacloud.access_key_id -}}
{{- $_ := set $annotations "checksum/credentials" (include (print $.Template.BasePath "/credentials.yaml") . | sha256sum) -}}
{{- end -}}
{{- if eq .Values.clusterInfo.category "eni" -}}
{{- $annotations = merge $annotations .Values.yangtseEipInfo -}}
{{- end -}}
{{- $annotations = merge (deepCopy .Values.podAnnotations) $annotations -}}
{{- if $annotations -}}
{{ toYaml $annotations }}
{{- end -}}
{{- end -}}
