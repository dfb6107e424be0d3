import type { Matrix, MatrixStack, Precision, State, Tensor, Vector } from '../tensor.js';

/** A view of the arena: elements of 4 bytes, counted from its start. */
export class NativeTensor {
  constructor(
    readonly offset: number,
    readonly rows: number,
    readonly cols: number,
    readonly stride: number,
    readonly dtype: 'f32' | 'i32',
  ) {}

  get handle(): Tensor {
    return this as unknown as Tensor;
  }
}

/** A state as a tensor, for parts that compute on the host: only `host` and `write` take it. */
export class StateView {
  readonly dtype = 'f32';
  readonly rows: number;
  readonly cols: number;

  constructor(readonly state: NativeState) {
    this.rows = state.length;
    this.cols = state.width;
  }
}

export class NativeMatrix {
  constructor(
    readonly id: number,
    readonly count: number,
    readonly rows: number,
    readonly cols: number,
    readonly precision: Precision,
    /** Kept so that the memory below stays. */
    readonly bytes: Uint8Array,
  ) {}
}

export class NativeVector {
  constructor(
    readonly id: number,
    readonly length: number,
  ) {}
}

export class NativeState {
  length: number;
  bytes = 0;
  live = true;

  constructor(
    readonly id: number,
    readonly name: string,
    readonly width: number,
    readonly grows: boolean,
    readonly half: boolean,
  ) {
    this.length = grows ? 0 : 1;
  }

  get rowBytes(): number {
    return this.width * (this.half ? 2 : 4);
  }
}

const foreign = (what: string): Error => new Error(`a ${what} of other ops was given to the native ops`);

// Each with its own check, which the compiler makes one comparison: a step asks it thousands of times.

export const tensorOf = (x: Tensor): NativeTensor => {
  if ((x as unknown) instanceof NativeTensor) return x as unknown as NativeTensor;
  throw foreign('tensor');
};

export const matrixOf = (x: Matrix): NativeMatrix => {
  if ((x as unknown) instanceof NativeMatrix) return x as unknown as NativeMatrix;
  throw foreign('matrix');
};

export const stackOf = (x: MatrixStack): NativeMatrix => {
  if ((x as unknown) instanceof NativeMatrix) return x as unknown as NativeMatrix;
  throw foreign('stack of matrices');
};

export const vectorOf = (x: Vector): NativeVector => {
  if ((x as unknown) instanceof NativeVector) return x as unknown as NativeVector;
  throw foreign('vector');
};

export const stateOf = (x: State): NativeState => {
  if (!((x as unknown) instanceof NativeState)) throw foreign('state');
  const state = x as unknown as NativeState;
  if (!state.live) throw new Error(`state ${state.name} is used after it was freed`);
  return state;
};
