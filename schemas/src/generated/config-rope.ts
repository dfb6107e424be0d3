/** Generated from config-rope.schema.json by `npm run generate`: change that file. */

/**
 * base of the rotary frequencies
 */
export type RopeTheta = number;
/**
 * rotary settings by their older name; null: none
 */
export type RopeScaling = RopeSettings | null;
/**
 * rotary settings; null: none
 */
export type RopeParameters = RopeSettings | null;
/**
 * share of a head's columns that is rotated
 */
export type PartialRotaryFactor = number;
/**
 * positions that the model was first trained for
 */
export type OriginalMaxPositionEmbeddings = number;

/**
 * The keys of a config.json that rotary tables are made of, in all their homes. A family's schema refers to those that its published config class has; what they mean together is judged by ropeOf.
 */
export interface RopeConfigKeys {
  rope_theta?: RopeTheta;
  rope_scaling?: RopeScaling;
  rope_parameters?: RopeParameters;
  partial_rotary_factor?: PartialRotaryFactor;
  original_max_position_embeddings?: OriginalMaxPositionEmbeddings;
}
/**
 * Settings of one rotary table, or a table for each type of layer by its name.
 */
export interface RopeSettings {
  rope_type?: string;
  type?: string;
  rope_theta?: number;
  partial_rotary_factor?: number;
  factor?: number;
  original_max_position_embeddings?: number;
  attention_factor?: number;
  beta_fast?: number;
  beta_slow?: number;
  mscale?: number;
  mscale_all_dim?: number;
  truncate?: boolean;
  short_factor?: number[];
  long_factor?: number[];
  low_freq_factor?: number;
  high_freq_factor?: number;
}
