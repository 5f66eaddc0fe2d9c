{{/* Sidegate's container, in a pod of its own or as a sidecar. */}}
{{- define "sidegate.container" -}}
name: sidegate
image: {{ include "sidegate.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- if eq .Values.mode "sidecar" }}
# A native sidecar: started before the service, and stopped after it has ended. It needs no preStop of its own.
restartPolicy: Always
{{- end }}
{{- with .Values.env }}
env:
  {{- range $name, $value := . }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- end }}
ports:
  - name: http
    containerPort: {{ include "sidegate.port" .Values.configuration.listen }}
  - name: admin
    containerPort: {{ include "sidegate.port" .Values.configuration.admin }}
startupProbe:
  httpGet:
    path: /livez
    port: admin
  periodSeconds: 1
  failureThreshold: 30
readinessProbe:
  httpGet:
    path: /readyz
    port: admin
  periodSeconds: 5
  failureThreshold: 1
livenessProbe:
  httpGet:
    path: /livez
    port: admin
  periodSeconds: 10
  failureThreshold: 3
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  {{- include "sidegate.securityContext" . | nindent 2 }}
volumeMounts:
  # Folders, never subPath: what is mounted by subPath is not updated when the ConfigMap or Secret is.
  - name: config
    mountPath: /etc/sidegate
    readOnly: true
  {{- if .Values.secrets.clients }}
  - name: clients
    mountPath: /etc/sidegate-clients
    readOnly: true
  {{- end }}
  {{- if .Values.secrets.store }}
  - name: store
    mountPath: /etc/sidegate-store
    readOnly: true
  {{- end }}
  {{- with .Values.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The service's containers, with defaults for the settings that they leave out. */}}
{{- define "sidegate.application" -}}
{{- range .Values.application.containers }}
- {{- toYaml . | nindent 2 }}
  {{- if not (hasKey . "lifecycle") }}
  # The pod leaves the Service's endpoints while it is being stopped, not before: until every node knows, requests still come.
  lifecycle:
    preStop:
      sleep:
        seconds: {{ $.Values.application.preStopSeconds }}
  {{- end }}
  {{- if not (hasKey . "securityContext") }}
  securityContext:
    {{- include "sidegate.securityContext" $ | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
