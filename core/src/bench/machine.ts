import { cpus, freemem, loadavg } from 'node:os';
import { createEngine, loadAddon, type Addon, type NativeEngine } from '../kernels/native/addon.js';

/** More than any cache holds. */
const READ_BYTES = 256 * 2 ** 20;
/** From this share of the processors on, used by others, a measurement says more of them than of kvad. */
export const BUSY_SHARE = 0.1;

/** Bytes that the bandwidth measurement holds. */
export const BANDWIDTH_BYTES = READ_BYTES;

/** The speed at which the threads of the native arithmetic read memory, in bytes a second. */
export class ReadBandwidth {
  readonly #addon: Addon;
  readonly #engine: NativeEngine;
  readonly #memory: Uint8Array;

  private constructor(addon: Addon, threads: number) {
    this.#addon = addon;
    this.#engine = createEngine(addon, { threads, arenaBytes: 2 ** 20 });
    this.#memory = new Uint8Array(new ArrayBuffer(READ_BYTES)).fill(1);
  }

  /** null where the native arithmetic was not built. */
  static open(threads: number): ReadBandwidth | null {
    const addon = loadAddon();
    return addon && new ReadBandwidth(addon, threads);
  }

  measure(): number {
    return READ_BYTES / this.#addon.readSeconds(this.#engine, this.#memory);
  }

  close(): void {
    this.#addon.dispose(this.#engine);
  }
}

/** What others do on this machine: processor time that is not this process's, as a share of all processors. */
export class OthersShare {
  readonly #start = snapshot();

  /** Since this was made, between 0 and 1. */
  get value(): number {
    const now = snapshot();
    const all = now.all - this.#start.all;
    if (all <= 0) return 0;
    const others = now.busy - this.#start.busy - (now.own - this.#start.own);
    return Math.min(1, Math.max(0, others / all));
  }
}

const snapshot = (): { all: number; busy: number; own: number } => {
  const times = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({ busy: user + nice + sys + irq, idle }));
  const busy = times.reduce((sum, time) => sum + time.busy, 0);
  const { user, system } = process.cpuUsage();
  return { all: busy + times.reduce((sum, { idle }) => sum + idle, 0), busy, own: (user + system) / 1000 };
};

export interface MachineFacts {
  readonly cpu: string;
  readonly processors: number;
  /** Of the last minute. */
  readonly loadAverage: number;
}

export const machineFacts = (): MachineFacts => {
  const list = cpus();
  return { cpu: list[0]?.model.trim() ?? 'unknown', processors: list.length, loadAverage: loadavg()[0] ?? 0 };
};

/** Bytes that a process may still take: of the machine, or of the container where that is less. */
export const availableMemory = (): number => {
  const limit = process.constrainedMemory();
  const rest = limit > 0 ? limit - process.memoryUsage.rss() : Infinity;
  return Math.min(freemem(), rest);
};
