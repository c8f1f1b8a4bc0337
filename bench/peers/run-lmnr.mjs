import { createRequire } from 'node:module';

const [, , port, upstreamPort] = process.argv;
const folder = '@lmnr-ai/claude-code-proxy-linux-x64-gnu';
const native = createRequire(import.meta.url)(`${folder}/lmnr-claude-code-proxy.node`);
native.run(`http://127.0.0.1:${upstreamPort}`, Number(port));
const KEEP_ALIVE_MS = 60_000;
setInterval(() => {}, KEEP_ALIVE_MS);
