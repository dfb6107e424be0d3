import type { WeightAudit } from '../plan/audit.js';
import type { PlannedSlot } from '../plan/planned-slot.js';
import { auditWeights, type Findings } from './audit.js';
import { type Binding, type BindRequest, sourceKey } from './binding.js';
import type { BoundWeights, Checkpoint, StoredTensor } from './checkpoint.js';
import { canRead, type ReadableDtype } from './dtypes.js';
import { lazy, type LazyTensor, materialise } from './lazy-tensor.js';
import { type NamedSource, rulesBySlot, sourcesOf } from './match.js';
import { sameShape } from './shape.js';
import { EMBEDDING_SLOT, HEAD_SLOT, requireEqualCopy, type TiedCopy } from './tied.js';
import { applyTransforms, ShapeMisfit } from './transform.js';

export { refuseBadWeights } from './refuse.js';

/**
 * Fills the slots of a plan from a checkpoint by the weight map of its family. Looks at headers only; what does not
 * fit is in the audit (`refuseBadWeights` turns it into an error). Throws KVAD_E_WEIGHTS_RULE for a faulty map, and
 * while reading KVAD_E_WEIGHTS_TIED for a tied model with another head.
 */
export const bindWeights = (request: BindRequest): { weights: BoundWeights; audit: WeightAudit } => {
  const binder = new Binder(request.checkpoint);
  const bySlot = rulesBySlot(request.rules);
  let tiedCopy: TiedCopy | null = null;
  for (const slot of request.slots) {
    if (request.tied && slot.name === HEAD_SLOT) continue;
    binder.bind(slot, sourcesOf(slot, bySlot));
  }
  const head = request.tied ? request.slots.find((slot) => slot.name === HEAD_SLOT) : undefined;
  if (head !== undefined) {
    tiedCopy = binder.bindTiedHead(head, bySlot.has(HEAD_SLOT) ? sourcesOf(head, bySlot) : []);
  }
  const audit = auditWeights({ ...request, findings: binder.findings, bindings: [...binder.bindings.values()] });
  return { weights: boundWeights(binder.bindings, tiedCopy), audit };
};

/** Collects bindings and what stands against them. */
class Binder {
  readonly bindings = new Map<string, Binding>();
  readonly findings: Findings = { missing: [], misshaped: [], unreadable: [], claimed: new Set() };

  /** Made when the first tensor is missing. */
  private prefixes: Set<string> | null = null;

  constructor(private readonly checkpoint: Checkpoint) {}

  bind(slot: PlannedSlot, sources: readonly NamedSource[]): void {
    const found = sources.find(({ names }) => names.flat().every((name) => this.has(name)));
    if (found === undefined) {
      this.findings.missing.push({ slot: slot.name, tensors: this.lookedFor(sources) });
      return;
    }
    const names = found.names.flat();
    for (const name of names) this.findings.claimed.add(name);
    const tensor = this.fit(slot, found);
    if (tensor !== null) {
      this.bindings.set(slot.name, { slot, names, transform: found.source.transform, tensor });
    }
  }

  /** The head of a tied model is the embedding; a head that the file has nevertheless is returned to be compared. */
  bindTiedHead(slot: PlannedSlot, sources: readonly NamedSource[]): TiedCopy | null {
    const embedding = this.bindings.get(EMBEDDING_SLOT);
    const found = sources.find(({ names }) => names.flat().every((name) => this.has(name)));
    const names = found?.names.flat() ?? [];
    for (const name of names) this.findings.claimed.add(name);
    // What is wrong with the embedding has been found at its own slot.
    if (embedding === undefined) return null;
    if (!sameShape(embedding.tensor.shape, slot.shape)) {
      const [tensor = EMBEDDING_SLOT] = embedding.names;
      this.findings.misshaped.push({ slot: slot.name, tensor, expected: slot.shape, found: embedding.tensor.shape });
      return null;
    }
    this.bindings.set(slot.name, { ...embedding, slot });
    const copy = found === undefined ? null : this.fit(slot, found);
    if (copy === null) return null;
    return {
      directory: this.checkpoint.directory,
      head: { name: names.join(' + '), tensor: copy },
      embedding: { name: embedding.names.join(' + '), tensor: embedding.tensor },
    };
  }

  /** The tensor of a slot, or null with a finding where type or shape do not allow it. */
  private fit(slot: PlannedSlot, { names, source }: NamedSource): LazyTensor | null {
    const kind = slot.role === 'integers' ? 'integer' : 'float';
    const stored = names.map((experts) => experts.map((name) => this.stored(name)));
    const wrong = stored.flat().filter(({ dtype }) => !canRead(dtype, kind));
    for (const { name, dtype, file } of wrong) this.findings.unreadable.push({ tensor: name, dtype, file });
    if (wrong.length > 0) return null;

    const misfit = (found: readonly number[], reason: string | null): null => {
      const tensor = names.flat().join(' + ');
      const finding = { slot: slot.name, tensor, expected: slot.shape, found };
      this.findings.misshaped.push(reason === null ? finding : { ...finding, reason });
      return null;
    };
    try {
      const tensors = stored.map((experts) => experts.map((tensor) => this.lazily(tensor)));
      const tensor = applyTransforms(tensors, source.transform);
      return sameShape(tensor.shape, slot.shape) ? tensor : misfit(tensor.shape, null);
    } catch (error) {
      if (error instanceof ShapeMisfit) return misfit(stored.flat()[0]?.shape ?? [], error.message);
      throw error;
    }
  }

  private has(name: string): boolean {
    return this.checkpoint.tensors.has(name);
  }

  private stored(name: string): StoredTensor {
    return this.checkpoint.tensors.get(name) as StoredTensor;
  }

  private lazily({ name, dtype, shape }: StoredTensor): LazyTensor {
    return lazy(dtype as ReadableDtype, shape, () => this.checkpoint.read(name).bytes);
  }

  /** Names that are absent: of the source that is there in part, else of the sources nearest to what is there. */
  private lookedFor(sources: readonly NamedSource[]): readonly string[] {
    for (const { names } of sources) {
      const absent = names.flat().filter((name) => !this.has(name));
      if (absent.length === names.flat().length) continue;
      for (const name of names.flat()) this.findings.claimed.add(name);
      return absent;
    }
    const nearness = sources.map(({ names }) => this.nearness(names[0]?.[0] ?? ''));
    const nearest = sources.filter((_, i) => nearness[i] === Math.max(...nearness));
    return [...new Set(nearest.flatMap(({ names }) => names.flat()))];
  }

  /** How many leading components of a name some stored tensor shares. */
  private nearness(name: string): number {
    this.prefixes ??= new Set([...this.checkpoint.tensors.keys()].flatMap(leadingParts));
    return leadingParts(name).filter((prefix) => this.prefixes?.has(prefix)).length;
  }
}

/** `a.b.c`: `a.`, `a.b.` */
const leadingParts = (name: string): string[] => [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index + 1));

const boundWeights = (bindings: ReadonlyMap<string, Binding>, tiedCopy: TiedCopy | null): BoundWeights => {
  let unchecked = tiedCopy;
  const bindingOf = (slot: string): Binding => {
    const binding = bindings.get(slot);
    if (binding === undefined) throw new RangeError(`slot ${slot} is not bound`);
    return binding;
  };
  return {
    has: (slot) => bindings.has(slot),
    read: (slot) => {
      const binding = bindingOf(slot);
      if (unchecked !== null && (slot === EMBEDDING_SLOT || slot === HEAD_SLOT)) {
        requireEqualCopy(unchecked);
        unchecked = null;
      }
      return materialise(binding.tensor);
    },
    sourceOf: (slot) => sourceKey(bindingOf(slot)),
  };
};
