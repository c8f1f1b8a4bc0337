import { createRequire } from 'node:module';

// The other build calls `require`, which does not exist in a module.
const { default: Server } = createRequire(import.meta.url)('@musistudio/llms');
const [, , port, upstreamPort] = process.argv;
const provider = {
  name: 'mock',
  api_base_url: `http://127.0.0.1:${upstreamPort}/v1/chat/completions`,
  api_key: 'any',
  models: ['m-1'],
};
const initialConfig = { providers: [provider], HOST: '127.0.0.1', PORT: port };
await new Server({ initialConfig, useJsonFile: false, useEnvFile: false, logger: false }).start();
