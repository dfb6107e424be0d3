import { BLANK } from '../python/characters.js';
import { Dict } from '../python/dict.js';
import { PythonError, typeError, valueError } from '../python/error.js';
import { unpack } from '../python/operators.js';
import { isTrue, valuesOf } from '../python/sequences.js';
import { escapeHtml, repr, str } from '../python/text-form.js';
import {
  Markup,
  PythonObject,
  Undefined,
  isList,
  isText,
  textOf,
  typeName,
  type Value,
  type Runtime,
} from '../python/values.js';
import { define, or } from './define.js';
import type { Filter } from './types.js';

interface LinkOptions {
  readonly limit: number | null;
  readonly rel: string;
  readonly target: string;
  readonly schemes: readonly string[];
}

/** Texts of HTML's entities that come out of `striptags`. */
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', copy: '©', reg: '®', hellip: '…' },
  ...{ mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', euro: '€', times: '×', middot: '·' },
};

const unescape = (text: string): string =>
  text.replace(/&(#\d+;?|#[xX][\da-fA-F]+;?|[a-zA-Z]+;)/g, (whole, name) => {
    if (!name.startsWith('#')) return ENTITIES[name.slice(0, -1)] ?? whole;
    const digits = name.slice(1).replace(';', '');
    const code = /^x/i.test(digits) ? parseInt(digits.slice(1), 16) : parseInt(digits, 10);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0) return '\ufffd';
    return String.fromCodePoint(code);
  });

const stripTags = (given: string): string => {
  let text = '';
  let at = 0;
  for (let start = given.indexOf('<'); start >= 0; start = given.indexOf('<', at)) {
    const isComment = given.startsWith('<!--', start);
    const end = isComment ? given.indexOf('-->', start + 4) : given.indexOf('>', start);
    if (end < 0) break;
    text += given.slice(at, start);
    at = end + (isComment ? 3 : 1);
  }
  text += given.slice(at);
  return unescape(text.match(new RegExp(`[^${BLANK}]+`, 'g'))?.join(' ') ?? '');
};

const quoteUrl = (value: Value, isQuery: boolean, runtime: Runtime): string => {
  const text = str(value, runtime);
  runtime.budget.makes(text.length * 3);
  const quoted = encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return isQuery ? quoted.replaceAll('%20', '+') : quoted.replaceAll('%2F', '/');
};

const urlEncode = (value: Value, runtime: Runtime): string => {
  const canBeWalked = isList(value) || (value instanceof PythonObject && value.iterate(runtime) !== undefined);
  if (isText(value) || !canBeWalked) return quoteUrl(value, false, runtime);
  const pairs =
    value instanceof Dict ? value.entries() : [...valuesOf(value, runtime)].map((pair) => unpack(pair, 2, runtime));
  return [...pairs].map((pair) => pair.map((part) => quoteUrl(part, true, runtime)).join('=')).join('&');
};

const xmlAttributes = (value: Value, withSpace: boolean, runtime: Runtime): Value => {
  if (!(value instanceof Dict)) {
    if (value instanceof Undefined) value.fail();
    throw new PythonError('AttributeError', `'${typeName(value)}' object has no attribute 'items'`);
  }
  const parts: string[] = [];
  for (const [key, item] of value.entries()) {
    if (item === null || item instanceof Undefined) continue;
    if (!isText(key)) throw typeError('expected string or bytes-like object');
    if (/[ \t\n\r\f\v/>=]/.test(textOf(key))) {
      throw valueError(`Invalid character in attribute name: ${repr(key, runtime)}`);
    }
    parts.push(`${escapeHtml(key, runtime).text}="${escapeHtml(item, runtime).text}"`);
  }
  const text = parts.join(' ');
  const spaced = withSpace && text !== '' ? ` ${text}` : text;
  return runtime.autoescape ? new Markup(spaced) : spaced;
};

const HTTP =
  /^((https?:\/\/|www\.)(([\w%-]+\.)+)?([a-z]{2,63}|xn--[\w%]{2,59})|([\w%-]{2,63}\.)+(com|net|int|edu|gov|org|info|mil)|(https?:\/\/)((([\d]{1,3})(\.[\d]{1,3}){3})|(\[([\da-f]{0,4}:){2}([\da-f]{0,4}:?){1,6}\])))(?::[\d]{1,5})?(?:[/?#]\S*)?$/i;
const EMAIL = /^\S+@\w[\w.-]*\.\w+$/;
const SCHEME = /^[\w.+-]{2,}:\/{0,2}$/;

/** Addresses in a text become links. */
const links = (text: string, { limit, rel, target, schemes }: LinkOptions): string => {
  const shown = (word: string): string =>
    limit !== null && Array.from(word).length > limit ? `${Array.from(word).slice(0, limit).join('')}...` : word;
  const linkOf = (word: string): string => {
    if (HTTP.test(word)) {
      const address = /^https?:\/\//.test(word) ? word : `https://${word}`;
      return `<a href="${address}"${rel}${target}>${shown(word)}</a>`;
    }
    if (word.startsWith('mailto:') && EMAIL.test(word.slice(7))) return `<a href="${word}">${word.slice(7)}</a>`;
    if (word.includes('@') && !/^(www\.|@)/.test(word) && !word.includes(':') && EMAIL.test(word)) {
      return `<a href="mailto:${word}">${word}</a>`;
    }
    return schemes.reduce(
      (link, scheme) =>
        link !== scheme && link.startsWith(scheme) ? `<a href="${link}"${rel}${target}>${link}</a>` : link,
      word,
    );
  };
  return text
    .split(new RegExp(`([${BLANK}]+)`))
    .map((word) => {
      const { head, middle, tail } = trimmed(word);
      return head + linkOf(middle) + tail;
    })
    .join('');
};

/** A word without the brackets and stops around it. */
const trimmed = (word: string): { head: string; middle: string; tail: string } => {
  const head = /^([(<]|&lt;)+/.exec(word)?.[0] ?? '';
  let middle = word.slice(head.length);
  let tail = '';
  if (/([)>.,\n]|&gt;)$/.test(middle)) {
    tail = /([)>.,\n]|&gt;)+$/.exec(middle)![0];
    middle = middle.slice(0, middle.length - tail.length);
  }
  const count = (text: string, part: string): number => text.split(part).length - 1;
  for (const [open, close] of [
    ['(', ')'],
    ['<', '>'],
    ['&lt;', '&gt;'],
  ]) {
    const opened = count(middle, open!);
    if (opened <= count(middle, close!)) continue;
    for (let times = Math.min(opened, count(tail, close!)); times > 0; times--) {
      const end = tail.indexOf(close!) + close!.length;
      middle += tail.slice(0, end);
      tail = tail.slice(end);
    }
  }
  return { head, middle, tail };
};

const urlize: Filter = define(
  'urlize',
  ['trim_url_limit', 'nofollow', 'target', 'rel', 'extra_schemes'],
  0,
  (value, [limit = null, noFollow = false, target = null, rel = null, schemes = null], runtime) => {
    const words = new Set((isText(rel) ? textOf(rel) : '').match(/\S+/g) ?? []);
    if (isTrue(noFollow, runtime)) words.add('nofollow');
    words.add('noopener');
    const extra = schemes === null ? [] : [...valuesOf(schemes, runtime)].map((scheme) => str(scheme, runtime));
    const wrong = extra.find((scheme) => !SCHEME.test(scheme));
    if (wrong !== undefined) {
      throw new PythonError('FilterArgumentError', `${repr(wrong, runtime)} is not a valid URI scheme prefix.`);
    }
    const escaped = escapeHtml(value, runtime).text;
    runtime.budget.makes(escaped.length * 4);
    const text = links(escaped, {
      limit: limit === null ? null : Number(limit),
      rel: ` rel="${escapeHtml([...words].sort().join(' '), runtime).text}"`,
      target: target === null ? '' : ` target="${escapeHtml(target, runtime).text}"`,
      schemes: extra,
    });
    return runtime.autoescape ? new Markup(text) : text;
  },
);

const escape = define('escape', [], 0, (value, _, runtime) => escapeHtml(value, runtime));

export const HTML_FILTERS: Readonly<Record<string, Filter>> = {
  escape,
  e: escape,
  forceescape: define('forceescape', [], 0, (value, _, runtime) => escapeHtml(str(value, runtime), runtime)),
  safe: define('safe', [], 0, (value, _, runtime) =>
    value instanceof Markup ? value : new Markup(str(value, runtime)),
  ),
  striptags: define('striptags', [], 0, (value, _, runtime) => {
    const text = str(value, runtime);
    runtime.budget.makes(text.length);
    return stripTags(text);
  }),
  urlencode: define('urlencode', [], 0, (value, _, runtime) => urlEncode(value, runtime)),
  urlize,
  xmlattr: define('xmlattr', ['autospace'], 0, (value, [space], runtime) =>
    xmlAttributes(value, isTrue(or(space, true), runtime), runtime),
  ),
};
