/**
 * The engine knows no model family: no string of core, arch-registry or cli may name one. What counts:
 *   - a literal that is a registered model_type, or the letters before its number (`xyz` of `xyz2`): a hidden `if`;
 *   - such a name as a word of a longer text, or within a class name of transformers (`Xyz2ForCausalLM`);
 *   - a property name that is a model_type: a hidden table.
 * Comments are free: they may say where a convention comes from.
 */
import ts from 'typescript';
import { lineOf, nodesOf, parse } from './sources.js';

/** The field's own terms: llama.cpp, its programs and files. (The rope type `llama3` is another word than `llama`.) */
const FIELD_TERMS = /\bllama\.cpp\b|\bllama[-_]cpp\b|\bllama-(perplexity|completion|bench|server|cli|quantize)\b/gi;

/** Model types that are also words of English or of a terminal: as part of a longer text they prove nothing. */
const ORDINARY_WORDS = new Set(['bloom', 'ctrl', 'dots', 'granite', 'helium', 'opt', 'persimmon', 'phi']);

export interface FamilyName {
  readonly name: string;
  readonly literal: string;
  readonly where: string;
}

export const familyNamesIn = (file: string, text: string, modelTypes: readonly string[]): FamilyName[] => {
  const source = parse(file, text);
  const types = new Set(modelTypes.map((type) => type.toLowerCase()));
  const stems = new Set([...types].map(stemOf).filter((stem) => stem.length >= 3));
  return [...nodesOf(source)].flatMap((node) => {
    const literal = textOf(node);
    const name = literal === null ? null : nameIn(literal, types, stems, isPropertyName(node));
    return name === null ? [] : [{ name, literal: literal!, where: lineOf(source, node) }];
  });
};

const stemOf = (type: string): string => /^([a-z]+)\d/.exec(type)?.[1] ?? type;

/** The text of a string, of a piece of a template, or of a name in an object; null for other nodes. */
const textOf = (node: ts.Node): string | null => {
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
    return node.text;
  return isPropertyName(node) && ts.isIdentifier(node) ? node.text : null;
};

const isPropertyName = (node: ts.Node): boolean =>
  (ts.isPropertyAssignment(node.parent ?? node) || ts.isMethodDeclaration(node.parent ?? node)) &&
  (node.parent as ts.PropertyAssignment).name === node;

const nameIn = (literal: string, types: Set<string>, stems: Set<string>, property: boolean): string | null => {
  const whole = literal.trim().toLowerCase();
  if (property) return types.has(whole) && !ORDINARY_WORDS.has(whole) ? whole : null;
  if (types.has(whole)) return whole;
  if (stems.has(whole)) return whole;
  const plain = literal.replace(FIELD_TERMS, ' ');
  for (const word of plain.split(/[^A-Za-z0-9_]+/)) {
    const lower = word.toLowerCase();
    if (types.has(lower) && !ORDINARY_WORDS.has(lower)) return lower;
    const className = /^([A-Z]\w*?)(For[A-Z]\w*|LMHeadModel|Model|Config)$/.exec(word)?.[1]?.toLowerCase();
    if (className !== undefined) {
      const type = [...types].find((one) => one.replaceAll('_', '') === className);
      if (type !== undefined) return type;
    }
  }
  return null;
};
