/** Folders with plugins in them, as tests need them: good by default, and broken in one place each. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createRegistry, type Registry, type RegistryOptions } from '@kvad/arch-registry';

export interface PluginSketch {
  readonly name: string;
  readonly modelTypes?: readonly string[];
  readonly mixers?: readonly string[];
  /** Instead of what the sketch's types and mixers make. */
  readonly module?: string;
  /** Merged over the "kvad" field; a string takes its place. */
  readonly manifest?: Readonly<Record<string, unknown>> | string;
  /** Merged over package.json. */
  readonly packageJson?: Readonly<Record<string, unknown>>;
}

/** A temporary folder with `project`, `user` and `bundled` in it. */
export class PluginFolders {
  readonly root = mkdtempSync(path.join(tmpdir(), 'kvad-registry-'));
  readonly project = this.folder('project');
  readonly user = this.folder('user');

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  folder(...parts: string[]): string {
    const folder = path.join(this.root, ...parts);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  write(text: string, ...parts: string[]): string {
    const file = path.join(this.folder(...parts.slice(0, -1)), parts.at(-1)!);
    writeFileSync(file, text);
    return file;
  }

  /** Writes a plugin's package into `<folder>/<name>` and returns that folder. */
  plugin(sketch: PluginSketch, folder = 'bundled'): string {
    const place = [folder, sketch.name];
    const manifest = {
      apiVersion: 1,
      modelTypes: sketch.modelTypes ?? [],
      parts: { mixers: sketch.mixers ?? [] },
      entry: './index.js',
    };
    const description = {
      name: sketch.name,
      version: '1.2.3',
      type: 'module',
      peerDependencies: { '@kvad/core': '^0.1.0' },
      kvad: typeof sketch.manifest === 'string' ? sketch.manifest : { ...manifest, ...sketch.manifest },
      ...sketch.packageJson,
    };
    this.write(JSON.stringify(description), ...place, 'package.json');
    this.write(sketch.module ?? moduleOf(sketch), ...place, 'index.js');
    return this.folder(...place);
  }

  config(config: unknown): string {
    return this.write(typeof config === 'string' ? config : JSON.stringify(config), 'project', 'kvad.config.json');
  }

  registry(options: Partial<RegistryOptions> = {}): Registry {
    return createRegistry({
      plugins: [],
      workingDirectory: this.project,
      userDirectory: this.user,
      bundled: [],
      ...options,
    });
  }
}

/** A plugin as plain JavaScript: it imports the surface, as authors do. */
export const moduleOf = ({ name, modelTypes = [], mixers = [] }: PluginSketch): string => `
import { defineFamily, definePlugin } from '@kvad/core/plugin';
const family = (type) => defineFamily({
  modelTypes: [type], about: 'a test', reference: 'none', config: { schema: 'none.json' },
  plan: () => ({}), weights: () => [],
});
const mixer = (kind) => ({ kind, about: 'a test', options: {}, slots: () => [], create: () => ({}) });
export default definePlugin({
  name: ${JSON.stringify(name)},
  apiVersion: 1,
  mixers: ${JSON.stringify(mixers)}.map(mixer),
  families: ${JSON.stringify(modelTypes)}.map(family),
});
`;
