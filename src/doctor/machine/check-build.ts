import { loadUws } from '../../http/load-uws.ts';
import { type Finding, failCheck, passCheck } from '../finding.ts';

/** The version in package.json under `engines`. */
export const NODE_VERSION_MIN = '20.19';

export function judgeNodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = NODE_VERSION_MIN.split('.').map(Number);
  return major > majorMin || (major === majorMin && minor >= minorMin)
    ? passCheck(version)
    : failCheck(version, `Install Node.js ${NODE_VERSION_MIN} or newer.`);
}

export function checkNativeBuild(uwsSha256: readonly string[]): Finding {
  try {
    return passCheck(loadUws(uwsSha256).label);
  } catch (error) {
    return failCheck(
      (error as Error).message.replaceAll(/\s*\n\s*/g, ' '),
      'Run npm ci with the Node.js that will run the node, or see "The native HTTP server" in the documentation.',
    );
  }
}
