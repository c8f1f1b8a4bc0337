import { parseConfig } from '../../../src/config/parse-config.ts';
import type { Manifest } from './render-chart.ts';
import type { Fields } from './render-template.ts';

export const SECRETS = {
  TOLLGATE_REDIS_URL: 'redis://:p%40ss@redis:6379/0',
  TOLLGATE_ADMIN_TOKEN: 'a'.repeat(64),
  TOLLGATE_BOOKS_URL: 'postgres://tollgate:p%40ss@postgres:5432/tollgate',
};
export const PEER = { namespaceSelector: { matchLabels: { team: 'edge' } } };
export const ALL = {
  secrets: { ...SECRETS, MAIN_KEY: 'k' },
  autoscaling: { enabled: true, exchangesPerNode: 500 },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  service: { annotations: { note: 'x' } },
  persistence: { storageClass: 'fast' },
  nodeSelector: { pool: 'gateways' },
  tolerations: [{ key: 'pool', operator: 'Exists' }],
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } },
  imagePullSecrets: [{ name: 'registry' }],
  extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/authority/ca.pem' }],
  extraVolumes: [{ name: 'authority', configMap: { name: 'authority' } }],
  extraVolumeMounts: [{ name: 'authority', mountPath: '/etc/authority', readOnly: true }],
  ingress: { enabled: true, className: 'nginx', host: 'api.example.com', tlsSecret: 'api-tls' },
  networkPolicy: { enabled: true, apiFrom: [PEER], opsFrom: [PEER] },
  ledgerVerify: { enabled: true },
};

export type Labels = Readonly<Record<string, string>>;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: unknown;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly (Named & { readonly mountPath: string })[];
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: string[] } } };
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Named {
  readonly name: string;
}

interface PodSpec extends Fields {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number };
  readonly containers: readonly [Container];
  readonly volumes: readonly (Named & {
    readonly persistentVolumeClaim?: { readonly claimName: string };
  })[];
}

export interface CronJobSpec {
  readonly schedule: string;
  readonly jobTemplate: { readonly spec: { readonly template: StatefulSetSpec['template'] } };
}

export interface StatefulSetSpec extends Fields {
  readonly replicas?: number;
  readonly serviceName: string;
  readonly selector: { readonly matchLabels: Labels };
  readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
}

export interface ServiceSpec {
  readonly selector: Labels;
  readonly ports: readonly { readonly name: string; readonly targetPort: string }[];
}

export const ofKind = (manifests: readonly Manifest[], kind: string) =>
  manifests.filter((manifest) => manifest.kind === kind);

export function only<Spec>(manifests: readonly Manifest[], kind: string) {
  const [manifest, ...others] = ofKind(manifests, kind);
  if (manifest === undefined || others.length > 0) throw new Error(`not one ${kind}`);
  return manifest as Manifest & { readonly spec: Spec };
}

export const selects = (selector: Labels, labels: Labels) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

export function settingsOf(manifests: readonly Manifest[], secrets: Labels = SECRETS) {
  const data = only(manifests, 'ConfigMap')['data'] as Readonly<Record<string, string>>;
  const node = only<StatefulSetSpec>(manifests, 'StatefulSet').spec.template.spec.containers[0];
  const env = Object.fromEntries(node.env.map(({ name, value }) => [name, value]));
  const text = data['tollgate.yaml'] ?? '';
  return parseConfig({ path: 'tollgate.yaml', text, env: { ...env, ...secrets, MAIN_KEY: 'k' } });
}
