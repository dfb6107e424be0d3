import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isKvadError, JinjaRenderer, type ChatMessage, type TemplateInput } from '@kvad/core';
import { Tally, type GoldensReport } from './report.js';

const CONVERSATIONS = 'conversations.json';
const SNIPPETS = 'snippets.json';

/** What Python says: a text, or that it refuses; `raise_exception`: the template itself did, in these words. */
type Answer = { readonly rendered: string } | { readonly error: { readonly kind: string; readonly message: string } };

interface Conversation {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly unknown[];
  readonly documents?: readonly unknown[];
  readonly kwargs?: Readonly<Record<string, unknown>>;
}

type TemplateFile = Readonly<Partial<Record<`${'bos' | 'eos' | 'unk' | 'pad'}_token`, string | null>>> & {
  readonly id: string;
  readonly template: string;
  readonly cases: readonly (Answer & { readonly conversation: string; readonly add_generation_prompt: boolean })[];
};

interface SnippetsFile {
  readonly context: Readonly<Record<string, unknown>>;
  readonly snippets: readonly (Answer & { readonly id: string; readonly template: string })[];
}

/** What the clock of all goldens says if their file does not. */
const CLOCK = '2026-01-02T03:04:05';

export const isTemplatesFolder = (dir: string): boolean =>
  [CONVERSATIONS, SNIPPETS].some((name) => existsSync(path.join(dir, name)));

export interface TemplateGoldensOptions {
  /** Only these conversations. */
  readonly conversations?: readonly string[];
}

/** Templates with conversations, or snippets of the language, against what Python's jinja2 made of them. */
export const templateGoldens = async (
  dir: string,
  { conversations }: TemplateGoldensOptions = {},
): Promise<GoldensReport> => {
  const tally = new Tally();
  if (existsSync(path.join(dir, SNIPPETS))) compareSnippets(path.join(dir, SNIPPETS), tally);
  else compareTemplates(dir, conversations ?? null, tally);
  return Promise.resolve(tally.report(dir, 'templates'));
};

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

const compareTemplates = (dir: string, only: readonly string[] | null, tally: Tally): void => {
  const inputs = readJson(path.join(dir, CONVERSATIONS)) as {
    readonly strftime_now?: string;
    readonly conversations: readonly Conversation[];
  };
  const conversations = new Map(inputs.conversations.map((conversation) => [conversation.id, conversation]));
  const now = new Date(inputs.strftime_now ?? CLOCK);
  const files = readdirSync(dir).filter((name) => name.endsWith('.json') && name !== CONVERSATIONS);
  for (const name of files.sort()) {
    const file = readJson(path.join(dir, name)) as TemplateFile;
    const renderer = rendererOf(name, file.template, tokensOf(file));
    for (const expected of file.cases) {
      if (only !== null && !only.includes(expected.conversation)) continue;
      const conversation = conversations.get(expected.conversation)!;
      const addGenerationPrompt = expected.add_generation_prompt;
      const id = `${file.id} ${conversation.id}${addGenerationPrompt ? '' : ' (no generation prompt)'}`;
      compare(id, expected, renderer, { ...inputOf(conversation), addGenerationPrompt, now }, tally);
    }
  }
};

const inputOf = ({ messages, tools, documents, kwargs }: Conversation): Omit<TemplateInput, 'addGenerationPrompt'> => ({
  messages,
  ...(tools === undefined ? {} : { tools }),
  ...(documents === undefined ? {} : { documents }),
  variables: kwargs ?? {},
  keepParts: true,
});

const tokensOf = (file: TemplateFile): Record<string, string> => {
  const names = ['bos_token', 'eos_token', 'unk_token', 'pad_token'] as const;
  return Object.fromEntries(names.flatMap((name) => (typeof file[name] === 'string' ? [[name, file[name]]] : [])));
};

const rendererOf = (name: string, template: string, tokens: Readonly<Record<string, string>>): JinjaRenderer =>
  new JinjaRenderer({ source: name, file: name, templates: new Map([['default', template]]) }, tokens);

const compareSnippets = (file: string, tally: Tally): void => {
  const { context, snippets } = readJson(file) as SnippetsFile;
  const { messages = [], tools, documents, add_generation_prompt: prompt, ...variables } = context;
  const input = {
    messages: messages as ChatMessage[],
    ...(Array.isArray(tools) ? { tools: tools as unknown[] } : {}),
    ...(Array.isArray(documents) ? { documents: documents as unknown[] } : {}),
    variables,
    addGenerationPrompt: prompt === true,
    keepParts: true,
    now: new Date(CLOCK),
  };
  for (const { id, template, ...expected } of snippets) {
    compare(id, expected, rendererOf(id, template, {}), input, tally);
  }
};

const compare = (id: string, expected: Answer, renderer: JinjaRenderer, input: TemplateInput, tally: Tally): void => {
  let got: string;
  try {
    got = renderer.render(input);
  } catch (error) {
    if ('rendered' in expected) tally.refused(id, error);
    else compareRefusals(id, expected.error, error, tally);
    return;
  }
  if ('rendered' in expected) tally.same(id, expected.rendered, got);
  else tally.accepted(id, expected.error, got);
};

/** What a template says itself, users read: these words are compared. Python's own are not. */
const compareRefusals = (
  id: string,
  expected: { readonly kind: string; readonly message: string },
  error: unknown,
  tally: Tally,
): void => {
  const raised = isKvadError(error) && error.code === 'KVAD_E_TEMPLATE_RAISED';
  const words = raised ? (error.params as { readonly text: string }).text : null;
  const wanted = expected.kind === 'raise_exception' ? expected.message : null;
  if (words === wanted) tally.refusedByBoth();
  else tally.same(id, wanted, words);
};
