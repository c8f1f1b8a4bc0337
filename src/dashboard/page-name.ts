import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** The name of what the page shows, such as that of an account; undefined until it is known. */
export const pageName = signal<string | undefined>(undefined);

/** Makes the name the heading of the page. */
export function usePageName(name: string | undefined): void {
  useEffect(() => {
    pageName.value = name;
    return () => {
      pageName.value = undefined;
    };
  }, [name]);
}
