/** Prints what autocannon counted. The argument is a file with its options as JSON. */
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

const [, , file] = process.argv;
const result = await autocannon(JSON.parse(readFileSync(file, 'utf8')));
const { p50, p90, p99, p99_9: p999, max } = result.latency;
const statuses = Object.entries(result.statusCodeStats ?? {}).map(([code, { count }]) => [
  code,
  count,
]);
console.log(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    statuses: Object.fromEntries(statuses),
    failures: result.errors + result.timeouts,
    latencyMs: { p50, p90, p99, p999, max },
  }),
);
