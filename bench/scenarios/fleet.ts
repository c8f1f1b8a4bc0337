/** Runs many virtual nodes on a real Cluster, and fails if one account or one entry is wrong. */
import { parseArgs } from 'node:util';
import { describeFleet } from '../fleet/describe-fleet.ts';
import { runFleet } from '../fleet/run-fleet.ts';
import { writeResult } from '../support/write-result.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: 'string', default: '100' },
    processes: { type: 'string', default: '4' },
    accounts: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '10' },
    changes: { type: 'string', default: '20' },
  },
});
const result = await runFleet({
  nodes: Number(values.nodes),
  processes: Number(values.processes),
  accounts: Number(values.accounts),
  requestsPerS: Number(values.rate),
  seconds: Number(values.seconds),
  changes: Number(values.changes),
  onStep: (step) => console.error(step),
});
writeResult('fleet', describeFleet(result), { options: values, ...result });
if (result.violations.length > 0) process.exitCode = 1;
