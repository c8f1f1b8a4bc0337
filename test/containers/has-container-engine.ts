import { getContainerRuntimeClient } from 'testcontainers';

const NO_ENGINE = 'Could not find a working container runtime strategy';

/** Any other failure is an error: a broken engine must not look like a missing engine. */
export async function hasContainerEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch (error) {
    if (String(error).includes(NO_ENGINE)) return false;
    throw error;
  }
}
