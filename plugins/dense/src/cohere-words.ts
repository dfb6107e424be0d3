/** Keys of the first releases of both Cohere families, which say what the families do anyway. */
export const COHERE_WORDS = {
  position_embedding_type: 'only rope_gptj is accepted: neighbouring columns are rotated',
  rotary_pct: 'only 1 is accepted: whole heads are rotated',
  use_embedding_sharing: 'only true is accepted; tie_word_embeddings decides',
  use_gated_activation: 'only true is accepted: the feed-forward is gated',
  use_parallel_block: 'only true is accepted: both ops read the same norm',
  use_parallel_embedding: 'how a training program cuts the embedding',
};
