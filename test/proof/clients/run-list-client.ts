import type { Tokens } from '../support/event-log.ts';
import { parseExtras } from '../support/parse-extras.ts';
import type { Random } from '../support/random.ts';
import type { ProofAccount } from '../support/world.ts';
import type { ClientOptions, Demand, OpenRequest } from './client.ts';
import { runMoneyClient } from './run-money-client.ts';

const INPUT_MAX = 120;
const OUTPUT_MAX = 160;
const BEYOND_MAX = 60;
const USERS = ['', '', 'ada', 'ada', 'bob', 'bob', 'carl', 'dora'];
/** One end user less than there are. */
const USERS_MAX = 3;

/** Only accounts of this kind have requests whose output may become longer than what is held. */
export const isSoftAccount = ({ kind }: Pick<ProofAccount, 'kind'>) => kind === 'tight';

/** A client that runs into lists of limits as well, with estimates that are wrong either way. */
export function runListClient(options: ClientOptions, isStopping: () => boolean): Promise<void> {
  return runMoneyClient(options, isStopping, { pickDemand, pickUsed });
}

function pickDemand(account: ProofAccount, random: Random): Demand {
  const [input, output] = [random.int(0, INPUT_MAX), random.int(0, OUTPUT_MAX)];
  const isOutputOpen = isSoftAccount(account) && random.chance(0.4);
  const outputLeast = isOutputOpen || random.chance(0.5) ? output : random.int(0, output);
  const tokens = { input, output, outputLeast, isOutputOpen };
  return { tokens, user: random.pick(USERS), usersMax: USERS_MAX };
}

function pickUsed({ extras }: OpenRequest, random: Random): Tokens {
  const held = parseExtras(extras) ?? { input: INPUT_MAX, output: OUTPUT_MAX };
  const pick = (amount: number) =>
    random.chance(0.25) ? amount + random.int(1, BEYOND_MAX) : random.int(0, amount);
  return { input: pick(held.input), output: pick(held.output) };
}
