import { capitalize } from '../python/case-methods.js';
import { BLANK, charactersOf, splitLines, strip } from '../python/characters.js';
import { Dict } from '../python/dict.js';
import { PythonError, typeError } from '../python/error.js';
import { jsonOptions, jsonText } from '../python/json-text.js';
import { indexOf } from '../python/numbers.js';
import { binary } from '../python/operators.js';
import { percentFormat } from '../python/percent-format.js';
import { isTrue, len, likewise, sliceOf, valuesOf } from '../python/sequences.js';
import { escapeHtml, softStr, str } from '../python/text-form.js';
import { centered, replaceText } from '../python/text-methods.js';
import {
  Markup,
  Tuple,
  isInt,
  isText,
  textOf,
  typeName,
  type Value,
  type Runtime,
  type Arguments,
} from '../python/values.js';
import { attributeGetter } from './attribute-getter.js';
import { define, or } from './define.js';
import type { Filter } from './types.js';
import { wordwrap } from './wordwrap.js';

const changed = (value: Value, runtime: Runtime, change: (text: string) => string): Value => {
  const text = softStr(value, runtime);
  runtime.budget.makes(textOf(text).length);
  return likewise(text, change(textOf(text)));
};

const WORD_BEGINNINGS = new RegExp(`([-${BLANK}({[<]+)`, 'u');

const title = (text: string): string =>
  text
    .split(WORD_BEGINNINGS)
    .map((part) => {
      const [first = '', ...rest] = charactersOf(part);
      return first.toUpperCase() + rest.join('').toLowerCase();
    })
    .join('');

const optionalCount = (value: Value | undefined): number =>
  value === undefined || value === null ? -1 : indexOf(value);

const replace = (value: Value, old: Value, by: Value, count: Value | undefined, runtime: Runtime): Value => {
  const most = optionalCount(count);
  if (!runtime.autoescape) {
    return replaceText(str(value, runtime), str(old, runtime), str(by, runtime), most, runtime);
  }
  const mixed = old instanceof Markup || (by instanceof Markup && !(value instanceof Markup));
  const text = mixed ? escapeHtml(value, runtime) : softStr(value, runtime);
  const into = text instanceof Markup ? escapeHtml(by, runtime).text : str(by, runtime);
  return likewise(text, replaceText(textOf(text), str(old, runtime), into, most, runtime));
};

const join = (value: Value, separator: Value, attribute: Value, runtime: Runtime): Value => {
  const read = attribute === null ? (item: Value): Value => item : attributeGetter(attribute, runtime);
  const items: Value[] = [];
  for (const item of valuesOf(value, runtime)) runtime.budget.grows(items.push(read(item)));
  const escapes = runtime.autoescape && (separator instanceof Markup || items.some((item) => item instanceof Markup));
  const form = (item: Value): string => (escapes ? escapeHtml(item, runtime).text : str(item, runtime));
  const by = form(separator);
  let length = 0;
  const texts = items.map((item) => {
    const text = form(item);
    length += text.length + by.length;
    runtime.budget.makes(length, text.length + by.length);
    return text;
  });
  return escapes ? new Markup(texts.join(by)) : texts.join(by);
};

/** `indent`: the lines of a text behind a margin. */
const indent = (value: Value, width: Value, first: boolean, blank: boolean, runtime: Runtime): Value => {
  const { budget } = runtime;
  if (!isText(width) && !isInt(width))
    throw typeError(`can't multiply sequence by non-int of type '${typeName(width)}'`);
  const margin = isText(width) ? width : binary('*', ' ', width, runtime);
  const space = value instanceof Markup ? escapeHtml(margin, runtime).text : str(margin, runtime);
  const whole = binary('+', value, '\n', runtime);
  if (!isText(whole))
    throw new PythonError('AttributeError', `'${typeName(whole)}' object has no attribute 'splitlines'`);
  const lines = splitLines(textOf(whole));
  budget.lists(lines.length);
  budget.makes(textOf(whole).length + (lines.length + 1) * space.length);
  const [head = '', ...rest] = lines;
  const indented = [head, ...rest.map((line) => (line !== '' || blank ? space + line : line))].join('\n');
  return likewise(whole, first ? space + indented : indented);
};

const truncate = (
  value: Value,
  given: { readonly length: Value; readonly whole: boolean; readonly end: Value; readonly leeway: Value },
  runtime: Runtime,
): Value => {
  const { whole, end } = given;
  const [length, leeway] = [given.length, given.leeway].map((number) => indexOf(number));
  const endLength = len(end, runtime);
  if (length! < endLength) throw new PythonError('AssertionError', `expected length >= ${endLength}, got ${length}`);
  if (leeway! < 0) throw new PythonError('AssertionError', `expected leeway >= 0, got ${leeway}`);
  if (len(value, runtime) <= length! + leeway!) return value;
  const cut = sliceOf(value, null, length! - endLength, null, runtime);
  if (whole) return binary('+', cut, end, runtime);
  if (!isText(cut)) throw new PythonError('AttributeError', `'${typeName(cut)}' object has no attribute 'rsplit'`);
  const text = textOf(cut);
  const space = text.lastIndexOf(' ');
  return binary('+', likewise(cut, space < 0 ? text : text.slice(0, space)), end, runtime);
};

const format: Filter = (value: Value, { positional, named }: Arguments, runtime: Runtime) => {
  if (positional.length > 0 && named.size > 0) {
    throw new PythonError('FilterArgumentError', "can't handle positional and keyword arguments at the same time");
  }
  const args = named.size > 0 ? new Dict(named) : new Tuple(positional);
  return percentFormat(softStr(value, runtime), args, runtime);
};

export const TEXT_FILTERS: Readonly<Record<string, Filter>> = {
  upper: define('upper', [], 0, (value, _, runtime) => changed(value, runtime, (text) => text.toUpperCase())),
  lower: define('lower', [], 0, (value, _, runtime) => changed(value, runtime, (text) => text.toLowerCase())),
  capitalize: define('capitalize', [], 0, (value, _, runtime) => changed(value, runtime, capitalize)),
  title: define('title', [], 0, (value, _, runtime) => str(changed(value, runtime, title), runtime)),
  trim: define('trim', ['chars'], 0, (value, [chars = null], runtime) => {
    if (chars !== null && !isText(chars)) throw typeError('strip arg must be None or str');
    return changed(value, runtime, (text) => strip(text, chars === null ? null : textOf(chars)));
  }),
  replace: define('replace', ['old', 'new', 'count'], 2, (value, [old, by, count], runtime) =>
    replace(value, old!, by!, count, runtime),
  ),
  join: define('join', ['d', 'attribute'], 0, (value, [separator, attribute = null], runtime) =>
    join(value, or(separator, ''), attribute, runtime),
  ),
  indent: define('indent', ['width', 'first', 'blank'], 0, (value, [width, first = false, blank = false], runtime) =>
    indent(value, or(width, 4), isTrue(first, runtime), isTrue(blank, runtime), runtime),
  ),
  center: define('center', ['width'], 0, (value, [width], runtime) => {
    const text = softStr(value, runtime);
    return likewise(text, centered(text, indexOf(or(width, 80)), runtime));
  }),
  truncate: define(
    'truncate',
    ['length', 'killwords', 'end', 'leeway'],
    0,
    (value, [length, kill = false, end, leeway = null], runtime) => {
      const whole = isTrue(kill, runtime);
      return truncate(
        value,
        { length: or(length, 255), whole, end: or(end, '...'), leeway: leeway === null ? 5 : leeway },
        runtime,
      );
    },
  ),
  wordwrap,
  wordcount: define('wordcount', [], 0, (value, _, runtime) => {
    const text = textOf(softStr(value, runtime));
    runtime.budget.reads(text.length);
    return text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0;
  }),
  format,
  string: define('string', [], 0, (value, _, runtime) => softStr(value, runtime)),
  tojson: define(
    'tojson',
    ['ensure_ascii', 'indent', 'separators', 'sort_keys'],
    0,
    (value, [ensureAscii, indentation, separators, sortKeys], runtime) =>
      jsonText(value, jsonOptions({ ensureAscii, indent: indentation, separators, sortKeys }, runtime), runtime),
  ),
};
