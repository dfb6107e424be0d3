import { KvadError } from '../../errors/kvad-error.js';
import type { ChatMessage, TemplateInput, TemplateRenderer } from '../types.js';
import { fitContent } from './content-parts.js';
import type { FoundTemplates } from './find-template.js';
import { templateMessages } from './messages.js';
import { compile, LimitExceeded, PythonError, TemplateRaised, TemplateSyntaxError, type Template } from './render.js';

/** Variables that kvad sets itself. */
const RESERVED = ['messages', 'tools', 'documents', 'add_generation_prompt'];

/**
 * Chat templates as transformers renders them: special tokens as variables (those that the model does not name are
 * undefined), `tools` and `documents` null if not given, content that is a list of texts as the template takes it.
 */
export class JinjaRenderer implements TemplateRenderer {
  readonly source: string;
  readonly names: readonly string[];
  readonly #found: FoundTemplates;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #compiled: Map<string, Template>;

  /** `specialTokens`: variables as `bos_token`. Templates are compiled when they are first rendered. */
  constructor(
    found: FoundTemplates,
    specialTokens: Readonly<Record<string, string>>,
    compiled = new Map<string, Template>(),
  ) {
    this.source = found.source;
    this.names = [...found.templates.keys()].sort((a, b) => Number(b === 'default') - Number(a === 'default'));
    this.#found = found;
    this.#variables = specialTokens;
    this.#compiled = compiled;
  }

  /** The same templates with these special tokens. */
  withTokens(specialTokens: Readonly<Record<string, string>>): JinjaRenderer {
    return new JinjaRenderer(this.#found, specialTokens, this.#compiled);
  }

  /** Compiles all templates: throws KVAD_E_TEMPLATE for the first that is none. */
  check(): void {
    for (const name of this.names) this.#template(name);
  }

  render(input: TemplateInput): string {
    for (const name of Object.keys(input.variables ?? {})) {
      if (RESERVED.includes(name)) {
        throw new KvadError('KVAD_E_OPTION', {
          option: `the template variable ${name}`,
          value: 'given',
          expected: 'a name that kvad does not set itself',
        });
      }
    }
    const template = this.#template(this.#choose(input));
    const now = input.now ?? new Date();
    const render = (messages: readonly ChatMessage[]): string =>
      this.#explained(() => template.render(this.#variablesOf(input, messages), now));
    return render(input.keepParts === true ? input.messages : fitContent(input.messages, render));
  }

  #variablesOf(input: TemplateInput, messages: readonly ChatMessage[]): Record<string, unknown> {
    return {
      ...this.#variables,
      ...input.variables,
      messages: templateMessages(messages),
      tools: input.tools ?? null,
      documents: input.documents ?? null,
      add_generation_prompt: input.addGenerationPrompt,
    };
  }

  #choose(input: TemplateInput): string {
    const names = this.names;
    const name = input.name ?? (input.tools !== undefined && names.includes('tool_use') ? 'tool_use' : 'default');
    if (names.includes(name)) return name;
    const reason = `it has no template "${name}", only ${names.join(', ')}`;
    throw new KvadError('KVAD_E_TEMPLATE', { file: this.#found.file, reason });
  }

  #template(name: string): Template {
    let template = this.#compiled.get(name);
    if (template === undefined) {
      template = this.#explained(() => compile(this.#found.templates.get(name) ?? ''));
      this.#compiled.set(name, template);
    }
    return template;
  }

  /** What a template does wrong, as an error of the catalogue. */
  #explained<T>(task: () => T): T {
    const { file } = this.#found;
    try {
      return task();
    } catch (cause) {
      if (cause instanceof TemplateRaised) {
        throw new KvadError('KVAD_E_TEMPLATE_RAISED', { file, text: cause.message }, { cause });
      }
      if (cause instanceof LimitExceeded) {
        throw new KvadError('KVAD_E_TEMPLATE_LIMIT', { file, limit: cause.message }, { cause });
      }
      if (cause instanceof TemplateSyntaxError) {
        throw new KvadError('KVAD_E_TEMPLATE', { file, reason: `line ${cause.line}: ${cause.message}` }, { cause });
      }
      if (cause instanceof PythonError) {
        const at = cause.line === null ? '' : `line ${cause.line}: `;
        throw new KvadError('KVAD_E_TEMPLATE', { file, reason: `${at}${cause.kind}: ${cause.message}` }, { cause });
      }
      throw cause;
    }
  }
}
