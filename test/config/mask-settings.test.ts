import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskSettings, printSettings } from '../../src/config/mask-settings.ts';
import { packageVersion } from '../../src/config/package-version.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

const parse = (text: string, env: Record<string, string> = {}) =>
  parseConfig({ path: undefined, text, env });

describe('printSettings', () => {
  it('prints a file that gives the same settings again', () => {
    const texts = [
      '',
      'redis: {url: unix:///run/redis.sock}',
      'guards: {trusted_proxies: 1, insurance_per_minute: 5}\nestimate: {bytes_per_token: 2.5, pdf_tokens: 0, file_tokens: 9}',
      'books: {keep: 2d, connections: 1, archive: {folder: /a}, waiting_entries_max: 7}',
      'books: {url: "postgresql://db/t?sslmode=verify-full"}',
      'on_leave: {action: stop, timeout: 7s}',
      'on_leave: {timeout: 8s}',
      'upstreams: [{name: a, kind: native, url: "https://h", unknown_fields: refuse}]',
      'limits: {rate_window: 90s}\nkey_page: false\ncors: {origins: ["*"]}',
      'request_log: sampled\nrequest_log_sample: 0.5\ntracing: {endpoint: "http://c:4318/v1/traces"}',
      'redis: {url: "rediss-sentinel://a,b/m?db=2"}\nworkers: 2\ndrain: {timeout: 0s}',
      'listen: "[::1]:80"\nlimits: {body_bytes: 1500, body_time: 1500ms}',
      'upstreams: [{name: a, kind: chat, url: "http://h/v1", model_names: {llm-opus-4.7: "true"}}]',
      'upstreams: [{name: a, kind: native, url: "https://h", tls: {ca_file: /ca.pem, server_name: h.example}, probe: {}}]',
      'upstreams: [{name: a, kind: native, url: "https://h", tls: {}, probe: {path: /up, interval: 9s, timeout: 1s}}]',
      'upstreams: [{name: a, kind: chat, url: "https://h/b?api-version=1", output_limit_field: max_tokens, accepts: [pdf], probe: {}}]',
      'upstreams: [{name: a, kind: chat, url: "https://h", output_limit_field: {llm-opus-4.7: max_tokens, "*": max_completion_tokens}}]',
      'upstreams: [{name: a, kind: native, url: "https://h", accepts: {llm-opus-4.7: [], "*": [pdf]}, sampling: drop}]',
      'upstreams: [{name: a, kind: native, url: "https://h", accepts: {llm-opus-4.7: [pdf]}, sampling: {llm-opus-4.7: drop}}]',
      'upstreams: [{name: a, kind: simulated, cost: {llm-opus-4.7: {input: 1, output: 0.25}}, simulated: {latency: 1500ms, error_rate: 0.25}}]',
    ];
    for (const text of texts) {
      const config = parse(text);
      expect(parse(printSettings(config)), text).toEqual(config);
    }
  });

  it('masks the admin token, the keys and headers of upstreams and the password of Redis', () => {
    const config = parse(
      'upstreams: [{name: a, kind: chat, url: "http://h", api_key: top, headers: {X-Team: top}}]\nredis: {url: "redis://me:top@h"}\nops: {admin_token: top}',
    );
    expect(maskSettings(config)).toMatchObject({
      ops: { admin_token: '*****' },
      redis: { url: 'redis://me:*****@h:6379/0' },
      upstreams: [{ api_key: '*****', headers: { 'x-team': '*****' } }],
    });
  });

  it('never shows a secret, as YAML or as JSON', () => {
    const text = `ops: {admin_token: \${S}}
redis: {url: "redis-cluster://u:\${S}@h"}
books: {url: "postgres://u:\${S}@h/b", archive: {s3: {endpoint: "https://s3", bucket: abc, access_key: \${S}, secret_key: \${S}}}}
tracing: {endpoint: "http://c/v1/traces", headers: {authorization: "Bearer \${S}"}}
upstreams: [{name: a, kind: chat, url: "http://h", api_key: \${S}, headers: {x-team: "Key \${S}"}}]
`;
    fc.assert(
      fc.property(fc.stringMatching(/^zq[a-zA-Z0-9_.~-]{6,30}$/), (secret) => {
        const config = parse(text, { S: secret });
        for (const print of [
          printSettings(config),
          JSON.stringify(maskSettings(config)),
          JSON.stringify(config),
        ]) {
          expect(print).toContain('*****');
          expect(print).not.toContain(secret);
        }
      }),
    );
  });
});

describe('packageVersion', () => {
  it('is the version of package.json', () => {
    const file = new URL('../../package.json', import.meta.url);
    expect(packageVersion()).toBe(JSON.parse(readFileSync(file, 'utf8')).version);
  });
});
