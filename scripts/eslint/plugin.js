import { injectEveryParameter } from './inject-every-parameter.js';

/** kvad's own lint rules. */
export default {
  meta: { name: 'kvad' },
  rules: { 'inject-every-parameter': injectEveryParameter },
};
