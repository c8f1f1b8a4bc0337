import { describeKey } from './describe-key.ts';
import type { KeyInfo } from './key-info.ts';

export function KeyFigures({ info }: { readonly info: KeyInfo }) {
  return (
    <section aria-label="What the key has and may do" aria-live="polite">
      <dl class="figures">
        {describeKey(info).map(({ name, value, isText }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={isText === true ? 'words' : undefined}>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
