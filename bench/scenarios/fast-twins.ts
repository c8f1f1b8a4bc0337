/**
 * `fast-twins [PART OF A NAME]` compares each fast twin with its plain version. Both take turns in
 * this process. The figures are medians, and the ratio is the median of the ratios of the rounds.
 */
import { writeResult } from '../support/write-result.ts';
import { ANSWER_TWINS } from '../twins/answers.ts';
import { startNetworkTwins } from '../twins/network.ts';
import { PART_TWINS } from '../twins/parts.ts';
import { RECORD_TWINS } from '../twins/records.ts';
import { REQUEST_TWINS } from '../twins/requests.ts';
import type { Twin } from '../twins/twin.ts';

const WARM_UPS = 3;
const ROUNDS = 11;
const DIGITS = 3;

const [, , , wanted = ''] = process.argv;
const network = await startNetworkTwins();
const twins = [REQUEST_TWINS, ANSWER_TWINS, RECORD_TWINS, PART_TWINS, network.twins].flat();

const medianOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const show = (value: number) => String(Number(value.toPrecision(DIGITS)));

async function compare(twin: Twin) {
  const rounds: { readonly plain: number; readonly fast: number }[] = [];
  for (let round = -WARM_UPS; round < ROUNDS; round++) {
    const plain = await twin.plain();
    const fast = await twin.fast();
    if (round >= 0) rounds.push({ plain, fast });
  }
  return {
    ...{ file: twin.file, what: twin.what, unit: twin.unit },
    plain: medianOf(rounds.map(({ plain }) => plain)),
    fast: medianOf(rounds.map(({ fast }) => fast)),
    ratio: medianOf(rounds.map(({ plain, fast }) => fast / plain)),
  };
}

const rows: Awaited<ReturnType<typeof compare>>[] = [];
for (const twin of twins) {
  if (twin.file.includes(wanted)) rows.push(await compare(twin));
}
await network.stop();
const lines = rows.map(
  ({ file, what, plain, fast, unit, ratio }) =>
    `| \`${file}\` | ${what} | ${show(plain)} to ${show(fast)} ${unit} | ${ratio.toFixed(2)} |`,
);
const head = ['| twin | what | plain to fast | ratio |', '|---|---|--:|--:|'];
writeResult('fast-twins', [...head, ...lines].join('\n'), { rows });
process.exit();
