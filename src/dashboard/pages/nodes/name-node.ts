const UUID = /^([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=~|$)/;

/** A node has no name but its id, which a table shows in short. */
export const nameNode = (id: string): string => id.replace(UUID, '$1');
