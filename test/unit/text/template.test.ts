import { loadText, type ChatMessage, type TemplateInput, type TemplateRenderer } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { strftime } from '../../../core/dist/text/template/strftime.js';
import { BUNDLED, errorOf, folderOf, type Files } from './folders.js';

const USER: readonly ChatMessage[] = [{ role: 'user', content: 'Hi' }];
const ask = (more: Partial<TemplateInput> = {}): TemplateInput => ({
  messages: USER,
  addGenerationPrompt: false,
  ...more,
});

const rendererOf = async (files: Files): Promise<TemplateRenderer> => {
  const { template } = await loadText(folderOf(files));
  if (template === null) throw new Error('no template was found');
  return template;
};
const inConfig = (template: unknown, more: object = {}): Files => ({
  'tokenizer_config.json': { chat_template: template, ...more },
});

describe('the bundled template', () => {
  it('renders a conversation, with and without a system prompt and the beginning of an answer', async () => {
    const { template } = await loadText(BUNDLED);
    const messages = [{ role: 'system', content: 'Be kind.' }, ...USER, { role: 'assistant', content: 'Hello.' }];
    expect(template?.source).toBe('tokenizer_config.json');
    expect(template?.names).toEqual(['default']);
    expect(template?.render({ messages, addGenerationPrompt: false })).toBe(
      '<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n',
    );
    expect(template?.render(ask({ addGenerationPrompt: true }))).toBe(
      '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
    );
  });
});

describe('where a template comes from', () => {
  it('a base model has none, and gets no other one', async () => {
    const text = await loadText(folderOf({ 'tokenizer_config.json': { chat_template: null } }));
    expect([text.template, text.facts.template]).toEqual([null, null]);
  });

  it('chat_template.jinja stands before tokenizer_config.json, that before chat_template.json', async () => {
    const processor = { 'chat_template.json': { chat_template: 'processor' } };
    const config = { ...processor, ...inConfig('config') };
    const file = { ...config, 'chat_template.jinja': 'file' };
    for (const [files, text, source] of [
      [file, 'file', 'chat_template.jinja'],
      [config, 'config', 'tokenizer_config.json'],
      [processor, 'processor', 'chat_template.json'],
    ] as const) {
      const renderer = await rendererOf(files);
      expect([renderer.render(ask()), renderer.source]).toEqual([text, source]);
    }
  });

  const named = inConfig([
    { name: 'tool_use', template: 'tools' },
    { name: 'default', template: 'plain' },
    { name: 'rag', template: 'documents' },
  ]);

  it('of several, the one that is named; with tools tool_use; else default', async () => {
    const renderer = await rendererOf(named);
    expect(renderer.names).toEqual(['default', 'tool_use', 'rag']);
    expect(renderer.render(ask())).toBe('plain');
    expect(renderer.render(ask({ tools: [] }))).toBe('tools');
    expect(renderer.render(ask({ name: 'rag' }))).toBe('documents');
    const error = await errorOf(() => renderer.render(ask({ name: 'other' })));
    expect(error.message).toContain('it has no template "other", only default, tool_use, rag');
  });

  it('several without default, and none named, are refused', async () => {
    const renderer = await rendererOf(inConfig([{ name: 'rag', template: 'x' }]));
    expect((await errorOf(() => renderer.render(ask()))).message).toContain('it has no template "default", only rag');
  });

  it('files in additional_chat_templates have their names', async () => {
    const files = { 'chat_template.jinja': 'main', 'additional_chat_templates/tool_use.jinja': 'tools' };
    const renderer = await rendererOf({ ...files, ...inConfig('not this') });
    expect([renderer.render(ask()), renderer.render(ask({ tools: [] }))]).toEqual(['main', 'tools']);
  });

  it.each([[7], [[]], [[{ name: 'a' }]], [{ default: 1 }]])('a chat_template of %j is refused', async (value) => {
    const error = await errorOf(() => rendererOf(inConfig(value)));
    expect(error.code).toBe('KVAD_E_TEXT_VALUE');
    expect(error.message).toContain('"chat_template" is ');
  });
});

describe('what a template is given', () => {
  it('special tokens as text, given as strings or as objects; those that are not named are undefined', async () => {
    const template =
      "{{ bos_token }}|{{ eos_token }}|{{ 'set' if unk_token is defined else 'unset' }}|{{ image_token }}";
    const tokens = {
      bos_token: '<s>',
      eos_token: { content: '</s>', lstrip: false },
      unk_token: null,
      image_token: '<i>',
    };
    expect((await rendererOf(inConfig(template, tokens))).render(ask())).toBe('<s>|</s>|unset|<i>');
  });

  it('tools and documents, null where there are none; add_generation_prompt; variables', async () => {
    const parts = ['tools', 'documents'].map((name) => `{{ 'none' if ${name} is none else ${name} | length }}`);
    const template = `${parts.join(' ')} {{ 'yes' if add_generation_prompt else 'no' }} {{ 'yes' if enable_thinking else 'no' }}`;
    const renderer = await rendererOf(inConfig(template));
    expect(renderer.render(ask({ variables: { enable_thinking: false } }))).toBe('none none no no');
    const given = { tools: [1], documents: [2, 3], addGenerationPrompt: true, variables: { enable_thinking: true } };
    expect(renderer.render(ask(given))).toBe('1 2 yes yes');
  });

  it('variables may replace special tokens, not what kvad sets', async () => {
    const renderer = await rendererOf(inConfig('{{ bos_token }}', { bos_token: '<s>' }));
    expect(renderer.render(ask({ variables: { bos_token: '<t>' } }))).toBe('<t>');
    const error = await errorOf(() => renderer.render(ask({ variables: { messages: [] } })));
    expect(error.message).toContain('the template variable messages');
  });

  it('messages without the keys that are null, and reasoning under both of its names', async () => {
    const template = "{% for m in messages %}{{ m.keys() | list | sort | join(',') }};{% endfor %}";
    const messages: ChatMessage[] = [
      { role: 'assistant', content: null, tool_calls: null, name: 'a' },
      { role: 'assistant', content: '', reasoning: 'r' },
      { role: 'assistant', content: '', thinking: 't', reasoning_content: 'c' },
    ];
    const renderer = await rendererOf(inConfig(template));
    expect(renderer.render(ask({ messages }))).toBe(
      'name,role;content,reasoning,reasoning_content,role,thinking;content,reasoning_content,role,thinking;',
    );
  });

  it('a clock that can be set', async () => {
    const renderer = await rendererOf(inConfig("{{ strftime_now('%d %b %Y') }}"));
    expect(renderer.render(ask({ now: new Date(2026, 0, 2, 3, 4, 5) }))).toBe('02 Jan 2026');
  });
});

describe('a template that fails', () => {
  it('says its own words to the user when it raises them', async () => {
    const template =
      "{% if messages[0].role != 'user' %}{{ raise_exception('Start with a user, please') }}{% endif %}ok";
    const renderer = await rendererOf({ 'chat_template.jinja': template });
    expect(renderer.render(ask())).toBe('ok');
    const error = await errorOf(() => renderer.render(ask({ messages: [{ role: 'system', content: '' }] })));
    expect(error.code).toBe('KVAD_E_TEMPLATE_RAISED');
    expect(error.message).toContain('Start with a user, please');
    expect(error.message).toContain('chat_template.jinja');
  });

  it.each([
    ['does not parse', '{% if %}'],
    ['is not closed', '{% for m in messages %}x'],
    ['has a tag that nobody knows', '{% include "x" %}'],
    ['calls what is not there', '{{ nothing() }}'],
    ['has a filter that nobody knows', '{{ messages | no_such_filter }}'],
    ['loops too long', '{% for i in range(1000000) %}{% endfor %}'],
  ])('%s: KVAD_E_TEMPLATE with the file', async (_, template) => {
    const renderer = await rendererOf({ 'chat_template.jinja': template });
    const error = await errorOf(() => renderer.render(ask()));
    expect(error.code).toBe('KVAD_E_TEMPLATE');
    expect(error.message).toContain('chat_template.jinja cannot be rendered: ');
  });

  it('is reported at load if it does not parse, and raw text still works', async () => {
    const text = await loadText(folderOf({ 'chat_template.jinja': '{% if %}' }));
    expect(text.warnings).toEqual([expect.stringContaining('chats will be refused: the chat template of ')]);
    expect(text.facts.template).toBe('chat_template.jinja');
  });
});

describe('the template language', () => {
  it('text of messages is text, whatever it looks like', async () => {
    const renderer = await rendererOf(inConfig('{{ messages[0].content }}'));
    const content = '{{ 7 * 7 }}{% raw %}<|im_end|>\n';
    expect(renderer.render(ask({ messages: [{ role: 'user', content }] }))).toBe(content);
  });

  it('line ends of Windows count as one', async () => {
    const renderer = await rendererOf({ 'chat_template.jinja': 'a\r\n{% if true %}\r\nb\r\n{% endif %}\r\n' });
    expect(renderer.render(ask())).toBe('a\nb\n');
  });

  it('dates are those of Python', () => {
    const date = new Date(2026, 0, 2, 3, 4, 5);
    expect(strftime(date, '%Y-%m-%d %H:%M:%S|%A %a %B %b|%-d %e %j %y|%I %p|%u %w %U %W %V %G|%%|%q')).toBe(
      '2026-01-02 03:04:05|Friday Fri January Jan|2  2 002 26|03 AM|5 5 00 00 01 2026|%|%q',
    );
    expect(strftime(new Date(2024, 11, 31, 13, 0, 0), '%j %I %p %U %W %V %G %-I')).toBe('366 01 PM 52 53 01 2025 1');
  });
});
