import { readFileSync } from 'node:fs';

export type { CliArchAdd } from './generated/cli-arch-add.js';
export type { CliArchCheck } from './generated/cli-arch-check.js';
export type { CliArchList } from './generated/cli-arch-list.js';
export type { AuditedPlan } from './generated/cli-arch-plan.js';
export type { CliArchNew } from './generated/cli-arch-new.js';
export type { CliArchRemove } from './generated/cli-arch-remove.js';
export type { CliArchShow, ConfigKey, ShownWeight } from './generated/cli-arch-show.js';
export type { CliArchVerify, VerifyResult } from './generated/cli-arch-verify.js';
export type { ArchBroken, ArchConflict, ArchFamily, ArchPlugin, CliArch } from './generated/cli-arch.js';
export type { BenchKernel, BenchMachine, BenchSpread, BenchVariant, CliBench } from './generated/cli-bench.js';
export type { CliCache } from './generated/cli-cache.js';
export type { ChatTurn, CliChat } from './generated/cli-chat.js';
export type { CliCompletions } from './generated/cli-completions.js';
export type { CliDoctor, DoctorCheck } from './generated/cli-doctor.js';
export type { CliError } from './generated/cli-error.js';
export type { CliInfo } from './generated/cli-info.js';
export type { CliLogits } from './generated/cli-logits.js';
export type { CachedSnapshotEntry, CliLs, RunsHere } from './generated/cli-ls.js';
export type {
  CliPerplexity,
  PerplexityBaseModel,
  PerplexityConfig,
  PerplexityKld,
  PerplexityWindow,
} from './generated/cli-perplexity.js';
export type { CliPull, PulledFile } from './generated/cli-pull.js';
export type { CliRender } from './generated/cli-render.js';
export type { CliRm } from './generated/cli-rm.js';
export type { CliRun, RunConfig, RunSampling, RunToken } from './generated/cli-run.js';
export type { CliSearch } from './generated/cli-search.js';
export type { CliTokenize } from './generated/cli-tokenize.js';
export type { CliUse } from './generated/cli-use.js';
export type { KvadConfig } from './generated/kvad-config.js';
export * from './generated/model-plan.js';
export type { PartLists, PluginManifest } from './generated/plugin-manifest.js';

/** A JSON Schema as a value. */
export type JSONSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema `json/<name>.schema.json` of this package. */
export const schema = (name: string): JSONSchema =>
  JSON.parse(readFileSync(new URL(`../json/${name}.schema.json`, import.meta.url), 'utf8')) as JSONSchema;
