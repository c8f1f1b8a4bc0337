import { NO_USAGE } from '../../protocol/answers/no-usage.ts';
import type { EmbeddingInput } from '../../protocol/embeddings/embedding-input.ts';
import { type EmbeddingEntry, encodeEmbeddings } from '../../protocol/embeddings/encode-answer.ts';
import { encodeFloats } from '../../protocol/embeddings/float-text.ts';
import { listUsageEvents } from '../../protocol/embeddings/relay-answer.ts';
import type { AnswerPart } from '../../protocol/inference.ts';
import { createRandom } from './random.ts';

const DIMENSIONS = 256;

interface Simulation {
  readonly model: string;
  readonly seed: number;
  /** The tokens of all inputs. */
  readonly input: number;
}

/** Equal inputs get equal embeddings, each of the length 1. */
export function embedInputs(
  embeds: EmbeddingInput,
  { model, seed, input }: Simulation,
): AnswerPart {
  const { inputs, encoding, dimensions = DIMENSIONS } = embeds;
  const data = inputs.map((text, index): EmbeddingEntry => {
    const vector = drawVector(dimensions, createRandom(seed, model, JSON.stringify(text)));
    const embedding = encoding === 'base64' ? encodeFloats(vector) : vector;
    return { object: 'embedding', index, embedding };
  });
  return {
    events: listUsageEvents(model, { ...NO_USAGE, input }),
    contentBytes: 0,
    bytes: undefined,
    closing: (charged) => encodeEmbeddings(data, model, charged),
  };
}

function drawVector(dimensions: number, random: () => number): readonly number[] {
  const drawn = Array.from({ length: dimensions }, () => random() - 0.5);
  const length = Math.hypot(...drawn) || 1;
  return drawn.map((number) => Math.fround(number / length));
}
