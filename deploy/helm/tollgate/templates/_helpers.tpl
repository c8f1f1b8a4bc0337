{{- define "tollgate.selector" -}}
app.kubernetes.io/name: tollgate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- define "tollgate.postgresSelector" -}}
app.kubernetes.io/name: tollgate-postgres
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "tollgate.image" -}}
"{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
{{- end }}
{{- define "tollgate.booksAreFile" -}}
{{- if not (or .Values.postgres.enabled .Values.existingSecret .Values.secrets.TOLLGATE_BOOKS_URL (dig "books" "url" "" .Values.settings)) }}yes{{- end }}
{{- end }}
{{- define "tollgate.booksMayBeFile" -}}
{{- if not (or .Values.postgres.enabled .Values.secrets.TOLLGATE_BOOKS_URL (dig "books" "url" "" .Values.settings) .Values.autoscaling.enabled (ne (int .Values.replicas) 1)) }}yes{{- end }}
{{- end }}
{{- define "tollgate.preStopSeconds" -}}
{{ .Values.preStopSeconds | default (ternary 10 30 (eq .Values.service.type "ClusterIP")) }}
{{- end }}
{{- define "tollgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}
{{- define "tollgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
