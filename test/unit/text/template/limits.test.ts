import { JinjaRenderer, type ChatMessage } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { errorOf } from '../folders.js';

const renderer = (template: string): JinjaRenderer =>
  new JinjaRenderer({ source: 'a.jinja', file: 'a.jinja', templates: new Map([['default', template]]) }, {});
const messages: readonly ChatMessage[] = [{ role: 'user', content: 'Hi' }];
const input = { messages, addGenerationPrompt: false };

const loops = (depth: number, body: string): string =>
  '{% for i in range(1000) %}'.repeat(depth) + body + '{% endfor %}'.repeat(depth);

describe('a hostile template ends within two seconds of work with an error', () => {
  it.each([
    ['a long range', '{% for i in range(10 ** 8) %}{% endfor %}'],
    ['loops in loops', loops(6, '{% set x = 1 %}')],
    ['a text doubled', "{% set n = namespace(x='ab') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}"],
    ['a list doubled', '{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}'],
    [
      'lists in lists, printed',
      '{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}',
    ],
    ['a long text', "{{ 'a' * 10 ** 9 }}"],
    ['an output of 50 MB', loops(2, `${'x'.repeat(50)}`)],
    ['a wide margin', "{{ 'a' | indent(10 ** 9, true) }}"],
    ['a wide center', "{{ 'a' | center(10 ** 9) }}"],
    ['a wide format', "{{ '%1000000000d' % 1 }}{{ '{:>1000000000}'.format('a') }}"],
    ['a wide batch', "{{ [1] | batch(10 ** 9, 'x') | list }}"],
    ['a huge power', '{{ 9 ** (9 ** 9) }}'],
    ['a macro that calls itself', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}'],
    ['brackets in brackets', `{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`],
    ['blocks in blocks', '{% if true %}'.repeat(50_000) + '{% endif %}'.repeat(50_000)],
    ['a long chain of sums', `{{ 1${' + 1'.repeat(100_000)} }}`],
    ['a long chain of attributes', `{{ a${'.b'.repeat(100_000)} }}`],
  ])('%s', async (_, template) => {
    const start = process.cpuUsage();
    const error = await errorOf(() => renderer(template).render(input));
    expect(['KVAD_E_TEMPLATE_LIMIT', 'KVAD_E_TEMPLATE']).toContain(error.code);
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(2_000);
  });

  it('and what is no more than long is rendered', () => {
    const content = 'word '.repeat(400_000);
    const prompt = renderer('{% for m in messages %}{{ m.content | trim | upper }}{% endfor %}').render({
      ...input,
      messages: [{ role: 'user', content }],
    });
    expect(prompt).toHaveLength(content.length - 1);
  });
});

describe('a template that is wrong says where', () => {
  it.each([
    ['a\n{% if %}', 'line 2'],
    ['{% for m in messages %}\n\nx', 'line 3'],
    ['\n\n{{ 1 | no_filter }}', 'line 3'],
    ['a\nb {{ nothing.at.all }}', 'line 2: UndefinedError'],
  ])('%j', async (template, where) => {
    const error = await errorOf(() => renderer(template).render(input));
    expect(error.code).toBe('KVAD_E_TEMPLATE');
    expect(error.message).toContain(`a.jinja cannot be rendered: ${where}`);
  });
});

describe('content that is a list of texts', () => {
  const parts = [
    { type: 'text', text: 'One.' },
    { type: 'text', text: ' Two.' },
  ];
  const ask = { ...input, messages: [{ role: 'user', content: parts }] };

  it.each([
    ['{{ messages[0].content }}', 'One. Two.'],
    ["{{ 'User: ' + messages[0].content }}", 'User: One. Two.'],
    ['{% for p in messages[0].content %}<{{ p.text }}>{% endfor %}', '<One.>< Two.>'],
  ])('is given to %s as it takes it', (template, prompt) => {
    expect(renderer(template).render(ask)).toBe(prompt);
  });

  it('stays a list if that is asked for', () => {
    expect(renderer('{{ messages[0].content | length }}').render({ ...ask, keepParts: true })).toBe('2');
  });
});
