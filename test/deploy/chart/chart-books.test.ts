import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { IMAGES } from '../../support/containers/images.ts';
import { startPostgres } from '../../support/servers/start-postgres.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import {
  type CronJobSpec,
  type Labels,
  ofKind,
  only,
  PEER,
  SECRETS,
  type ServiceSpec,
  type StatefulSetSpec,
  selects,
  settingsOf,
} from './chart-parts.ts';
import { type Manifest, readValues, renderChart, renderNotes } from './render-chart.ts';
import type { Fields } from './render-template.ts';

const cleanUp = useCleanUp();
const PASSWORD = { ...SECRETS, BOOKS_PASSWORD: 'b' };
const { TOLLGATE_BOOKS_URL: booksUrl, ...NO_BOOKS } = SECRETS;
const BUNDLED = { secrets: { ...NO_BOOKS, BOOKS_PASSWORD: 'b' }, postgres: { enabled: true } };

interface PostgresSpec extends Fields {
  readonly selector: { readonly matchLabels: Labels };
  readonly template: {
    readonly metadata: { readonly labels: Labels };
    readonly spec: { readonly containers: readonly [PostgresContainer]; readonly volumes: Named[] };
  };
}

interface PostgresContainer {
  readonly image: string;
  readonly env: readonly Fields[];
  readonly volumeMounts: readonly Named[];
  readonly readinessProbe: { readonly exec: { readonly command: readonly string[] } };
}

interface Named {
  readonly name: string;
}

const bundledIn = (manifests: readonly Manifest[]) => {
  const ours = manifests.filter(({ metadata }) => metadata.name === 'gate-postgres');
  return {
    server: only<PostgresSpec>(ours, 'StatefulSet').spec,
    service: only<ServiceSpec>(ours, 'Service').spec,
  };
};

describe('the books in the Helm chart', () => {
  it('are on a server when there are several nodes, and in a file only of one alone', () => {
    expect(() => renderChart({ secrets: NO_BOOKS })).toThrow('TOLLGATE_BOOKS_URL');
    expect(() =>
      renderChart({ secrets: NO_BOOKS, replicas: 1, autoscaling: { enabled: true } }),
    ).toThrow('TOLLGATE_BOOKS_URL');
    for (const named of [
      { existingSecret: 'mine' },
      { secrets: { ...NO_BOOKS, TOLLGATE_BOOKS_URL: booksUrl } },
      { secrets: NO_BOOKS, settings: { books: { url: booksUrl } } },
      BUNDLED,
    ]) {
      expect(renderChart(named).length).toBeGreaterThan(0);
    }
  });

  it.each([
    ['with the secrets of the chart', { secrets: NO_BOOKS }],
    // Which may have no TOLLGATE_BOOKS_URL.
    ['with a Secret of its own', { existingSecret: 'mine' }],
  ])('are verified beside the one node that may have them in a file, %s', (_, values) => {
    const alone = renderChart({ ...values, replicas: 1, ledgerVerify: { enabled: true } });
    const { spec } = only<CronJobSpec>(alone, 'CronJob').spec.jobTemplate.spec.template;
    const [verify] = spec.containers;
    const mount = verify.volumeMounts.find(({ mountPath }) => mountPath === '/var/lib/tollgate');
    const volume = spec.volumes.find(({ name }) => name === mount?.name);
    expect(volume?.persistentVolumeClaim?.claimName).toBe('data-gate-0');
    expect(verify.env).toContainEqual({ name: 'TOLLGATE_DATA_DIR', value: mount?.mountPath });
    const node = only<StatefulSetSpec>(alone, 'StatefulSet').spec.template.metadata.labels;
    const near = spec['affinity'] as {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          labelSelector: { matchLabels: Labels };
        }[];
      };
    };
    const [rule] = near.podAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    expect(selects(rule?.labelSelector.matchLabels ?? { none: '' }, node)).toBe(true);
  });

  it('are verified anywhere when they are on a server for several nodes', () => {
    const several = renderChart({ existingSecret: 'mine', ledgerVerify: { enabled: true } });
    const { spec } = only<CronJobSpec>(several, 'CronJob').spec.jobTemplate.spec.template;
    expect(spec['affinity']).toBeUndefined();
    expect(spec.volumes.map(({ name }) => name)).not.toContain('data');
  });

  it('come with a Postgres of the agreed image, to which the settings of nodes lead', () => {
    const manifests = renderChart(BUNDLED);
    const { server, service } = bundledIn(manifests);
    const [postgres] = server.template.spec.containers;
    expect(postgres.image).toBe(IMAGES.postgres);
    expect(selects(server.selector.matchLabels, server.template.metadata.labels)).toBe(true);
    expect(selects(service.selector, server.template.metadata.labels)).toBe(true);
    const nodes = manifests.filter(({ metadata }) => metadata.name !== 'gate-postgres');
    for (const { spec } of ofKind(nodes, 'Service') as (Manifest & { spec: ServiceSpec })[]) {
      expect(selects(spec.selector, server.template.metadata.labels)).toBe(false);
    }
    const { place } = settingsOf(nodes, { BOOKS_PASSWORD: 'b' }).books;
    const url = place.kind === 'postgres' ? place.url.reveal() : '';
    expect(url).toBe('postgres://tollgate:b@gate-postgres:5432/tollgate');
    expect(postgres.env).toContainEqual({
      name: 'POSTGRES_PASSWORD',
      valueFrom: { secretKeyRef: { name: 'gate', key: 'BOOKS_PASSWORD' } },
    });
    for (const name of ['POSTGRES_USER', 'POSTGRES_DB']) {
      expect(postgres.env).toContainEqual({ name, value: 'tollgate' });
    }
    const volumes = [...server.template.spec.volumes.map(({ name }) => name), 'data'];
    expect(postgres.volumeMounts.map(({ name }) => name).sort()).toEqual(volumes.sort());
    const secret = only(manifests, 'Secret')['stringData'] as Labels;
    expect(secret).toEqual(BUNDLED.secrets);
    expect(() => renderChart({ ...BUNDLED, secrets: NO_BOOKS })).toThrow('BOOKS_PASSWORD');
    expect(renderNotes(BUNDLED)).toContain('gate-postgres');
    expect(renderNotes({ secrets: PASSWORD })).not.toContain('gate-postgres');
  });

  it('take every password that fits into a URL as it is, and no other', () => {
    const ascii = Array.from({ length: 0x80 }, (_, at) => String.fromCharCode(at)).join('');
    const signs = ascii.slice(0x20).match(/\W/g) ?? [];
    const manifests = renderChart(BUNDLED).filter(({ metadata }) => metadata.name === 'gate');
    const fits = (password: string) => {
      try {
        const { place } = settingsOf(manifests, { BOOKS_PASSWORD: password }).books;
        const url = place.kind === 'postgres' ? place.url.reveal() : '';
        return decodeURIComponent(new URL(url).password) === password;
      } catch {
        return false;
      }
    };
    for (const each of [...signs, '\t', '\n', '\u2028', 'Ä', '%40']) {
      const secrets = { ...BUNDLED.secrets, BOOKS_PASSWORD: `a${each}b` };
      const render = expect(() => renderChart({ ...BUNDLED, secrets }), JSON.stringify(each));
      if (fits(secrets.BOOKS_PASSWORD)) render.not.toThrow();
      else render.toThrow('openssl rand -hex 32');
    }
    expect(signs.filter((each) => !fits(`a${each}b`)).join('')).toBe(' #%/:?@\x7f');
  });

  it('have a server that starts with its arguments and is found ready', async () => {
    const { args } = readValues()['postgres'] as { args: readonly string[] };
    const { template } = bundledIn(renderChart(BUNDLED)).server;
    const [command = '', ...probe] = template.spec.containers[0].readinessProbe.exec.command;
    const postgres = await startPostgres(cleanUp, args);
    const isReady = () =>
      spawnSync(command, probe, { env: { ...process.env, PGPORT: `${postgres.port}` } }).status;
    expect(isReady()).toBe(0);
    await postgres.kill('SIGINT');
    expect(isReady()).not.toBe(0);
  });

  it('are reached by nodes and by the job alone, and nodes reach what the policy names', () => {
    const named = { ports: [{ port: 443, protocol: 'TCP' }], to: [PEER] };
    const policies = (egress: readonly object[]) =>
      ofKind(
        renderChart({ ...BUNDLED, networkPolicy: { enabled: true, egress } }),
        'NetworkPolicy',
      ) as (Manifest & {
        spec: {
          policyTypes: string[];
          egress?: { to?: { podSelector: { matchLabels: Labels } }[] }[];
          ingress: { from?: { podSelector: { matchLabels: Labels } }[] }[];
        };
      })[];
    const [nodes, server] = policies([named]);
    expect(nodes?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(nodes?.spec.egress?.at(-1)).toEqual(named);
    const labels = bundledIn(renderChart(BUNDLED)).server.template.metadata.labels;
    const called = nodes?.spec.egress?.[1]?.to?.[0]?.podSelector.matchLabels ?? { none: '' };
    expect(selects(called, labels)).toBe(true);
    expect(policies([])[0]?.spec.policyTypes).toEqual(['Ingress']);
    const callers = server?.spec.ingress[0]?.from ?? [];
    const all = renderChart({ ...BUNDLED, ledgerVerify: { enabled: true } });
    const job = only<CronJobSpec>(all, 'CronJob').spec.jobTemplate.spec.template;
    const ours = all.filter(({ metadata }) => metadata.name === 'gate');
    const node = only<StatefulSetSpec>(ours, 'StatefulSet').spec.template;
    expect(callers).toHaveLength(2);
    const networkPolicy = { enabled: true, postgresFrom: [PEER] };
    const opened = ofKind(renderChart({ ...BUNDLED, networkPolicy }), 'NetworkPolicy')[1];
    expect(opened?.spec).toMatchObject({ ingress: [{ from: [...callers, PEER] }] });
    for (const [at, { metadata }] of [node, job].entries()) {
      expect(selects(callers[at]?.podSelector.matchLabels ?? { none: '' }, metadata.labels)).toBe(
        true,
      );
    }
  });
});
