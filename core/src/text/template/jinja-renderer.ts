import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';
import { KvadError } from '../../errors/kvad-error.js';
import type { TemplateInput, TemplateRenderer } from '../types.js';
import type { FoundTemplates } from './find-template.js';
import { templateMessages } from './messages.js';
import { strftime } from './strftime.js';

type Program = ReturnType<typeof parse>;

/** Thrown by a template's `raise_exception`. */
class TemplateRaised extends Error {}

/** Variables that kvad sets itself. */
const RESERVED = ['messages', 'tools', 'documents', 'add_generation_prompt'];

/**
 * Chat templates through `@huggingface/jinja`, in the setting of transformers: `trim_blocks`, `lstrip_blocks`, special
 * tokens as variables (those that the model does not name are undefined), `tools` and `documents` null if not given.
 */
export class JinjaRenderer implements TemplateRenderer {
  readonly source: string;
  readonly names: readonly string[];
  readonly #found: FoundTemplates;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #programs = new Map<string, Program>();

  /** `specialTokens`: variables as `bos_token`. Templates are parsed when they are first rendered. */
  constructor(found: FoundTemplates, specialTokens: Readonly<Record<string, string>>) {
    this.source = found.source;
    this.names = [...found.templates.keys()].sort((a, b) => Number(b === 'default') - Number(a === 'default'));
    this.#found = found;
    this.#variables = specialTokens;
  }

  /** Parses all templates: throws KVAD_E_TEMPLATE for the first that this version of kvad cannot render. */
  check(): void {
    for (const name of this.names) this.#program(name);
  }

  render(input: TemplateInput): string {
    const { file } = this.#found;
    const program = this.#program(this.#choose(input));
    for (const name of Object.keys(input.variables ?? {})) {
      if (RESERVED.includes(name)) {
        throw new KvadError('KVAD_E_OPTION', {
          option: `the template variable ${name}`,
          value: 'given',
          expected: 'a name that kvad does not set itself',
        });
      }
    }
    const now = input.now ?? new Date();
    const variables = new Map<string, unknown>(
      Object.entries({
        ...CONSTANTS,
        ...this.#variables,
        ...input.variables,
        messages: templateMessages(input.messages),
        tools: input.tools ?? null,
        documents: input.documents ?? null,
        add_generation_prompt: input.addGenerationPrompt,
        strftime_now: (format: string) => strftime(now, format),
      }),
    );
    try {
      const environment = new Environment();
      for (const [name, value] of variables) if (value !== undefined) environment.set(name, value);
      return (new Interpreter(environment).run(program) as { value: string }).value;
    } catch (error) {
      if (error instanceof TemplateRaised) {
        throw new KvadError('KVAD_E_TEMPLATE_RAISED', { file, text: error.message }, { cause: error });
      }
      throw new KvadError('KVAD_E_TEMPLATE', { file, reason: (error as Error).message }, { cause: error });
    }
  }

  #choose(input: TemplateInput): string {
    const names = this.names;
    const name = input.name ?? (input.tools !== undefined && names.includes('tool_use') ? 'tool_use' : 'default');
    if (names.includes(name)) return name;
    const reason = `it has no template "${name}", only ${names.join(', ')}`;
    throw new KvadError('KVAD_E_TEMPLATE', { file: this.#found.file, reason });
  }

  #program(name: string): Program {
    const parsed = this.#programs.get(name);
    if (parsed !== undefined) return parsed;
    const text = (this.#found.templates.get(name) ?? '').replace(/\r\n?/g, '\n');
    try {
      const program = parse(tokenize(text, { lstrip_blocks: true, trim_blocks: true }));
      this.#programs.set(name, program);
      return program;
    } catch (error) {
      const reason = (error as Error).message;
      throw new KvadError('KVAD_E_TEMPLATE', { file: this.#found.file, reason }, { cause: error });
    }
  }
}

const CONSTANTS: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  raise_exception: (text: unknown) => {
    throw new TemplateRaised(String(text));
  },
  range: (start: number, stop?: number, step = 1): number[] => {
    const [from, to] = stop === undefined ? [0, start] : [start, stop];
    const count = Math.max(0, Math.ceil((to - from) / step));
    if (!(count <= MOST_RANGE)) throw new Error(`range() of more than ${MOST_RANGE} numbers`);
    return Array.from({ length: count }, (_, index) => from + index * step);
  },
};

/** As in Python's sandbox for templates. */
const MOST_RANGE = 100_000;
