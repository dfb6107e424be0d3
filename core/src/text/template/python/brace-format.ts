import { getAttribute, getItem } from './attributes.js';
import { PythonError, valueError } from './error.js';
import { formatMarkup, formatValue } from './format-spec.js';
import { ascii, escapeHtml, repr, str } from './text-form.js';
import { Markup, textOf, type Arguments, type Runtime, type Value } from './values.js';

/** Where an argument is looked up: by place, by name. */
export interface FormatSource {
  readonly positional: readonly Value[];
  named(name: string): Value | undefined;
}

export const sourceOf = ({ positional, named }: Arguments): FormatSource => ({
  positional,
  named: (name) => named.get(name),
});

/** `text.format(…)`: fields may reach into attributes and items, within the sandbox. */
export const braceFormat = (format: string | Markup, source: FormatSource, runtime: Runtime): Value => {
  const text = new BraceFormatter(format instanceof Markup, source, runtime).format(textOf(format), 2);
  return format instanceof Markup ? new Markup(text) : text;
};

class BraceFormatter {
  #escapes: boolean;
  readonly #source: FormatSource;
  readonly #runtime: Runtime;
  /** The next place of a field without a name; null: fields are numbered by hand. */
  #next: number | null | undefined;

  constructor(escapes: boolean, source: FormatSource, runtime: Runtime) {
    this.#escapes = escapes;
    this.#source = source;
    this.#runtime = runtime;
  }

  format(text: string, depth: number): string {
    if (depth < 0) throw valueError('Max string recursion exceeded');
    let result = '';
    let at = 0;
    const add = (piece: string): void => {
      this.#runtime.budget.makes(result.length + piece.length, piece.length);
      result += piece;
    };
    while (at < text.length) {
      const found = /[{}]/g;
      found.lastIndex = at;
      const brace = found.exec(text)?.index ?? text.length;
      add(text.slice(at, brace));
      if (brace === text.length) break;
      if (text[brace + 1] === text[brace]) {
        add(text[brace]!);
        at = brace + 2;
        continue;
      }
      if (text[brace] === '}') throw valueError("Single '}' encountered in format string");
      const end = fieldEnd(text, brace + 1);
      add(this.#field(text.slice(brace + 1, end), depth));
      at = end + 1;
    }
    return result;
  }

  #field(field: string, depth: number): string {
    const match = /^((?:\[[^\]]*\]?|[^![:{}])*)(?:!([^:]?))?(?::(.*))?$/su.exec(field);
    if (match === null) throw valueError("expected ':' after conversion specifier");
    const [, name = '', conversion, specText = ''] = match;
    if (/!/.test(field.slice(name.length, name.length + 1)) && !conversion) {
      throw valueError("unmatched '{' in format spec");
    }
    const value = this.#value(name);
    const converted = this.#convert(value, conversion);
    const spec = this.format(specText, depth - 1);
    if (!this.#escapes) return formatValue(converted, spec, this.#runtime);
    if (converted instanceof Markup) return formatMarkup(converted, spec);
    return escapeHtml(formatValue(converted, spec, this.#runtime), this.#runtime).text;
  }

  #value(name: string): Value {
    const match = /^([^.[]*)(.*)$/su.exec(name)!;
    let value = this.#first(match[1]!);
    let rest = match[2]!;
    while (rest !== '') {
      const step = /^(?:\.([^.[]+)|\[([^\]]+)\])(.*)$/su.exec(rest!);
      if (step === null) throw valueError('Empty attribute in format string');
      const [, attribute, item = '', left = ''] = step;
      if (attribute !== undefined) value = getAttribute(value, attribute, this.#runtime);
      else value = getItem(value, /^\d+$/.test(item) ? Number(item) : item, this.#runtime);
      rest = left;
    }
    return value;
  }

  #first(name: string): Value {
    let place: number;
    if (name === '') {
      if (this.#next === null)
        throw valueError('cannot switch from manual field specification to automatic field numbering');
      place = this.#next ?? 0;
      this.#next = place + 1;
    } else if (/^\d+$/.test(name)) {
      if (typeof this.#next === 'number')
        throw valueError('cannot switch from automatic field numbering to manual field specification');
      this.#next = null;
      place = Number(name);
    } else {
      const value = this.#source.named(name);
      if (value === undefined) throw new PythonError('KeyError', `'${name}'`);
      return value;
    }
    const value = this.#source.positional[place];
    if (value === undefined) {
      throw new PythonError('IndexError', `Replacement index ${place} out of range for positional args tuple`);
    }
    return value;
  }

  #convert(value: Value, conversion: string | undefined): Value {
    if (conversion === undefined || conversion === '') return value;
    if (conversion === 's') return str(value, this.#runtime);
    if (conversion === 'r') return repr(value, this.#runtime);
    if (conversion === 'a') return ascii(value, this.#runtime);
    throw valueError(`Unknown conversion specifier ${conversion}`);
  }
}

/** The brace that closes a field which may hold fields in its specification. */
const fieldEnd = (text: string, start: number): number => {
  let open = 1;
  let inIndex = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (inIndex) inIndex = character !== ']';
    else if (character === '[' && open === 1) inIndex = !text.slice(start, at).includes(':');
    else if (character === '{') open++;
    else if (character === '}' && --open === 0) return at;
  }
  throw valueError(
    text.length === start ? "Single '{' encountered in format string" : "expected '}' before end of string",
  );
};
