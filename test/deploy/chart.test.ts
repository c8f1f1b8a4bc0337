import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ENVIRONMENT_OVERRIDES } from '../../src/config/environment-overrides.ts';
import { maskSettings } from '../../src/config/mask-settings.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { METRICS } from '../../src/metrics/metrics.ts';
import { runHere } from '../cli/use-cli.ts';
import { HEALTH_PATHS, PROGRAM, readYaml } from './read-deploy-files.ts';
import { type Manifest, readValues, renderChart, renderNotes } from './render-chart.ts';
import { type Fields, merge } from './render-template.ts';

const SECRETS = {
  TOLLGATE_REDIS_URL: 'redis://:p%40ss@redis:6379/0',
  TOLLGATE_ADMIN_TOKEN: 'a'.repeat(64),
};
const PEER = { namespaceSelector: { matchLabels: { team: 'edge' } } };
const ALL = {
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
  ledgerVerify: { enabled: true, nodes: 3 },
};

const semanticVersion = z.string().regex(/^\d+\.\d+\.\d+(-[\w.-]+)?$/);

/** Of the fields that Helm knows in Chart.yaml, those that the chart has. */
const chartSchema = z.strictObject({
  apiVersion: z.literal('v2'),
  name: z.literal('tollgate'),
  description: z.string(),
  type: z.literal('application'),
  version: semanticVersion,
  appVersion: semanticVersion,
  kubeVersion: z.string().regex(/^>=\d+\.\d+\.\d+-0$/),
});

type Labels = Readonly<Record<string, string>>;

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

interface CronJobSpec {
  readonly schedule: string;
  readonly jobTemplate: { readonly spec: { readonly template: StatefulSetSpec['template'] } };
}

interface StatefulSetSpec extends Fields {
  readonly replicas?: number;
  readonly serviceName: string;
  readonly selector: { readonly matchLabels: Labels };
  readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
}

interface ServiceSpec {
  readonly selector: Labels;
  readonly ports: readonly { readonly name: string; readonly targetPort: string }[];
}

const ofKind = (manifests: readonly Manifest[], kind: string) =>
  manifests.filter((manifest) => manifest.kind === kind);

function only<Spec>(manifests: readonly Manifest[], kind: string) {
  const [manifest, ...others] = ofKind(manifests, kind);
  if (manifest === undefined || others.length > 0) throw new Error(`not one ${kind}`);
  return manifest as Manifest & { readonly spec: Spec };
}

const selects = (selector: Labels, labels: Labels) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

function settingsOf(manifests: readonly Manifest[]) {
  const data = only(manifests, 'ConfigMap')['data'] as Readonly<Record<string, string>>;
  const node = only<StatefulSetSpec>(manifests, 'StatefulSet').spec.template.spec.containers[0];
  const env = Object.fromEntries(node.env.map(({ name, value }) => [name, value]));
  const text = data['tollgate.yaml'] ?? '';
  return parseConfig({ path: 'tollgate.yaml', text, env: { ...env, ...SECRETS, MAIN_KEY: 'k' } });
}

describe('the Helm chart', () => {
  const plain = renderChart({ secrets: SECRETS });
  const full = renderChart(ALL);
  const set = only<StatefulSetSpec>(plain, 'StatefulSet');
  const pod = set.spec.template.spec;
  const [node] = pod.containers;

  it('describes itself with the fields that Helm knows, as the version that it installs', () => {
    const chart = chartSchema.parse(readYaml('helm/tollgate/Chart.yaml'));
    expect(chart.appVersion).toBe(PROGRAM.version);
  });

  it('has values that fit its schema, which takes no others', () => {
    const schema = z.fromJSONSchema(
      JSON.parse(readFileSync('deploy/helm/tollgate/values.schema.json', 'utf8')),
    );
    const values = readValues();
    expect(schema.safeParse(values).error).toBeUndefined();
    expect(schema.safeParse({ ...values, replica: 2 }).success).toBe(false);
    expect(schema.safeParse({ ...values, drainSeconds: '120s' }).success).toBe(false);
    expect(schema.safeParse(merge(values, ALL)).error).toBeUndefined();
    for (const wrong of [
      { extraEnv: [{ value: 'x' }] },
      { persistence: { accessMode: 'ReadOnlyMany' } },
      { ledgerVerify: { schedule: 'daily' } },
      { ingress: { hosts: ['api.example.com'] } },
      { networkPolicy: { apiFrom: 'all' } },
    ]) {
      expect(schema.safeParse(merge(values, wrong)).success, JSON.stringify(wrong)).toBe(false);
    }
  });

  it('makes every kind once, and what is switched off not at all', () => {
    const always = ['ConfigMap', 'PodDisruptionBudget', 'Secret', 'Service', 'Service'];
    expect(plain.map(({ kind }) => kind).sort()).toEqual([...always, 'StatefulSet']);
    expect(full.map(({ kind }) => kind).sort()).toEqual(
      [
        ...[...always, 'CronJob', 'HorizontalPodAutoscaler', 'Ingress', 'NetworkPolicy'],
        ...['ServiceMonitor', 'StatefulSet'],
      ].sort(),
    );
    expect(
      ofKind(renderChart({ existingSecret: 'mine' }), 'Secret'),
      'a Secret beside an existing one',
    ).toEqual([]);
    for (const { kind, metadata } of full) {
      expect(metadata.labels['app.kubernetes.io/instance'], kind).toBe('gate');
    }
  });

  it('is refused without a Redis that nodes share, and without a token', () => {
    expect(() => renderChart({})).toThrow('TOLLGATE_REDIS_URL');
    expect(() => renderChart({ secrets: { ...SECRETS, TOLLGATE_ADMIN_TOKEN: '' } })).toThrow(
      'TOLLGATE_ADMIN_TOKEN',
    );
  });

  it('gives nodes settings that they take', () => {
    const config = settingsOf(plain);
    expect(config.drain.timeoutMs).toBe(120_000);
    expect(config.guards.trustedProxies).toBe(1);
    expect(config.redis).not.toBe('embedded');
    const changed = renderChart({
      ...ALL,
      drainSeconds: 30,
      settings: { plans: { pro: 5 }, upstreams: [{ name: 'a', kind: 'simulated' }] },
    });
    const { plans, drain, upstreams } = maskSettings(settingsOf(changed));
    expect(plans.pro).toBe(5);
    expect(drain.timeout).toBe('30s');
    expect(upstreams[0]?.name).toBe('a');
  });

  it('hands nodes every entry of the secret, as variables that they know', () => {
    const data = only(full, 'Secret')['stringData'] as Labels;
    expect(data).toEqual(ALL.secrets);
    expect(node.envFrom).toEqual([{ secretRef: { name: 'gate' } }]);
    const known = ENVIRONMENT_OVERRIDES.map(({ variable }) => variable);
    for (const { name } of node.env) expect(known).toContain(name);
    for (const name of Object.keys(SECRETS)) expect(known).toContain(name);
  });

  it('leads every Service to a port that a node listens on', () => {
    const listens = Object.fromEntries(node.ports.map((port) => [port.name, port.containerPort]));
    const { listen, ops } = settingsOf(plain);
    expect([listen, ops.listen]).toMatchObject([
      { port: listens['http'] },
      { port: listens['ops'] },
    ]);
    for (const { spec } of ofKind(plain, 'Service') as (Manifest & { spec: ServiceSpec })[]) {
      expect(selects(spec.selector, set.spec.template.metadata.labels)).toBe(true);
      for (const { targetPort } of spec.ports) expect(listens).toHaveProperty(targetPort);
    }
    expect(selects(set.spec.selector.matchLabels, set.spec.template.metadata.labels)).toBe(true);
    expect(ofKind(plain, 'Service').map(({ metadata }) => metadata.name)).toContain(
      set.spec.serviceName,
    );
  });

  it('probes paths that a node has: /healthz to restart it, /health to send it requests', () => {
    const paths = (['startupProbe', 'livenessProbe', 'readinessProbe'] as const).map((probe) => {
      expect(node[probe].httpGet.port).toBe('http');
      return node[probe].httpGet.path;
    });
    expect(paths).toEqual(['/healthz', '/healthz', '/health']);
    for (const path of paths) expect(HEALTH_PATHS).toContain(path);
  });

  it('leaves a node the time to drain', () => {
    const [, pauseSeconds] = node.lifecycle.preStop.exec.command;
    const drainSeconds = settingsOf(plain).drain.timeoutMs / 1_000;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(pauseSeconds) + drainSeconds);
  });

  it('scales what it made, by metrics that nodes have', () => {
    const { spec } = only<{
      scaleTargetRef: { kind: string; name: string };
      metrics: { type: string; pods?: { metric: { name: string } } }[];
    }>(full, 'HorizontalPodAutoscaler');
    expect(spec.scaleTargetRef).toMatchObject({ kind: 'StatefulSet', name: set.metadata.name });
    expect(only<StatefulSetSpec>(full, 'StatefulSet').spec.replicas).toBeUndefined();
    expect(spec.metrics.map(({ type }) => type)).toEqual(['Resource', 'Pods']);
    const names = Object.values(METRICS).map(({ name }) => name);
    expect(names).toContain(spec.metrics[1]?.pods?.metric.name);
  });

  it('has Prometheus scrape each node once, under the name that the rules know', () => {
    const { spec } = only<{
      jobLabel: string;
      selector: { matchLabels: Labels };
      endpoints: { port: string; path: string }[];
    }>(full, 'ServiceMonitor');
    const selected = ofKind(full, 'Service').filter(({ metadata }) =>
      selects(spec.selector.matchLabels, metadata.labels),
    ) as (Manifest & { spec: ServiceSpec })[];
    expect(selected.map(({ metadata }) => metadata.name)).toEqual(['gate-nodes']);
    expect(selected[0]?.metadata.labels[spec.jobLabel]).toBe('tollgate');
    expect(selected[0]?.spec.ports.map(({ name }) => name)).toContain(spec.endpoints[0]?.port);
    expect(spec.endpoints[0]?.path).toBe('/metrics');
  });

  it('runs the image as the user that the image has', () => {
    const dockerfile = readFileSync('deploy/Dockerfile', 'utf8');
    expect(dockerfile).toContain(`USER ${pod.securityContext.runAsUser}:`);
    expect(node.image).toMatch(/^tollgate:\d+\.\d+\.\d+$/);
  });

  it('trusts as many proxies as stand in front of its Service, unless the settings say otherwise', () => {
    const trusted = (values: Fields) =>
      settingsOf(renderChart({ secrets: SECRETS, ...values })).guards.trustedProxies;
    expect(trusted({})).toBe(1);
    expect(trusted({ settings: { guards: { failed_keys_per_minute: 5 } } })).toBe(1);
    expect(trusted({ settings: { guards: { trusted_proxies: 2 } } })).toBe(2);
    const open = { secrets: SECRETS, service: { type: 'LoadBalancer' } };
    expect(trusted(open)).toBe(0);
    // Clients keep their addresses only with this.
    expect(ofKind(renderChart(open), 'Service')[0]?.spec).toMatchObject({
      externalTrafficPolicy: 'Local',
    });
    expect(JSON.stringify(ofKind(plain, 'Service'))).not.toContain('externalTrafficPolicy');
  });

  it('gives nodes and the job what else they are given, in its place', () => {
    const set = only<StatefulSetSpec>(full, 'StatefulSet').spec.template.spec;
    const job = only<CronJobSpec>(full, 'CronJob').spec.jobTemplate.spec.template.spec;
    expect(set['affinity']).toEqual(ALL.affinity);
    for (const pod of [set, job]) {
      const [container] = pod.containers;
      expect(pod['imagePullSecrets']).toEqual(ALL.imagePullSecrets);
      expect(container.env).toEqual(expect.arrayContaining(ALL.extraEnv));
      expect(container.volumeMounts).toEqual(expect.arrayContaining(ALL.extraVolumeMounts));
      expect(pod.volumes).toEqual(expect.arrayContaining(ALL.extraVolumes));
    }
    const [node] = pod.containers;
    expect(node.env.map(({ name }) => name)).not.toContain('NODE_EXTRA_CA_CERTS');
  });

  it('verifies the ledger of all nodes, in a pod that is none of them', async () => {
    const { schedule, jobTemplate } = only<CronJobSpec>(full, 'CronJob').spec;
    const { metadata, spec } = jobTemplate.spec.template;
    expect(schedule.split(' ')).toHaveLength(5);
    expect(selects(set.spec.selector.matchLabels, metadata.labels)).toBe(false);
    const [verify] = spec.containers;
    const { code, out } = await runHere({}, ...verify.args.slice(0, 2), '--help');
    expect(code).toBe(0);
    for (const option of verify.args.filter((arg) => arg.startsWith('--'))) {
      expect(out).toContain(option);
    }
    const dirs = verify.args.filter((_, at) => verify.args[at - 1] === '--data-dir');
    const claims = dirs.map((dir) => {
      const mount = verify.volumeMounts.find(({ mountPath }) => mountPath === dir);
      const volume = spec.volumes.find(({ name }) => name === mount?.name);
      return volume?.persistentVolumeClaim?.claimName;
    });
    expect(claims).toEqual(['data-gate-0', 'data-gate-1', 'data-gate-2']);
    expect(verify.envFrom).toEqual(node.envFrom);
    for (const { name } of verify.volumeMounts) {
      expect(spec.volumes.map((volume) => volume.name)).toContain(name);
    }
    const few = only<CronJobSpec>(
      renderChart({ secrets: SECRETS, replicas: 1, ledgerVerify: { enabled: true } }),
      'CronJob',
    );
    expect(few.spec.jobTemplate.spec.template.spec.containers[0].args).toContain('/nodes/0');
    expect(few.spec.jobTemplate.spec.template.spec.containers[0].args).not.toContain('/nodes/1');
  });

  it('lets in whom the policy names: nobody to the operators who is not named', () => {
    const policyOf = (networkPolicy: Fields) =>
      only<{ podSelector: { matchLabels: Labels }; ingress: unknown }>(
        renderChart({ secrets: SECRETS, networkPolicy: { enabled: true, ...networkPolicy } }),
        'NetworkPolicy',
      ).spec;
    const { podSelector, ingress } = policyOf({});
    expect(selects(podSelector.matchLabels, set.spec.template.metadata.labels)).toBe(true);
    expect(ingress).toEqual([{ ports: [{ port: 'http', protocol: 'TCP' }] }]);
    expect(policyOf({ apiFrom: [PEER], opsFrom: [PEER] }).ingress).toEqual([
      { ports: [{ port: 'http', protocol: 'TCP' }], from: [PEER] },
      { ports: [{ port: 'ops', protocol: 'TCP' }], from: [PEER] },
    ]);
  });

  it('leads an ingress to the Service that clients use, for one name and its certificate', () => {
    const ingress = only<{
      ingressClassName: string;
      tls: unknown;
      rules: { host: string; http: { paths: { backend: { service: unknown } }[] } }[];
    }>(full, 'Ingress');
    expect(ingress.spec.ingressClassName).toBe('nginx');
    expect(ingress.spec.tls).toEqual([{ hosts: ['api.example.com'], secretName: 'api-tls' }]);
    expect(ingress.spec.rules[0]?.host).toBe('api.example.com');
    expect(ingress.spec.rules[0]?.http.paths[0]?.backend.service).toEqual({
      name: 'gate',
      port: { name: 'http' },
    });
    expect(() => renderChart({ secrets: SECRETS, ingress: { enabled: true } })).toThrow('host');
  });

  it('tells in the end how to go on, with commands that there are', async () => {
    const notes = renderNotes(ALL);
    expect(notes).toContain('Clients reach it at https://api.example.com');
    expect(notes).toContain('one proxy in front');
    expect(notes).not.toContain('Nobody verifies');
    for (const [, command = ''] of notes.matchAll(/-- tollgate ((?:[a-z]+ ?)+)/g)) {
      expect((await runHere({}, ...command.trim().split(' '), '--help')).code, command).toBe(0);
    }
    const open = renderNotes({ secrets: SECRETS, service: { type: 'LoadBalancer' } });
    expect(open).toContain('no proxy in front');
    expect(open).toContain('Nobody verifies');
    expect(open).not.toContain('Clients reach it at');
  });
});
