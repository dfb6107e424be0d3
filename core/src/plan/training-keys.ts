/** Keys of a config that act in training only: inert, each with the reason. */

/** Dropout rates. */
export const dropout = (...keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(keys.map((key) => [key, 'a dropout rate acts in training only']));

/** What routers of experts are told for training. */
export const routerTraining: Readonly<Record<string, string>> = {
  output_router_logits: 'chooses what the Python call returns',
  router_aux_loss_coef: 'weighs a loss of training',
  router_jitter_noise: 'noise on the input of the router, in training only',
};
