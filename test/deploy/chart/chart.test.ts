import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { maskSettings } from '../../../src/config/mask-settings.ts';
import { ENVIRONMENT_OVERRIDES } from '../../../src/config/source/environment-overrides.ts';
import { METRICS } from '../../../src/metrics/metrics.ts';
import { HEALTH_PATHS, PROGRAM, readYaml } from '../read-deploy-files.ts';
import {
  ALL,
  type Labels,
  ofKind,
  only,
  SECRETS,
  type ServiceSpec,
  type StatefulSetSpec,
  selects,
  settingsOf,
} from './chart-parts.ts';
import { type Manifest, readValues, renderChart } from './render-chart.ts';
import { merge } from './render-template.ts';

const semanticVersion = z.string().regex(/^\d+\.\d+\.\d+(-[\w.-]+)?$/);

/** The fields of Chart.yaml that the chart uses, of those that Helm knows. */
const chartSchema = z.strictObject({
  apiVersion: z.literal('v2'),
  name: z.literal('tollgate'),
  description: z.string(),
  type: z.literal('application'),
  version: semanticVersion,
  appVersion: semanticVersion,
  kubeVersion: z.string().regex(/^>=\d+\.\d+\.\d+-0$/),
});

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
      { persistence: { accessMode: 'ReadWriteMany' } },
      // The chart sets these itself.
      { settings: { drain: { timeout: '15m' } } },
      { settings: { listen: '0.0.0.0:80' } },
      { postgres: { password: 'x' } },
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
    expect(() => renderChart({ secrets: { ...SECRETS, TOLLGATE_REDIS_URL: '' } })).toThrow(
      'TOLLGATE_REDIS_URL',
    );
    expect(() => renderChart({ secrets: { ...SECRETS, TOLLGATE_ADMIN_TOKEN: '' } })).toThrow(
      'TOLLGATE_ADMIN_TOKEN',
    );
  });

  it('gives nodes settings that they take', () => {
    const config = settingsOf(plain);
    expect(config.drain.timeoutMs).toBe(120_000);
    expect(config.guards.trustedProxies).toBe(1);
    expect(config.redis).not.toBe('embedded');
    expect(config.books.place.kind).toBe('postgres');
    const changed = renderChart({
      ...ALL,
      drainSeconds: 30,
      settings: { plans: { pro: 5 }, upstreams: [{ name: 'a', kind: 'simulated' }] },
    });
    const { plans, drain, upstreams } = maskSettings(settingsOf(changed));
    expect(plans['pro']).toBe(5);
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
    const pauses = [
      {},
      { service: { type: 'LoadBalancer' } },
      { service: { type: 'LoadBalancer' }, preStopSeconds: 45 },
    ].map((values) => {
      const manifests = renderChart({ secrets: SECRETS, ...values });
      const { spec } = only<StatefulSetSpec>(manifests, 'StatefulSet').spec.template;
      const pauseSeconds = Number(spec.containers[0].lifecycle.preStop.exec.command[1]);
      const drainSeconds = settingsOf(manifests).drain.timeoutMs / 1_000;
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(pauseSeconds + drainSeconds);
      return pauseSeconds;
    });
    // A balancer of a cloud takes longer to notice.
    expect(pauses).toEqual([10, 30, 45]);
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
      endpoints: { port: string; path: string; relabelings: unknown }[];
    }>(full, 'ServiceMonitor');
    const selected = ofKind(full, 'Service').filter(({ metadata }) =>
      selects(spec.selector.matchLabels, metadata.labels),
    ) as (Manifest & { spec: ServiceSpec })[];
    expect(selected.map(({ metadata }) => metadata.name)).toEqual(['gate-nodes']);
    expect(selected[0]?.metadata.labels[spec.jobLabel]).toBe('tollgate');
    expect(selected[0]?.spec.ports.map(({ name }) => name)).toContain(spec.endpoints[0]?.port);
    expect(spec.endpoints[0]?.path).toBe('/metrics');
    const fleet = { targetLabel: 'fleet', replacement: 'models/gate' };
    expect(spec.endpoints[0]?.relabelings).toEqual([fleet]);
  });

  it('runs the image as the user that the image has', () => {
    const dockerfile = readFileSync('deploy/Dockerfile', 'utf8');
    expect(dockerfile).toContain(`USER ${pod.securityContext.runAsUser}:`);
    expect(node.image).toMatch(/^tollgate:\d+\.\d+\.\d+$/);
  });
});
