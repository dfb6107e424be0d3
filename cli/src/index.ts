import type { Engine } from '@kvad/core';
import { createContainer } from './container.js';
import type { EngineOptions } from './engine-settings.js';
import { ENGINE } from './tokens.js';

export { isKvadError, KvadError } from '@kvad/core';
export type {
  ChatMessage,
  Engine,
  ErrorCode,
  FinishReason,
  GenerateEvent,
  GenerateOptions,
  GenerateStats,
  LoadedModel,
  LoadOptions,
  KldResult,
  ModelFacts,
  PerplexityOptions,
  PerplexityProgress,
  PerplexityRequest,
  PerplexityResult,
  Precision,
  Prompt,
  RenderOptions,
  SamplingOptions,
  ScoringInput,
  Session,
  SnapshotHandle,
  TokenLogprob,
  WindowScore,
} from '@kvad/core';
export type { EngineOptions } from './engine-settings.js';

/** An engine: loads models, each into a worker thread of its own. Closing it closes them. */
export const createEngine = (options: EngineOptions = {}): Engine => createContainer(options).resolve<Engine>(ENGINE);
