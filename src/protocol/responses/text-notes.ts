/** What only the Responses format says of a text: no other format reads or writes it. */
export interface TextNotes {
  readonly annotations?: readonly unknown[];
  readonly logprobs?: readonly unknown[];
  readonly phase?: string;
}
