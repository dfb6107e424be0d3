export type * from './checkpoint/checkpoint.js';
export { bindWeights, refuseBadWeights } from './checkpoint/bind.js';
export type { BindRequest } from './checkpoint/binding.js';
export { openCheckpoint } from './checkpoint/open.js';
export { checkModelFolder } from './checkpoint/folder.js';
export { quantCacheFolder } from './checkpoint/quant-cache/identity.js';
export {
  listQuantCaches,
  removeQuantCache,
  type QuantCacheFile,
  type QuantCacheState,
} from './checkpoint/quant-cache/list-quant-caches.js';
export * from './axes/tokens.js';
export { CATALOG, type ErrorCode, type ErrorParams } from './errors/catalog.js';
export * from './errors/kvad-error.js';
export type * from './plan/audit.js';
export { readConfig } from './plan/config-file.js';
export { planModel, type PlanModelRequest, type PlannedModel } from './plan/plan-model.js';
export type * from './plan/planned-slot.js';
export { schemaCheck, schemaCompiler } from './plan/schema-compiler.js';
export type * from './runtime/types.js';
export { IncrementalDecoder } from './text/incremental-decoder.js';
export { loadText, type TextOptions } from './text/index.js';
export * from './text/stop-strings.js';
export { JinjaRenderer } from './text/template/jinja-renderer.js';
export type { LoadedTextSide } from './text/text-side.js';
export { KLD_FIGURES, type KldFigure } from './scoring/kld-figures.js';
export type * from './scoring/types.js';
export type * from './text/types.js';
export * from './plugin.js';
export * from './axes/builtin/index.js';
export { chooseOps, type OpsChoice } from './kernels/choose-ops.js';
export { createReferenceOps } from './kernels/reference/index.js';
export * from './kernels/half.js';
export { RopeTables, type TableAngles } from './kernels/rope-tables.js';
export { planSlots } from './plan/slots.js';
export { plannedStates } from './runtime/planned-states.js';
export { resolveSampling, SAMPLING_DEFAULTS } from './sampling/options.js';
export { gatherParts, type PartSource } from './runtime/gather-parts.js';
export { loadModel, type FamilySource, type LoadPieces } from './runtime/load.js';
export { LocalModel } from './runtime/local-model.js';
export { PartRegistry } from './runtime/part-registry.js';
export { RemoteModel, type RemoteModelOptions } from './runtime/remote-model.js';
export { serveModel } from './runtime/worker-server.js';
export { benchModel, type BenchOptions, type BenchResult, type BenchRun } from './bench/bench-model.js';
export { benchKernels, type KernelOptions, type KernelResult } from './bench/bench-kernels.js';
export { BUSY_SHARE, machineFacts, OthersShare, type MachineFacts } from './bench/machine.js';
export { folderSource, planSource, type BenchSource } from './bench/sources.js';
export { type Spread } from './bench/statistics.js';
export { variantsOf, type BenchPrecision, type Variant } from './bench/variants.js';
export { planProblem } from './plan/plan-check.js';
export { HubClient, type HubFile, type HubListing } from './hub/client.js';
export { findSnapshot, type CachedSnapshot } from './hub/find-snapshot.js';
export { modelName, parseModelId, type HubModel } from './hub/model-id.js';
export type { HubRequestOptions } from './hub/request.js';
export { hubCacheFolder, hubSettings, type HubSettings } from './hub/settings.js';
