/** Keys that follow from others, and keys of training that files of these families carry. */
export const derivedSizes: Readonly<Record<string, string>> = {
  head_dim: 'the published class sets it to qk_rope_head_dim',
  qk_head_dim: 'the sum of qk_nope_head_dim and qk_rope_head_dim',
  moe_layer_freq: 'only 1 is accepted: every layer after the dense ones has experts',
  pretraining_tp: 'how training split the matrices; the published class does not read it',
  ep_size: 'how training spread the experts over machines',
  aux_loss_alpha: 'weighs a loss of training',
  seq_aux: 'chooses a loss of training',
};
