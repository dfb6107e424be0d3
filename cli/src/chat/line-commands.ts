/** What a line of a chat asks for. */
export type Line =
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'command'; readonly name: LineCommand; readonly rest: string }
  | { readonly kind: 'unknown'; readonly name: string };

/** The commands of a chat, with what `/help` says of each. */
export const LINE_COMMANDS = {
  help: { rest: '', about: 'this list' },
  reset: { rest: '', about: 'forget the conversation; the system message stays' },
  system: { rest: '[TEXT]', about: 'show the system message, or set it; - takes it away' },
  save: { rest: '[FILE]', about: 'write the conversation as JSON, which kvad render reads too' },
  load: { rest: 'FILE', about: 'go on with a conversation that was saved' },
  regen: { rest: '', about: 'answer the last message again, with another seed' },
  quant: { rest: 'PRECISION', about: 'load the model as f32, bf16, q8, q4, or as stored' },
  stats: { rest: '', about: 'tokens, speed and memory so far' },
  quit: { rest: '', about: 'leave; Ctrl-D too' },
} as const;

export type LineCommand = keyof typeof LINE_COMMANDS;

/** `/exit` is another word for `/quit`; `//` begins a message with a slash. */
export const parseLine = (line: string): Line => {
  if (!line.startsWith('/')) return { kind: 'message', text: line };
  if (line.startsWith('//')) return { kind: 'message', text: line.slice(1) };
  const [, word = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const name = word === 'exit' ? 'quit' : word;
  return isLineCommand(name) ? { kind: 'command', name, rest: rest.trimEnd() } : { kind: 'unknown', name: `/${word}` };
};

const isLineCommand = (name: string): name is LineCommand => Object.hasOwn(LINE_COMMANDS, name);

export const helpText = (): string => {
  const rows = Object.entries(LINE_COMMANDS).map(([name, { rest, about }]) => [`/${name} ${rest}`.trimEnd(), about]);
  const width = Math.max(...rows.map(([usage = '']) => usage.length));
  const lines = rows.map(([usage = '', about]) => `  ${usage.padEnd(width)}  ${about}`);
  return [
    ...lines,
    '  A line that ends in \\ goes on in the next one; """ begins and ends a message of several lines.',
    '  Ctrl-C stops an answer. A message that begins with / is written //.',
  ].join('\n');
};
