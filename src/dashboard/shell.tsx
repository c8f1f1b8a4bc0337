import { useEffect, useRef } from 'preact/hooks';
import { api } from './api/api.ts';
import { toProblem } from './api/api-problem.ts';
import { startEvents } from './api/events.ts';
import { endSession } from './api/oidc.ts';
import { isWaiting, keepMe, mayAct, me, signOut } from './api/session.ts';
import { pageName } from './page-name.ts';
import { findPage, PAGES, type Page, type PageMatch } from './pages/pages.ts';
import { ConnectionBanner } from './parts/connection-banner.tsx';
import { IdText } from './parts/id-text.tsx';
import { place } from './route.ts';
import { startTraffic } from './traffic.ts';

/** The frame around every page, and what runs as long as somebody is signed in. */
export function Shell() {
  const found = findPage(place.value);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const stops = [startTraffic(), startEvents()];
    let isOpen = true;
    // The role may have changed. If it cannot be read, the last one stays.
    api.readMe().then(
      (owner) => isOpen && keepMe(owner),
      () => {},
    );
    return () => {
      isOpen = false;
      for (const stop of stops) stop();
    };
  }, []);
  const { page, parts } = found;
  const view = page.frame ?? place.value;
  useDocumentTitle(found);
  useFocus(view, heading);
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
            {PAGES.filter(isShown).map(({ path, title }) => (
              <li key={path}>
                <a href={`#${path}`} aria-current={currentOf(path, found)}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <a href="/docs">Docs</a>
        {me.value !== undefined && (
          <span class="quiet">
            {me.value.name} ({me.value.role})
          </span>
        )}
        <button type="button" onClick={leave}>
          Sign out
        </button>
      </header>
      <ConnectionBanner />
      <main id="main">
        <h1 ref={heading} tabIndex={-1}>
          {pageName.value ?? page.title}
        </h1>
        {page.frame === undefined && parts['id'] !== undefined && (
          <p class="heading-id">
            <span class="quiet">{page.title}</span> <IdText id={parts['id']} />
          </p>
        )}
        <page.View key={view} id={parts['id'] ?? ''} month={parts['month'] ?? ''} />
      </main>
    </>
  );
}

function isShown({ isInNavigation, role = 'viewer' }: Page): boolean {
  return isInNavigation && (role === 'viewer' || mayAct(role));
}

function leave(): void {
  if (me.value?.by !== 'session') {
    signOut();
    return;
  }
  endSession().then(
    () => signOut('You are signed out here, but not at the provider.'),
    (cause: unknown) => signOut(`The session could not be ended: ${toProblem(cause).message}.`),
  );
}

/** Marks the page in the navigation, also if one of its subpages is open. */
function currentOf(path: string, { page }: PageMatch): 'page' | 'true' | undefined {
  if (page.path === path) return 'page';
  return page.parent === path ? 'true' : undefined;
}

function useDocumentTitle({ page, parts: { id = '' } }: PageMatch): void {
  const shown = pageName.value ?? `${page.title} ${id}`.trim();
  const title = isWaiting.value ? 'Sign in' : shown;
  useEffect(() => {
    document.title = `${title} · Tollgate`;
  }, [title]);
}

/** On a change of page the focus moves to the heading. On the first page the browser decides. */
function useFocus(view: string, heading: { readonly current: HTMLElement | null }): void {
  const shown = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (shown.current !== undefined && shown.current !== view) heading.current?.focus();
    shown.current = view;
  }, [view, heading]);
}
