/**
 * Mixture of gated experts, of which a token goes to k.
 *    S, g  = router(x)                 k experts of a row and their weights, k = perToken
 *    h_e   = gating(W_gate,e x + b, W_up,e x + b)       e in S
 *    out   = Σ_S g_e (W_down,e h_e + b)
 *    out   = out + shared(x)           experts that every row goes to
 * x, out [rows, hidden], h [rows * k, size].
 * Sources: arXiv:1701.06538; 2401.04088 (gated experts), 2401.06066 (shared experts).
 */
import {
  definePart,
  schema,
  type Dims,
  type FeedForward,
  type GatingRule,
  type LayerContext,
  type MatrixStack,
  type NamedPart,
  type Ops,
  type PartContext,
  type PartPlan,
  type Parts,
  type Router,
  type SharedExpert,
  type Tensor,
  type Vector,
  type WeightSlot,
} from '@kvad/core/plugin';
import { createGating, type Gating } from './gating.js';

export interface MoeOptions {
  readonly experts: number;
  /** How many of them a row goes to. */
  readonly perToken: number;
  /** Columns of an expert's gate and up. */
  readonly size: number;
  readonly gating: GatingRule;
  /** Of all three projections. */
  readonly bias: boolean;
  /** Its options do not repeat `experts` and `perToken`: it is told them. */
  readonly router: PartPlan;
  readonly shared: PartPlan | null;
}

export const moe = definePart<FeedForward, MoeOptions>({
  kind: 'moe',
  about: 'experts, of which a router chooses a few for each token',
  options: schema.object({
    experts: schema.size,
    perToken: schema.size,
    size: schema.size,
    gating: schema.oneOf(
      schema.object({ kind: { const: 'activation' }, activation: schema.part }),
      schema.object({
        kind: { const: 'clamped-swish' },
        limit: schema.positive,
        alpha: schema.number,
        shift: schema.number,
      }),
    ),
    bias: schema.flag,
    router: schema.part,
    shared: schema.oneOf({ type: 'null' }, schema.part),
  }),
  nested,
  slots,
  create: (options, context) => new Moe(options, context),
});

const routerPart = ({ router, experts, perToken }: MoeOptions): PartPlan => ({
  kind: router.kind,
  options: { ...router.options, experts, perToken },
});

function nested(options: MoeOptions): readonly NamedPart[] {
  const { gating, shared } = options;
  return [
    { axis: 'router', part: routerPart(options) },
    ...(gating.kind === 'activation' ? [{ axis: 'activation', part: gating.activation } as const] : []),
    ...(shared === null ? [] : [{ axis: 'shared-expert', part: shared } as const]),
  ];
}

function slots(options: MoeOptions, dims: Dims, parts: Parts): readonly WeightSlot[] {
  const { gating, shared, size, experts } = options;
  if (options.perToken > experts) throw new Error(`a token cannot go to ${options.perToken} of ${experts} experts`);
  return [
    ...parts.slots('router', routerPart(options), dims, 'router.'),
    ...expertSlots('gate', size, dims.hiddenSize, options),
    ...expertSlots('up', size, dims.hiddenSize, options),
    ...expertSlots('down', dims.hiddenSize, size, options),
    ...(gating.kind === 'activation' ? parts.slots('activation', gating.activation, dims, 'activation.') : []),
    ...(shared === null ? [] : parts.slots('shared-expert', shared, dims, 'shared.')),
  ];
}

/** `experts.name.weight` `[experts, rows, cols]` and, where there is one, `experts.name.bias` `[experts, rows]`. */
const expertSlots = (name: string, rows: number, cols: number, o: MoeOptions): readonly WeightSlot[] => [
  { name: `experts.${name}.weight`, shape: [o.experts, rows, cols], role: 'stack', active: o.perToken },
  ...(o.bias ? [{ name: `experts.${name}.bias`, shape: [o.experts, rows], role: 'exact' as const }] : []),
];

interface ExpertMatrices {
  readonly weight: MatrixStack;
  readonly bias: Vector | null;
}

class Moe implements FeedForward {
  readonly state = [];
  private readonly ops: Ops;
  private readonly router: Router;
  private readonly gate: ExpertMatrices;
  private readonly up: ExpertMatrices;
  private readonly down: ExpertMatrices;
  private readonly gating: Gating;
  private readonly shared: SharedExpert | null;

  constructor(options: MoeOptions, context: PartContext) {
    const { dims, weights, ops, parts } = context;
    const matrices = (name: string): ExpertMatrices => ({
      weight: weights.stack(`experts.${name}.weight`),
      bias: options.bias ? weights.vector(`experts.${name}.bias`) : null,
    });
    this.ops = ops;
    this.router = parts.create('router', routerPart(options), dims, weights.under('router.'), ops);
    this.gate = matrices('gate');
    this.up = matrices('up');
    this.down = matrices('down');
    this.gating = createGating(options.gating, options.size, context);
    this.shared =
      options.shared === null
        ? null
        : parts.create('shared-expert', options.shared, dims, weights.under('shared.'), ops);
  }

  forward(x: Tensor, out: Tensor, ctx: LayerContext): void {
    const { ops, router } = this;
    const mark = ops.mark();
    const ids = ops.tensor(x.rows, router.k, 'i32');
    const weights = ops.tensor(x.rows, router.k);
    router.forward(x, ids, weights, ctx);

    const h = this.product(x, ids, this.gate);
    this.gating(h, this.product(x, ids, this.up));
    ops.combine(this.product(h, ids, this.down), weights, out, { keep: 0 });
    this.shared?.forward(x, out, ctx);
    ops.release(mark);
  }

  /** `W_e x + b_e` of each row and each of its experts, `[rows * k, rows of W]`. */
  private product(x: Tensor, ids: Tensor, { weight, bias }: ExpertMatrices): Tensor {
    const y = this.ops.tensor(ids.rows * ids.cols, weight.rows);
    this.ops.expertLinear(x, weight, y, { ids, bias });
    return y;
  }
}
