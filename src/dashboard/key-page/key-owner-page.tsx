import { useState } from 'preact/hooks';
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
  const { isRunning, problem, run } = useAction(async () => {
    try {
      setOwn(await readOwnKey(candidate.trim()));
    } catch (cause) {
      setOwn(undefined);
      throw cause;
    }
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
          error={problem?.message}
          onInput={setCandidate}
          onSubmit={run}
          onForget={() => {
            setCandidate('');
            setOwn(undefined);
          }}
        />
        {own !== undefined && <KeyFigures info={own.info} />}
        {model !== undefined && <ModelChoice {...{ models, model, onChoose: setChosen }} />}
      </div>
      <Examples model={model} />
    </main>
  );
}
