import { Moment } from '../../parts/moment.tsx';
import type { CatalogueLoad } from './read-catalogue.ts';

/** Says who rules, what waits and what is wrong. The region stays, so that it is read aloud. */
export function CatalogueNotices({ state: { last, versions } }: { readonly state: CatalogueLoad }) {
  const { rules, refused, sold_version: sold } = last;
  const waiting = versions.filter(({ state }) => state === 'scheduled').toReversed();
  return (
    <div role="status">
      {rules === 'file' && (
        <p class="notice">
          The settings file rules what is sold, so nothing can be changed here. With{' '}
          <code>catalogue: store</code> in the settings of all nodes, it is kept in Redis and
          changed on this page.
        </p>
      )}
      {refused !== null && (
        <div class="problem">
          <p>
            This node cannot sell version {refused.version}, and goes on with version {sold}.
          </p>
          <ul>
            {refused.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </div>
      )}
      {waiting.map(({ version, from }) => (
        <p key={version} class="notice">
          <a href={`#/catalogue/${version}`}>Version {version}</a> is scheduled: it holds from{' '}
          <Moment iso={from} />.
        </p>
      ))}
    </div>
  );
}
