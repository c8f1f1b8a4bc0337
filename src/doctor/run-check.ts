import { describeError } from '../lib/describe-error.ts';
import type { CheckName } from './checks.ts';
import { type Finding, failCheck } from './finding.ts';

const CHECK_TIME_MAX_MS = 15_000;

export interface Check {
  readonly name: CheckName;
  /** Identifies one of several, such as an upstream. */
  readonly subject?: string;
  run(): Finding | Promise<Finding>;
}

export interface CheckResult {
  readonly name: CheckName;
  readonly subject: string | undefined;
  readonly finding: Finding;
}

/** Always resolves, and in time, even if the check fails or hangs. */
export async function runCheck({ name, subject, run }: Check): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(
      () =>
        resolve(
          failCheck(
            `no result within ${CHECK_TIME_MAX_MS / 1_000} s`,
            'Find out why it is so slow, and run this again.',
          ),
        ),
      CHECK_TIME_MAX_MS,
    );
  });
  const found = Promise.resolve()
    .then(run)
    .catch((error: unknown) =>
      failCheck(describeError(error), 'Look into what the message says, and run this again.'),
    );
  try {
    return { name, subject, finding: await Promise.race([found, late]) };
  } finally {
    clearTimeout(timer);
  }
}
