import {
  bindWeights,
  checkModelFolder,
  createReferenceOps,
  gatherParts,
  loadText,
  openCheckpoint,
  PartRegistry,
  plannedStates,
  planSlots,
  refuseBadWeights,
  resolveSampling,
  type SamplingOptions,
  type TextFacts,
} from '@kvad/core';
import type { CliInfo } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import { warn } from '../io/warn.js';
import type { Action } from './actions.js';
import { familyFacts, shapeOf, storedSize } from './info-facts.js';
import { infoPage } from './info-page.js';
import { findModel, namesOf, placesOf } from '../model-folder.js';
import { stateSize, weightSize } from './model-size.js';
import { openRegistry } from './open-registry.js';
import { lenientWarnings, planFile } from './planned-model.js';

/** `kvad info [MODEL]`: config, headers and text files; no weight is read. */
export const info: Action<'info'> = async (io, { args, options }) => {
  const found = findModel(args.model ?? options.model, placesOf(io));
  const { folder } = found;
  const registry = openRegistry(io, options.plugin);
  const planned = await planFile(registry, checkModelFolder(folder), { lenient: options.lenient });
  const parts = await gatherParts(planned.plan, registry, (plugins) => PartRegistry.of(plugins));
  const text = await loadText(folder);
  const warnings = [...found.warnings, ...lenientWarnings(planned.audit), ...text.warnings];

  const { plan } = planned;
  const slots = planSlots(plan, parts);
  const states = plannedStates(plan, slots, parts, createReferenceOps({ kvCacheDtype: 'f16' }));
  const checkpoint = openCheckpoint(folder);
  try {
    const { weights, audit } = bindWeights({ slots, rules: planned.rules, tied: plan.head.tied, checkpoint });
    refuseBadWeights(audit, { directory: folder });
    const result: CliInfo = {
      object: 'kvad.info',
      ...namesOf(found),
      ...familyFacts(planned),
      shape: shapeOf(planned),
      ...weightSize(slots, weights),
      stored: storedSize(checkpoint),
      state: stateSize(
        states.map(({ spec }) => spec),
        plan.contextLength,
      ),
      text: textObject(text.facts),
      sampling: samplingWithSources(text.facts.sampling),
      refused_keys: planned.audit.refused.map((key) => ({ ...key })),
      warnings,
    };
    for (const warning of warnings) await warn(io, warning);
    if (options.json) await writeJson(io.stdout, result);
    else await writeLine(io.stdout, infoPage(result));
    return 0;
  } finally {
    checkpoint.close();
  }
};

const textObject = ({ tokenizer, template, eos, bos }: TextFacts): CliInfo['text'] => ({
  tokenizer,
  template,
  eos: eos.map((token) => ({ ...token })),
  bos: bos && { ...bos },
});

const samplingWithSources = (model: Partial<SamplingOptions>): CliInfo['sampling'] =>
  Object.fromEntries(
    Object.entries(resolveSampling({}, model)).map(([name, value]: [string, number]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      { value, source: name in model ? 'generation_config.json' : 'kvad' },
    ]),
  );
