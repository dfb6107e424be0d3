/**
 * Pulls small published models from the Hub, runs them greedily, and checks what their answer must contain. It needs the
 * network and some GB of room, so it is not part of `npm test`.
 *   npm run acceptance [-- --only OWNER/NAME] [--quant q8] [--table FILE.json] [--json]
 * Exit code 1 if an answer lacks what it must contain, or a model does not run.
 */
import { spawn } from 'node:child_process';
import { argv, chalk, fs, path } from 'zx';

const kvad = path.resolve(import.meta.dirname, '../cli/bin/kvad.js');

/** `contains`: a regular expression. `raw`: the text is continued, without the chat template. */
const TABLE = [
  { model: 'openai-community/gpt2', raw: true, prompt: '1, 2, 3, 4, 5, 6, 7,', contains: '^ 8, 9, 10' },
  { model: 'HuggingFaceTB/SmolLM2-135M', raw: true, prompt: 'The capital of France is', contains: 'Paris' },
  { model: 'HuggingFaceTB/SmolLM2-135M-Instruct', prompt: 'What is the capital of France?', contains: 'Paris' },
  { model: 'Qwen/Qwen2.5-0.5B', raw: true, prompt: 'The first prime numbers are 2, 3, 5, 7,', contains: '11, 13' },
  { model: 'Qwen/Qwen2.5-0.5B-Instruct', prompt: 'What is the capital of Japan? One word.', contains: 'Tokyo' },
  { model: 'Qwen/Qwen3-0.6B', prompt: 'What is 2 + 2? /no_think', contains: '4' },
  { model: 'TinyLlama/TinyLlama-1.1B-Chat-v1.0', prompt: 'Name the capital of Italy.', contains: 'Rome' },
];

const rows = (argv.table ? await fs.readJson(argv.table) : TABLE).filter(
  ({ model }) => argv.only === undefined || model === argv.only,
);
const results = [];
for (const row of rows) {
  const result = await accept(row);
  results.push(result);
  if (!argv.json)
    console.log(`${result.pass ? chalk.green('pass') : chalk.red('FAIL')}  ${row.model}  ${words(result)}`);
}
const passed = results.filter(({ pass }) => pass).length;
if (argv.json) console.log(JSON.stringify(results, null, 2));
else console.log(`${passed} of ${results.length} passed`);
process.exitCode = passed === results.length && results.length > 0 ? 0 : 1;

async function accept({ model, prompt, contains, raw = false, system, tokens = 32 }) {
  const pulled = await run(['pull', model, '--json']);
  if (pulled.code !== 0) return { model, prompt, contains, pass: false, text: null, error: pulled.error };
  const answer = await run([
    ...['run', '--model', model, '--prompt', prompt, '--greedy', '--max-tokens', String(tokens), '--json'],
    ...(raw ? ['--raw'] : []),
    ...(system === undefined ? [] : ['--system', system]),
    ...(argv.quant ? ['--quant', argv.quant] : []),
  ]);
  if (answer.code !== 0) return { model, prompt, contains, pass: false, text: null, error: answer.error };
  const { text } = JSON.parse(answer.out);
  return { model, prompt, contains, pass: new RegExp(contains).test(text), text, error: null };
}

/** Progress and warnings go to the terminal as they come. */
function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [kvad, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => {
      err += data;
      process.stderr.write(data);
    });
    child.on('error', reject).on('close', (code) => resolve({ code, out, error: err.trim().split('\n').at(-1) ?? '' }));
  });
}

function words({ pass, text, contains, error }) {
  if (error !== null) return error;
  return pass ? JSON.stringify(text) : `${JSON.stringify(text)} does not contain ${contains}`;
}
