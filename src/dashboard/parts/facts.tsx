import type { ComponentChildren } from 'preact';
import '../styles/facts.css';

export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
  /** Takes the room of two facts. */
  readonly isWide?: boolean;
}

/** Shows the facts about one thing, each with a name and a value. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(({ name, value, isWide }) => (
        <div key={name} class={isWide === true ? 'wide' : undefined}>
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}
