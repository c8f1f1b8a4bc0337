import { useRef, useState } from 'preact/hooks';
import { useAction } from '../loading/use-action.ts';
import { Examples } from './examples.tsx';
import { KeyFigures } from './key-figures.tsx';
import { KeyForm } from './key-form.tsx';
import { ModelChoice } from './model-choice.tsx';
import { type OwnKey, readOwnKey } from './read-own-key.ts';

/**
 * The page for the owner of a key. It keeps the key only in memory: leaving or reloading the page
 * forgets it.
 */
export function KeyOwnerPage() {
  const [candidate, setCandidate] = useState('');
  const [own, setOwn] = useState<OwnKey | undefined>();
  const [chosen, setChosen] = useState<string | undefined>();
  const forgotten = useRef(0);
  const { isRunning, problem, run } = useAction(async () => {
    const before = forgotten.current;
    const read = await readOwnKey(candidate.trim()).catch((cause: unknown) => {
      setOwn(undefined);
      throw cause;
    });
    if (forgotten.current === before) setOwn(read);
  });
  const models = own?.models ?? [];
  const model = models.find((each) => each === chosen) ?? models[0];
  return (
    <main>
      <h1>Using this gateway</h1>
      <div class="own-key">
        <h2>Your key</h2>
        <KeyForm
          candidate={candidate}
          isRunning={isRunning}
          isShown={own !== undefined}
          error={problem?.message}
          onInput={setCandidate}
          onSubmit={run}
          onForget={() => {
            forgotten.current += 1;
            setCandidate('');
            setOwn(undefined);
          }}
        />
        {/* Screen readers announce only what is added to an element that was there. */}
        <div aria-live="polite">{own !== undefined && <KeyFigures info={own.info} />}</div>
        {model !== undefined && <ModelChoice {...{ models, model, onChoose: setChosen }} />}
      </div>
      <Examples model={model} />
    </main>
  );
}
