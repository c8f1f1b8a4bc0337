import type { ComponentChildren } from 'preact';
import '../styles/facts.css';

export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
  /** Needs the room of two. */
  readonly isWide?: boolean;
}

/** What is known of one thing, a name and a value each. */
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
