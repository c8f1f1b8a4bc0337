import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../../src/config/parse-config.ts';
import { ENVIRONMENT_OVERRIDES } from '../../src/config/source/environment-overrides.ts';
import { IMAGES } from '../support/containers/images.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { startPostgres } from '../support/servers/start-postgres.ts';
import { PROGRAM, parseSeconds, readText, readYaml } from './read-deploy-files.ts';

const texts = z.record(z.string(), z.union([z.string(), z.number()]));
const duration = z.string().regex(/^\d+(ms|s|m)$/);

/** The part of the Compose specification that the file uses. Any other key is a mistake. */
const serviceSchema = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']),
  stop_grace_period: duration.optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  ulimits: z.record(z.string(), z.strictObject({ soft: z.int(), hard: z.int() })).optional(),
  sysctls: texts.optional(),
  shm_size: z
    .string()
    .regex(/^\d+mb$/)
    .optional(),
  env_file: z.array(z.strictObject({ path: z.string(), required: z.boolean() })).optional(),
  environment: texts.optional(),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()),
      interval: duration,
      timeout: duration,
      retries: z.int(),
    })
    .optional(),
  volumes: z.array(z.string().regex(/^[\w./-]+:\/[\w./-]+(:ro)?$/)).optional(),
  ports: z.array(z.string().regex(/^(127\.0\.0\.1:)?\d+:\d+$/)).optional(),
  depends_on: z
    .union([
      z.array(z.string()),
      z.record(
        z.string(),
        z.strictObject({ condition: z.enum(['service_healthy', 'service_started']) }),
      ),
    ])
    .optional(),
  networks: z.union([
    z.array(z.string()),
    z.record(z.string(), z.strictObject({ ipv4_address: z.ipv4() })),
  ]),
});

const composeSchema = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), serviceSchema),
  networks: z.record(
    z.string(),
    z.strictObject({
      ipam: z.strictObject({ config: z.array(z.strictObject({ subnet: z.cidrv4() })) }),
    }),
  ),
  volumes: z.record(z.string(), z.strictObject({})),
});

const TEXT = readText('compose.yaml');

function readCompose() {
  const all = Object.entries(readYaml<Record<string, unknown>>('compose.yaml'));
  return composeSchema.parse(Object.fromEntries(all.filter(([key]) => !key.startsWith('x-'))));
}

const settings = parseConfig({
  path: 'compose/tollgate.yaml',
  text: readText('compose/tollgate.yaml'),
  env: { TOLLGATE_OPS_LISTEN: '0.0.0.0:9400' },
});

/**
 * Part of a library that drives docker compose. It states in a non-standard way that its draft is
 * 7.
 */
const SPECIFICATION = 'node_modules/docker-compose/schema/compose-spec.json';

describe('compose.yaml', () => {
  const { services, networks, volumes } = readCompose();
  const gateways = Object.entries(services).filter(([name]) => name.startsWith('gateway-'));
  const env = (name: string) => services[name]?.environment ?? {};

  it('fits the Compose specification', () => {
    const schema = z.fromJSONSchema({
      ...JSON.parse(readFileSync(SPECIFICATION, 'utf8')),
      $schema: 'http://json-schema.org/draft-07/schema#',
    });
    const file = readYaml<{ services: object }>('compose.yaml');
    expect(schema.safeParse(file).error).toBeUndefined();
    const mistaken = { ...file, services: { ...file.services, other: { imagee: 'a' } } };
    expect(schema.safeParse(mistaken).success).toBe(false);
  });

  it('takes the images that are agreed, and ours', () => {
    const { redis, postgres, balancer, prometheus, grafana } = IMAGES;
    const images = Object.values(services).map(({ image }) => image);
    expect([...new Set(images)].sort()).toEqual(
      [`tollgate:${PROGRAM.version}`, redis, postgres, balancer, prometheus, grafana].sort(),
    );
  });

  it('mounts files that exist and volumes that it has, each of them', () => {
    const sources = Object.values(services).flatMap((service) =>
      (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? ''),
    );
    for (const source of sources.filter((each) => each.startsWith('.'))) {
      expect(existsSync(join('deploy', source)), source).toBe(true);
    }
    const named = sources.filter((each) => !each.startsWith('.'));
    expect([...new Set(named)].sort()).toEqual(Object.keys(volumes).sort());
    expect(new Set(named).size).toBe(named.length);
  });

  it('waits for services that it has, and for health only where it is looked at', () => {
    for (const [name, { depends_on: needed = [] }] of Object.entries(services)) {
      const conditions = Array.isArray(needed)
        ? needed.map((other) => [other, { condition: 'service_started' }] as const)
        : Object.entries(needed);
      for (const [other, { condition }] of conditions) {
        expect(services, name).toHaveProperty(other);
        // The image of the gateway has its own health check.
        const isLookedAt = other.startsWith('gateway-') || services[other]?.healthcheck;
        if (condition === 'service_healthy') expect(isLookedAt, other).toBeTruthy();
      }
    }
  });

  it('has two nodes that differ in their volume and address only, from an image of this version', () => {
    expect(gateways).toHaveLength(2);
    const [one, two] = gateways.map(([, service]) => service);
    expect({ ...two, networks: one?.networks, ports: one?.ports, volumes: one?.volumes }).toEqual(
      one,
    );
    expect(one?.image).toBe(`tollgate:${PROGRAM.version}`);
    expect(one?.command).toEqual(['start', '--config', '/etc/tollgate/tollgate.yaml']);
    expect(
      existsSync(join('deploy', one?.build?.context ?? '', one?.build?.dockerfile ?? '')),
    ).toBe(true);
  });

  it('gives nodes settings and variables that they know', () => {
    const known = ENVIRONMENT_OVERRIDES.map(({ variable }) => variable);
    for (const variable of Object.keys(env('gateway-1'))) expect(known).toContain(variable);
    expect(services['gateway-1']?.env_file).toEqual([{ path: 'gateway.env', required: false }]);
    const url = String(env('gateway-1')['TOLLGATE_REDIS_URL']);
    expect(services).toHaveProperty(/@([\w-]+):6379\//.exec(url)?.[1] ?? '');
    expect(settings.guards.trustedProxies).toBe(1);
  });

  it('leads nodes to the books, whose health check tells when they can be asked', async () => {
    const url = new URL(String(env('gateway-1')['TOLLGATE_BOOKS_URL']).replace(/\$\{.*\}/, 'word'));
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = env(url.hostname);
    expect([url.username, url.pathname]).toEqual([POSTGRES_USER, `/${POSTGRES_DB}`]);
    expect(env('gateway-1')['TOLLGATE_BOOKS_URL']).toContain(`:${POSTGRES_PASSWORD}@`);
    const [, command = ''] = services[url.hostname]?.healthcheck?.test ?? [];
    const server = await startPostgres(onTestFinished);
    const check = () =>
      spawnSync('sh', ['-c', command], { env: { ...process.env, PGPORT: `${server.port}` } })
        .status;
    expect(check()).toBe(0);
    await server.kill('SIGINT');
    expect(check()).not.toBe(0);
  });

  it('leaves nodes the time to drain', () => {
    for (const [, { stop_grace_period: grace = '10s' }] of gateways) {
      expect(parseSeconds(grace)).toBeGreaterThan(settings.drain.timeoutMs / 1_000);
    }
  });

  it('tells the balancer every variable of its configuration, and where the nodes are', () => {
    const wanted = [...readText('haproxy/haproxy.cfg').matchAll(/\$\{(\w+)\}/g)].map(
      ([, name]) => name,
    );
    expect(Object.keys(env('balancer')).sort()).toEqual([...new Set(wanted)].sort());
    const port = settings.listen.kind === 'tcp' ? settings.listen.port : 0;
    const addresses = gateways.map(([, { networks: joined }]) =>
      Array.isArray(joined) ? '' : `${joined['site']?.ipv4_address}:${port}`,
    );
    expect([env('balancer')['TOLLGATE_NODE_1'], env('balancer')['TOLLGATE_NODE_2']]).toEqual(
      addresses,
    );
    const [prefix] = (networks['site']?.ipam.config[0]?.subnet ?? '').split('0/24');
    for (const address of addresses) expect(address.startsWith(prefix ?? '-')).toBe(true);
  });

  it('publishes nothing but the API to others', () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual(['8080:8080']);
    expect(services['balancer']?.ports).toEqual(['8080:8080']);
  });

  it('asks for the secrets that the example names, and for no others', () => {
    const asked = [...TEXT.matchAll(/(?<!\$)\$\{(\w+):\?see deploy\/\.env\.example\}/g)];
    const named = [...readText('.env.example').matchAll(/^(\w+)=$/gm)];
    const names = (matches: RegExpExecArray[]) => [...new Set(matches.map(([, name]) => name))];
    expect(names(asked).sort()).toEqual(names(named).sort());
    expect([...TEXT.matchAll(/(?<!\$)\$\{(\w+)[^:\w]/g)]).toEqual([]);
  });

  it('has Prometheus scrape both nodes, and Grafana ask Prometheus', () => {
    const { scrape_configs: jobs, rule_files: rules } = readYaml<{
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
      rule_files: string[];
    }>('compose/prometheus.yml');
    const port = settings.ops.listen.kind === 'tcp' ? settings.ops.listen.port : 0;
    expect(jobs.map(({ job_name: name }) => name)).toEqual(['tollgate']);
    expect(jobs[0]?.static_configs[0]?.targets).toEqual(
      gateways.map(([name]) => `${name}:${port}`),
    );
    const dir = createTempDir();
    copyFileSync('deploy/compose/prometheus.yml', join(dir, 'prometheus.yml'));
    copyFileSync('deploy/prometheus/rules.yml', join(dir, 'rules.yml'));
    expect(spawnSync('promtool', ['check', 'config', join(dir, 'prometheus.yml')]).status).toBe(0);
    for (const file of rules) {
      const mounts = services['prometheus']?.volumes ?? [];
      expect(mounts.some((mount) => mount.includes(`:/etc/prometheus/${file}:`))).toBe(true);
    }
    const { datasources } = readYaml<{ datasources: { url: string }[] }>(
      'grafana/provisioning/datasources/prometheus.yaml',
    );
    expect(services).toHaveProperty(new URL(datasources[0]?.url ?? '').hostname);
    const { providers } = readYaml<{ providers: { options: { path: string } }[] }>(
      'grafana/provisioning/dashboards/tollgate.yaml',
    );
    expect(services['grafana']?.volumes).toContain(
      `./grafana/dashboards:${providers[0]?.options.path}:ro`,
    );
  });
});
