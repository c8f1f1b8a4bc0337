import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import { toProblem } from '../../api/api-problem.ts';
import type { CatalogueEdit, CatalogueReport, CatalogueResult } from '../../api/api-types.ts';
import { type Action, useAction } from '../../loading/use-action.ts';
import { toLocalTime } from '../../to-local-time.ts';
import { formatDocument, parseDocument } from './document-text.ts';

/** A change that the node has checked. */
interface DryRun {
  readonly change: CatalogueEdit;
  readonly changes: CatalogueResult['changes'];
}

interface DraftState {
  /** The version that the text was made from. */
  readonly base: number;
  readonly text: string;
  /** When it holds, as the input has it; empty for at once. */
  readonly from: string;
  /** Undefined until the node has checked exactly this text. */
  readonly tried?: DryRun | undefined;
  /** Somebody else was first. */
  readonly isLate?: boolean;
}

export interface CatalogueDraft extends DraftState {
  write(fields: Partial<Pick<DraftState, 'text' | 'from'>>): void;
  /** Asks the node what the text would change. */
  readonly trial: Action;
  readonly applying: Action;
  /** Keeps the text, as one that was made from this version. */
  rebase(version: number): void;
  /** Starts again from this version. */
  restart(last: CatalogueReport): void;
}

/** The text of a change, from its beginning until it is applied. */
export function useDraft(
  first: CatalogueReport,
  onApplied: (result: CatalogueResult) => void,
): CatalogueDraft {
  const [state, setState] = useState<DraftState>(() => begin(first));
  const refuseLate = (cause: unknown) => {
    if (toProblem(cause).code !== 'catalogue_changed') throw cause;
    setState((now) => ({ ...now, tried: undefined, isLate: true }));
  };
  const trial = useAction(async () => {
    const { base, text, from } = state;
    const change = {
      ...{ base_version: base, catalogue: parseDocument(text) },
      ...(from !== '' && { from: new Date(from).toISOString() }),
    };
    await api.changeCatalogue({ ...change, dry_run: true }).then(({ changes }) => {
      setState((now) => {
        const isSame = now.text === text && now.from === from && now.base === base;
        return isSame ? { ...now, tried: { change, changes } } : now;
      });
    }, refuseLate);
  });
  const applying = useAction(async () => {
    if (state.tried === undefined) return;
    await api.changeCatalogue(state.tried.change).then(onApplied, refuseLate);
  });
  return {
    ...state,
    ...{ trial, applying },
    write: (fields) => setState((now) => ({ ...now, ...fields, tried: undefined })),
    rebase: (base) => setState((now) => ({ ...now, base, isLate: false, tried: undefined })),
    restart: (last) => setState(begin(last)),
  };
}

/** A change may not hold before the last version does. */
function begin({ version, sold_version: sold, from, catalogue }: CatalogueReport): DraftState {
  const isWaiting = version !== sold && from !== null && Date.parse(from) > Date.now();
  return {
    base: version ?? 0,
    text: formatDocument(catalogue),
    from: isWaiting ? toLocalTime(new Date(Date.parse(from) + MINUTE_MS - 1).toISOString()) : '',
  };
}

const MINUTE_MS = 60_000;
