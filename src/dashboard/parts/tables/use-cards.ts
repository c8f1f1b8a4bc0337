import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Cards {
  readonly frame: RefObject<HTMLElement | null>;
  readonly isCards: boolean;
}

/**
 * Turns a table into cards where it is wider than its frame, and back where there is room for it.
 */
export function useCards(): Cards {
  const frame = useRef<HTMLElement>(null);
  /** The width of the table when it last did not fit. */
  const neededPx = useRef(0);
  const [isCards, setCards] = useState(false);

  const measure = () => {
    const [shown, table] = [frame.current, frame.current?.querySelector('table')];
    if (!shown || !table) return;
    if (isCards) {
      if (shown.clientWidth >= neededPx.current) setCards(false);
    } else if (table.offsetWidth > shown.clientWidth) {
      neededPx.current = table.offsetWidth;
      setCards(true);
    }
  };
  // New rows may be wider, so it is measured after each drawing, before anybody sees it.
  useLayoutEffect(measure);
  useLayoutEffect(() => {
    if (frame.current === null) return;
    const resizing = new ResizeObserver(measure);
    resizing.observe(frame.current);
    return () => resizing.disconnect();
  }, [isCards]);
  return { frame, isCards };
}
