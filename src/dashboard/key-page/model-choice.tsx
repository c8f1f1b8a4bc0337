import { Field } from '../parts/field.tsx';

interface ModelChoiceProps {
  readonly models: readonly string[];
  readonly model: string;
  readonly onChoose: (model: string) => void;
}

export function ModelChoice({ models, model, onChoose }: ModelChoiceProps) {
  return (
    <Field
      label="Model"
      hint="The ids and aliases that the key may use; the examples name this one."
    >
      {(attributes) => (
        <select
          {...attributes}
          value={model}
          onChange={(event) => onChoose(event.currentTarget.value)}
        >
          {models.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      )}
    </Field>
  );
}
