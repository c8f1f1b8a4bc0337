import { getContainerRuntimeClient } from 'testcontainers';

const NO_ENGINE = 'Could not find a working container runtime strategy';

/** Any other failure is one: an engine that is there and does not work must not look like none. */
export async function hasContainerEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch (error) {
    if (String(error).includes(NO_ENGINE)) return false;
    throw error;
  }
}
