import { ALWAYS, LOADING, MODEL } from './flags.js';
import { SAMPLING } from './sampling-row.js';
import type { Command } from './table.js';

export const CHAT = {
  about: 'talk with a model, turn by turn',
  details:
    'On a terminal lines are edited and remembered; a line that ends in `\\`, a block between lines of `"""`, and what is pasted are one message. Ctrl-C stops an answer, twice at the prompt it leaves. Where stdin is no terminal, each line is a turn. `/help` lists the commands: `/reset`, `/system TEXT`, `/save FILE`, `/load FILE`, `/regen`, `/quant PRECISION`, `/stats`, `/quit`; a message that begins with `/` is written `//`. A conversation that outgrows the context loses its oldest turns, which is said. Sampling values as those of `kvad run`.',
  arguments: [],
  flags: [
    MODEL,
    { type: 'text', name: 'system', short: 's', value: 'TEXT', about: 'a system message before the conversation' },
    ...SAMPLING,
    ...LOADING,
    ...ALWAYS,
  ],
  examples: [
    'kvad chat',
    'kvad chat --model ./my-model --system "Answer briefly."',
    'kvad chat --json < questions.txt',
  ],
} as const satisfies Command;
