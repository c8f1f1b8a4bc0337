import { explainLimit } from '../parts/limits/explain-limit.ts';
import { LimitGauge } from '../parts/limits/limit-gauge.tsx';
import type { KeyInfo } from './key-info.ts';
import { listKeyFacts } from './list-key-facts.ts';

export function KeyFigures({ info }: { readonly info: KeyInfo }) {
  return (
    <section aria-label="What the key has and may do">
      <dl class="figures">
        {listKeyFacts(info).map(({ name, value, isText }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={isText === true ? 'words' : undefined}>{value}</dd>
          </div>
        ))}
      </dl>
      {info.limits.length > 0 && (
        <div class="gauges">
          {info.limits
            .map((limit) => explainLimit(limit, 'key'))
            .map(({ title, used, max, text }) => (
              <LimitGauge key={title} {...{ title, used, max }}>
                {text}
              </LimitGauge>
            ))}
        </div>
      )}
    </section>
  );
}
