import { api } from '../api/api.ts';
import { useLoad } from '../loading/use-load.ts';

/** Leads to an account by its name. */
export function AccountLink({ id }: { readonly id: string }) {
  const { value } = useLoad((signal) => api.getAccount(id, signal), { of: [id] });
  return <a href={`#/accounts/${id}`}>{value?.name ?? id}</a>;
}
