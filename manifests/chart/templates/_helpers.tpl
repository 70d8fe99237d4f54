{{- define "millwright.simulatedClouds" -}}
{{- if ne .Values.controller.simulatedClouds "auto" -}}
{{ .Values.controller.simulatedClouds }}
{{- else if not .Values.controller.clouds -}}
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
