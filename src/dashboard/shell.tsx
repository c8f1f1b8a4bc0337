import { useEffect, useRef } from 'preact/hooks';
import { startEvents } from './api/events.ts';
import { signOut } from './api/session.ts';
import { findPage, PAGES, type PageMatch } from './pages/pages.ts';
import { ConnectionBanner } from './parts/connection-banner.tsx';
import { place } from './route.ts';
import { startTraffic } from './traffic.ts';

/** The frame around every page, and what runs as long as somebody is signed in. */
export function Shell() {
  const found = findPage(place.value);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const stops = [startTraffic(), startEvents()];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  useTitle(found, heading);
  const { page, id } = found;
  return (
    <>
      {/* Not a link, because the address already names the page. */}
      <button type="button" class="skip-link" onClick={() => heading.current?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <strong class="brand">Tollgate</strong>
        <nav aria-label="Pages">
          <ul>
            {PAGES.filter(({ isInNavigation }) => isInNavigation).map(({ path, title }) => (
              <li key={path}>
                <a href={`#${path}`} aria-current={currentOf(path, found)}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <a href="/docs">Docs</a>
        <button type="button" onClick={() => signOut()}>
          Sign out
        </button>
      </header>
      <ConnectionBanner />
      <main id="main">
        <h1 ref={heading} tabIndex={-1}>
          {page.title} {id !== undefined && <span class="heading-id">{id}</span>}
        </h1>
        <page.View key={place.value} id={id ?? ''} />
      </main>
    </>
  );
}

function titleOf({ page, id }: PageMatch): string {
  return id === undefined ? page.title : `${page.title} ${id}`;
}

/** Marks the page in the navigation, also if one of its subpages is open. */
function currentOf(path: string, { page }: PageMatch): 'page' | 'true' | undefined {
  if (page.path === path) return 'page';
  return page.parent === path ? 'true' : undefined;
}

/** On a change of page the focus moves to the heading. On the first page the browser decides. */
function useTitle(found: PageMatch, heading: { readonly current: HTMLElement | null }): void {
  const title = titleOf(found);
  const shown = useRef<string | undefined>(undefined);
  useEffect(() => {
    document.title = `${title} · Tollgate`;
    if (shown.current !== undefined && shown.current !== title) heading.current?.focus();
    shown.current = title;
  }, [title, heading]);
}
