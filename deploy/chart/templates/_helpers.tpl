{{- define "slowwave.name" -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{- end }}

{{- define "slowwave.labels" -}}
app.kubernetes.io/name: slowwave
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "slowwave.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- define "slowwave.env" -}}
env:
  - {name: SLOWWAVE_HOME, value: /var/lib/slowwave/home}
  - {name: SLOWWAVE_JOURNAL__URL, value: {{ .Values.journal.url | quote }}}
  - {name: SLOWWAVE_NIGHT__DAGSTER_URL, value: {{ .Values.night.dagsterUrl | quote }}}
  - {name: SLOWWAVE_STORE__URI, value: {{ .Values.store.uri | quote }}}
  - {name: SLOWWAVE_STORE__STORAGE_OPTIONS, value: {{ .Values.store.options | toJson | quote }}}
  - {name: SLOWWAVE_MCP__ALLOWED_HOSTS, value: {{ list .Values.mcp.host | toJson | quote }}}
{{- range $name, $value := .Values.settings }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
  - {name: PGPASSWORD, valueFrom: {secretKeyRef: {name: {{ .Values.secret.name }}, key: {{ .Values.secret.postgresPassword }}}}}
  - {name: AWS_ACCESS_KEY_ID, valueFrom: {secretKeyRef: {name: {{ .Values.secret.name }}, key: {{ .Values.secret.accessKeyId }}}}}
  - {name: AWS_SECRET_ACCESS_KEY, valueFrom: {secretKeyRef: {name: {{ .Values.secret.name }}, key: {{ .Values.secret.secretAccessKey }}}}}
  - {name: SLOWWAVE_MCP__TOKENS, valueFrom: {secretKeyRef: {name: {{ .Values.secret.name }}, key: {{ .Values.secret.tokens }}}}}
{{- end }}

{{- define "slowwave.confined" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: home, mountPath: /var/lib/slowwave/home}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "slowwave.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
{{- if not .keeps }}
  - {name: home, emptyDir: {sizeLimit: {{ .Values.home.sizeLimit }}}}
{{- end }}
  - {name: tmp, emptyDir: {}}
{{- end }}
