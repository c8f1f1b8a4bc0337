import type { ListedNode } from '../../api/api-types.ts';
import { Field } from '../../parts/field.tsx';
import { nameNode } from '../nodes/name-node.ts';

interface NodeFieldProps {
  /** The id of one node; undefined for all together. */
  readonly node: string | undefined;
  readonly nodes: readonly ListedNode[];
  readonly onChange: (node: string | undefined) => void;
}

/** Chooses all nodes together or one that runs. The node that was chosen stays among them. */
export function NodeField({ node, nodes, onChange }: NodeFieldProps) {
  const running = nodes.filter(({ state }) => state !== 'gone').map(({ id }) => id);
  const offered = node === undefined || running.includes(node) ? running : [node, ...running];
  return (
    <div class="bar-of-buttons">
      <Field label="Show">
        {(attributes) => (
          <select
            {...attributes}
            value={node ?? ''}
            onChange={({ currentTarget: { value } }) => onChange(value === '' ? undefined : value)}
          >
            <option value="">all nodes together</option>
            {offered.map((id) => (
              <option key={id} value={id}>
                node {nameNode(id)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}
