import { api } from '../../api/api.ts';
import { useLoad } from '../../loading/use-load.ts';

/** A link to a group that shows its name. */
export function GroupLink({ id }: { readonly id: string }) {
  const { value } = useLoad((signal) => api.getGroup(id, signal), { of: [id] });
  return <a href={`#/groups/${id}`}>{value?.name ?? id}</a>;
}
