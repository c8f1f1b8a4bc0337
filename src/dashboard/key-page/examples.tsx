import { CopyButton } from '../parts/copy-button.tsx';
import { BASE_URL } from './base-url.ts';
import {
  type CodeExample,
  createChatExamples,
  createNativeExamples,
  createResponsesExamples,
  KEY_VARIABLE,
  MODEL_UNKNOWN,
} from './create-examples.ts';

export function Examples({ model }: { readonly model: string | undefined }) {
  const named = model ?? MODEL_UNKNOWN;
  return (
    <>
      <h2>Calling the API</h2>
      <p>
        Three formats are served, and any model in each. The examples take the key from a variable,
        so that it is in no file:
      </p>
      <ExampleText title="variable" text={KEY_VARIABLE} />
      {model === undefined && (
        <p>
          In place of <code>{MODEL_UNKNOWN}</code> put the model: with your key above, the examples
          name those that you may use.
        </p>
      )}
      <p>
        With <code>"stream": true</code> in a request its answer comes as server-sent events. All
        paths are described in <a href="openapi.json">openapi.json</a>.
      </p>
      <ExampleList examples={createNativeExamples(BASE_URL, named)} />
      <ExampleList examples={createChatExamples(BASE_URL, named)} />
      <ExampleList examples={createResponsesExamples(BASE_URL, named)} />
    </>
  );
}

function ExampleList({ examples }: { readonly examples: readonly CodeExample[] }) {
  return (
    <>
      {examples.map(({ title, text }) => (
        <div key={title}>
          <h3>{title}</h3>
          <ExampleText title={title} text={text} />
        </div>
      ))}
    </>
  );
}

function ExampleText({ title, text }: CodeExample) {
  return (
    <div class="example">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to take the focus */}
      <section class="code" tabIndex={0} aria-label={title}>
        <pre>{text.trimEnd()}</pre>
      </section>
      {/* The key starts a new button for a new text, which nobody has copied yet. */}
      <CopyButton key={text} what={title} text={text} />
    </div>
  );
}
