import { KvadError } from '../errors/kvad-error.js';
import { modelName, type HubModel } from './model-id.js';

/** What a request is about, for messages. */
export interface HubTarget {
  readonly model: HubModel | null;
  readonly file: string | null;
}

export const targetName = ({ model, file }: HubTarget): string =>
  model === null ? 'its list of models' : file === null ? modelName(model) : `${file} of ${modelName(model)}`;

/** What is known of an answer that is not the thing asked for. */
export interface Refusal {
  readonly endpoint: string;
  /** Host that answered. */
  readonly host: string;
  readonly status: number;
  readonly headers: Headers;
  /** The first bytes of the body. */
  readonly body: string;
  /** Whether a token was sent. */
  readonly token: boolean;
}

/** An error status of the Hub as an error of the catalogue; `X-Error-Code` tells apart what shares a status. */
export const refusal = (target: HubTarget, answer: Refusal): KvadError => {
  const { status, host, token, endpoint } = answer;
  const what = targetName(target);
  const { model, file } = target;
  const code = answer.headers.get('x-error-code') ?? '';
  if (model !== null) {
    const name = modelName(model);
    if (code === 'GatedRepo' || (status === 403 && /gated|restricted|awaiting a review/i.test(answer.body))) {
      return new KvadError('KVAD_E_HUB_GATED', { model: name, page: `${endpoint}/${model.id}`, token });
    }
    if (code === 'RevisionNotFound') {
      const revision = model.revision ?? 'main';
      return new KvadError('KVAD_E_HUB_REVISION_ABSENT', { model: model.id, revision, known: null });
    }
    if (code === 'EntryNotFound' && file !== null) {
      return new KvadError('KVAD_E_HUB_FILE_ABSENT', { model: name, file });
    }
    // The Hub does not tell strangers a private model from none: both are 401 without a token.
    const absent = code === 'RepoNotFound' || status === 404 || (status === 401 && !token && code === '');
    if (absent) return new KvadError('KVAD_E_HUB_MODEL_ABSENT', { model: name, host, token });
  }
  if (status === 401 || status === 403) return new KvadError('KVAD_E_HUB_TOKEN', { what, status, token });
  return new KvadError('KVAD_E_HUB_STATUS', { what, host, status, reason: reasonOf(answer) });
};

/** The words of the Hub itself: a header, or the `error` of its JSON; never a page of HTML. */
const reasonOf = ({ headers, body, status }: Refusal): string => {
  const header = headers.get('x-error-message');
  if (header !== null && header !== '') return header;
  const json = /"error"\s*:\s*"([^"]{1,300})"/.exec(body)?.[1];
  return json ?? (status >= 500 ? 'it has a problem of its own' : 'it says no more');
};
