import { api } from '../api/api.ts';
import { mayAct } from '../api/session.ts';
import { useLoad } from '../loading/use-load.ts';
import { LoadView } from '../parts/load-view.tsx';
import { AnswerView } from './playground/answer-view.tsx';
import { PlaygroundForm } from './playground/playground-form.tsx';
import { useAnswer } from './playground/use-answer.ts';

export function PlaygroundPage() {
  const load = useLoad((signal) => api.listModels(signal));
  const control = useAnswer();
  if (!mayAct('operator')) return <p>Your role may not send requests.</p>;
  return (
    <>
      <h2>Request</h2>
      <p>It is a real one: it counts against rate limits, and the key is charged for it.</p>
      <LoadView load={load}>
        {({ data }) => (
          <PlaygroundForm models={data.filter(({ embeddings }) => !embeddings)} control={control} />
        )}
      </LoadView>
      {control.answer !== undefined && <AnswerView answer={control.answer} />}
    </>
  );
}
