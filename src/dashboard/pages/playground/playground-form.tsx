import { useState } from 'preact/hooks';
import type { FormatName } from '../../../protocol/format-names.ts';
import type { Model } from '../../api/api-types.ts';
import { Field } from '../../parts/field.tsx';
import { buildBody } from './build-body.ts';
import { SimpleFields } from './simple-fields.tsx';
import type { AnswerControl } from './use-answer.ts';

const TOKENS_MAX = 300;

const FORMAT_LABELS: Readonly<Record<FormatName, string>> = {
  native: 'native messages',
  chat: 'chat completions',
  responses: 'Responses',
};
const FORMAT_NAMES = Object.keys(FORMAT_LABELS) as FormatName[];

interface PlaygroundFormProps {
  readonly models: readonly Model[];
  readonly control: AnswerControl;
}

/** The key is kept only in this form, as long as the page is open. */
export function PlaygroundForm({ models, control }: PlaygroundFormProps) {
  const [format, setFormat] = useState<FormatName>('native');
  const [key, setKey] = useState('');
  const [simple, setSimple] = useState({
    model: models.at(-1)?.id ?? '',
    prompt: 'Hello!',
    tokensMax: TOKENS_MAX,
    isStream: true,
  });
  /** Undefined while the body is built from the fields. */
  const [edited, setEdited] = useState<string | undefined>();
  const submit = (event: Event) => {
    event.preventDefault();
    control.send({ format, key: key.trim(), body: edited ?? buildBody(simple, format) });
  };
  return (
    <form onSubmit={submit}>
      <div class="search">
        <Field label="Key" hint="It is kept in the memory of this page only.">
          {(attributes) => (
            <input
              {...attributes}
              type="password"
              autocomplete="off"
              required
              value={key}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Format">
          {(attributes) => (
            <select
              {...attributes}
              value={format}
              onChange={(event) => {
                const { value } = event.currentTarget;
                setFormat(FORMAT_NAMES.find((name) => name === value) ?? 'native');
              }}
            >
              {FORMAT_NAMES.map((name) => (
                <option key={name} value={name}>
                  {FORMAT_LABELS[name]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <label class="choice">
        <input
          type="checkbox"
          checked={edited !== undefined}
          onChange={(event) =>
            setEdited(event.currentTarget.checked ? buildBody(simple, format) : undefined)
          }
        />
        Edit the body as JSON
      </label>
      {edited === undefined ? (
        <SimpleFields models={models} request={simple} onChange={setSimple} />
      ) : (
        <BodyField body={edited} onChange={setEdited} />
      )}
      <div class="buttons">
        {control.isRunning && (
          <button type="button" onClick={control.cancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="primary" disabled={control.isRunning}>
          Send
        </button>
      </div>
    </form>
  );
}

interface BodyFieldProps {
  readonly body: string;
  readonly onChange: (body: string) => void;
}

function BodyField({ body, onChange }: BodyFieldProps) {
  return (
    <Field label="Body" hint="It is sent as it stands; the API reports what is wrong with it.">
      {(attributes) => (
        <textarea
          {...attributes}
          class="text-body"
          spellcheck={false}
          value={body}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
