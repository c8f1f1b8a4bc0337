export interface Violation {
  readonly check: string;
  readonly text: string;
}

export type Report = (check: string, text: string) => void;

const KEPT_MAX = 20;

/** The violations that the proof found; the first few are enough. */
export function createViolations(): { readonly list: Violation[]; readonly report: Report } {
  const list: Violation[] = [];
  return {
    list,
    report: (check, text) => {
      if (list.length < KEPT_MAX) list.push({ check, text });
    },
  };
}
