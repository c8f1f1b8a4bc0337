import { api } from '../api/api.ts';
import { Loaded } from '../parts/loaded.tsx';
import { useLoad } from '../use-load.ts';
import { ModelTables } from './models/model-tables.tsx';

export function ModelsPage() {
  const load = useLoad((signal) => api.listModels(signal));
  return <Loaded load={load}>{({ data }) => <ModelTables models={data} />}</Loaded>;
}
