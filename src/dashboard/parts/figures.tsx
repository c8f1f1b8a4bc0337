interface Figure {
  readonly name: string;
  /** Undefined if it is not known yet. */
  readonly value: string | undefined;
}

/** Shows a few figures in large type. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}
