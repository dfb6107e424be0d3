import type { Row } from './divergence.js';
import type { BaseModel } from './types.js';

/** What a base says of one scored token. */
export interface BaseComparison {
  /** Of the token that came, under the base. */
  readonly nll: number;
  /** KL(base ‖ compared) of this row. */
  readonly kld: number;
  readonly sameTop: boolean;
  /** Probability of the ids that the base names; null: it names all. */
  readonly topMass: number | null;
}

/** An open base, checked against the run. Rows count scored tokens of the whole run from 0. */
export interface Base {
  readonly format: 'topk' | 'full';
  readonly topK: number | null;
  readonly model: BaseModel | null;
  compare(index: number, row: Row, target: number): BaseComparison;
  close(): void;
}

/** How the rows of a base look in its file; all have one size. */
export interface BaseFormat {
  readonly header: Buffer;
  readonly rowBytes: number;
  /** Writes a row into `bytes`, of `rowBytes`. */
  encode(row: Row, target: number, bytes: Buffer): void;
}

/** What a run scores: a base must have been made of the same. */
export interface Protocol {
  readonly method: 'chunks' | 'sliding';
  readonly ctx: number;
  readonly stride: number | null;
  /** The limit that was asked for. */
  readonly chunks: number | null;
  /** Windows that there are. */
  readonly windows: number;
  readonly scoredTokens: number;
  readonly bos: number | null;
  readonly ids: Int32Array;
  readonly idsSha256: string;
  readonly vocabSize: number;
  /** Of the tokens by id; null: the model's folder has no tokenizer. */
  readonly vocabularySha256: string | null;
}
