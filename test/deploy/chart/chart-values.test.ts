import { describe, expect, it } from 'vitest';
import { runHere } from '../../cli/use-cli.ts';
import {
  ALL,
  type CronJobSpec,
  type Labels,
  ofKind,
  only,
  PEER,
  SECRETS,
  type StatefulSetSpec,
  selects,
  settingsOf,
} from './chart-parts.ts';
import { renderChart, renderNotes } from './render-chart.ts';
import type { Fields } from './render-template.ts';

describe('the values of the Helm chart', () => {
  const plain = renderChart({ secrets: SECRETS });
  const full = renderChart(ALL);
  const set = only<StatefulSetSpec>(plain, 'StatefulSet');
  const pod = set.spec.template.spec;
  const [node] = pod.containers;

  it('trusts as many proxies as stand in front of its Service, unless the settings say otherwise', () => {
    const trusted = (values: Fields) =>
      settingsOf(renderChart({ secrets: SECRETS, ...values })).guards.trustedProxies;
    expect(trusted({})).toBe(1);
    expect(trusted({ settings: { guards: { failed_keys_per_minute: 5 } } })).toBe(1);
    expect(trusted({ settings: { guards: { trusted_proxies: 2 } } })).toBe(2);
    const open = { secrets: SECRETS, service: { type: 'LoadBalancer' } };
    expect(trusted(open)).toBe(0);
    // Clients keep their addresses only with this setting.
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

  it('verifies the ledger, in a pod that is none of the nodes', async () => {
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
    expect(verify.envFrom).toEqual(node.envFrom);
    for (const { name } of verify.volumeMounts) {
      expect(spec.volumes.map((volume) => volume.name)).toContain(name);
    }
    // The books are on a server: nothing of the nodes is mounted.
    expect(spec.volumes.filter((volume) => volume.persistentVolumeClaim)).toEqual([]);
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
    expect(notes).not.toContain('is not being verified');
    for (const [, command = ''] of notes.matchAll(/-- tollgate ((?:[a-z]+ ?)+)/g)) {
      expect((await runHere({}, ...command.trim().split(' '), '--help')).code, command).toBe(0);
    }
    const open = renderNotes({ secrets: SECRETS, service: { type: 'LoadBalancer' } });
    expect(open).toContain('no proxy in front');
    expect(open).toContain('is not being verified');
    expect(open).not.toContain('Clients reach it at');
  });
});
