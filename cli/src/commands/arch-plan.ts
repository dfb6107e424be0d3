import { statSync } from 'node:fs';
import path from 'node:path';
import type { ConfigAudit } from '@kvad/core';
import type { AuditedPlan } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import { textTable } from '../io/text-table.js';
import { warn } from '../io/warn.js';
import type { Action } from './actions.js';
import { lenientWarnings, planFile } from './planned-model.js';
import { modelFolder, placesOf, type ModelPlaces } from '../model-folder.js';
import { openRegistry } from './open-registry.js';
import { planSummary } from './plan-summary.js';

/** `kvad arch plan MODEL`: from config.json alone, so a bare one will do. */
export const archPlan: Action<'arch plan'> = async (io, { args, options }) => {
  const registry = openRegistry(io, options.plugin);
  const { plan, audit } = await planFile(registry, configFile(args.model, placesOf(io)), { lenient: options.lenient });
  const warnings = lenientWarnings(audit);
  for (const warning of warnings) await warn(io, warning);
  if (options.json && options.audit) {
    await writeJson(io.stdout, {
      object: 'kvad.arch-plan',
      plan,
      audit: mutable(audit),
      warnings,
    } satisfies AuditedPlan);
  } else if (options.json) {
    await writeJson(io.stdout, plan);
  } else {
    await writeLine(io.stdout, planSummary(plan));
    if (options.audit) await writeLine(io.stdout, `\n${auditTable(audit)}`);
  }
  return 0;
};

/** A file is taken as a config.json, whatever its name. */
const configFile = (model: string, places: ModelPlaces): string => {
  const given = path.resolve(places.workingDirectory, model);
  const isFile = statSync(given, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? given : path.join(modelFolder(model, places, 'text'), 'config.json');
};

const mutable = ({ file, read, inert, refused }: ConfigAudit): AuditedPlan['audit'] => ({
  file,
  read: [...read],
  inert: inert.map((key) => ({ ...key })),
  refused: refused.map((key) => ({ ...key })),
});

const auditTable = ({ read, inert, refused }: ConfigAudit): string =>
  textTable([
    ...read.map((key) => ['read', key, '']),
    ...inert.map(({ key, reason }) => ['inert', key, reason]),
    ...refused.map(({ key, value }) => ['unknown', key, JSON.stringify(value)]),
  ]);
