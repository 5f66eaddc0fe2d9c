{{/* The release's name, with the chart's name if it is not part of it yet. */}}
{{- define "sidegate.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The selector of this release's pods. It never changes, because a Deployment's selector cannot. */}}
{{- define "sidegate.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sidegate.labels" -}}
{{ include "sidegate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "sidegate.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The port of an address such as 0.0.0.0:8080. */}}
{{- define "sidegate.port" -}}
{{ . | regexFind "[0-9]+$" }}
{{- end -}}

{{- define "sidegate.securityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end -}}

{{/* The settings that need a restart: src/app/restart-only-settings.ts. */}}
{{- define "sidegate.restartsWith" -}}
{{ pick .Values.configuration "listen" "tls" "requests" "admin" "internal" "workers" "pods" "store" "store_file" | toJson | sha256sum }}
{{- end -}}

{{/* The maximum time that a pod takes to end: the services wait before Sidegate gets SIGTERM. The time of a preStop of another kind than `sleep` is unknown here. */}}
{{- define "sidegate.shutdownSeconds" -}}
{{- $preStop := 0 -}}
{{- range .Values.application.containers -}}
{{- $waits := $.Values.application.preStopSeconds -}}
{{- if hasKey . "lifecycle" -}}
{{- $waits = dig "preStop" "sleep" "seconds" 0 (.lifecycle | default dict) -}}
{{- end -}}
{{- $preStop = max $preStop (int $waits) -}}
{{- end -}}
{{- with .Values.configuration.shutdown -}}
{{ add $preStop (.delay | trimSuffix "s" | int) (.timeout | trimSuffix "s" | int) }}
{{- end -}}
{{- end -}}

{{/* Refuses values that are valid separately and invalid together. */}}
{{- define "sidegate.check" -}}
{{- $shutdown := include "sidegate.shutdownSeconds" . | int -}}
{{- if le (int .Values.terminationGracePeriodSeconds) $shutdown -}}
{{- fail (printf "terminationGracePeriodSeconds is %d: it must be more than the %d seconds that preStop, shutdown.delay and shutdown.timeout take" (int .Values.terminationGracePeriodSeconds) $shutdown) -}}
{{- end -}}
{{- if and (eq .Values.mode "sidecar") (not .Values.application.containers) -}}
{{- fail "mode is sidecar: application.containers must have the containers of your service" -}}
{{- end -}}
{{- if and (eq .Values.mode "gateway") .Values.application.containers -}}
{{- fail "mode is gateway: application.containers are for mode sidecar" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail (printf "autoscaling.minReplicas is %d: it must not be more than autoscaling.maxReplicas, which is %d" (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if eq (include "sidegate.port" .Values.configuration.listen) (include "sidegate.port" .Values.configuration.admin) -}}
{{- fail "configuration.listen and configuration.admin have the same port: give each its own" -}}
{{- end -}}
{{- $names := list -}}
{{- range .Values.application.containers -}}
{{- if has .name $names -}}
{{- fail (printf "application.containers has two containers named %s: give each a name of its own" .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- range .Values.volumes -}}
{{- if has .name (list "config" "clients" "store") -}}
{{- fail (printf "volumes has a volume named %s, as the chart has: take another name" .name) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.secrets.store (hasKey .Values.configuration "store") -}}
{{- fail "configuration.store stands beside secrets.store: keep one of the two" -}}
{{- end -}}
{{- if and .Values.podMonitor.enabled .Values.serviceMonitor.enabled -}}
{{- fail "podMonitor.enabled stands beside serviceMonitor.enabled: each pod would be scraped and counted twice, so keep one of the two" -}}
{{- end -}}
{{- end -}}
