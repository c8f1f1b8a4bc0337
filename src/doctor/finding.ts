type CheckState = 'ok' | 'warning' | 'failed' | 'skipped';

/** The result of one check. If it is not good, `mend` says in one sentence what to do. */
export type Finding =
  | { readonly state: 'ok' | 'skipped'; readonly found: string }
  | { readonly state: 'warning' | 'failed'; readonly found: string; readonly mend: string };

export function passCheck(found: string): Finding {
  return { state: 'ok', found };
}

export function skipCheck(found: string): Finding {
  return { state: 'skipped', found };
}

export function warnCheck(found: string, advice: string): Finding {
  return { state: 'warning', found, mend: advice };
}

export function failCheck(found: string, advice: string): Finding {
  return { state: 'failed', found, mend: advice };
}

const SEVERITY: readonly CheckState[] = ['skipped', 'ok', 'warning', 'failed'];

/** The finding about one of several equal parts, such as one server. */
interface PartFinding {
  readonly part: string;
  readonly finding: Finding;
}

/** Joins findings into one as bad as the worst. It names the parts that are that bad. */
export function joinFindings(parts: readonly PartFinding[]): Finding {
  const [first] = parts;
  if (first === undefined) return skipCheck('there is nothing to check');
  if (parts.length === 1) return first.finding;
  const severity = Math.max(...parts.map(({ finding }) => SEVERITY.indexOf(finding.state)));
  const worst = parts.filter(({ finding }) => SEVERITY.indexOf(finding.state) === severity);
  const texts = new Set(worst.map(({ finding }) => finding.found));
  const found =
    texts.size === 1 && worst.length === parts.length
      ? [...texts].join('')
      : worst.map(({ part, finding }) => `${part}: ${finding.found}`).join('; ');
  return { ...(worst[0] ?? first).finding, found };
}
