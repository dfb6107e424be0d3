#!/usr/bin/env node
// CommonJS, and `--version` is answered here: Node starts its loader of ES modules only where it is needed.
const [first] = process.argv.slice(2);

if (first === '--version' || first === '-V') {
  process.stdout.write(`kvad ${require('../package.json').version}\n`);
} else {
  void import('../dist/commands/main.js').then(({ main }) => main(process.argv.slice(2)));
}
