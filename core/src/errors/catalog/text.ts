import { entry, list } from './entry.js';
import { fetchAgain } from './fetch-again.js';

/** A value as JSON, cut where it would fill the screen. */
const shortJson = (value: unknown): string => {
  const json = JSON.stringify(value) ?? String(value);
  return json.length <= 120 ? json : `${json.slice(0, 117)}...`;
};

/** Tokenizers, chat templates, and the files beside a model. */
export const TEXT_ERRORS = {
  KVAD_E_TOKENIZER_MISSING: entry<{ directory: string; files: readonly string[] }>(
    (p) =>
      `${p.directory} has no tokenizer.json, so text cannot become token ids; ${p.files.length > 0 ? `it has ${list(p.files, 20)}` : 'the folder is empty or absent'}`,
    (p) =>
      p.files.some((file) => /^(tokenizer\.model|spiece\.model|tekken\.json|vocab\.(json|txt)|merges\.txt)$/.test(file))
        ? 'convert it once in Python: transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)'
        : "download tokenizer.json from the model's page into the folder, or give token ids instead of text",
  ),
  KVAD_E_TOKENIZER_INVALID: entry<{ file: string; reason: string }>(
    (p) => `the tokenizer of ${p.file} cannot be used: ${p.reason}`,
    (p) => fetchAgain(p.file, "download the file again from the model's page; if it stays, report the model's name"),
  ),
  KVAD_E_TOKENIZER_LIBRARY: entry<{ reason: string }>(
    (p) => `the tokenizers library does not load on this machine: ${p.reason}`,
    'reinstall kvad with npm install; the library has binaries for Linux, macOS and Windows on x64 and arm64',
  ),
  KVAD_E_TEXT_FILE: entry<{ file: string; reason: string }>(
    (p) => `${p.file} cannot be read: ${p.reason}`,
    (p) => fetchAgain(p.file, 'download the file again, or mend it (a JSON file holds one object)'),
  ),
  KVAD_E_TEXT_VALUE: entry<{ file: string; key: string; value: unknown; expected: string }>(
    (p) => `"${p.key}" is ${shortJson(p.value)} in ${p.file}, expected ${p.expected}`,
    (p) => `correct or remove "${p.key}" in the file`,
  ),
  KVAD_E_TEMPLATE: entry<{ file: string; reason: string }>(
    (p) => `the chat template of ${p.file} cannot be rendered: ${p.reason}`,
    'use the model without its template (--raw), or give another one with kvad render --template',
  ),
  KVAD_E_TEMPLATE_LIMIT: entry<{ file: string; limit: string }>(
    (p) => `the chat template of ${p.file} was stopped: it asks for ${p.limit}`,
    'no template of a model should; use the model without it (--raw), or give another one with kvad render --template',
  ),
  KVAD_E_TEMPLATE_RAISED: entry<{ file: string; text: string }>(
    (p) => `the chat template refuses this conversation: ${p.text} (${p.file})`,
    'change the conversation to what the model was made for',
  ),
} as const;
