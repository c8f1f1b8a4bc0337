import { api } from '../../api/api.ts';
import type { CatalogueDiff, CatalogueReport, VersionNote } from '../../api/api-types.ts';
import { useLoad } from '../../loading/use-load.ts';
import { LoadView } from '../../parts/load-view.tsx';
import { Moment } from '../../parts/moment.tsx';
import { ChangeTable } from './change-table.tsx';
import { describeAuthor } from './describe-version.ts';

interface ConflictNoticeProps {
  /** The version that the change was made from. */
  readonly base: number;
  readonly onKeep: (last: number) => void;
  readonly onTake: (last: CatalogueReport) => void;
}

/** Shows what somebody else changed meanwhile, and asks what to do with one's own change. */
export function ConflictNotice({ base, onKeep, onTake }: ConflictNoticeProps) {
  const load = useLoad((signal) => readNews(base, signal), { of: [base] });
  return (
    <div role="alert" class="problem">
      <p>Nothing was applied: somebody else has changed the catalogue meanwhile.</p>
      <LoadView load={load}>
        {({ last, note, changes }) => (
          <>
            <p>
              Version {note.version} was applied <Moment iso={note.applied_at} />, by{' '}
              {describeAuthor(note)}.
            </p>
            <ChangeTable caption={`What changed since version ${base}`} changes={changes} />
            <p>
              Your text stays as it is until you choose. If you keep it and apply it as it is, it
              undoes what they changed: look at the changes again before.
            </p>
            <div class="buttons">
              <button type="button" onClick={() => onTake(last)}>
                Drop my text, edit version {note.version}
              </button>
              <button type="button" onClick={() => onKeep(note.version)}>
                Keep my text
              </button>
            </div>
          </>
        )}
      </LoadView>
    </div>
  );
}

interface News extends Pick<CatalogueDiff, 'changes'> {
  readonly last: CatalogueReport;
  readonly note: VersionNote;
}

async function readNews(base: number, signal: AbortSignal): Promise<News> {
  const last = await api.readCatalogue(signal);
  const { catalogue: _, ...note } = await api.readCatalogueVersion(last.version ?? base, signal);
  const { changes } = await api.diffCatalogue({ from: base, to: note.version }, signal);
  return { last, note, changes };
}
