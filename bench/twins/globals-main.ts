/** `globals-main.js plain|quick`: prints how long its process takes to read globals of Node.js. */
import { quickenGlobals } from '../../src/lib/bytes/quicken-globals.ts';
import { cpuMicros } from './twin.ts';

const WARM_UPS = 5;

if (process.argv[2] === 'quick') quickenGlobals();

let sum = 0;

/** Makes about as many reads of these globals as a request does. */
function readGlobals(): number {
  for (let i = 0; i < 20; i++) sum += performance.now() + Buffer.poolSize + process.pid;
  return sum;
}

const measure = cpuMicros(readGlobals);
for (let i = 0; i < WARM_UPS; i++) measure();
console.log(measure());
