/** Generated from cli-arch-verify.schema.json by `npm run generate`: change that file. */

/**
 * `kvad arch verify DIR… --json`
 */
export interface CliArchVerify {
  object: 'kvad.verify';
  pass: boolean;
  results: VerifyResult[];
}
export interface VerifyResult {
  dir: string;
  family: string | null;
  model_type: string | null;
  /**
   * of both prompts together
   */
  positions: number;
  /**
   * over all positions; null where it is not a number or nothing was compared
   */
  max_abs_diff: number | null;
  /**
   * share of positions
   */
  argmax_agreement: number | null;
  greedy_equal: boolean | null;
  tolerance: number | null;
  /**
   * without a reference: how far the model agrees with itself
   */
  consistency: {
    finite: boolean;
    /**
     * largest difference of a logit in their standard deviations; null where it is not a number
     */
    chunks: number | null;
    /**
     * largest difference of a logit in their standard deviations; null where it is not a number
     */
    truncation: number | null;
    /**
     * native against reference arithmetic; null: not compared, or not a number
     */
    kernels: number | null;
  } | null;
  pass: boolean;
  error: {
    code: string;
    message: string;
  } | null;
}
