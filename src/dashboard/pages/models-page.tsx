import { api } from '../api/api.ts';
import { useLoad } from '../loading/use-load.ts';
import { LoadView } from '../parts/load-view.tsx';
import { ModelTables } from './models/model-tables.tsx';

export function ModelsPage() {
  const load = useLoad((signal) => api.listModels(signal));
  return <LoadView load={load}>{({ data }) => <ModelTables models={data} />}</LoadView>;
}
