import { api } from '../api/api.ts';
import { useLoad } from '../loading/use-load.ts';

/** A link to an account that shows its name. */
export function AccountLink({ id }: { readonly id: string }) {
  const { value } = useLoad((signal) => api.getAccount(id, signal), { of: [id] });
  return <a href={`#/accounts/${id}`}>{value?.name ?? id}</a>;
}
