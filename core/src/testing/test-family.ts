import path from 'node:path';
import type { Family } from '../plan/family.js';
import { checkSchemas } from './check-schemas.js';
import { openCase, openSubject, type FamilyCase } from './family-case.js';
import {
  checkAudits,
  checkBatch,
  checkChunks,
  checkDeterminism,
  checkGreedy,
  checkIdleKeys,
  checkReference,
  checkSnapshot,
  checkSteps,
  checkTruncation,
} from './family-claims.js';
import { locateFixture } from './fixture-directory.js';
import { pathOf, type PluginUnderTest } from './plugin-under-test.js';
import { checkNative, checkPrecisions, hasNativeOps } from './precision-claims.js';
import { hasReference } from './reference.js';

/** `describe` and `it` of vitest, of jest, or of `node:test`: failures are plain assertion errors. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

export interface TestFamilyOptions extends TestRunner {
  /**
   * A checkpoint folder: config.json, weights or `weights.recipe.json`, reference.json, reference.safetensors. Without
   * the last two a family is held against itself only; a config alone gets random weights.
   */
  readonly fixture: string | URL;
  /** The plugin that brings the family, and those whose parts it names. */
  readonly plugins: readonly PluginUnderTest[];
  /** Config keys of this fixture that are read and rightly change nothing, with the reason. */
  readonly idle?: Readonly<Record<string, string>>;
}

/**
 * Registers the conformance tests of a family on one fixture: that it loads with everything accounted for, computes what
 * its publisher computes, and computes the same whichever way a sequence is cut, rewound, batched or repeated, on the
 * reference arithmetic with an f32 cache; and that native arithmetic, where it was built, gives the same.
 */
export const testFamily = (subject: Family | string, options: TestFamilyOptions): void => {
  const { describe, it, idle = {} } = options;
  const named = typeof subject === 'string' ? subject : subject.modelTypes.join(', ');
  const request = { subject, fixture: options.fixture, plugins: options.plugins };
  const open = once(() => openCase(request));
  const claim = (name: string, check: (opened: FamilyCase) => Promise<void> | void): unknown =>
    it(name, async () => check(await open()));

  const proved = hasReference(locateFixture(pathOf(options.fixture)));
  const place = `${path.basename(pathOf(options.fixture))}${proved ? '' : ', which has no reference: nothing says that it is right'}`;
  describe(`${named} on ${place}`, () => {
    it('brings schemas that are valid', async () => {
      const { under, plugins } = await openSubject(request);
      checkSchemas(under, plugins);
    });
    claim('loads with every config key and every tensor accounted for', checkAudits);
    if (proved) {
      claim('gives the logits of the reference at every position', checkReference);
      claim('continues greedily as the reference does', checkGreedy);
    }
    claim('gives the same in chunks of 1, 3 and 64 rows as in one', checkChunks);
    claim('gives the same step by step', checkSteps);
    claim('continues after a truncation as if it had never gone further', checkTruncation);
    claim('continues after a snapshot was restored as if nothing had come after it', checkSnapshot);
    claim('computes each of two sequences in one batch as alone', checkBatch);
    claim('computes the same bits again, and so does another instance', checkDeterminism);
    if (hasNativeOps()) {
      claim('gives the same on native arithmetic, whole and step by step', checkNative);
      claim('stays near with matrices in bf16, q8 and q4', checkPrecisions);
    }
    claim('reads no config key that changes nothing', (opened) => {
      checkIdleKeys(opened, idle);
    });
  });
};

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};
