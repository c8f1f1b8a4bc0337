import type { Query } from '../api/api-types.ts';
import { saveFile } from '../api/save-file.ts';
import { useAction } from '../loading/use-action.ts';
import { Problem } from './problem.tsx';

interface SaveButtonProps {
  readonly path: string;
  readonly query: Query;
  /** The name of the file. */
  readonly name: string;
  /** `Save as CSV`. */
  readonly children: string;
}

/** Saves an answer of the admin API as a file. */
export function SaveButton({ path, query, name, children }: SaveButtonProps) {
  const { isRunning, problem, run } = useAction(() => saveFile(path, query, name));
  return (
    <div class="save">
      <button type="button" disabled={isRunning} onClick={run}>
        {isRunning ? 'Reading…' : children}
      </button>
      <Problem problem={problem} />
    </div>
  );
}
