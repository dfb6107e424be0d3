/** Generated from cli-search.schema.json by `npm run generate`: change that file. */

/**
 * `kvad search QUERY --json`
 */
export interface CliSearch {
  object: 'kvad.search';
  query: string;
  models: FoundModel[];
}
export interface FoundModel {
  id: string;
  downloads: number;
  gated: boolean;
  private: boolean;
  /**
   * null: the Hub has not counted them
   */
  parameters: number | null;
  /**
   * of the weights as they are stored
   */
  bytes: number | null;
  model_type: string | null;
  /**
   * instruct: it has a chat template
   */
  kind: 'instruct' | 'base';
  in_cache: boolean;
  runs: RunsHere;
}
export interface RunsHere {
  able: boolean;
  /**
   * the best that fits into the memory of this machine; null: nothing does, or the size is not known
   */
  precision: 'as stored' | 'q8' | 'q4' | null;
  /**
   * why it does not run, or why no precision is told
   */
  reason: string | null;
}
