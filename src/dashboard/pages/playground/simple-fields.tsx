import type { Model } from '../../api/api-types.ts';
import { Field } from '../../parts/field.tsx';
import type { SimpleRequest } from './build-body.ts';

interface SimpleFieldsProps {
  readonly models: readonly Model[];
  readonly request: SimpleRequest;
  readonly onChange: (request: SimpleRequest) => void;
}

export function SimpleFields({ models, request, onChange }: SimpleFieldsProps) {
  const { model, prompt, tokensMax, isStream } = request;
  return (
    <>
      <div class="search">
        <Field label="Model">
          {(attributes) => (
            <select
              {...attributes}
              value={model}
              onChange={(event) => onChange({ ...request, model: event.currentTarget.value })}
            >
              {models.map(({ id }) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Output tokens at most">
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min={1}
              required
              value={tokensMax}
              onInput={(event) =>
                onChange({ ...request, tokensMax: event.currentTarget.valueAsNumber })
              }
            />
          )}
        </Field>
      </div>
      <Field label="Prompt">
        {(attributes) => (
          <textarea
            {...attributes}
            rows={4}
            required
            value={prompt}
            onInput={(event) => onChange({ ...request, prompt: event.currentTarget.value })}
          />
        )}
      </Field>
      <label class="choice">
        <input
          type="checkbox"
          checked={isStream}
          onChange={(event) => onChange({ ...request, isStream: event.currentTarget.checked })}
        />
        Stream the answer
      </label>
    </>
  );
}
