import { CATALOG } from '@kvad/core';
import { expect, it } from 'vitest';
import ts from 'typescript';
import { nodesOf, packages, parse, read, sourcesOf } from './sources.js';

const CATALOGUE = 'core/src/errors/catalog';

const folders = packages().map(({ folder }) => folder);
const raised = new Set(
  sourcesOf(...folders)
    .filter((file) => !file.startsWith(CATALOGUE))
    .flatMap((file) => [...nodesOf(parse(file, read(file)))])
    .filter(ts.isStringLiteralLike)
    .map((node) => node.text)
    .filter((text) => /^KVAD_E(_[A-Z0-9]+)+$/.test(text)),
);

it('each code of the catalogue is raised somewhere', () => {
  expect(Object.keys(CATALOG).filter((code) => !raised.has(code))).toEqual([]);
});

it('each code that a source names is in the catalogue', () => {
  expect([...raised].filter((code) => !(code in CATALOG))).toEqual([]);
});
