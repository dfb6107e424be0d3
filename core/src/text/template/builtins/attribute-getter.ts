import { getItem } from '../python/attributes.js';
import { Undefined, isText, textOf, type Runtime, type Value } from '../python/values.js';

/** `a.0.b`: items inside each other. */
const partsOf = (attribute: Value): Value[] => {
  if (attribute === null) return [];
  if (!isText(attribute)) return [attribute];
  return textOf(attribute)
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
};

const reader = (parts: readonly Value[], fallback: Value, runtime: Runtime): Getter => {
  return (item) => {
    let value = item;
    for (const part of parts) {
      value = getItem(value, part, runtime);
      if (fallback !== null && value instanceof Undefined) value = fallback;
    }
    return value;
  };
};

export type Getter = (item: Value) => Value;

/** Reads an attribute as filters name it; a `fallback` stands for what is not there. */
export const attributeGetter = (attribute: Value, runtime: Runtime, fallback: Value = null): Getter =>
  reader(partsOf(attribute), fallback, runtime);

/** Texts in small letters, unless case counts. */
export const caseGetter = (read: Getter, isCaseSensitive: boolean): Getter =>
  isCaseSensitive ? read : (item) => foldCase(read(item));

export const foldCase = (value: Value): Value => (isText(value) ? textOf(value).toLowerCase() : value);

/** Several attributes, with commas between them, as a list. */
export const attributesGetter = (attribute: Value, isCaseSensitive: boolean, runtime: Runtime): Getter => {
  const names: readonly Value[] = isText(attribute) ? textOf(attribute).split(',') : [attribute];
  const readers = names.map((name) => caseGetter(attributeGetter(name, runtime), isCaseSensitive));
  return (item) => readers.map((read) => read(item));
};
