import { api } from '../api/api.ts';
import { LoadView } from '../parts/load-view.tsx';
import { useLoad } from '../use-load.ts';
import { ModelTables } from './models/model-tables.tsx';

export function ModelsPage() {
  const load = useLoad((signal) => api.listModels(signal));
  return <LoadView load={load}>{({ data }) => <ModelTables models={data} />}</LoadView>;
}
