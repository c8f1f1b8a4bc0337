import { REDIS_IMAGES } from '../support/containers/images.ts';

export interface PlannedRun {
  /** Undefined for the server of this machine. */
  readonly image: string | undefined;
  /** A message printed before the run. */
  readonly announcement: string;
}

/**
 * Without an engine the same tests run once, and a message says that they did not run in
 * containers.
 */
export function planRuns(hasEngine: boolean): readonly PlannedRun[] {
  if (!hasEngine) {
    return [
      {
        image: undefined,
        announcement:
          'There is no container engine: the tests run with the redis-server of this machine.',
      },
    ];
  }
  return REDIS_IMAGES.map((image) => ({
    image,
    announcement: `The tests run with servers of the image ${image}.`,
  }));
}
