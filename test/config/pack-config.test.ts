import { deserialize, serialize } from 'node:v8';
import { expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { packConfig, unpackConfig } from '../../src/config/pack-config.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

const TEXT = `
ops: {admin_token: "\${TOKEN}"}
redis: {url: "rediss://me:redis-word@h:6380/3"}
tracing: {endpoint: "http://c:4318/v1/traces", headers: {authorization: trace-word}}
models: [{id: secret, max_output_tokens: 9, price: {input: 1, output: 1}}]
upstreams:
  - {name: a, kind: native, url: "https://a", api_key: key-word, headers: {X-Team: team-word}, probe: {}}
  - {name: b, kind: chat, url: "https://b", model_names: {secret: text}, tls: {server_name: h.example}}
  - {name: c, kind: simulated}
`;

const parse = (text: string) => parseConfig({ path: 't.yaml', text, env: { TOKEN: 'token-word' } });

/** Packs and unpacks the settings as messages between processes of the node do. */
const sendOver = (config: Config) => deserialize(serialize(packConfig(config))) as unknown;

it('settings that went over to another process are the same as before, frozen too', () => {
  for (const text of ['', TEXT]) {
    const config = parse(text);
    const unpacked = unpackConfig(sendOver(config));
    expect(unpacked).toStrictEqual(config);
    expect(() => Object.assign(unpacked.limits, { bodyBytesMax: 1 })).toThrow(TypeError);
    expect(() => Object.assign(unpacked.upstreams, { length: 0 })).toThrow(TypeError);
  }
});

it('so are their secrets, and they do not print there either', () => {
  const { ops, redis, tracing, upstreams } = unpackConfig(sendOver(parse(TEXT)));
  expect(ops.adminToken?.reveal()).toBe('token-word');
  expect(redis === 'embedded' || redis.auth.password?.reveal()).toBe('redis-word');
  expect(tracing?.headers['authorization']?.reveal()).toBe('trace-word');
  expect(upstreams[0]?.apiKey?.reveal()).toBe('key-word');
  expect(upstreams[0]?.headers['x-team']?.reveal()).toBe('team-word');
  expect(JSON.stringify(upstreams)).not.toContain('-word');
});
