/**
 * Every Redis key of the project has its name here and nowhere else. The braces hold the hash tag:
 * in a Redis Cluster keys with the same tag live on the same node.
 */

/** Touched by no one: it only names the node that a probe asks. */
export function probeKey(n: number): string {
  return `gw:{p${n}}:probe`;
}
