/** `globals-main.js plain|quick`: prints how long reading globals of Node.js takes in its process. */
import { quickenGlobals } from '../../src/lib/bytes/quicken-globals.ts';
import { cpuMicros } from './twin.ts';

const WARM_UPS = 5;

if (process.argv[2] === 'quick') quickenGlobals();

let sum = 0;

/** So many reads as a request has of these. */
function readGlobals(): number {
  for (let i = 0; i < 20; i++) sum += performance.now() + Buffer.poolSize + process.pid;
  return sum;
}

const measure = cpuMicros(readGlobals);
for (let i = 0; i < WARM_UPS; i++) measure();
console.log(measure());
