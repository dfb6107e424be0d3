import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { templateGoldens } from '../../../../cli/dist/goldens/templates.js';

it('1,200 snippets of the language, from expressions to scopes, are what Python makes of them', async () => {
  const report = await templateGoldens(fileURLToPath(new URL('../../../fixtures/templates', import.meta.url)));
  expect(report.cases).toBe(1_200);
  expect(report.failures).toEqual([]);
  expect(report.equal + report.refused_both).toBe(1_200);
});
